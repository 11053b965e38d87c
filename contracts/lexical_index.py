from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clawmem.contracts.base import Capability, VaultContract, needs
from clawmem.contracts.samples import any_of, entry, filler, found_by, hits_of
from clawmem.ports.records import LexicalQuery, Term
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


class LexicalMatchingContract(VaultContract):
    """Matching of words. Supply ``vault``: an EMPTY ``Vault``."""

    def test_a_word_finds_its_entry(self, vault: Vault) -> None:
        """A word finds exactly the entries that contain it."""
        vault.lexical.put([entry(1, "The budget for spring."), entry(2, "The harbour at noon.")])

        assert found_by(vault, "budget") == [1]
        assert found_by(vault, "winter") == []

    def test_case_and_diacritics_do_not_matter(self, vault: Vault) -> None:
        """Words match regardless of case and of the diacritics of Latin letters, in every script."""
        assert_told_apart(vault, SAME_WORDS)

    def test_words_of_every_script(self, vault: Vault) -> None:
        """Digits are words, and so are words of scripts without case."""
        vault.lexical.put([entry(1, "route 66"), entry(2, "東京 京都"), entry(3, "harbour")])

        assert [found_by(vault, word) for word in ("66", "東京", "京都")] == [[1], [2], [2]]

    def test_all_else_separates(self, vault: Vault) -> None:
        """Every character that is neither letter nor digit separates words, underscores and hyphens included."""
        vault.lexical.put([entry(number, text) for number, text in enumerate(SEPARATED)])

        for number, terms in enumerate(SEPARATED.values()):
            assert found_by(vault, *terms.split(), every=True) == [number], terms

    @needs(Capability.STEMMING)
    def test_inflections_meet(self, vault: Vault) -> None:
        """English words match by their stem, in both directions."""
        assert_told_apart(vault, [("running", "run"), ("budgets", "budget"), ("connected", "connection")])

    @needs(Capability.PREFIX)
    def test_prefix_stands_for_every_word_with_it(self, vault: Vault) -> None:
        """
        A prefix term matches the words that begin with it, itself included, but not words that contain it elsewhere.
        """
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
        """A term with spaces matches adjacent words in the same order, but not scattered ones."""
        vault.lexical.put(
            [
                entry(1, "the spring budget is tight"),
                entry(2, "the budget spring is tight"),
                entry(3, "spring came, and with it the budget"),
                entry(4, "a spring-budget meeting"),
            ]
        )

        assert sorted(found_by(vault, "spring budget")) == [1, 4]

    @needs(Capability.PHRASE)
    def test_phrase_does_not_cross_from_title_to_text(self, vault: Vault) -> None:
        """The last word of the title and the first of the text are not adjacent; two words within the title are."""
        vault.lexical.put([entry(1, "budget", title="spring"), entry(2, "tight", title="spring budget")])

        assert found_by(vault, "spring budget") == [2]

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
        """A term without a letter or digit alone matches nothing and raises nothing; next to a word it is ignored."""
        vault.lexical.put([entry(1, 'budget * " ( ) - ^ ... — % 🐝')])

        for text in ("", " ", "*", '"', '""', "()", "-", "^", "...", "—", "%", "\x00", "🐝"):
            for term in (Term(text), Term(text, prefix=True)):
                assert found_by(vault, term) == [], term
                assert found_by(vault, term, "budget") == [1], term

    def test_signs_around_a_word_mean_nothing(self, vault: Vault) -> None:
        """Quotes, stars, parentheses, colons and signs in a term are separators, not operators."""
        vault.lexical.put([entry(1, "budget"), entry(2, "budgetary"), entry(3, "harbour")])

        for term in ('"budget"', "budget*", "(budget)", "budget:", "-budget", "+budget", "^budget"):
            assert found_by(vault, term) == [1], term

    def test_asked_again_and_again(self, vault: Vault) -> None:
        """Repeated queries have equal results, and new results after every change of the index."""
        vault.lexical.put([entry(1, "anvil anvil quince"), entry(2, "anvil"), *filler()])
        query = any_of("anvil", "quince")

        first = hits_of(vault, query)
        assert [hits_of(vault, query) for _ in range(5)] == [first] * 5
        vault.lexical.put([entry(3, "quince quince anvil quince")])
        assert sorted(found_by(vault, "anvil", "quince")) == [1, 2, 3]
        assert (
            hits_of(vault, query)[-1].score != first[-1].score
        )  # the number of entries and of matches changed
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


def assert_told_apart(vault: Vault, groups: Sequence[Sequence[str]]) -> None:
    """Index every word, and check that a word finds exactly the words of its group."""
    numbers = {word: number for number, word in enumerate(chain(*groups))}
    vault.lexical.put([entry(number, word) for word, number in numbers.items()])

    for group in groups:
        for word in group:
            assert sorted(found_by(vault, word)) == [numbers[word] for word in group], word
