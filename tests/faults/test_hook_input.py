"""Events that are none, or more than anybody expects, to hooks over a vault: an answer, and nothing is stored."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from hook_process import AT_STOP, KNOWN, ONCE, QUESTION, Client, command

from clawmem.app.environment.private_files import state_folder
from clawmem.ports.sessions import session_key

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


def test_an_unknown_profile_is_reported_once_a_day(client: Client) -> None:
    """The prompt is answered with the usual profile, and the log names the choices."""
    client.environ["CLAWMEM_PROFILE"] = "turbo"

    contexts = [client.ask("context-surfacing", prompt=f"{QUESTION} {number}").context for number in range(2)]

    assert all(contexts)
    (line,) = (state_folder(client.vault) / "errors.log").read_text("utf-8").splitlines()
    assert "CLAWMEM_PROFILE: must be 'speed', 'balanced' or 'deep', not 'turbo'." in line


@pytest.mark.parametrize("piece", ["word ", " ", "a.b/", "\ud800"])
def test_a_prompt_of_five_megabytes(client: Client, piece: str) -> None:
    """Whatever it is made of, it takes no longer than any other."""
    prompt = f"{QUESTION} {piece * (MEGABYTES // len(json.dumps(piece)))}?"

    client.ask("context-surfacing", prompt=prompt)

    (turn,) = client.turns()
    assert turn.took_ms < 4_000


def test_names_that_are_none(client: Client) -> None:
    """Of other kinds than text, or megabytes long: no vault, no file and no session comes of them."""
    for field, value in (
        ("session_id", {"id": 1}),
        ("session_id", "s" * MEGABYTES),
        ("transcript_path", "/" + "a" * MEGABYTES + ".jsonl"),
    ):
        told = {"session_id": "x", "transcript_path": "/none.jsonl", field: value}
        assert len(client.ask("feedback-loop", **told).log) < 3_000

    client.ask("feedback-loop", transcript_path="/none.jsonl")
    assert client.waiting() == []


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


def test_a_pipe_in_the_place_of_a_file_of_the_client_silences_no_prompt(client: Client) -> None:
    """`MEMORY.md` beside the transcript is read before each prompt, the saved state after a compaction."""
    folder = client.conversation.parent / "memory"
    folder.mkdir(exist_ok=True)
    for name in ("MEMORY.md", f"precompact-state-{session_key(client.session)}.md"):
        os.mkfifo(folder / name)

    assert KNOWN in client.ask("context-surfacing", prompt=QUESTION).context
    client.ask("postcompact-inject", source="compact")


def test_a_client_that_goes_away(client: Client) -> None:
    """A pipe that nobody reads any more is no error worth telling."""
    with subprocess.Popen(
        command("session-bootstrap"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        cwd=client.home, env=client.environ,
    ) as process:  # fmt: skip
        assert process.stdin and process.stdout and process.stderr
        process.stdout.close()
        process.stdin.close()

        assert process.stderr.read() == b""
        assert process.wait() == 0
