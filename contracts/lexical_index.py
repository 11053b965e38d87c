from __future__ import annotations

import math
from collections.abc import Iterable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clawmem.contracts.base import VaultContract, needs
from clawmem.contracts.samples import all_of, any_of, entry, save
from clawmem.ports.capability import Capability
from clawmem.ports.lexical_index import LexicalIndex
from clawmem.ports.records import (
    EVERYTHING,
    FragmentKey,
    Grain,
    Hit,
    LexicalEntry,
    LexicalQuery,
    Scope,
    Term,
)
from clawmem.ports.vault import Vault

FILLER = (
    "granite",
    "harbour",
    "lantern",
    "meadow",
    "orchard",
    "pebble",
    "quarry",
    "ribbon",
    "saddle",
    "timber",
)

# One store serves all examples of a run, and one test function all the suites that inherit it.
any_text = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
)


class LexicalMatchingContract(VaultContract):
    """Which words meet. Supply ``vault``: an EMPTY ``Vault``."""

    def test_a_word_finds_its_entry(self, vault: Vault) -> None:
        """
        A word finds the entries that hold it and no other.

        If this fails: nothing is indexed, or the query is not restricted to its words.
        """
        vault.lexical.put([entry(1, "The budget for spring."), entry(2, "The harbour at noon.")])

        assert found(vault, "budget") == [1]
        assert found(vault, "winter") == []

    def test_hits_carry_the_key(self, vault: Vault) -> None:
        """
        A hit names the document and the fragment it was put in with.

        If this fails: the row number is returned, or `seq` is lost.
        """
        vault.lexical.put([entry(7, "budget", seq=3)])

        assert [hit.key for hit in search(vault, any_of("budget"))] == [FragmentKey(7, 3)]

    @pytest.mark.parametrize(
        ("text", "term"),
        [
            ("BUDGET", "budget"),
            ("budget", "BUDGET"),
            ("Café", "cafe"),
            ("cafe", "café"),
            ("cafe\u0301", "café"),
            ("ÜBERGRÖSSE", "übergrösse"),
            ("naïve", "naive"),
            ("ДОМ", "дом"),
            ("route 66", "66"),
            ("東京 京都", "東京"),
            ("東京 京都", "京都"),
        ],
    )
    def test_case_and_diacritics_do_not_matter(self, vault: Vault, text: str, term: str) -> None:
        """
        Words meet without regard to case and to the diacritics of Latin letters, in every script.

        If this fails: the tokenizer needs `unicode61 remove_diacritics 2`, or folds ASCII only.
        """
        vault.lexical.put([entry(1, text), entry(2, "harbour")])

        assert found(vault, term) == [1]

    @pytest.mark.parametrize(
        ("text", "terms"),
        [
            ("before_compaction", "before compaction"),
            ("state-of-the-art", "state art"),
            ("src/search/index.py", "search index py"),
            ("ann@example.org", "example"),
            ("«budget»,spring;(summer)", "budget spring summer"),
            ("it's", "it s"),
            ("v1.2.3", "v1 2 3"),
        ],
    )
    def test_all_else_separates(self, vault: Vault, text: str, terms: str) -> None:
        """
        Whatever is neither letter nor digit stands between words, underscores and hyphens included.

        If this fails: the tokenizer has extra token characters.
        """
        vault.lexical.put([entry(1, text), entry(2, "harbour")])

        assert found(vault, *terms.split(), every=True) == [1]

    def test_a_part_of_a_word_is_no_word(self, vault: Vault) -> None:
        """
        A word is found whole: not by its beginning, its middle or its end.

        If this fails: terms are matched as substrings, or `prefix` is taken for granted.
        """
        vault.lexical.put([entry(1, "harbour")])

        assert [found(vault, part) for part in ("harb", "arbou", "bour")] == [[], [], []]

    @needs(Capability.STEMMING)
    @pytest.mark.parametrize(
        ("text", "term"),
        [("running", "run"), ("run", "running"), ("budgets", "budget"), ("connected", "connection")],
    )
    def test_inflections_meet(self, vault: Vault, text: str, term: str) -> None:
        """
        English words meet by their stem, in both directions.

        If this fails: the stemmer is missing, or applied to the texts and not to the terms.
        """
        vault.lexical.put([entry(1, text), entry(2, "harbour")])

        assert found(vault, term) == [1]

    @needs(Capability.PREFIX)
    def test_prefix_stands_for_every_word_with_it(self, vault: Vault) -> None:
        """
        A prefix term finds the words that begin with it, itself included, and not those that contain it.

        If this fails: the star is inside the quotes, or the match is a substring.
        """
        vault.lexical.put(
            [entry(1, "compact"), entry(2, "compass"), entry(3, "subcompact"), entry(4, "comp")]
        )

        assert sorted(found(vault, Term("comp", prefix=True))) == [1, 2, 4]
        assert found(vault, Term("compac", prefix=True)) == [1]

    @needs(Capability.PREFIX)
    @needs(Capability.STEMMING)
    def test_prefix_keeps_the_stem(self, vault: Vault) -> None:
        """
        A prefix term meets at least what it would meet as a whole word.

        If this fails: prefix terms bypass the stemmer that the texts went through.
        """
        vault.lexical.put([entry(1, "run"), entry(2, "running"), entry(3, "harbour")])

        assert sorted(found(vault, Term("running", prefix=True))) == [1, 2]

    @needs(Capability.PREFIX)
    def test_prefix_folds_like_a_word(self, vault: Vault) -> None:
        """
        Case and diacritics do not matter in a prefix either.

        If this fails: the prefix is compared with raw words.
        """
        vault.lexical.put([entry(1, "Éclairage"), entry(2, "harbour")])

        assert found(vault, Term("ecl", prefix=True)) == found(vault, Term("ÉCL", prefix=True)) == [1]

    @needs(Capability.PHRASE)
    def test_phrase_means_neighbours_in_order(self, vault: Vault) -> None:
        """
        A term with spaces finds its words side by side, in their order, and not scattered ones.

        If this fails: the term is split into words that are looked for apart.
        """
        vault.lexical.put(
            [
                entry(1, "the spring budget is tight"),
                entry(2, "the budget spring is tight"),
                entry(3, "spring came, and with it the budget"),
                entry(4, "a spring-budget meeting"),
            ]
        )

        assert sorted(found(vault, "spring budget")) == [1, 4]

    @needs(Capability.PHRASE)
    def test_phrase_does_not_cross_from_title_to_text(self, vault: Vault) -> None:
        """
        The last word of the title and the first of the text are no neighbours; a phrase in the title is one.

        If this fails: title and text are joined into one field.
        """
        vault.lexical.put([entry(1, "budget", title="spring"), entry(2, "tight", title="spring budget")])

        assert found(vault, "spring budget") == [2]

    @needs(Capability.PHRASE)
    def test_phrase_beside_words(self, vault: Vault) -> None:
        """
        A phrase and a word together: with `every` both must be there.

        If this fails: a phrase turns off how the other terms are joined.
        """
        vault.lexical.put(
            [entry(1, "spring budget, harbour"), entry(2, "spring budget"), entry(3, "harbour")]
        )

        assert found(vault, "spring budget", "harbour", every=True) == [1]
        assert sorted(found(vault, "spring budget", "harbour")) == [1, 2, 3]

    def test_every_and_any(self, vault: Vault) -> None:
        """
        With `every` all words must be there, in title or text; without it one is enough.

        If this fails: the terms are joined with the other operator, or per field.
        """
        vault.lexical.put(
            [
                entry(1, "spring budget"),
                entry(2, "budget", title="spring"),
                entry(3, "spring"),
                entry(4, "noon"),
            ]
        )

        assert sorted(found(vault, "spring", "budget", every=True)) == [1, 2]
        assert sorted(found(vault, "spring", "budget")) == [1, 2, 3]

    def test_title_is_searched(self, vault: Vault) -> None:
        """
        A word of the title finds the entry whose text lacks it.

        If this fails: only the text is indexed.
        """
        vault.lexical.put([entry(1, "tight", title="Budget › Spring")])

        assert found(vault, "budget") == found(vault, "spring") == [1]

    @pytest.mark.parametrize("term", ["", " ", "*", '"', '""', "()", "-", "^", "...", "—", "%", "\x00", "🐝"])
    def test_no_word_no_hit(self, vault: Vault, term: str) -> None:
        """
        A term without a letter or digit finds nothing and raises nothing, alone; beside a word it is void.

        If this fails: the term becomes an empty or unbalanced expression of the engine.
        """
        vault.lexical.put([entry(1, 'budget * " ( ) - ^ ... — % 🐝')])

        for prefix in (False, True):
            assert found(vault, Term(term, prefix=prefix)) == []
            assert found(vault, Term(term, prefix=prefix), "budget") == [1]

    def test_no_terms_no_hits(self, vault: Vault) -> None:
        """
        Without terms nothing is found, neither for any of none nor for every one of none.

        If this fails: an empty condition is taken for one that always holds.
        """
        vault.lexical.put([entry(1, "budget")])

        assert search(vault, any_of()) == search(vault, all_of()) == []

    @pytest.mark.parametrize(
        "term", ['"budget"', "budget*", "(budget)", "budget:", "-budget", "+budget", "^budget"]
    )
    def test_signs_around_a_word_mean_nothing(self, vault: Vault, term: str) -> None:
        """
        Quotes, stars, parentheses, colons and signs in a term are separators, not operators.

        If this fails: the term reaches the engine's query language unquoted.
        """
        vault.lexical.put([entry(1, "budget"), entry(2, "budgetary"), entry(3, "harbour")])

        assert found(vault, term) == [1]

    @pytest.mark.parametrize("term", ["and", "or", "not", "near", "AND", "OR", "NOT", "NEAR", "title", "to"])
    def test_operators_are_words(self, vault: Vault, term: str) -> None:
        """
        A word that is an operator or a field in some engine is a word like any other.

        If this fails: quote every term.
        """
        vault.lexical.put([entry(1, f"harbour {term} lantern"), entry(2, "harbour lantern")])

        assert found(vault, term) == found(vault, term, "harbour", every=True) == [1]

    @any_text
    @given(text=st.text(), terms=st.lists(st.text(), max_size=4), prefix=st.booleans(), every=st.booleans())
    def test_any_text_can_be_asked(
        self, vault: Vault, text: str, terms: list[str], prefix: bool, every: bool
    ) -> None:
        """
        Whatever stands in a text or a term, nothing is raised and every score is a positive number.

        If this fails: replay the example; most often a quote, a NUL or a lone operator is not escaped.
        """
        vault.lexical.put([entry(1, text), entry(2, " ".join(terms))])

        hits = search(vault, LexicalQuery(tuple(Term(term, prefix=prefix) for term in terms), every=every))

        assert all(0 < hit.score < math.inf for hit in hits)

    @any_text
    @given(words=st.lists(st.text("abcdefghij0123456789äßжλ東京", min_size=1), min_size=1, max_size=5))
    def test_every_word_finds_its_own_text(self, vault: Vault, words: list[str]) -> None:
        """
        Letters and digits of any script, put in as text, are found by each of their words.

        If this fails: terms are split or folded by other rules than texts.
        """
        vault.lexical.put([entry(1, ", ".join(words))])

        assert found(vault, *words, every=True) == [1]


