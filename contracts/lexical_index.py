import math
from collections.abc import Iterable, Sequence
from itertools import chain

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
from clawmem.ports.records import EVERYTHING, FragmentKey, Grain, Hit, LexicalEntry, LexicalQuery, Scope, Term
from clawmem.ports.vault import Vault

# All examples of a run share one store, and all inheriting suites share one test function.
any_text = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
)


SAME_WORDS = (
    ("BUDGET", "budget"),
    ("Café", "cafe", "café", "cafe\u0301"),
    ("ÜBERGRÖSSE", "übergrösse"),
    ("naïve", "naive"),
    ("ДОМ", "дом"),
    ("66",),
    ("東京",),
    ("京都",),
)
SEPARATED = {  # texts, and words that each text alone consists of
    "before_compaction": "before compaction",
    "state-of-the-art": "state art",
    "src/search/index.py": "search index py",
    "ann@example.org": "example",
    "«budget»,spring;(summer)": "budget spring summer",
    "it's": "it s",
    "v1.2.3": "v1 2 3",
}


def assert_told_apart(vault: Vault, groups: Sequence[Sequence[str]]) -> None:
    """Index every word, and check that a word finds exactly the words of its group."""
    numbers = {word: number for number, word in enumerate(chain(*groups))}
    vault.lexical.put([entry(number, word) for word, number in numbers.items()])

    for group in groups:
        for word in group:
            assert sorted(found_by(vault, word)) == [numbers[word] for word in group], word


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


