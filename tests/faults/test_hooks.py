"""Events that are none, or more than anybody expects, to hooks over a vault: an answer, and nothing is stored."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
import pytest
from hook_process import AT_STOP, KNOWN, ONCE, QUESTION, TURNS, Client, transcript
from scripted_server import scripted, well_behaved

from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.environment.private_files import state_folder
from clawmem.app.interfaces.hooks import handlers
from clawmem.app.interfaces.hooks.handlers import HookContext
from clawmem.app.interfaces.hooks.protocol import HookEvent
from clawmem.ports.sessions import session_key
from clawmem.ports.telemetry import Recall

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


# -- Hooks whose model servers take a question and never say anything: what can be done without them


@pytest.fixture
def mute() -> Iterator[str]:
    """The address of a server that accepts and says nothing."""
    with socket.create_server(("127.0.0.1", 0), backlog=50) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def test_an_embedder_that_hangs(client: Client, mute: str) -> None:
    """Words alone find the note, whichever profile is chosen, and the turn is written down."""
    client.vault.unlink()
    with scripted(well_behaved) as server:
        client.run("update", "--embed", environ={"CLAWMEM_EMBED_URL": server.url})
    asking = [
        client.start(
            "context-surfacing",
            prompt=QUESTION,
            session_id=profile,
            environ={"CLAWMEM_EMBED_URL": mute, "CLAWMEM_PROFILE": profile},
        )
        for profile in ("speed", "balanced", "deep")
    ]

    assert all(KNOWN in running.answer().context for running in asking)
    assert {turn.session_id for turn in client.turns()} == {"speed", "balanced", "deep"}


@pytest.mark.slow
def test_a_generator_that_hangs(client: Client, mute: str) -> None:
    """Rules do the work when the time for models is over, and all three Stop hooks answer before the client goes."""
    done = client.stop(CLAWMEM_LLM_URL=mute)

    assert {one.log for one in done} == {""}
    assert client.memories() == ONCE
    assert client.waiting() == []


# -- The end of a turn when things go wrong around it: what was decided is stored, and stored once.


Moment = Callable[[Client], bool]

DECIDED_LATER = ("And the cache?", "We decided to use Valkey for the cache because its licence is free.")


# -- many at once, and killed --------------------------------------------------------------------------


def test_eight_hooks_at_once(client: Client) -> None:
    """Each answers; what the turn decided is stored once, and one more Stop stores nothing more."""
    names = ("context-surfacing", "session-bootstrap", *AT_STOP, *AT_STOP)

    for running in [client.start(name, prompt=QUESTION, source="") for name in names]:
        running.answer()
    client.ask("handoff-generator")  # whatever came between the last look into the spool and its end

    assert client.memories() == ONCE
    client.ask("decision-extractor")
    assert client.memories() == ONCE
    assert client.waiting() == []


def waits(client: Client) -> bool:
    return any(name.endswith(".job") for name in client.waiting())


def is_in_hand(client: Client) -> bool:
    return any(name.endswith(".taken") for name in client.waiting())


def is_being_written(client: Client) -> bool:
    log = client.vault.with_name(f"{client.vault.name}-wal")
    return is_in_hand(client) and log.exists() and log.stat().st_size > 50_000


def is_stored(client: Client) -> bool:
    return is_in_hand(client) and client.memories()["decision"] > 0


@pytest.mark.parametrize(
    "moment", [waits, pytest.param(is_in_hand, marks=pytest.mark.slow), is_being_written, is_stored]
)
def test_a_stop_that_is_killed(client: Client, moment: Moment) -> None:
    """At whichever moment, a call that nothing happens to finishes it, and nothing is there twice."""
    running = client.start("decision-extractor")
    while running.process.poll() is None and not moment(client):
        time.sleep(0.0005)
    running.kill()

    client.ask("handoff-generator")

    assert client.memories() == ONCE
    assert client.waiting() == []
    client.ask("decision-extractor")
    assert client.memories() == ONCE


def test_a_stop_that_is_killed_again_and_again(client: Client) -> None:
    """What kills whoever does it is given up after three attempts; the next turn's end does it all the same."""
    for _ in range(4):
        running = client.start("decision-extractor")
        while running.process.poll() is None and not is_in_hand(client):
            time.sleep(0.0005)
        running.kill()

    client.ask("handoff-generator")
    client.ask("decision-extractor")

    assert client.memories() == ONCE
    assert client.waiting() == []


def test_a_prompt_that_is_killed(client: Client) -> None:
    """At whichever moment, the vault serves the next one, and no turn is counted twice."""
    for after_s in (0.05, 0.1, 0.2, 0.3):
        running = client.start("context-surfacing", prompt=f"{QUESTION} ({after_s})")
        time.sleep(after_s)
        running.kill()

    assert "notes/redis.md" in client.ask("context-surfacing", prompt=QUESTION).context
    numbers = [turn.turn_index for turn in client.turns()]
    assert numbers == [*range(len(numbers))]


