"""A trial of damages to every file of a vault: what is advised repairs it, and nothing that was forgotten returns."""

from __future__ import annotations

import json
import logging
import os
import random
from collections.abc import Callable, Sequence
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import apsw
import pytest
from command_line import Invoke
from damage_trial import TrialHome

from clawmem.adapters.sqlite.database import PAGE_SIZE


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
        used = [at for at in range(self._pages) if any(self._of(at))]
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

    @property
    def _pages(self) -> int:
        return len(self._content) // PAGE_SIZE

    def _of(self, at: int) -> bytes:
        return self._content[at * PAGE_SIZE : (at + 1) * PAGE_SIZE]

    def _put(self, pages: dict[int, bytes]) -> None:
        content = bytearray(self._content)
        for at, page in pages.items():
            content[at * PAGE_SIZE : (at + 1) * PAGE_SIZE] = page
        self._home.vault.write_bytes(bytes(content))

    def _owner(self, number: int) -> str:
        return self._owners().get(number, "free")

    def _owners(self) -> dict[int, str]:
        saved = str(self._home.saved / self._home.vault.name)
        with closing(apsw.Connection(saved, flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            return {number: name for number, name in connection.execute("select pageno, name from dbstat")}


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
    "sqlite": [
        *_PAGES * 5,
        "cut",
        "cut pages",
        *["header"] * 3,
        *_RECORDS,
        *_CONFIG,
        *_SERVER,
    ],
    "tantivy": [*_UNCHECKED_FILES * 3, *_PAGES[:4]],
    "lancedb": [*_UNCHECKED_FILES * 3, *_PAGES[2:4]],
}


FEW = {
    "sqlite": ["page swapped", "cut pages", "forgotten cut"],
    "tantivy": ["file part", "file deleted"],
}
LOG = logging.getLogger(__name__)


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def make_home(tmp_path: Path, invoke: Invoke, environ: dict[str, str]) -> Callable[[str, int], TrialHome]:
    def make(engine: str, count: int) -> TrialHome:
        return TrialHome(tmp_path, invoke, environ, engine, count)

    return make


@pytest.mark.parametrize("engine", FEW)
def test_some_damages(engine: str, make_home: Callable[[str, int], TrialHome]) -> None:
    """A few damages in a small vault."""
    every_damage_is_repaired(make_home(engine, 20), FEW[engine], seed=5)


@pytest.mark.slow
def test_many_damages(engine: str, make_home: Callable[[str, int], TrialHome]) -> None:
    """A hundred and twenty damages in all; ``TRIAL_SEED`` draws others, ``--log-cli-level=INFO`` lists them."""
    every_damage_is_repaired(make_home(engine, 600), MANY[engine], int(os.environ.get("TRIAL_SEED", "7")))


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