class LexicalRankingContract(VaultContract):
    """Which entry is better. Supply ``vault``: an EMPTY ``Vault``."""

    def test_rarer_words_count_more(self, vault: Vault) -> None:
        """
        Of two entries with one of the words each, the one with the rarer word is first.

        If this fails: there is no inverse document frequency, or it is cut off at a common value.
        """
        vault.lexical.put([entry(1, "common alpha beta"), entry(2, "rare alpha beta"), *filler()])
        vault.lexical.put([entry(number, "common gamma delta") for number in range(50, 54)])

        assert found(vault, "common", "rare")[0] == 2

    def test_shorter_entries_count_more(self, vault: Vault) -> None:
        """
        Of two entries with a word once each, the shorter is first.

        If this fails: length is not normalised (b = 0), or not stored.
        """
        vault.lexical.put([entry(1, "budget " + "plain " * 30), entry(2, "budget plain"), *filler()])

        assert found(vault, "budget") == [2, 1]

    def test_repeated_words_count_more(self, vault: Vault) -> None:
        """
        Of two entries of one length, the one that says the word more often is first.

        If this fails: only presence is indexed, not frequency.
        """
        vault.lexical.put([entry(1, "budget plain plain"), entry(2, "budget budget plain"), *filler()])

        assert found(vault, "budget") == [2, 1]

    def test_titles_count_more(self, vault: Vault) -> None:
        """
        Of two entries of one length, the one with the word in its title is first.

        If this fails: the title weighs like the text; see `TITLE_WEIGHT`.
        """
        vault.lexical.put(
            [entry(1, "budget plain", title="other"), entry(2, "other plain", title="budget"), *filler()]
        )

        assert found(vault, "budget") == [2, 1]

    def test_more_of_the_words_count_more(self, vault: Vault) -> None:
        """
        Of entries of one length, the one with more of the words is first.

        If this fails: the best word's score is taken instead of the sum.
        """
        vault.lexical.put(
            [entry(1, "spring plain"), entry(2, "spring budget"), entry(3, "plain budget"), *filler()]
        )

        assert found(vault, "spring", "budget")[0] == 2

    def test_scores_are_positive_and_tell_apart(self, vault: Vault) -> None:
        """
        Scores are positive, descend, and differ where the words do.

        If this fails: the engine's negative `bm25()` is passed on, or a score is lost on the way.
        """
        vault.lexical.put([entry(number, "budget " + "plain " * number) for number in range(1, 9)])
        vault.lexical.put(filler())

        scores = [hit.score for hit in search(vault, any_of("budget"))]

        assert len(set(scores)) == 8
        assert scores == sorted(scores, reverse=True)
        assert scores[-1] > 0

    def test_a_word_in_every_entry_scores_too(self, vault: Vault) -> None:
        """
        A word that every entry holds, where BM25's rarity turns negative, still gives positive scores.

        If this fails: floor the inverse document frequency above zero.
        """
        vault.lexical.put([entry(1, "budget"), entry(2, "budget budget")])

        hits = search(vault, any_of("budget"))

        assert len(hits) == 2
        assert min(hit.score for hit in hits) > 0

    def test_equal_words_are_ordered_by_key(self, vault: Vault) -> None:
        """
        Entries with equal words have equal scores and come by document, then fragment.

        If this fails: ties are left to the order of insertion, or a score depends on more than words.
        """
        shuffled = [(2, 10), (10, 0), (1, 3), (2, 9), (1, 0)]
        vault.lexical.put([entry(number, "budget plain", seq=seq) for number, seq in shuffled])
        vault.lexical.put(filler())

        hits = search(vault, any_of("budget"))

        assert [hit.key for hit in hits] == sorted(FragmentKey(*pair) for pair in shuffled)
        assert [hit.score for hit in hits] == pytest.approx([hits[0].score] * 5)

    def test_ties_are_cut_by_key(self, vault: Vault) -> None:
        """
        A limit that falls among equal scores keeps the smaller keys.

        If this fails: the engine cuts before the order by key is applied.
        """
        vault.lexical.put([entry(number, "budget plain") for number in range(30, 0, -1)])

        assert found(vault, "budget", limit=4) == [1, 2, 3, 4]

    @pytest.mark.parametrize(("limit", "expected"), [(-1, 0), (0, 0), (1, 1), (2, 2), (3, 3), (4, 3)])
    def test_limit(self, vault: Vault, limit: int, expected: int) -> None:
        """
        At most *limit* hits, the best ones; below 1 none.

        If this fails: -1 reaches a `limit` clause, where it means no limit.
        """
        vault.lexical.put([entry(number, "budget " + "plain " * number) for number in (3, 1, 2)])

        assert found(vault, "budget", limit=limit) == [1, 2, 3][:expected]