# -- transcripts ---------------------------------------------------------------------------------------


def test_a_transcript_whose_last_line_is_being_written(client: Client) -> None:
    """Half a line is left for the Stop that finds it whole; what stands above it is stored meanwhile, also with half a character."""
    file = transcript(client.conversation, *TURNS, DECIDED_LATER)
    whole = file.read_bytes().replace(b"Postgres", b"Postgres\\ud83d").replace(b"Valkey", b"Valkey\\ud83d")
    file.write_bytes(whole[: whole.index(b"Valkey")])
    client.ask("decision-extractor")
    assert client.texts("decision").count("> We decided to use Postgres") == 1
    file.write_bytes(whole)

    client.ask("decision-extractor")
    stored = client.memories()

    assert client.texts("decision").count("> We decided to use Valkey\ufffd") == 1
    client.ask("decision-extractor")
    assert client.memories() == stored


# -- Hooks over a vault that cannot be used, or not now: an answer all the same, and what was said i


WRITER = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.pragma("locking_mode", sys.argv[2])
connection.execute("begin exclusive; update documents set access_count = access_count + 1")
print("writing", flush=True)
sys.stdin.read()
connection.execute("commit")
"""
NORMAL, EXCLUSIVE = "normal", "exclusive"  # the latter keeps readers out as well


@contextmanager
def another_writes(vault: Path, locking: str = NORMAL) -> Iterator[None]:
    """Meanwhile another process is in the middle of writing."""
    command = [sys.executable, "-c", WRITER, str(vault), locking]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout and writer.stdin
        assert writer.stdout.readline() == b"writing\n"
        yield
        writer.stdin.close()
    assert writer.returncode == 0


def test_a_vault_that_somebody_is_writing(client: Client) -> None:
    """A prompt is answered at once, a compaction when its time is over; a turn that ends meanwhile is stored after."""
    with another_writes(client.vault):
        prompt = client.start("context-surfacing", prompt=QUESTION)
        greeting = client.start("context-surfacing", prompt="hi")
        compaction = client.start("precompact-extract", trigger="auto")
        assert KNOWN in prompt.answer().context
        assert greeting.answer().context == ""
        stops = [client.start(name) for name in AT_STOP]
        compaction.answer()
        assert client.memories() == {}
        state = client.conversation.parent / f"memory/precompact-state-{session_key(client.session)}.md"
        assert "And the tests?" in state.read_text("utf-8")
    for running in stops:
        assert running.answer().log == ""

    assert client.memories() == ONCE
    assert client.waiting() == []


@pytest.mark.slow
def test_a_vault_that_somebody_is_writing_for_long(client: Client) -> None:
    """A Stop gives up after ten seconds; its work waits in the spool, and whichever Stop comes next does it."""
    with another_writes(client.vault):
        assert all("is being written by another process" in one.log for one in client.stop())

    assert client.memories() == {}
    assert len(client.waiting()) == len(AT_STOP)
    client.ask("feedback-loop", session_id="another", transcript_path=str(client.home / "none.jsonl"))
    assert client.memories() == ONCE
    assert client.waiting() == []


@pytest.mark.slow
def test_a_vault_that_keeps_readers_out(client: Client) -> None:
    """Silence in time, from whichever hook; when the other one is done everything is there."""
    with another_writes(client.vault, EXCLUSIVE):
        running = [client.start(name, prompt=QUESTION) for name in ("context-surfacing", *AT_STOP)]
        assert {one.answer().context for one in running} == {""}

    assert KNOWN in client.ask("context-surfacing", prompt=QUESTION).context
    client.stop()
    assert client.memories() == ONCE
    assert client.waiting() == []


def newer(vault: Path) -> None:
    connection = apsw.Connection(str(vault))
    connection.pragma("user_version", 999)
    connection.close()


def a_folder(vault: Path) -> None:
    vault.unlink()
    vault.mkdir()


def cut(vault: Path) -> None:
    vault.write_bytes(vault.read_bytes()[: vault.stat().st_size // 2])


def overwritten(vault: Path) -> None:
    """The header is whole, and so is the schema; what lies behind them is not."""
    content = vault.read_bytes()
    vault.write_bytes(content[:16_384] + b"\xa5" * (len(content) - 16_384))


def garbage(vault: Path) -> None:
    vault.write_bytes(b"not a vault" * 500)


@pytest.mark.parametrize(
    "spoil", [newer, a_folder, pytest.param(cut, marks=pytest.mark.slow), overwritten, garbage]
)
def test_a_vault_that_cannot_be_used(client: Client, spoil: Callable[[Path], None]) -> None:
    """Silence, and the file stays as it is; once the vault is back, the turns that ended meanwhile are stored."""
    good = client.vault.read_bytes()
    spoil(client.vault)
    bad = client.vault.read_bytes() if client.vault.is_file() else None

    for name in ("context-surfacing", "decision-extractor"):
        assert client.ask(name, prompt=QUESTION).context == ""

    assert (client.vault.read_bytes() if client.vault.is_file() else None) == bad
    for rest in client.vault.parent.glob(f"{client.vault.name}*"):
        if rest.is_file() or rest == client.vault:
            rest.rmdir() if rest.is_dir() else rest.unlink()
    client.vault.write_bytes(good)
    client.ask("feedback-loop")
    assert client.memories()["decision"] == ONCE["decision"]
    assert client.waiting() == []


@pytest.mark.skipif(sys.platform != "linux", reason="limits on files are set by a shell of Linux")
@pytest.mark.parametrize(
    "kilobytes", [40, *(pytest.param(size, marks=pytest.mark.slow) for size in (0, 1, 100))]
)
def test_a_disk_that_is_full(client: Client, kilobytes: int) -> None:
    """No file may grow beyond a size, so that each write fails somewhere else; with room again, all is stored once."""
    full = ("bash", "-c", f'ulimit -f {kilobytes}; exec "$@"', "bash")

    for prompt in (QUESTION, "hi"):
        client.ask("context-surfacing", prompt=prompt, under=full)
    stopping = [client.start(name, under=full) for name in AT_STOP]
    assert any(running.answer().log for running in stopping)

    assert KNOWN in client.ask("context-surfacing", prompt=QUESTION, session_id="another").context
    client.stop()
    assert client.memories() == ONCE
    assert client.waiting() == []


# -- Hooks called over and over: nothing is left behind by a call, neither in a process that stays n


MOST_LOG = 5_000_000  # bytes of a write-ahead log
LONG_AGO = "2020-01-01T00:00:00.000Z"
OLD = 100

# Of twenty calls, as a client makes them.
CALLS = [
    *[("context-surfacing", {"prompt": "hi"})] * 8,
    *[("context-surfacing", {"prompt": QUESTION})] * 3,
    *[("pretool-inject", {"tool_input": {"file_path": "/app/redis.md"}})] * 3,
    ("session-bootstrap", {"source": "startup"}),
    ("curator-nudge", {"source": "startup"}),
    ("precompact-extract", {}),
    ("decision-extractor", {}),
    ("handoff-generator", {}),
    ("feedback-loop", {}),
]


class Calls:
    """Calls hooks in this process."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._here = HookContext({**client.environ, "INDEX_PATH": str(client.vault)})
        self._number = 0

    def __call__(self, times: int) -> None:
        for _ in range(times):
            name, fields = CALLS[self._number % len(CALLS)]
            self._number += 1
            asked = (
                {"prompt": f"{fields['prompt']} {self._number}"} if fields.get("prompt") == QUESTION else {}
            )
            told = {"session_id": "5f0c", "transcript_path": str(self._client.conversation)}
            handlers.HANDLERS[name](HookEvent(**{**told, **fields, **asked}), self._here)


