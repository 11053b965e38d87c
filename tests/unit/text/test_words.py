from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clawmem.domain.text.words import index_text, is_unspaced, normalise, search_text, words

ANY_TEXT = st.text() | st.text("ab Éé_0-東京都议사ｶﾞก\u0e34\u0301\u0302İ\0\n，。", max_size=40)


@given(ANY_TEXT)
@example("\u1100\u0301\u1161")
def test_normalising_again_changes_nothing(text: str) -> None:
    """What is normal stays; so an index may be handed text that was normalised before."""
    once = normalise(text)

    assert normalise(once) == once
    assert unicodedata.is_normalized("NFKC", once)
    assert "\0" not in once


@given(ANY_TEXT)
def test_a_word_is_lower_case_and_never_empty(text: str) -> None:
    """Every word is letters and digits only, and a word of an unspaced script has one or two characters."""
    found = words(text)

    assert all(word.isalnum() or is_unspaced(word) for word in found)  # some ideographs are newer than Python
    assert all(found)
    assert all(len(word) <= 2 for word in found if is_unspaced(word))
    assert all(word == word.lower() for word in found)


@given(ANY_TEXT)
def test_a_pair_that_is_asked_for_is_a_token_of_the_index(text: str) -> None:
    """What ``words`` makes of a question stands in ``index_text`` of the same text, blank on both sides."""
    tokens = index_text(text).split()

    assert {word for word in words(text) if is_unspaced(word) and len(word) == 2} <= set(tokens)


@given(ANY_TEXT)
@example("İ with Ines für dich")
@example("\u1100\u0301\u1161")
@example("東\u3099")
@example("er\u0e81")
@example("\x80À#")
def test_every_word_survives_indexing(text: str) -> None:
    """An index that splits ``index_text`` as ``words`` does holds every word of the text as questions have it."""
    searched = {part for word in words(text) for part in words(search_text(word))}

    indexed = index_text(text).replace("#", " ")  # a sign of a name is spelled out by now
    assert searched <= set(words(indexed))


@given(st.text("東京都议사ガ々", min_size=1, max_size=12), st.data())
def test_every_part_of_an_unspaced_run_is_found(run: str, data: st.DataObject) -> None:
    """Any stretch of it asks for pairs that are indexed; a single character begins an indexed token."""
    start = data.draw(st.integers(0, len(run) - 1))
    asked = run[start : data.draw(st.integers(start + 1, len(run)))]
    tokens = index_text(run).split()

    assert all(any(token.startswith(word) for token in tokens) for word in words(asked))


@pytest.mark.parametrize(
    "sign", ["\u0e01", "\u0e46", "\u3005", "\u30ff", "\u4e00", "\u9fff", "\uac00", "\ud7a3", "𠀀"]
)
def test_scripts_without_spaces(sign: str) -> None:
    """The first and last characters of the ranges belong to them."""
    assert is_unspaced(sign)


def test_a_long_run_takes_its_length() -> None:
    """Two hundred thousand characters without a space are indexed and split in a moment."""
    begun = time.process_time()

    assert len(words("東" * 200_000)) == 199_999
    assert len(index_text("東" * 200_000).split()) == 200_000
    assert time.process_time() - begun < 2