class LexicalScopeContract(VaultContract):
    """
    What a search may see. Supply ``vault``: an EMPTY ``Vault``.

    Each entry belongs to a saved document of the same collection, so an index may ask either of them.
    """

    def test_small_collection_is_never_short(self, vault: Vault) -> None:
        """
        Three entries of a small collection are all found, however many better ones lie elsewhere.

        If this fails: the scope is applied after the cut to the limit.
        """
        for number in range(200):
            put(vault, "budget", f"c{number % 4}")
        ids = [put(vault, "budget " + "plain " * 40, "small") for _ in range(3)]

        assert found(vault, "budget", limit=3, scope=scope("small")) == ids
        assert found(vault, "budget", limit=5, scope=scope("small")) == ids

    def test_several_collections(self, vault: Vault) -> None:
        """
        A scope of several collections sees those and no other; an unknown one is empty; no scope is all.

        If this fails: only the first collection is bound, or an empty scope means none.
        """
        a, b, c = (put(vault, "budget", name) for name in "abc")

        assert found(vault, "budget", scope=scope("a", "c")) == [a, c]
        assert found(vault, "budget", scope=scope("nowhere")) == []
        assert found(vault, "budget", scope=EVERYTHING) == [a, b, c]

    def test_collections_are_told_apart_exactly(self, vault: Vault) -> None:
        """
        A collection is itself: not one whose name is contained, alike in case, or written with signs.

        If this fails: the collection's name is searched like text.
        """
        names = ["note", "notes", "Notes", "my notes", 'no"tes', "no'tes", "no_es", "日記"]
        ids = [put(vault, "budget", name) for name in names]

        assert [found(vault, "budget", scope=scope(name)) for name in names] == [[one] for one in ids]

    def test_a_collection_name_is_no_word(self, vault: Vault) -> None:
        """
        An entry is not found by the name of its collection.

        If this fails: the collection is an indexed column; leave it out of the index.
        """
        put(vault, "budget", "harbour")

        assert found(vault, "harbour") == []

    def test_scope_does_not_change_scores(self, vault: Vault) -> None:
        """
        An entry scores the same whether or not others are in sight: statistics are kept per grain.

        If this fails: rarity and average length are counted inside the scope.
        """
        put(vault, "budget plain", "a")
        put(vault, "budget", "b")
        vault.lexical.put(filler())

        (alone,) = search(vault, any_of("budget"), scope=scope("a"))

        both = {hit.key: hit.score for hit in search(vault, any_of("budget"))}
        assert alone.score == pytest.approx(both[alone.key])


