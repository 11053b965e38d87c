from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.documents.tokens import is_unspaced, words
from clawmem.domain.retrieval.query_forms import (
    MAX_BARE_TERMS,
    MAX_QUERY,
    MAX_TERMS,
    MIN_PREFIX,
    STOP_WORDS,
    asks_for_number,
    holds_number,
    is_precise,
    query_forms,
)
from clawmem.ports.records import LexicalQuery, Term

QUERIES = st.text() | st.text("ab AB12_./\\:#@-?!\"'*()京都 什么İ\0\n", max_size=40)


@pytest.mark.parametrize(
    "query",
    [
        "Where do login sessions live?",
        "who decided on the database",
        "What did Ann say about before_compaction?",
        "how do I configure src/retry.py",
        "redis?",
        "redis session length ?",
        "Redis？",
        "redis THE",
        "redis, the!",
        "redis session length limit",
    ],
)
def test_a_question_has_the_relaxed_form_alone(query: str) -> None:
    """A question mark, a stop word, or a fourth word that is no identifier makes it one."""
    assert not is_precise(query)
    assert query_forms(query).precise is None


@pytest.mark.parametrize(
    "query",
    [
        "redis",
        "redis session",
        "redis session length",
        "Haruka Mori",
        "before_compaction",
        "src/retry.py",
        "C:\\notes\\plan.md",
        "v2.3.1",
        "ISO-8601",
        "ann@example.org",
        "#billing/retry",
        "maxRetries",
        "东京都",
        "before_compaction src/retry.py v2.3.1 maxRetries ERR utf8 a::b x#y",
    ],
)
def test_a_name_has_both_forms(query: str) -> None:
    """Up to three bare terms, or identifiers only, are wanted together and also one by one."""
    forms = query_forms(query)

    assert is_precise(query)
    assert forms.precise is not None
    assert forms.precise.every
    assert [term.text for term in forms.precise.terms] == list(dict.fromkeys(words(query)))
    assert not forms.relaxed.every


@pytest.mark.parametrize(
    "part",
    [
        "a_b",
        "__init__",
        "a/b",
        "a\\b",
        "a.b",
        "a:b",
        "a::b",
        "a#b",
        "a@b",
        "a-b",
        "aB",
        "ERR",
        "E42",
        "v2",
        "utf8",
        "a_.b",
    ],
)
def test_identifiers(part: str) -> None:
    """Joined words, inner capitals, three capitals, and a letter before a digit, however many there are."""
    assert is_precise(" ".join([part] * (MAX_BARE_TERMS + 1)))


@pytest.mark.parametrize(
    "part", ["word", "Word", "ER", "2026", "_a", "a_", "-a", "a-", "word.", "2nd", "a+b", "京都"]
)
def test_not_identifiers(part: str) -> None:
    """Words, two capitals, numbers, and what only begins or ends with a mark; three of them are bare terms."""
    assert not is_precise(" ".join([part] * (MAX_BARE_TERMS + 1)))
    assert is_precise(" ".join([part] * MAX_BARE_TERMS))


def test_stop_words_are_dropped() -> None:
    """Only the words that carry the question are asked for."""
    forms = query_forms("Where do the login sessions live?")

    assert forms.words == ("login", "sessions", "live")
    assert forms.relaxed == LexicalQuery((Term("login"), Term("sessions"), Term("live")))


def test_only_stop_words_are_all_kept() -> None:
    """Something is asked for even then."""
    assert query_forms("to be or not to be").words == ("to", "be", "or", "not")


@pytest.mark.parametrize("query", ["", " ", "\n", "\0", "?", "?!…", "*", '"', "(--)", "，。"])
def test_a_question_without_words_asks_for_nothing(query: str) -> None:
    """Both forms are empty: there is nothing to look for."""
    forms = query_forms(query)

    assert (forms.words, forms.relaxed, forms.precise) == ((), LexicalQuery(()), None)


@pytest.mark.parametrize(
    "query", ['redis AND "NOT', "title:redis", "redis*", "NEAR(redis, 5)", "^redis", "-redis", "{a b}: redis"]
)
def test_syntax_of_a_search_engine_is_plain_words(query: str) -> None:
    """What a person types is text; no term holds anything but letters and digits."""
    forms = query_forms(query)

    assert "redis" in forms.words
    assert all(term.text.isalnum() for term in forms.relaxed.terms)


def test_words_keep_their_order_each_once() -> None:
    """The first place counts; case and width make no difference."""
    assert query_forms("zeta Alpha ＺＥＴＡ beta alpha").words == ("zeta", "alpha", "beta")


@pytest.mark.parametrize(("length", "prefix"), [(MIN_PREFIX - 1, False), (MIN_PREFIX, True)])
def test_a_word_of_a_name_is_a_prefix_from_two_letters(length: int, prefix: bool) -> None:
    """A single letter would stand for a tenth of the vocabulary."""
    assert query_forms("x" * length).relaxed.terms == (Term("x" * length, prefix=prefix),)


