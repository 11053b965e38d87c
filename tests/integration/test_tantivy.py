from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmem.adapters.tantivy.lexical_index import TantivyLexicalIndex
from clawmem.contracts.samples import any_of, entry
from clawmem.ports.records import EVERYTHING, Grain, LexicalEntry, Marker, Scope, Term

HERE = Marker("vault-1", 7, "e7")
STEMS = "bel cor dan fin gor hal kin lum mar nor pel rus sol tav".split()
ENDINGS = "ab ane ing ote ure ives omic ation ly er".split()
VOCABULARY = [stem + ending for stem in STEMS for ending in ENDINGS]
Open = Callable[..., TantivyLexicalIndex]


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    """Opens the index in the folder ``lexical``, or another one."""

    def open_index(name: str = "lexical", *, read_only: bool = False) -> TantivyLexicalIndex:
        return TantivyLexicalIndex(str(tmp_path / name), read_only=read_only)

    return open_index


@pytest.fixture
def index(opened: Open) -> TantivyLexicalIndex:
    return opened()


class TestRanking:
    def test_after_deletions(self, index: TantivyLexicalIndex, opened: Open) -> None:
        """Counts stay exact, and scores come within a few per cent."""
        chance = random.Random(8)
        final = {e.key: e for e in made_up(range(300), chance, grains=[Grain.PASSAGE])}
        index.put(list(final.values()))
        for _ in range(12):
            changed = made_up(chance.sample(range(250), 5), chance, grains=[Grain.PASSAGE])
            final |= {e.key: e for e in changed}
            index.put(changed)
        once = opened("once")
        once.put(list(final.values()))

        for word in VOCABULARY[:20]:
            expected = once.search(any_of(word), Grain.PASSAGE, 1000)
            found = {hit.key: hit.score for hit in index.search(any_of(word), Grain.PASSAGE, 1000)}
            assert found == pytest.approx({hit.key: hit.score for hit in expected}, rel=0.1)
            assert index.holding(Term(word), Grain.PASSAGE) == len(expected)


class TestText:
    @pytest.mark.parametrize(("length", "expected"), [(60_000, [2, 1]), (70_000, [2])])
    def test_endless_words(self, index: TantivyLexicalIndex, length: int, expected: list[int]) -> None:
        """A word too long for tantivy is left out, and disturbs neither the rest of its text nor a question."""
        index.put([entry(1, f"budget {'x' * length} spring"), entry(2, "harbour")])

        assert ids(index, "spring") == [1]
        assert ids(index, "x" * length, "harbour") == expected


class TestPlace:
    def test_a_reader_writes_nothing(self, index: TantivyLexicalIndex, opened: Open, tmp_path: Path) -> None:
        """Opening for reading, and everything that reads, leaves every file as it was."""
        with index.committing(HERE):
            index.put([entry(1, "budget", grain=grain) for grain in Grain])
        before = files(tmp_path)

        reader = opened(read_only=True)
        assert (ids(reader, "budget"), reader.marker(), reader.faults()) == ([1], HERE, [])

        assert files(tmp_path) == before

    def test_merging_keeps_it_small(self, index: TantivyLexicalIndex, tmp_path: Path) -> None:
        """After very many small commits, some of which replace, the files are still few."""
        for number in range(40):
            index.put([entry(number % 25, "budget plain " * 5)])

        parts = {file.stem.split(".")[0] for file in (tmp_path / "lexical/passage").iterdir()}
        assert index.count(Grain.PASSAGE) == 25
        assert len(parts) < 16


def made_up(
    numbers: list[int] | range, chance: random.Random, grains: list[Grain] | None = None
) -> list[LexicalEntry]:
    """Two entries at each grain for each document, without titles, whose words tantivy counts twice in the length."""
    return [
        entry(number, text_of(chance.randint(3, 30), chance), seq=seq, grain=grain)
        for number in numbers
        for grain in grains or [Grain.LINE, Grain.DOCUMENT]
        for seq in range(2)
    ]


def text_of(length: int, chance: random.Random) -> str:
    """Made-up words, some of them frequent and most of them rare."""
    places = (min(len(VOCABULARY) - 1, int(chance.expovariate(1 / 30))) for _ in range(length))
    return " ".join(VOCABULARY[place] for place in places)


def ids(index: TantivyLexicalIndex, *words: str, scope: Scope = EVERYTHING) -> list[int]:
    return [hit.key.document_id for hit in index.search(any_of(*words), Grain.PASSAGE, 100, scope)]


def files(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every file below a folder: identity, time and content."""
    return {
        os.fspath(path): (path.stat().st_ino, path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