class LexicalUpkeepContract(VaultContract):
    """Putting, replacing, removing, at every grain. Supply ``vault``: an EMPTY ``Vault``."""

    def test_put_replaces(self, vault: Vault) -> None:
        """
        A key put again at the same grain has its new words and title, and counts once.

        If this fails: the old row stays beside the new one, or its words stay in the index.
        """
        vault.lexical.put([entry(1, "spring", title="old")])

        vault.lexical.put([entry(1, "autumn", title="new")])

        assert [found(vault, word) for word in ("spring", "old", "autumn", "new")] == [[], [], [1], [1]]
        assert vault.lexical.count(Grain.PASSAGE) == 1

    def test_put_twice_in_one_call(self, vault: Vault) -> None:
        """
        Of two entries with one key in one call the later stands.

        If this fails: replacing looks at what was there before the call only.
        """
        vault.lexical.put([entry(1, "spring"), entry(1, "autumn")])

        assert (found(vault, "spring"), found(vault, "autumn")) == ([], [1])
        assert vault.lexical.count(Grain.PASSAGE) == 1

    def test_replacing_leaves_no_trace_in_the_scores(self, vault: Vault) -> None:
        """
        An index that was rewritten many times ranks like one that was written once.

        If this fails: replaced rows still count in rarity or average length.
        """
        final = [entry(1, "budget plain"), entry(2, "budget budget plain"), *filler()]
        vault.lexical.put(final)
        once = search(vault, any_of("budget"))

        for _ in range(5):
            vault.lexical.put([entry(1, "budget " * 50), entry(2, "else")])
            vault.lexical.remove(2)
        vault.lexical.put(final)

        assert_alike(search(vault, any_of("budget")), once)

    def test_put_nothing(self, vault: Vault) -> None:
        """
        Putting no entries changes nothing.

        If this fails: an empty batch becomes an incomplete statement.
        """
        vault.lexical.put([])

        assert vault.lexical.count(Grain.PASSAGE) == 0

    def test_wordless_entry_counts(self, vault: Vault) -> None:
        """
        An entry without any word is held, found by nothing, and disturbs nothing.

        If this fails: an average length of zero is divided by.
        """
        vault.lexical.put([entry(1, ""), entry(2, "---")])
        assert found(vault, "budget") == []

        vault.lexical.put([entry(3, "budget")])

        assert (found(vault, "budget"), vault.lexical.count(Grain.PASSAGE)) == ([3], 3)

    def test_remove_at_every_grain(self, vault: Vault) -> None:
        """
        Removing a document takes all its entries out, of every fragment at every grain, and no other's.

        If this fails: only one grain is cleaned, or only `seq` 0.
        """
        for grain in Grain:
            vault.lexical.put([entry(n, "budget", seq=seq, grain=grain) for n in (1, 11) for seq in (0, 1)])

        vault.lexical.remove(1)

        for grain in Grain:
            assert found(vault, "budget", grain=grain) == [11, 11], grain
            assert vault.lexical.count(grain) == 2

    def test_remove_what_is_not_there(self, vault: Vault) -> None:
        """
        Removing an unknown document, or one twice, changes nothing.

        If this fails: remove asserts that it found a row.
        """
        vault.lexical.put([entry(1, "budget"), entry(2, "budget")])

        for _ in range(2):
            vault.lexical.remove(2)
            vault.lexical.remove(987_654)

        assert found(vault, "budget") == [1]

    def test_removing_restores_rarity(self, vault: Vault) -> None:
        """
        Once the other entries with a word are gone, the scores are as if they had never been.

        If this fails: removed rows still count in rarity or average length.
        """
        vault.lexical.put([entry(1, "budget plain"), *filler()])
        before = search(vault, any_of("budget"))

        vault.lexical.put([entry(number, "budget " * number) for number in range(50, 60)])
        for number in range(50, 60):
            vault.lexical.remove(number)

        assert_alike(search(vault, any_of("budget")), before)

    def test_grains_are_searched_apart(self, vault: Vault) -> None:
        """
        One key holds another text at each grain; a search sees one grain.

        If this fails: the grain is not part of the key, or not of the search.
        """
        texts = dict(zip(Grain, ("spring", "summer", "autumn", "winter"), strict=True))
        vault.lexical.put([entry(1, text, grain=grain) for grain, text in texts.items()])

        for grain, text in texts.items():
            assert [other for other in texts.values() if found(vault, other, grain=grain)] == [text]
            assert vault.lexical.count(grain) == 1

    def test_grains_have_their_own_statistics(self, vault: Vault) -> None:
        """
        However common a word becomes at one grain, its scores at another stay.

        If this fails: rarity and average length are counted over all grains.
        """
        vault.lexical.put([entry(1, "budget plain"), *filler()])
        before = search(vault, any_of("budget"))

        vault.lexical.put([entry(n, "budget " * 20, grain=Grain.LINE) for n in range(60)])

        assert_alike(search(vault, any_of("budget")), before)

    @pytest.mark.parametrize("grain", Grain)
    def test_every_grain_ranks(self, vault: Vault, grain: Grain) -> None:
        """
        Every grain is ranked: more of the word, in less text, is better.

        If this fails: one grain's index is set up unlike the others.
        """
        vault.lexical.put([entry(1, "budget plain plain plain", grain=grain), *filler(grain)])
        vault.lexical.put([entry(2, "budget budget plain plain", grain=grain)])

        assert found(vault, "budget", grain=grain) == [2, 1]

    def test_clear_empties_and_can_be_filled_again(self, vault: Vault) -> None:
        """
        Clearing empties every grain, statistics included; what is put in again ranks as before.

        If this fails: one grain, or the table of statistics, is forgotten.
        """
        entries = [entry(1, "budget plain"), entry(2, "budget budget"), *filler()]
        vault.lexical.put([*entries, *(entry(n, "budget", grain=Grain.LINE) for n in range(9))])
        before = search(vault, any_of("budget"))

        vault.lexical.clear()

        assert [vault.lexical.count(grain) for grain in Grain] == [0, 0, 0, 0]
        assert found(vault, "budget") == []
        vault.lexical.put(entries)
        assert_alike(search(vault, any_of("budget")), before)