class LexicalContract(VaultContract):
    """
    Matching, ranking, scopes and changes of entries at every granularity. Supply ``vault``: an EMPTY ``Vault``.

    Each entry that a scope restricts belongs to a saved document of the same collection, so an index may filter by either.
    """

    def test_case_and_diacritics_do_not_matter(self, vault: Vault) -> None:
        """Words, also digits, match regardless of case and of the diacritics of Latin letters, in every script."""
        assert_told_apart(vault, SAME_WORDS)

    def test_all_else_separates(self, vault: Vault) -> None:
        """Every character that is neither letter nor digit separates words, underscores and hyphens included."""
        vault.lexical.put([entry(number, text) for number, text in enumerate(SEPARATED)])

        for number, terms in enumerate(SEPARATED.values()):
            assert found_by(vault, *terms.split(), every=True) == [number], terms

    @needs(Capability.STEMMING)
    def test_inflections_meet(self, vault: Vault) -> None:
        """English words match by their stem, in both directions; the forms of function words match themselves alone."""
        inflected = [("running", "run"), ("budgets", "budget"), ("connected", "connection")]
        assert_told_apart(vault, [*inflected, ("ines", "ine"), ("inqx",), ("canned",), ("canqx",)])

    @needs(Capability.PREFIX)
    def test_prefix_stands_for_every_word_with_it(self, vault: Vault) -> None:
        """A prefix term matches words that begin with it, itself included, but none that contain it elsewhere."""
        vault.lexical.put(
            [entry(1, "compact"), entry(2, "compass"), entry(3, "subcompact"), entry(4, "comp")]
        )

        assert sorted(found_by(vault, Term("comp", prefix=True))) == [1, 2, 4]
        assert found_by(vault, Term("compac", prefix=True)) == [1]

    @needs(Capability.PREFIX)
    @needs(Capability.STEMMING)
    def test_prefix_keeps_the_stem(self, vault: Vault) -> None:
        """A prefix term matches at least the entries that the same whole word matches."""
        vault.lexical.put([entry(1, "run"), entry(2, "running"), entry(3, "harbour")])

        assert sorted(found_by(vault, Term("running", prefix=True))) == [1, 2]

    @needs(Capability.PHRASE)
    def test_phrase_means_neighbours_in_order(self, vault: Vault) -> None:
        """
        A term with spaces matches adjacent words in the same order, but not scattered ones.

        The last word of the title and the first of the text are not adjacent; two words within the title are.
        """
        vault.lexical.put(
            [
                entry(1, "the spring budget is tight"),
                entry(2, "the budget spring is tight"),
                entry(3, "spring came, and with it the budget"),
                entry(4, "a spring-budget meeting"),
                entry(5, "budget", title="spring"),
                entry(6, "tight", title="spring budget"),
            ]
        )

        assert sorted(found_by(vault, "spring budget")) == [1, 4, 6]

    def test_every_and_any(self, vault: Vault) -> None:
        """With `every` all words must match, in title or text; without it one is enough."""
        vault.lexical.put(
            [
                entry(1, "spring budget"),
                entry(2, "budget", title="spring"),
                entry(3, "spring"),
                entry(4, "noon"),
            ]
        )

        assert sorted(found_by(vault, "spring", "budget", every=True)) == [1, 2]
        assert sorted(found_by(vault, "spring", "budget")) == [1, 2, 3]

    def test_no_word_no_hit(self, vault: Vault) -> None:
        """
        A term without a letter or digit alone matches nothing and raises nothing; next to a word it is ignored.

        Quotes, stars, parentheses, colons and signs in a term are separators, not operators.
        """
        vault.lexical.put(
            [entry(1, 'budget * " ( ) - ^ ... — % 🐝'), entry(2, "budgetary"), entry(3, "harbour")]
        )

        for text in ("", " ", "*", '"', '""', "()", "-", "^", "...", "—", "%", "\x00", "🐝"):
            for term in (Term(text), Term(text, prefix=True)):
                assert found_by(vault, term) == [], term
                assert found_by(vault, term, "budget") == [1], term
        for text in ('"budget"', "budget*", "(budget)", "budget:", "-budget", "+budget", "^budget"):
            assert found_by(vault, text) == [1], text

    def test_asked_again_and_again(self, vault: Vault) -> None:
        """Repeated queries have equal results, and new results after every change of the index."""
        vault.lexical.put([entry(1, "anvil anvil quince"), entry(2, "anvil"), *filler()])
        query = any_of("anvil", "quince")

        first = hits_of(vault, query)
        assert [hits_of(vault, query) for _ in range(5)] == [first] * 5
        vault.lexical.put([entry(3, "quince quince anvil quince")])
        assert sorted(found_by(vault, "anvil", "quince")) == [1, 2, 3]
        # The number of entries and of matches changed.
        assert hits_of(vault, query)[-1].score != first[-1].score
        vault.lexical.remove(1)
        assert sorted(found_by(vault, "anvil", "quince")) == [2, 3]
        vault.lexical.clear()
        assert hits_of(vault, query) == []

    @any_text
    @given(text=st.text(), terms=st.lists(st.text(), max_size=4), prefix=st.booleans(), every=st.booleans())
    def test_any_text_can_be_asked(
        self, vault: Vault, text: str, terms: list[str], prefix: bool, every: bool
    ) -> None:
        """No text or term raises an error, and every score is a positive number."""
        vault.lexical.put([entry(1, text), entry(2, " ".join(terms))])

        hits = hits_of(vault, LexicalQuery(tuple(Term(term, prefix=prefix) for term in terms), every=every))

        assert all(0 < hit.score < math.inf for hit in hits)

    @pytest.mark.parametrize(
        ("entries", "terms"),
        [
            (
                [
                    entry(1, "common alpha beta"),
                    entry(2, "rare alpha beta"),
                    *(entry(number, "common gamma delta") for number in range(50, 54)),
                ],
                ("common", "rare"),
            ),
            ([entry(1, "budget plain plain"), entry(2, "budget budget plain")], ("budget",)),
            ([entry(1, "budget plain", title="other"), entry(2, "other plain", title="budget")], ("budget",)),
            (
                [entry(1, "spring plain"), entry(2, "spring budget"), entry(3, "plain budget")],
                ("spring", "budget"),
            ),
        ],
        ids=["rarer words", "repeated words", "titles", "more of the words"],
    )
    def test_what_counts_more(
        self, vault: Vault, entries: Sequence[LexicalEntry], terms: Sequence[str]
    ) -> None:
        """Of entries of equal length, that with the rarer word is first, or with more occurrences or words, or in its title."""
        vault.lexical.put([*entries, *filler()])

        assert found_by(vault, *terms)[0] == 2

    def test_scores_are_positive_and_tell_apart(self, vault: Vault) -> None:
        """
        Scores are positive, in descending order, and differ between entries of different length.

        The best *limit* hits are returned; below 1 there are none.
        """
        vault.lexical.put([entry(number, "budget " + "plain " * number) for number in range(1, 9)])
        vault.lexical.put(filler())
        for limit, expected in ((-1, 0), (0, 0), (1, 1), (2, 2), (8, 8), (9, 8)):
            assert found_by(vault, "budget", limit=limit) == [*range(1, 9)][:expected], limit

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
            rarity = math.log(1 + (total - holding + 0.5) / (holding + 0.5))
            return rarity * tf * (K1 + 1) / (tf + K1 * (1 - B + B * length / average))

        found = {hit.key.document_id: hit.score for hit in hits_of(vault, any_of("budget", "spring"))}

        expected = {1: part(3, 1, 3), 2: part(3, 2, 6) + part(2, 1, 6), 3: part(3, 2, 3) + part(2, 1, 3)}
        assert found == pytest.approx(expected)
        assert sorted(found, key=found.__getitem__) == sorted(expected, key=expected.__getitem__)

    def test_small_collection_is_never_short(self, vault: Vault) -> None:
        """All entries of a small collection are found, even if better ones exist in other collections."""
        put_all(vault, [("budget", f"c{number % 4}", WHEN) for number in range(50)])
        ids = put_all(vault, [("budget " + "plain " * 40, "small", WHEN)] * 3)

        assert found_by(vault, "budget", limit=3, scope=scope("small")) == ids
        assert found_by(vault, "budget", limit=5, scope=scope("small")) == ids

    def test_several_collections(self, vault: Vault) -> None:
        """Several collections find exactly their entries; an unknown one finds nothing; an empty scope finds all."""
        a, b, c = put_all(vault, [("budget", name, WHEN) for name in "abc"])

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
        put_all(vault, [("budget plain", "a", WHEN), ("budget", "b", WHEN)])
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

    def test_put_replaces(self, vault: Vault) -> None:
        """Adding a key again at the same granularity replaces its words and title, and it counts once."""
        vault.lexical.put([entry(1, "spring", title="old")])

        vault.lexical.put([entry(1, "autumn", title="new")])

        assert [found_by(vault, word) for word in ("spring", "old", "autumn", "new")] == [[], [], [1], [1]]
        assert vault.lexical.count(Grain.PASSAGE) == 1

    def test_wordless_entry_counts(self, vault: Vault) -> None:
        """An entry without any word is counted, matches nothing, and does not affect other entries."""
        vault.lexical.put([entry(1, ""), entry(2, "---")])
        assert found_by(vault, "budget") == []

        vault.lexical.put([entry(3, "budget")])

        assert (found_by(vault, "budget"), vault.lexical.count(Grain.PASSAGE)) == ([3], 3)

    def test_remove_at_every_grain(self, vault: Vault) -> None:
        """Removing a document deletes all its entries, of every fragment and granularity, and no others."""
        for grain in Grain:
            vault.lexical.put([entry(n, "budget", seq=seq, grain=grain) for n in (1, 11) for seq in (0, 1)])

        vault.lexical.remove(1)

        for grain in Grain:
            assert found_by(vault, "budget", grain=grain) == [11, 11], grain
            assert vault.lexical.count(grain) == 2

    def test_grains_are_searched_apart(self, vault: Vault) -> None:
        """One key holds a different text at each granularity; a search uses one granularity."""
        texts = dict(zip(Grain, ("spring", "summer", "autumn"), strict=True))
        vault.lexical.put([entry(1, text, grain=grain) for grain, text in texts.items()])

        for grain, text in texts.items():
            assert [other for other in texts.values() if found_by(vault, other, grain=grain)] == [text]
            assert vault.lexical.count(grain) == 1

    def test_grains_have_their_own_statistics(self, vault: Vault) -> None:
        """A word that becomes common at one granularity keeps its scores at the others."""
        vault.lexical.put([entry(1, "budget plain"), *filler()])
        before = hits_of(vault, any_of("budget"))

        vault.lexical.put([entry(n, "budget " * 20, grain=Grain.LINE) for n in range(60)])

        assert_alike(hits_of(vault, any_of("budget")), before)

    @needs(Capability.STEMMING)
    def test_holding_counts_entries(self, vault: Vault) -> None:
        """Entries with any inflection of the term in title or text are counted once, at one granularity."""
        vault.lexical.put([entry(1, "budget budget", title="budgets"), entry(2, "budgets"), *filler()])
        vault.lexical.put([entry(1, "budget", grain=Grain.LINE)])

        held = [vault.lexical.holding(Term(word), Grain.PASSAGE) for word in ("budget", "nothing", "spring")]

        assert held == [2, len(filler()), 0]
        assert vault.lexical.holding(Term("BUDGET"), Grain.LINE) == 1
        assert vault.lexical.holding(Term("—"), Grain.PASSAGE) == 0

    def test_clear_empties_and_can_be_filled_again(self, vault: Vault) -> None:
        """Clearing empties every granularity, statistics included; entries added again rank as before."""
        entries = [entry(1, "budget plain"), entry(2, "budget budget"), *filler()]
        vault.lexical.put([*entries, *(entry(n, "budget", grain=Grain.LINE) for n in range(9))])
        before = hits_of(vault, any_of("budget"))

        vault.lexical.clear()

        assert [vault.lexical.count(grain) for grain in Grain] == [0] * len(Grain)
        assert found_by(vault, "budget") == []
        vault.lexical.put(entries)
        assert_alike(hits_of(vault, any_of("budget")), before)


def assert_alike(hits: Iterable[Hit], expected: Iterable[Hit]) -> None:
    """Assert the same keys in the same order with the same scores, except for rounding."""
    hits, expected = list(hits), list(expected)
    assert [hit.key for hit in hits] == [hit.key for hit in expected]
    assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in expected])
