"""The end of a turn that a client tells before its transcript holds the answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from threading import Thread
from time import monotonic, sleep

import pytest

from clawmem.adapters.files.conversation import PATIENCE_S, ConversationFiles
from clawmem.app.interfaces.hooks.handlers import HookContext
from clawmem.app.interfaces.hooks.protocol import HookEvent
from clawmem.app.interfaces.hooks.sessions import Spool, capture

SAID = 'We "decided":\nto keep invoices for ten years — größtenteils in a bucket.'


def line_of(text: str, *, ascii_only: bool) -> str:
    message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    return json.dumps({"type": "assistant", "message": message}, ensure_ascii=ascii_only) + "\n"


@pytest.mark.parametrize("ascii_only", [True, False])
def test_what_stands_there_is_not_waited_for(tmp_path: Path, ascii_only: bool) -> None:
    """However its JSON is written, and whatever the client writes behind it."""
    file = tmp_path / "t.jsonl"
    file.write_text(line_of(SAID, ascii_only=ascii_only) + '{"type": "system"}\n' * 100, "utf-8")

    assert ConversationFiles(str(file), "s1").wait_for(SAID, 0)


def test_what_is_not_there_is_waited_for_in_vain(tmp_path: Path) -> None:
    """For so long and no longer; a text without plain letters, and a file that is none, not at all."""
    file = tmp_path / "t.jsonl"
    file.write_text(line_of("Hello.", ascii_only=True), "utf-8")
    began = monotonic()

    assert not ConversationFiles(str(file), "s1").wait_for(SAID, 0.1)
    assert monotonic() - began >= 0.1
    assert ConversationFiles(str(file), "s1").wait_for("請求書は十年間保存する", 60)
    assert not ConversationFiles(str(tmp_path / "none.jsonl"), "s1").wait_for(SAID, 60)
    assert not ConversationFiles(str(Path("\0")), "s1").wait_for(SAID, 60)


class Here(HookContext):
    """Whoever does the work notes what the transcript holds by then."""

    def __init__(self, environ: Mapping[str, str], transcript: Path) -> None:
        super().__init__(environ, later=self.do_jobs)
        self.transcript = transcript
        self.read = ""

    def do_jobs(self) -> None:
        self.read = self.transcript.read_text("utf-8")


def test_a_turn_is_read_when_it_is_written(tmp_path: Path) -> None:
    """The job waits in the spool already: a hook that is killed meanwhile loses nothing."""
    vault, file = tmp_path / "vault.sqlite", tmp_path / "t.jsonl"
    vault.touch()
    file.touch()
    spool, here = Spool(vault), Here({"INDEX_PATH": str(vault)}, file)
    event = HookEvent("Stop", "s1", transcript_path=str(file), last_assistant_message=SAID)
    stopping = Thread(target=capture, args=("decision-extractor", event, here))
    stopping.start()
    end = monotonic() + 20
    while not spool.jobs() and monotonic() < end:
        sleep(0.001)

    file.write_text(line_of(SAID, ascii_only=True), "utf-8")
    stopping.join(PATIENCE_S + 20)

    assert "invoices" in here.read
