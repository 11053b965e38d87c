"""Ctrl-C keeps what was finished."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from chat_exports import chatgpt
from command_line import write_notes
from mined_talks import BREAD
from wired import mine_conversations

from clawmem.adapters.conversations.exports import DiskExports
from clawmem.adapters.files.transcripts import messages_in
from clawmem.adapters.memory.clock import ManualClock
from clawmem.app.services.conversations.mining import MiningOptions
from clawmem.ports.imports import ExportPart
from clawmem.ports.records import SourceFile
from clawmem.ports.vault import Vault


def test_an_interrupted_import_continues(vault: Vault, clock: ManualClock, tmp_path: Path) -> None:
    """Ctrl-C keeps committed documents; the next run adds the rest, and no document twice."""
    write_notes(
        tmp_path, {f"{at}.json": json.dumps(chatgpt([BREAD._replace(id=f"t{at}")])) for at in range(20)}
    )
    exports = DiskExports(messages_in, lambda data: data.decode())
    clock.set(BREAD.turns[-1].at * 1000)

    class Interrupted(DiskExports):
        """Exports whose reading is interrupted in the middle."""

        def read(self, changed: Sequence[SourceFile], every: Sequence[SourceFile]) -> Iterator[ExportPart]:
            yield from exports.read(changed[:8], every)
            raise KeyboardInterrupt

    options, interrupted = (
        MiningOptions("conversations"),
        Interrupted(messages_in, lambda data: data.decode()),
    )
    with pytest.raises(KeyboardInterrupt):
        mine_conversations(vault, clock, interrupted)([str(tmp_path)], options)
    kept = vault.documents.collections()["conversations"]
    assert kept == 8

    report = mine_conversations(vault, clock, exports)([str(tmp_path)], options)

    assert (report.skipped, report.sources["chatgpt"].added) == (8, 12)
