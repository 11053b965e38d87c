from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clawmem.domain.retrieval.query_forms import MAX_BARE_TERMS, MAX_TERMS, is_precise, query_forms
from clawmem.domain.text.vocabulary import STOP_WORDS, function_words
from clawmem.domain.text.words import is_unspaced, search_text, words

QUERIES = st.text() | st.text("ab AB12_./\\:#@-?!\"'*()京都 什么İ\0\n", max_size=40)


@pytest.mark.parametrize(
    "part", "a_b __init__ a/b a\\b a.b a:b a::b a#b a@b a-b aB ERR E42 v2 utf8 a_.b 2026".split()
)
def test_identifiers(part: str) -> None:
    """Joined words, inner or three capitals, a letter before a digit, and numbers, however many there are."""
    assert is_precise(" ".join([part] * (MAX_BARE_TERMS + 1)))


@given(QUERIES)
def test_nothing_that_is_typed_fails(query: str) -> None:
    """Every term is a word of the query, none is empty, none twice, and there are never too many."""
    forms = query_forms(query)
    texts = [term.text for term in forms.relaxed.terms]

    assert [*map(search_text, texts)] == [*map(search_text, forms.words)]
    assert all(texts)
    assert len(texts) == len(set(texts)) <= MAX_TERMS
    assert bool(texts) is bool(words(query))


@given(QUERIES)
def test_the_precise_form_asks_for_more(query: str) -> None:
    """It wants every term, each a word of the query or a phrase of its adjacent words."""
    forms = query_forms(query)

    assert not forms.relaxed.every
    if forms.precise is not None:
        assert forms.precise.every
        searched = {word for term in forms.precise.terms for word in search_text(term.text).split()}
        assert searched <= set(map(search_text, words(query)))


@given(QUERIES)
@example("M:Y")
def test_stop_words_are_asked_for_all_or_not_at_all(query: str) -> None:
    """They are kept only where nothing else is left, in any language of the question: "m y"."""
    asked = set(query_forms(query).words)

    assert not asked & STOP_WORDS or asked <= function_words(asked)


@given(QUERIES)
def test_a_prefix_is_never_a_single_letter_of_a_spaced_script(query: str) -> None:
    """Nor a pair of an unspaced one, which is a whole token already."""
    for term in query_forms(query).relaxed.terms:
        assert not term.prefix or (len(term.text) == 1) is is_unspaced(term.text)
