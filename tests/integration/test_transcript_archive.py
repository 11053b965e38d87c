"""The archive of transcripts next to the vault: what a session leaves in it, how it is read, bounded and forgotten."""

from __future__ import annotations

import gzip
import json
import os
import stat
from pathlib import Path

import pytest
from command_line import Invoke, ask_json, configure
from hook_process import transcript

from clawmem.app.environment.private_files import transcript_folder
from clawmem.app.interfaces.hooks.handlers import HANDLERS, HookContext
from clawmem.app.interfaces.hooks.protocol import HookEvent

EVENTS = json.loads((Path(__file__).parents[1] / "data" / "agent_events.json").read_text("utf-8"))
KEY = "AKIA" + "IOSFODNN7EXAMPLQ"  # of a cloud
DECIDED = "We decided to use Postgres for the queue because one database is enough."
TURNS = (("Where should the queue live?", DECIDED), (f"The deploy key is {KEY}.", "I read it."))


class Archive:
    """Sessions of a client that come to an end, and what is archived of them."""

    def __init__(self, home: Path, environ: dict[str, str]) -> None:
        self.home, self.environ = home, environ
        self.folder = transcript_folder(home / ".cache/clawmem/index.sqlite")

    def end(self, name: str, *turns: tuple[str, str]) -> Path:
        """Let the session *name* stop after *turns*; return its transcript."""
        file = transcript(self.home / f".claude/projects/{name}.jsonl", *turns)
        self.stop(name, file)
        return file

    def stop(self, name: str, file: Path) -> None:
        event = HookEvent("Stop", session_id=name, cwd=str(self.home), transcript_path=str(file))
        HANDLERS["decision-extractor"](event, HookContext(self.environ))

    def files(self) -> list[Path]:
        return sorted(self.folder.glob("*/*.jsonl.gz"))

    def text(self) -> str:
        return "".join(gzip.decompress(file.read_bytes()).decode() for file in self.files())


@pytest.fixture
def archive(home: Path, environ: dict[str, str], remembered: Invoke) -> Archive:
    return Archive(home, environ)


def test_a_session_that_goes_on_is_one_private_file_without_secrets(archive: Archive) -> None:
    """Each line once, damaged ones and images left out; the file of the client is not changed."""
    file = archive.end("5f0c", *TURNS[:1])
    image = json.dumps({"type": "user", "uuid": "i", "message": {"role": "user", "content": "iVBO" * 2_000}})
    again = transcript(archive.home / "again.jsonl", *TURNS).read_text("utf-8").splitlines(keepends=True)
    with file.open("a", encoding="utf-8") as out:
        out.write(
            "".join([*again[2:], "{no JSON\n", "[" * 9_999 + "\n", f"{image}\n", '{"type": "user", "half'])
        )
    archive.stop("5f0c", file)
    archive.stop("5f0c", file)

    [archived] = archive.files()
    assert stat.S_IMODE(archived.stat().st_mode) == 0o600
    assert stat.S_IMODE(archive.folder.stat().st_mode) == 0o700
    lines = [json.loads(line) for line in archive.text().splitlines()]
    assert [line["uuid"] for line in lines] == ["0-user", "0-assistant", "1-user", "1-assistant", "i"]
    assert KEY in file.read_text("utf-8") and KEY not in archive.text()
    assert "redacted" in lines[2]["message"]["content"] and "left out: 8000" in lines[4]["message"]["content"]


@pytest.mark.parametrize("more", [0, 9])
def test_a_transcript_that_is_written_again_loses_nothing(archive: Archive, more: int) -> None:
    """What a client compacted stays, and what it wrote instead is added, whether that is shorter or longer."""
    file = archive.end("5f0c", *TURNS[:1])
    later = ("Which train?", f"The one at the third platform. {'It is slow. ' * 99 * more}")
    file.unlink()
    transcript(file, later, ("And back?", "By bus."))

    archive.stop("5f0c", file)

    assert [DECIDED in archive.text(), "Which train?" in archive.text(), "By bus." in archive.text()] == [
        True
    ] * 3


