"""Ctrl-C keeps what was finished, and the report says what that is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from chat_exports import chatgpt
from command_line import Invoke, ask_json, write_notes
from mined_talks import BOAT, BREAD, PLANS, documents, mined, write_export
from wired import mine_conversations

from clawmem.adapters.conversations.exports import DiskExports
from clawmem.adapters.files.transcripts import messages_in
from clawmem.adapters.memory.clock import ManualClock
from clawmem.app.services.conversations.mining import MineConversations, MiningInterrupted, MiningOptions
from clawmem.app.services.indexing.publish import Publisher
from clawmem.app.services.lifecycle.forgetting import Forgetting
from clawmem.ports.imports import ExportPart
from clawmem.ports.records import Document, SourceFile
from clawmem.ports.vault import Vault


def test_an_interrupted_forgetting_continues(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C keeps the finished parts, and says so; the same command forgets the rest and leaves no trace of either."""
    mined(invoke, write_export(tmp_path / "export", "chatgpt", BOAT, BREAD, PLANS))
    forget, parts = Forgetting._forget, iter(range(2))

    def interrupted(self: Forgetting, part: Sequence[Document], *more: Any) -> Any:
        if next(parts, None) is None:
            raise KeyboardInterrupt
        return forget(self, part, *more)

    monkeypatch.setattr("clawmem.app.services.lifecycle.forgetting.PART", 1)
    with monkeypatch.context() as patch:
        patch.setattr(Forgetting, "_forget", interrupted)
        stopped = invoke("mine", "--forget", "chatgpt", "--yes")

    assert (stopped.exit_code, len(documents(invoke))) == (130, 1)
    assert "At least 2 of 3 documents from chatgpt are forgotten." in stopped.stderr
    assert "Run the same command again" in stopped.stderr
    done = ask_json(invoke, "mine", "--forget", "chatgpt", "--yes")["forgotten"]
    assert (done["documents"], done["left"], any(done["probes"].values())) == (1, "", False)
    assert documents(invoke) == {}
    assert mined(invoke, tmp_path / "export")["sources"]["chatgpt"]["forgotten"] == 3


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
    with pytest.raises(MiningInterrupted) as stopped:
        mine_conversations(vault, clock, interrupted)([str(tmp_path)], options)
    kept = vault.documents.collections()["conversations"]
    assert stopped.value.report.sources["chatgpt"].added == kept == 8

    report = mine_conversations(vault, clock, exports)([str(tmp_path)], options)

    assert (report.skipped, report.sources["chatgpt"].added) == (8, 12)


def test_an_interrupt_counts_committed_documents_alone(
    vault: Vault, clock: ManualClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A conversation whose transaction Ctrl-C ended is neither stored nor counted."""
    write_export(tmp_path, "chatgpt", BREAD, BOAT, PLANS)
    clock.set(int(PLANS.turns[-1].at * 1000))
    saved: list[str] = []

    publish = Publisher.publish

    def interrupted(*arguments: Any) -> int:
        if len(saved) == 2:
            raise KeyboardInterrupt
        saved.append(arguments[1].path)
        return publish(*arguments)

    monkeypatch.setattr(Publisher, "publish", interrupted)
    monkeypatch.setattr(f"{MineConversations.__module__}.CHUNK_S", 60.0)
    exports = DiskExports(messages_in, lambda data: data.decode())
    with pytest.raises(MiningInterrupted) as stopped:
        mine_conversations(vault, clock, exports)([str(tmp_path)], MiningOptions("conversations"))

    counts = stopped.value.report.sources["chatgpt"]
    assert len(saved) == 2
    assert (counts.conversations, counts.added, vault.documents.collections()) == (2, 2, {"conversations": 2})
