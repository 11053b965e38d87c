"""Events that are none, or more than anybody expects, to hooks over a vault: an answer, and nothing is stored."""

from __future__ import annotations

import os

import pytest
from hook_process import AT_STOP, ONCE, Client

from clawmem.app.environment.private_files import state_folder

MEGABYTES = 5_000_000


@pytest.mark.parametrize(
    "told", [b"", b"{", b"\xff\xfe\x00", b"[" * MEGABYTES], ids=["empty", "half", "no text", "5 MB"]
)
def test_no_event(client: Client, told: bytes) -> None:
    """It is as good as one in which nothing is said."""
    running = [client.start(name, told) for name in ("context-surfacing", "precompact-extract", AT_STOP[0])]

    assert {one.answer().context for one in running} == {""}
    assert client.memories() == {}
    assert client.waiting() == []
    log = state_folder(client.vault) / "errors.log"
    lines = log.read_text("utf-8").splitlines() if log.exists() else []
    assert len(lines) == (len(running) if told else 0)
    assert all("must be a JSON object, not" in line for line in lines)


def test_a_pipe_as_a_transcript_holds_up_nothing(client: Client) -> None:
    """Nobody writes to the pipe: its events end at once, and the next turn is captured."""
    pipe = client.home / "projects" / "pipe.jsonl"
    os.mkfifo(pipe)

    for name in (*AT_STOP, "precompact-extract"):
        client.ask(name, transcript_path=str(pipe), last_assistant_message="We are done here, all of it.")
    assert client.waiting() == []
    client.stop()

    assert client.memories() == ONCE


@pytest.mark.parametrize("kind", ["pipe", "folder", "missing"])
@pytest.mark.parametrize("name", [*AT_STOP, "precompact-extract"])
def test_a_transcript_that_cannot_be_read_is_reported_once(client: Client, name: str, kind: str) -> None:
    """One line on standard error, and one in the diary, without a traceback; nothing waits."""
    place = client.home / "projects" / f"{kind}.jsonl"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()

    assert client.ask(name, transcript_path=str(place)).log.count(str(place)) == 1
    (line,) = (state_folder(client.vault) / "errors.log").read_text("utf-8").splitlines()
    assert line.count(str(place)) == 1
    assert client.waiting() == []