def test_a_word_of_a_question_is_no_prefix() -> None:
    """A question means the words that it holds."""
    assert not any(term.prefix for term in query_forms("Where do login sessions live?").relaxed.terms)


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("京", (Term("京", prefix=True),)),
        ("京都", (Term("京都"),)),
        ("東京都", (Term("東京"), Term("京都"))),
        ("京？", (Term("京", prefix=True),)),
    ],
)
def test_unspaced_scripts(query: str, terms: tuple[Term, ...]) -> None:
    """Pairs are whole tokens of the index; a single character begins one, in a question as well."""
    assert query_forms(query).relaxed.terms == terms


@pytest.mark.parametrize(
    ("given_words", "asked"), [(MAX_TERMS - 1, 63), (MAX_TERMS, 64), (MAX_TERMS + 1, 64)]
)
def test_a_pasted_page_asks_by_its_first_words(given_words: int, asked: int) -> None:
    """Sixty-four distinct words are the most, counted after stop words and repetitions."""
    query = "the the " + " ".join(f"w{n} w{n}" for n in range(given_words))

    assert query_forms(query).words == tuple(f"w{n}" for n in range(asked))


@pytest.mark.parametrize("length", [MAX_QUERY, MAX_QUERY + 1])
def test_any_length_is_read(length: int) -> None:
    """Refusing a question that is too long is the request's part; reading one never fails."""
    assert query_forms("x" * length).words == ("x" * length,)


@pytest.mark.parametrize(
    "part",
    [
        "_" * 9_990,
        "a_" * 4_995,
        "a1" * 4_995,
        "a." * 4_995,
        "aA" * 4_995,
        "A" * 9_990,
        "./" * 4_995,
        "-" * 9_990,
    ],
)
@pytest.mark.parametrize("end", ["!", ""])
def test_no_question_takes_long_to_read(part: str, end: str) -> None:
    """A rule of underscores in a pasted form is refused as an identifier in one pass."""
    begun = time.perf_counter()
    query_forms(f"{part}{end} b.c d.e f.g")

    assert time.perf_counter() - begun < 0.5


@given(QUERIES)
def test_nothing_that_is_typed_fails(query: str) -> None:
    """Every term is a word of the query, none is empty, none twice, and there are never too many."""
    forms = query_forms(query)
    texts = [term.text for term in forms.relaxed.terms]

    assert tuple(texts) == forms.words
    assert all(texts)
    assert len(texts) == len(set(texts)) <= MAX_TERMS
    assert set(texts) <= set(words(query))
    assert bool(texts) is bool(words(query))


@given(QUERIES)
def test_the_precise_form_asks_for_more(query: str) -> None:
    """It wants every term of the relaxed form, so what it finds the relaxed form finds too."""
    forms = query_forms(query)

    assert not forms.relaxed.every
    if forms.precise is not None:
        assert forms.precise.every
        assert set(forms.relaxed.terms) <= set(forms.precise.terms)


@given(QUERIES)
def test_stop_words_are_asked_for_all_or_not_at_all(query: str) -> None:
    """They are kept only where nothing else is left."""
    asked = set(query_forms(query).words)

    assert not asked & STOP_WORDS or asked <= STOP_WORDS


@given(QUERIES)
def test_a_prefix_is_never_a_single_letter_of_a_spaced_script(query: str) -> None:
    """Nor a pair of an unspaced one, which is a whole token already."""
    for term in query_forms(query).relaxed.terms:
        assert not term.prefix or (len(term.text) == 1) is is_unspaced(term.text)


def test_stop_words_can_meet_a_word() -> None:
    """Each is itself what ``words`` makes of it; a stop word with a mark inside would never be met."""
    assert {word for word in STOP_WORDS if words(word) != [word]} == set()


@pytest.mark.parametrize("measure", "many much old long often far tall big large heavy".split())
def test_questions_for_numbers(measure: str) -> None:
    """ "How many" and its kin ask for a number, anywhere in the question and in any case."""
    assert asks_for_number(f"how {measure} is it")
    assert asks_for_number(f"And now: HOW {measure.upper()} is it?")
    assert not asks_for_number(f"{measure} how is it")


@pytest.mark.parametrize(
    "question", ["", "how", "how did it go", "how manyfold", "somehow much", "many", "what is the number"]
)
def test_questions_for_something_else(question: str) -> None:
    """Neither word alone, nor a part of another word, asks for a number."""
    assert not asks_for_number(question)


@given(st.text(), st.integers(0, 10**9), st.text())
def test_digits_are_numbers(before: str, number: int, after: str) -> None:
    """A text with a digit holds a number, whatever stands around it."""
    assert holds_number(f"{before}{number}{after}")


@given(st.text(alphabet="abcdfgjkp ,.!?\n"))
def test_letters_are_none(text: str) -> None:
    """Without digits and without one of the words there is no number."""
    assert not holds_number(text)
