from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from clawmem.contracts.base import Capability, VaultContract, needs
from clawmem.contracts.samples import (
    DAYS,
    FILLER_WORDS,
    UNKNOWN,
    WHEN,
    WINDOWS,
    any_of,
    entry,
    filler,
    found_by,
    hits_of,
    save,
)
from clawmem.ports.indexes import K1, B
from clawmem.ports.records import EVERYTHING, FragmentKey, Scope
from clawmem.ports.vault import Vault


class LexicalRankingContract(VaultContract):
    """Ranking of entries. Supply ``vault``: an EMPTY ``Vault``."""

    def test_rarer_words_count_more(self, vault: Vault) -> None:
        """Of two entries that match one word each, the one with the rarer word is first."""
        vault.lexical.put([entry(1, "common alpha beta"), entry(2, "rare alpha beta"), *filler()])
        vault.lexical.put([entry(number, "common gamma delta") for number in range(50, 54)])

        assert found_by(vault, "common", "rare")[0] == 2

    def test_shorter_entries_count_more(self, vault: Vault) -> None:
        """Of two entries that contain a word once, the shorter is first."""
        vault.lexical.put([entry(1, "budget " + "plain " * 30), entry(2, "budget plain"), *filler()])

        assert found_by(vault, "budget") == [2, 1]

    def test_repeated_words_count_more(self, vault: Vault) -> None:
        """Of two entries of equal length, the one with more occurrences of the word is first."""
        vault.lexical.put([entry(1, "budget plain plain"), entry(2, "budget budget plain"), *filler()])

        assert found_by(vault, "budget") == [2, 1]

    def test_titles_count_more(self, vault: Vault) -> None:
        """Of two entries of equal length, the one with the word in its title is first."""
        vault.lexical.put(
            [entry(1, "budget plain", title="other"), entry(2, "other plain", title="budget"), *filler()]
        )

        assert found_by(vault, "budget") == [2, 1]

    def test_more_of_the_words_count_more(self, vault: Vault) -> None:
        """Of entries of equal length, the one that matches more of the words is first."""
        vault.lexical.put(
            [entry(1, "spring plain"), entry(2, "spring budget"), entry(3, "plain budget"), *filler()]
        )

        assert found_by(vault, "spring", "budget")[0] == 2

    def test_scores_are_positive_and_tell_apart(self, vault: Vault) -> None:
        """Scores are positive, in descending order, and differ between entries of different length."""
        vault.lexical.put([entry(number, "budget " + "plain " * number) for number in range(1, 9)])
        vault.lexical.put(filler())

        scores = [hit.score for hit in hits_of(vault, any_of("budget"))]

        assert len(set(scores)) == 8
        assert scores == sorted(scores, reverse=True)
        assert scores[-1] > 0

    def test_equal_words_are_ordered_by_key(self, vault: Vault) -> None:
        """Entries with equal words have equal scores and are ordered by document, then fragment."""
        shuffled = [(2, 10), (10, 0), (1, 3), (2, 9), (1, 0)]
        vault.lexical.put([entry(number, "budget plain", seq=seq) for number, seq in shuffled])
        vault.lexical.put(filler())

        hits = hits_of(vault, any_of("budget"))

        assert [hit.key for hit in hits] == sorted(FragmentKey(*pair) for pair in shuffled)
        assert [hit.score for hit in hits] == pytest.approx([hits[0].score] * 5)

    @needs(Capability.BM25)
    def test_scores_are_bm25(self, vault: Vault) -> None:
        """Scores equal the port's formula, computed by hand, for words in text and title, together and separately."""
        vault.lexical.put(
            [
                entry(1, "budget plain plain"),
                entry(2, "budget budget spring plain plain plain"),
                entry(3, "spring plain", title="budget"),
                *filler(),
            ]
        )
        total = 3 + len(FILLER_WORDS)
        average = (3 + 6 + 3 + 3 * len(FILLER_WORDS)) / total

        def part(holding: int, tf: int, length: int) -> float:
            """Return the BM25 contribution of one term."""
            rarity = math.log(1 + (total - holding + 0.5) / (holding + 0.5))
            return rarity * tf * (K1 + 1) / (tf + K1 * (1 - B + B * length / average))

        found = {hit.key.document_id: hit.score for hit in hits_of(vault, any_of("budget", "spring"))}

        expected = {1: part(3, 1, 3), 2: part(3, 2, 6) + part(2, 1, 6), 3: part(3, 2, 3) + part(2, 1, 3)}
        assert found == pytest.approx(expected, rel=0.12)  # an engine may count a title word twice in length
        assert sorted(found, key=found.__getitem__) == sorted(expected, key=expected.__getitem__)

    def test_limit(self, vault: Vault) -> None:
        """The best *limit* hits are returned; below 1 there are none."""
        vault.lexical.put([entry(number, "budget " + "plain " * number) for number in (3, 1, 2)])

        for limit, expected in ((-1, 0), (0, 0), (1, 1), (2, 2), (3, 3), (4, 3)):
            assert found_by(vault, "budget", limit=limit) == [1, 2, 3][:expected], limit


