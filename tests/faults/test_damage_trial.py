"""A trial of damages to every file of a vault: what is advised repairs it, and nothing that was forgotten returns."""

from __future__ import annotations

import json
import logging
import os
import random
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from unittest.mock import ANY

import apsw
import pytest
from command_line import Invoke
from hook_process import ask, transcript
from typer.testing import Result
from wired import memory_writer

from clawmem.adapters.sqlite.database import PAGE_SIZE
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.adapters.system.clock import SystemClock

WRITTEN_S = 1_780_000_000
THINGS = ("anchor", "ledger", "kettle", "mast", "garden", "harbour", "lantern", "printer", "quarry", "saddle")
ROOMS = ("attic", "cellar", "depot", "foundry", "granary", "kiln", "mill", "shed", "studio", "tannery")
ACTS = ("painted", "counted", "moved", "repaired", "sold", "weighed")
PEOPLE = ("Ottilie Brandt", "Haruka Mori", "Ida Solberg", "Per Lund", "Ann Becker", "Tomas Reyes")
PINNED = "notes/ledger/0014.md"
FORGOTTEN = {"kettle/terms.md": "quokkaberry", "mast/terms.md": "numbatweed", "attic.md": "bilbyroot"}
SECRET_MEMORY = ("decisions/secret.md", "# Secret\n\nThe wallabyfern plan was dropped.\n", "wallabyfern")
SECRETS = (*FORGOTTEN.values(), SECRET_MEMORY[2])
MEMORIES = {
    f"decisions/{thing}.md": f"# Choice of the {thing}\n\nWe chose the {room} for the {thing} of {who}.\n"
    for thing, room, who in zip(THINGS, ROOMS, PEOPLE * 2, strict=False)
}
DIARY = ("Walked the numbat round the lake.", "Varnished the dinghy with Per Lund.")
TALK = (
    ("Where should the sails of the dinghy dry?", "In the attic, away from the kiln."),
    ("And the spar varnish?", "We decided to keep it in the cellar because it is cool."),
)
FACTS = (("Ida Solberg", "owns", "the dinghy"), ("Haruka Mori", "keeps", "the ledger"))
SOUND = "Files, records and indexes agree.\n"
LOSS = re.compile(r"^(?:Lost:|Text lost|Text damaged)[^\n]*", re.MULTILINE)
# What may differ after a repair that names such a loss; answers may differ after any.
EXCUSES = {
    "facts": r"names \(|facts \(|diary entries|captured memories, and",
    "pins": r"pins|diary entries",
    "diary": r"Text lost|Text damaged|diary entries|captured memories, and",
    "list": r"Text lost|Text damaged|diary entries|captured memories, and",
    "texts": r"Text lost|Text damaged|diary entries|captured memories, and",
    "forgotten": r"(?!)",
}
# In its log a hook tells of its deadline.
LATE = re.compile(r"[^\n]*(?:Nothing answered within|deadline)[^\n]*\n?")
LOOKS = (("search", "anchor ledger"), ("query", "who painted the mast?"), ("doctor", "--verify"))
STEPS, TRIES = 30, 5  # texts that are lost are given up one by one


class Outcome(NamedTuple):
    """What one damage led to: who noticed it, the commands that were run, and what is wrong in the end."""

    damage: str
    noticed: Sequence[str]
    steps: Sequence[str]
    losses: Sequence[str]
    wrong: Sequence[str]