def left_behind(client: Client) -> tuple[int, int, list[str]]:
    """Descriptors, threads, and files beside the vault."""
    return len(list(Path("/proc/self/fd").iterdir())), threading.active_count(), files(client)


def files(client: Client) -> list[str]:
    return sorted(path.name for path in client.vault.parent.rglob("*"))


# A model in this process lets go of its file with itself, which is soon enough for descriptors to be counted.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="descriptors are counted there")
@pytest.mark.parametrize("times", [60, pytest.param(2_000, marks=pytest.mark.slow)])
def test_many_calls_in_a_row(client: Client, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """No descriptor, thread or file more than after the first rounds; what is past its retention goes."""
    monkeypatch.setenv("HOME", str(client.home))
    with closing(open_vault(str(client.vault))) as vault:
        for _ in range(OLD):
            vault.telemetry.record(Recall(LONG_AGO, "context-surfacing", "0" * 12, 1.0, 10, session_id="old"))
    call = Calls(client)
    call(2 * len(CALLS))
    before = left_behind(client)

    call(times - 2 * len(CALLS))

    assert left_behind(client) == before
    log = client.vault.with_name(f"{client.vault.name}-wal")
    assert not log.exists() or log.stat().st_size < MOST_LOG
    prompts = sum(fields.get("prompt") == QUESTION for _, fields in CALLS) * times // len(CALLS)
    assert [turn.session_id for turn in client.turns()] == ["5f0c"] * prompts
    assert client.memories() == ONCE