def search(
    vault: Vault,
    query: LexicalQuery,
    *,
    grain: Grain = Grain.PASSAGE,
    limit: int = 100,
    scope: Scope = EVERYTHING,
) -> list[Hit]:
    """The hits of a vault's lexical index."""
    index: LexicalIndex = vault.lexical
    return index.search(query, grain, limit, scope)


def found(
    vault: Vault,
    *terms: str | Term,
    every: bool = False,
    grain: Grain = Grain.PASSAGE,
    limit: int = 100,
    scope: Scope = EVERYTHING,
) -> list[int]:
    """The documents of the hits, best first."""
    query = all_of(*terms) if every else any_of(*terms)
    return [hit.key.document_id for hit in search(vault, query, grain=grain, limit=limit, scope=scope)]


def put(vault: Vault, text: str, collection: str) -> int:
    """Save a new document and put its one entry into the index; its id."""
    place = f"{len(vault.documents.sources(collection))}.md"
    saved = save(vault, place, text, collection=collection)
    vault.lexical.put([entry(saved, text, collection=collection)])
    return saved


def scope(*collections: str) -> Scope:
    """These collections and no other."""
    return Scope(frozenset(collections))


def filler(grain: Grain = Grain.PASSAGE) -> list[LexicalEntry]:
    """Entries about other things, so that rarity has something to be measured against."""
    return [entry(900 + n, f"{word} nothing else", grain=grain) for n, word in enumerate(FILLER)]


def assert_alike(hits: Iterable[Hit], expected: Iterable[Hit]) -> None:
    """Assert the same keys in the same order with the same scores, but for rounding."""
    hits, expected = list(hits), list(expected)
    assert [hit.key for hit in hits] == [hit.key for hit in expected]
    assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in expected])