class TrialHome:
    """A home with a vault of *count* notes, whose indexes *engine* keeps; every kind of content is in it."""

    def __init__(self, place: Path, invoke: Invoke, environ: dict[str, str], engine: str, count: int) -> None:
        self.vault = place / "vault.sqlite"
        self.indexes = Path(f"{self.vault}.indexes")
        self.config = place / "home/.config/clawmem/config.yaml"
        self.engine = engine
        self._place = place
        self._invoke = invoke
        self._environ = {**environ, "CLAWMEM_PROFILE": "deep"}  # which has the longest deadline
        self.saved, self.older, self.recent = place / "saved", place / "older", place / "recent"
        self._write_notes(count)
        self._build()
        self._save(self.saved)
        self.questions = [*_questions()][: count // 4]  # a small vault has to be quick
        self.healthy: dict[str, object] = {}
        self.healthy = self.state()
        self.restore()

    # -- content ------------------------------------------------------------------------------------

    def _write_notes(self, count: int) -> None:
        chance = random.Random(1)
        for number in range(count):
            thing, room, who, act = (chance.choice(them) for them in (THINGS, ROOMS, PEOPLE, ACTS))
            thing = THINGS[number // 10 % len(THINGS)]
            other = f"{THINGS[number // 7 % len(THINGS)]}/{max(0, number - 9):04}"
            text = (
                f"# Note {number:04} on the {thing}\n\n{who} {act} the {thing} in the {room} on day {number}.\n\n"
                f"See [[{other}]]. The {chance.choice(ROOMS)} holds {chance.randrange(90)} crates of type "
                f"T{number % 50}.\n\n## Plan\n\nNext, {chance.choice(PEOPLE)} takes over the {chance.choice(THINGS)}.\n"
            )
            self._write(f"{thing}/{number:04}.md", text)
        for path, word in FORGOTTEN.items():
            self._write(
                path, f"# Terms\n\nThe {word} list of the {path[:4]} was a mistake, and is not kept.\n"
            )

    def _write(self, path: str, text: str) -> None:
        file = self._place / "notes" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        os.utime(file, (WRITTEN_S, WRITTEN_S))

    def _build(self) -> None:
        self.done("--backend", self.engine, "update", "--embed")
        with closing(open_vault(str(self.vault))) as vault, vault.transactions.writing():
            memories = memory_writer(vault, SystemClock())
            for path, text in [*MEMORIES.items(), SECRET_MEMORY[:2]]:
                memories.write(path, text[2 : text.index("\n")], text, "decision", 0.8)
        self.done("mine", transcript(self._place / "talk.jsonl", *TALK))
        people = [
            {
                "id": who,
                "text": f"{who} sails.",
                "facts": [{"subject": who, "predicate": predicate, "object": other, "kind": "person"}],
            }
            for who, predicate, other in FACTS
        ]
        lines = "".join(f"{json.dumps(person)}\n" for person in people)
        (self._place / "memories.jsonl").write_text(lines, "utf-8")
        self.done("import", "jsonl", self._place / "memories.jsonl")
        self._save(self.older)
        for entry in DIARY:
            self.done("diary", "write", entry)
        self.done("pin", PINNED)
        for path in (*(f"notes/{path}" for path in FORGOTTEN), f"_clawmem/{SECRET_MEMORY[0]}"):
            self.done("forget", "--yes", path)
        self.done("maintain", "enrich")
        self.done("embed")
        self._save(self.recent)
        self._write("late.md", "# Late\n\nThe platypus report came late.\n")
        self.done("update", "--embed")
        assert self.call("doctor", "--verify").stdout == SOUND

    # -- commands -----------------------------------------------------------------------------------

    def call(self, *command: object) -> Result:
        """Run a command, which ends with an exit code whatever is broken."""
        result = self._invoke(*command)
        assert isinstance(result.exception, SystemExit | None), (command, result.exception)
        return result

    def done(self, *command: object) -> Result:
        result = self.call(*command)
        assert result.exit_code == 0, (command, result.output)
        return result

    def hook(self, prompt: str, expected: object = None) -> tuple[str, str]:
        """
        Return the context that the hook adds to *prompt*, and its log.

        A machine that has much to do may be too slow for a part of it, so the hook is asked until it answers as
        *expected*, or as before.
        """
        told = {"hook_event_name": "UserPromptSubmit", "prompt": prompt}
        for number in range(TRIES):
            told["session_id"] = f"trial-{number}"
            done = ask(self._environ, self._place / "home", "context-surfacing", told)
            assert done.code == 0
            if not LATE.search(done.log) and done.context == expected:
                break
            expected = expected or done.context
        return done.context, LATE.sub("", done.log)

    # -- files --------------------------------------------------------------------------------------

    def restore(self) -> None:
        """Put everything back as it was before the first damage."""
        for leftover in self.vault.parent.glob("vault.sqlite*"):
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
        for kept in self.saved.iterdir():
            target = self.config if kept.name == self.config.name else self._place / kept.name
            shutil.copytree(kept, target) if kept.is_dir() else shutil.copy2(kept, target)

    def _save(self, folder: Path) -> None:
        with closing(apsw.Connection(str(self.vault))) as connection:
            connection.execute("pragma wal_checkpoint(truncate)").fetchall()
        folder.mkdir()
        for kept in [self.config, *self.vault.parent.glob("vault.sqlite*")]:
            if kept.is_dir():
                shutil.copytree(kept, folder / kept.name)
            elif not kept.name.endswith(("-wal", "-shm")):
                shutil.copy2(kept, folder / kept.name)

    # -- looks --------------------------------------------------------------------------------------

    def state(self) -> dict[str, object]:
        """Return the answers, lists and probes that no repair may change."""
        found: dict[str, object] = {" ".join(one): self._places(*one) for one in self.questions}
        listed = json.loads(self.done("list", "--json", "-n", 2000).stdout)["documents"]
        found["list"] = sorted(one["file"] for one in listed)
        with closing(open_vault(str(self.vault), read_only=True)) as vault:
            found["pins"] = sorted(one.display_path for one in vault.documents.latest() if one.pinned)
            found["texts"] = {
                one.display_path: vault.documents.body(one.id) or ""
                for one in vault.documents.latest()
                if "/profile" not in one.path
            }
            found["facts"] = sorted(
                map(repr, vault.storage.db.rows("select predicate, valid_from from triples"))
            )
        found["diary"] = sorted(one for one in DIARY if one in self.done("diary", "read").stdout)
        prompt = "What did we choose for the anchor and the ledger, and where is the mast?"
        found["hook"] = self.hook(prompt, self.healthy.get("hook"))[0]
        found["forgotten"] = self._returned()
        return found

    def _places(self, *question: str) -> list[str]:
        answer = self.call(*question, "--json")
        assert answer.exit_code == 0, (question, answer.output)
        return [one["file"] for one in json.loads(answer.stdout)["results"]]

    def _returned(self) -> list[str]:
        """Return what is left of forgotten notes."""
        asked = " ".join(SECRETS)
        said = {
            f"search {word}": self.call("search", word).stdout.replace(f"for: {word}", "") for word in SECRETS
        }
        said["query"] = self.call("query", asked).stdout.replace(f"for: {asked}", "")
        said["hook"] = self.hook(f"What is on the lists {asked}, and why was it a mistake?", ANY)[0]
        back = [name for name, text in said.items() if any(word in text for word in SECRETS)]
        files = [self.vault, *(file for file in self.indexes.rglob("*") if file.is_file())]
        return back + [
            f"{file.name} has {w}" for file in files for w in SECRETS if f"{w} ".encode() in file.read_bytes()
        ]

    # -- the trial ----------------------------------------------------------------------------------

    def trial(self, damage: str) -> Outcome:
        """Look at the damaged vault, follow what is advised, and compare."""
        noticed, said = self._look()
        if str(self.config) in said:  # only its owner can correct it
            advised = re.findall(r"Correct it, or move the file aside", said)
            shutil.copy2(self.saved / self.config.name, self.config)
            return Outcome(damage, noticed, advised[:1], [], self._wrong([], self._look()[1]))
        steps, losses = [], []
        for _ in range(STEPS):
            advised = advice(said)
            if not advised:
                break
            steps.append(" ".join(advised))
            if "PATH" in advised:  # of a folder that is missing, because the config file names another
                shutil.copy2(self.saved / self.config.name, self.config)
                said = self._look()[1]
                break
            asks = ["--yes"] if advised[0] in ("doctor", "forget") else []
            output = self.call(*advised, *asks).output
            losses += LOSS.findall(output)
            said = self._look()[1]
        return Outcome(damage, noticed, steps, losses, self._wrong(losses, said))

    def _look(self) -> tuple[list[str], str]:
        noticed, told = [], ""
        for command in LOOKS:
            result = self.call(*command)
            text = result.stderr if command[0] != "doctor" else result.output.replace(SOUND, "")
            if result.exit_code or text.strip():
                noticed.append(command[0])
                told += f"{text}\n"
        log = self.hook("Where is the mast of Ottilie Brandt now?", ANY)[1]
        if "clawmem" in log:  # libraries of an index may log, too
            noticed.append("hook")
            told += f"{log}\n"
        return noticed, told

    def _wrong(self, losses: Sequence[str], said: str) -> list[str]:
        wrong = [f"still said: {said.strip()[:300]}"] if said.strip() else []
        self.call("update")  # which reads every file, also those of forgotten notes
        try:
            now = self.state()
        except AssertionError as error:
            return [*wrong, f"unusable: {str(error)[:300]}"]
        for name, before in self.healthy.items():
            excuse = re.search(EXCUSES.get(name, ""), "\n".join(losses)) if losses else None
            if now[name] != before and not excuse:
                wrong.append(f"{name}: {before!r:.1000} is now {now[name]!r:.1000}")
        return wrong


def advice(text: str) -> list[str]:
    """Return the first command that *text* advises, as words; empty if it advises none."""
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("ok "))
    found = re.search(r"[Rr]un: clawmem ([^\n]*)", lines)
    words: list[str] = []
    for word in re.findall(r'"[^"]*"|\S+', found[1] if found else ""):
        if word.startswith("("):
            break
        bare = word.rstrip(".,;")
        words.append(bare.strip('"'))
        if bare != word:
            break
    return words


def _questions() -> Iterator[tuple[str, str]]:
    for at, (thing, room) in enumerate(zip(THINGS, reversed(ROOMS), strict=True)):
        yield ("query", f"who painted the {thing} in the {room}?")
        yield (("search", f"{thing} {room}"), ("query", "--mode", "vectors", f"crates in the {room}"))[at % 2]


class Damages:
    """Damages of one home, drawn from a seed; each changes one file."""

    def __init__(self, home: TrialHome, seed: int) -> None:
        self._home = home
        self._chance = random.Random(seed)
        self._content = home.vault.read_bytes()

    def inflict(self, kind: str) -> str:
        """Damage something; return a description."""
        name, _, how = kind.partition(" ")
        return f"{self._home.engine} {kind}: {getattr(self, f'_{name}')(how)}"

    def _page(self, how: str) -> str:
        used = [at for at in range(len(self._content) // PAGE_SIZE) if any(self._of(at))]
        at = self._chance.choice(used)
        page = bytearray(self._of(at))
        if how == "swapped":
            other = self._chance.choice([one for one in used if one != at])
            self._put({at: self._of(other), other: self._of(at)})
            return f"pages {at + 1} and {other + 1}"
        if how == "older":
            old = (self._home.older / self._home.vault.name).read_bytes()
            changed = [
                n for n in used if len(o := old[n * PAGE_SIZE : (n + 1) * PAGE_SIZE]) > 0 and o != self._of(n)
            ]
            at = self._chance.choice(changed)
            page = bytearray(old[at * PAGE_SIZE : (at + 1) * PAGE_SIZE])
        elif how == "noise":
            page = bytearray(self._chance.randbytes(PAGE_SIZE))
        elif how == "zeroed":
            page = bytearray(PAGE_SIZE)
        elif how == "part":  # 512 bytes, as a sector
            begin = 512 * self._chance.randrange(PAGE_SIZE // 512)
            page[begin : begin + 512] = self._chance.randbytes(512)
        else:
            self._flip(page)
        self._put({at: bytes(page)})
        return f"page {at + 1}, {self._owner(at + 1)}"

    def _cut(self, how: str) -> str:
        size = self._chance.randrange(1, len(self._content))
        size = size // PAGE_SIZE * PAGE_SIZE if how == "pages" else size
        self._home.vault.write_bytes(self._content[:size])
        return f"{size} of {len(self._content)} bytes"

    def _header(self, how: str) -> str:
        content = bytearray(self._content)
        at = self._chance.randrange(100)
        content[at : at + 4] = self._chance.randbytes(4)
        self._home.vault.write_bytes(bytes(content))
        return f"bytes {at} to {at + 3}"

    def _file(self, how: str) -> str:
        files = [
            file for file in sorted(self._home.indexes.rglob("*")) if file.is_file() and file.stat().st_size
        ]
        if how == "part":  # of a column of numbers, nobody notices a few wrong bytes
            files = [file for file in files if file.suffix != ".fast"]
        if how == "older":
            files = [file for file in files if self._older(file) not in (None, file.read_bytes())] or files
        return self._spoil(self._chance.choice(files), how)

    def _forgotten(self, how: str) -> str:
        return self._spoil(Path(f"{self._home.vault}.forgotten"), how)

    def _config(self, how: str) -> str:
        return self._spoil(self._home.config, how)

    def _server(self, how: str) -> str:
        file = Path(f"{self._home.vault}.server")
        file.write_text(json.dumps({"pid": 1, "port": 1, "url": "http://127.0.0.1:1"}), "utf-8")
        return self._spoil(file, how)

    def _spoil(self, file: Path, how: str) -> str:
        content = bytearray(file.read_bytes())
        if how == "deleted":
            file.unlink()
            return file.name
        if how == "noise":
            content[:] = self._chance.randbytes(len(content))
        elif how == "part":
            begin = self._chance.randrange(len(content))
            part = content[begin : begin + 64]
            content[begin : begin + len(part)] = self._chance.randbytes(len(part))
        elif how == "cut":
            del content[self._chance.randrange(len(content)) :]
        elif how == "older":
            content = bytearray(self._older(file) or b"")
        else:
            self._flip(content)
        file.write_bytes(bytes(content))
        return str(file.relative_to(self._home.vault.parent))

    def _older(self, file: Path) -> bytes | None:
        kept = self._home.older if file.parent == self._home.vault.parent else self._home.recent
        old = kept / file.relative_to(self._home.vault.parent)
        return old.read_bytes() if old.exists() else None

    def _flip(self, content: bytearray) -> None:
        content[self._chance.choice([at for at, byte in enumerate(content) if byte])] ^= (
            1 << self._chance.randrange(8)
        )

    def _of(self, at: int) -> bytes:
        return self._content[at * PAGE_SIZE : (at + 1) * PAGE_SIZE]

    def _put(self, pages: dict[int, bytes]) -> None:
        content = bytearray(self._content)
        for at, page in pages.items():
            content[at * PAGE_SIZE : (at + 1) * PAGE_SIZE] = page
        self._home.vault.write_bytes(bytes(content))

    def _owner(self, number: int) -> str:
        saved = str(self._home.saved / self._home.vault.name)
        with closing(apsw.Connection(saved, flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            return dict(connection.execute("select pageno, name from dbstat")).get(number, "free")


ENGINES = (
    "sqlite",
    "tantivy",
    pytest.param("lancedb", marks=pytest.mark.skipif(not find_spec("lancedb"), reason="needs lancedb")),
)
_PAGES = [f"page {how}" for how in ("noise", "zeroed", "swapped", "older", "part", "flipped")]
_FILES = [f"file {how}" for how in ("noise", "part", "cut", "deleted", "flipped", "older")]
# tantivy's binding compares no checksums and LanceDB writes none, so one wrong bit may stay unnoticed.
_UNCHECKED_FILES = [kind for kind in _FILES if kind != "file flipped"]
_RECORDS = [f"forgotten {how}" for how in ("noise", "part", "cut", "deleted", "flipped", "older")]
_CONFIG = [f"config {how}" for how in ("noise", "part", "cut", "deleted", "flipped")]
_SERVER = [f"server {how}" for how in ("noise", "cut", "flipped")]
MANY = {
    "sqlite": [*_PAGES * 5, "cut", "cut pages", *["header"] * 3, *_RECORDS, *_CONFIG, *_SERVER],
    "tantivy": [*_UNCHECKED_FILES * 3, *_PAGES[:4]],
    "lancedb": [*_UNCHECKED_FILES * 3, *_PAGES[2:4]],
}
LOG = logging.getLogger(__name__)


def test_some_damages(tmp_path: Path, invoke: Invoke, environ: dict[str, str]) -> None:
    """A few damages in a small vault."""
    home = TrialHome(tmp_path, invoke, environ, "tantivy", 16)
    every_damage_is_repaired(home, ["cut pages", "file part"], seed=5)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_many_damages(tmp_path: Path, invoke: Invoke, environ: dict[str, str], engine: str) -> None:
    """A hundred and twenty damages in all; ``TRIAL_SEED`` draws others, ``--log-cli-level=INFO`` lists them."""
    home = TrialHome(tmp_path, invoke, environ, engine, 600)
    every_damage_is_repaired(home, MANY[engine], int(os.environ.get("TRIAL_SEED", "7")))


def every_damage_is_repaired(home: TrialHome, kinds: Sequence[str], seed: int) -> None:
    """Damage the vault in one place after the other, and follow the advice."""
    wrong = []
    for number, kind in enumerate(kinds):
        home.restore()
        outcome = home.trial(Damages(home, seed * 1000 + number).inflict(kind))
        LOG.info("%s", outcome)
        if outcome.wrong:
            wrong.append(outcome)
    assert wrong == []