class LexicalScopeContract(VaultContract):
    """
    Restriction of a search by scope. Supply ``vault``: an EMPTY ``Vault``.

    Each entry belongs to a saved document of the same collection, so an index may filter by either.
    """

    def test_small_collection_is_never_short(self, vault: Vault) -> None:
        """All entries of a small collection are found, even if better ones exist in other collections."""
        put_all(vault, [("budget", f"c{number % 4}", WHEN) for number in range(50)])
        ids = [put(vault, "budget " + "plain " * 40, "small") for _ in range(3)]

        assert found_by(vault, "budget", limit=3, scope=scope("small")) == ids
        assert found_by(vault, "budget", limit=5, scope=scope("small")) == ids

    def test_several_collections(self, vault: Vault) -> None:
        """
        A scope of several collections finds exactly their entries; an unknown one finds nothing; an empty scope finds
        all.
        """
        a, b, c = (put(vault, "budget", name) for name in "abc")

        assert found_by(vault, "budget", scope=scope("a", "c")) == [a, c]
        assert found_by(vault, "budget", scope=scope("nowhere")) == []
        assert found_by(vault, "budget", scope=EVERYTHING) == [a, b, c]

    def test_collections_are_told_apart_exactly(self, vault: Vault) -> None:
        """Collections are compared exactly: not by prefix, without case, or with pattern characters."""
        names = ["note", "notes", "Notes", "my notes", 'no"tes', "no'tes", "no_es", "日記"]
        ids = put_all(vault, [("budget", name, WHEN) for name in names])

        assert [found_by(vault, "budget", scope=scope(name)) for name in names] == [
            [number] for number in ids
        ]

    @needs(Capability.BM25)
    def test_scope_does_not_change_scores(self, vault: Vault) -> None:
        """An entry has the same score with and without a scope: statistics cover all entries of a granularity."""
        put(vault, "budget plain", "a")
        put(vault, "budget", "b")
        vault.lexical.put(filler())

        (alone,) = hits_of(vault, any_of("budget"), scope=scope("a"))

        both = {hit.key: hit.score for hit in hits_of(vault, any_of("budget"))}
        assert alone.score == pytest.approx(both[alone.key])

    def test_authored_window(self, vault: Vault) -> None:
        """A time window includes its beginning and excludes its end."""
        ids = put_all(vault, [("budget " + "plain " * 9, "notes", day) for day in DAYS])
        put_all(vault, [("budget", "notes", "2020-01-01T00:00:00.000Z")] * 50)

        for window, expected in WINDOWS:
            found = found_by(vault, "budget", limit=3, scope=window)
            assert found == [ids[number] for number in expected], window

    def test_named_documents_alone(self, vault: Vault) -> None:
        """A scope of documents finds only these documents, even if better ones exist; an empty set finds nothing."""
        first, second, third = put_all(vault, [("budget " + "plain " * 9, "notes", day) for day in DAYS])
        put_all(vault, [("budget", "notes", DAYS[0])] * 50)

        assert found_by(vault, "budget", limit=3, scope=Scope(documents=frozenset({third, first}))) == [
            first,
            third,
        ]
        both = Scope(authored_until=DAYS[2], documents=frozenset({second, third}))
        assert found_by(vault, "budget", limit=3, scope=both) == [second]
        assert found_by(vault, "budget", scope=Scope(documents=frozenset({UNKNOWN}))) == []
        assert found_by(vault, "budget", scope=Scope(documents=frozenset())) == []


def put(vault: Vault, text: str, collection: str, authored_at: str = WHEN) -> int:
    """Save a new document with one lexical entry and return its id."""
    return put_all(vault, [(text, collection, authored_at)])[0]


def put_all(vault: Vault, texts: Sequence[tuple[str, str, str]]) -> list[int]:
    """Save a new document for each text, collection and time, with one lexical entry; return their ids."""
    entries = []
    for text, collection, authored_at in texts:
        place = f"{len(vault.documents.sources(collection))}.md"
        saved = save(vault, place, text, collection=collection, authored_at=authored_at)
        entries.append(entry(saved, text, collection=collection, authored_at=authored_at))
    vault.lexical.put(entries)
    return [number.key.document_id for number in entries]


def scope(*collections: str) -> Scope:
    """Return a scope of exactly these collections."""
    return Scope(frozenset(collections))