@pytest.mark.parametrize("agent", ["claude-code", "codex", "gemini"])
def test_mine_reads_the_same_documents(archive: Archive, remembered: Invoke, agent: str) -> None:
    """From the archive after the client deleted its file, as from the file itself; also without a path."""
    file = transcript(archive.home / "5f0c.jsonl", *TURNS)
    lines = "".join(f"{json.dumps(line)}\n" for line in EVENTS[agent]["lines"])
    if agent != "claude-code":
        file.write_text(
            lines.replace('"ANSWER"', json.dumps(DECIDED)).replace('"SESSION"', '"5f0c"'), "utf-8"
        )
    remembered("mine", file, "-c", "original")
    archive.stop("5f0c", file)
    file.unlink()
    done = remembered("mine", "-c", "archived")

    assert done.exit_code == 0, done.output
    texts = [
        [(note["title"], note["file"].partition("/")[2], note["authored_at"]) for note in notes]
        for collection in ("original", "archived")
        for notes in [ask_json(remembered, "list", "-c", collection)["documents"]]
    ]
    assert texts[0] == texts[1] and len(texts[0]) == 1


def test_what_is_forgotten_is_in_no_transcript(archive: Archive, remembered: Invoke) -> None:
    """Those that say it are deleted, the proof names them, and the session that goes on is not archived again."""
    file = archive.end("5f0c", *TURNS)
    archive.end("77aa", ("Which train goes to the airport?", "The one at the third platform."))
    [memory] = [
        note["file"]
        for note in ask_json(remembered, "list", "-c", "_clawmem")["documents"]
        if note["title"] in DECIDED
    ]
    said, other = (
        archive.files()
        if "Postgres" in gzip.decompress(archive.files()[0].read_bytes()).decode()
        else (archive.files()[::-1])
    )

    done = remembered("forget", memory, "--yes", "--prove")
    assert done.exit_code == 0, done.output
    assert f"deleted: {said}" in done.output and "transcripts: nothing" in done.output
    archive.stop("5f0c", file)
    assert archive.files() == [other]


def test_the_oldest_go_beyond_the_limit(archive: Archive, remembered: Invoke) -> None:
    """Of 1 MB for three sessions of half of it the first is deleted; with 0 none is kept; doctor names them."""
    configure(archive.home, "transcripts_mb: 1")
    for number in range(3):
        noise = os.urandom(330_000).hex(" ", 8)
        archive.end(f"s{number}", ("Read it.", noise))
        for file in archive.files():
            os.utime(file, ns=(file.stat().st_mtime_ns - 10**9,) * 2)
    assert {file.name for file in archive.files()} == {"s1.jsonl.gz", "s2.jsonl.gz"}
    assert "ok    transcripts: 2 archived" in remembered("doctor").output

    config = archive.home / ".config/clawmem/config.yaml"
    config.write_text(config.read_text("utf-8").replace("transcripts_mb: 1", "transcripts_mb: 0"), "utf-8")
    archive.end("s4", *TURNS)
    assert archive.files() == []


@pytest.mark.parametrize(
    "content", [b"no gzip", gzip.compress(b'{"type": "user"}' * 9, mtime=0)[:-9]], ids=["plain", "cut"]
)
def test_damaged_archives_are_reported(archive: Archive, remembered: Invoke, content: bytes) -> None:
    """By mine, in a sentence; forgetting deletes them, because nobody knows what they say."""
    archive.end("5f0c", *TURNS)
    archive.files()[0].write_bytes(content)
    assert "5f0c.jsonl.gz" in remembered("mine", archive.folder).output
    assert remembered("forget", "decisions/2026-02-11-redis.md", "--yes").exit_code == 0
    assert not archive.files()
