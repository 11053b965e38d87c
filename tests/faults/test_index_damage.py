"""Damage to one page or file of an index: it is noticed, and the first command that is advised repairs it."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import apsw
import pytest
from command_line import Invoke
from typer.testing import Result

from clawmem.adapters.sqlite.database import PAGE_SIZE

Damage = Callable[[bytes, random.Random], bytes | None]

EXAMPLES = Path(__file__).parents[2] / "examples/notes/decisions"
FORGOTTEN_FILE = "decisions/2026-04-28-pricing-tiers.md"
OWN_PAGES = "select pageno from dbstat where name glob 'lexical_*' or name glob 'vector_*'"
REWRITTEN = "latest_version_hint.json"  # LanceDB does without it, and neither reads it as true nor repairs it
QUESTIONS = (("search", "queue"), ("vsearch", "queue"), ("query", "when did the queue leave redis"))
SOUND = "Files, records and indexes agree.\n"
ADVICE = re.compile(r"Run: clawmem ([a-z][a-z-]*)")
ENGINES = (
    "sqlite",
    "tantivy",
    pytest.param("lancedb", marks=pytest.mark.skipif(not find_spec("lancedb"), reason="needs lancedb")),
)


def zeroed(content: bytes, chance: random.Random) -> bytes:
    """Nothing but zeros."""
    return bytes(len(content))


def noise(content: bytes, chance: random.Random) -> bytes:
    """Anything."""
    return chance.randbytes(len(content))


def cut(content: bytes, chance: random.Random) -> bytes:
    """The first half."""
    return content[: len(content) // 2]


def deleted(content: bytes, chance: random.Random) -> None:
    """No file at all."""


class Damaged(NamedTuple):
    """One damage: which bytes of which file become what."""

    file: Path
    begin: int
    end: int
    damage: Damage

    def inflict(self, chance: random.Random) -> None:
        """Damage the file."""
        content = self.file.read_bytes()
        part = content[self.begin : self.end]
        spoilt = self.damage(part, chance)
        if spoilt == part:  # zeros in the place of zeros
            spoilt = noise(part, chance)
        if spoilt is None:
            self.file.unlink()
        else:
            self.file.write_bytes(content[: self.begin] + spoilt + content[self.end :])


class Home:
    """A home with a vault of the example notes, whose indexes *engine* keeps, changed and forgotten notes among them."""

    def __init__(self, place: Path, invoke: Invoke, engine: str) -> None:
        self.vault = place / "vault.sqlite"
        self.indexes = Path(f"{self.vault}.indexes")
        self._saved = place / "saved"
        self._invoke = invoke
        self._engine = engine
        shutil.copytree(EXAMPLES, place / "notes/decisions")
        assert invoke("--backend", engine, "update", "--embed").exit_code == 0
        (place / "notes/hub.md").write_text("# Hub\n\nThe queue is described elsewhere.\n", "utf-8")
        assert invoke("update", "--embed").exit_code == 0
        assert invoke("forget", "--yes", f"notes/{FORGOTTEN_FILE}").exit_code == 0
        assert invoke("verify").stdout == SOUND  # which lets the indexes catch up
        self.healthy = self.answers()
        assert not any("degraded" in result.stderr for result in self.healthy.values())
        self._save()

    def answers(self) -> Mapping[tuple[str, ...], Result]:
        """The answer to every question."""
        return {question: self.invoke(*question) for question in QUESTIONS}

    def invoke(self, *command: str) -> Result:
        """A command, which ends with an exit code whatever is broken."""
        result = self._invoke(*command)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    def damages(self, chance: random.Random) -> Iterator[Damaged]:
        """Random damages to the indexes, without end."""
        targets = self._pages() if self._engine == "sqlite" else self._files()
        while True:
            yield chance.choice(targets)

    def restore(self) -> None:
        """Put everything back as it was before the first damage."""
        for leftover in self.vault.parent.glob("vault.sqlite[-.][wsdri]*"):
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
        shutil.copy2(self._saved / "vault", self.vault)
        if (self._saved / "indexes").exists():
            shutil.copytree(self._saved / "indexes", self.indexes)

    def _save(self) -> None:
        self._saved.mkdir()
        shutil.copy2(self.vault, self._saved / "vault")
        if self.indexes.exists():
            shutil.copytree(self.indexes, self._saved / "indexes")

    def _pages(self) -> list[Damaged]:
        connection = apsw.Connection(str(self.vault), flags=apsw.SQLITE_OPEN_READONLY)
        numbers = [number for (number,) in connection.execute(OWN_PAGES)]
        connection.close()
        return [
            Damaged(self.vault, (number - 1) * PAGE_SIZE, number * PAGE_SIZE, damage)
            for number in numbers
            for damage in (zeroed, noise)
        ]

    def _files(self) -> list[Damaged]:
        files = [file for file in sorted(self.indexes.rglob("*")) if file.is_file() and file.stat().st_size]
        return [
            Damaged(file, 0, file.stat().st_size, damage)
            for file in files
            if file.name != REWRITTEN
            for damage in (zeroed, noise, cut, deleted)
        ]


@pytest.fixture(params=ENGINES)
def home(tmp_path: Path, invoke: Invoke, request: pytest.FixtureRequest) -> Home:
    return Home(tmp_path, invoke, request.param)


def test_some_damages(home: Home) -> None:
    """A few damages to each engine's index."""
    every_damage_is_repaired(home, 1)


@pytest.mark.slow
def test_many_damages(home: Home) -> None:
    """A hundred damages to each engine's index."""
    every_damage_is_repaired(home, 100)


def every_damage_is_repaired(home: Home, number: int) -> None:
    """Damage the index, look, follow the first advice, and look again; *number* times."""
    chance = random.Random(17)
    for _, damaged in zip(range(number), home.damages(chance), strict=False):
        name = (damaged.file.name, damaged.begin // PAGE_SIZE + 1, damaged.damage.__name__)
        home.restore()
        damaged.inflict(chance)

        answers = home.answers()
        verified = home.invoke("verify")

        for answer in answers.values():
            assert answer.exit_code == 0, (name, answer.output)
            assert answer.stdout.strip(), name
        told = "".join(result.stderr for result in answers.values()) + verified.output
        if advised := ADVICE.search(told):
            assert advised[1] == "rebuild", (name, told)
            assert home.invoke("rebuild").exit_code == 0, name
        else:  # the check has repaired it already, or no answer depends on it
            assert verified.stdout == SOUND, name
        assert home.invoke("verify").stdout == SOUND, name
        for question, answer in home.answers().items():
            assert (answer.stdout, answer.stderr) == (home.healthy[question].stdout, ""), (name, question)
    assert "FAIL" not in home.invoke("doctor").stdout
