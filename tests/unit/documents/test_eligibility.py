from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.documents.eligibility import (
    collection_name,
    compile_pattern,
    expand_braces,
    is_collection_name,
)
from clawmem.ports.errors import InvalidInput

NAMES = st.text("abc.", min_size=1, max_size=5).filter(lambda name: name != ".")


def joined(words: list[str]) -> str:
    return "{" + ",".join(words) + "}"


def test_a_thousand_alternatives_are_the_most() -> None:
    """One more is refused before memory runs out, and a bomb at once."""
    assert len(expand_braces(joined([str(at) for at in range(200)]) + "{a,b,c,d,e}")) == 1000
    for bomb in (joined([str(at) for at in range(143)]) + "{a,b,c,d,e,f,g}", "{a,b}" * 100):
        with pytest.raises(InvalidInput) as caught:
            expand_braces(bomb)
        assert caught.value.code == "OUT_OF_BOUNDS"


@given(st.lists(NAMES, min_size=1, max_size=5))
def test_a_path_without_wildcards_matches_itself(names: list[str]) -> None:
    """And everything matches under two stars, before or after its own folder."""
    path = "/".join(names)

    assert compile_pattern(path)(path)
    assert compile_pattern("**/" + names[-1])(path)
    assert compile_pattern("**")(path)
    assert not compile_pattern("*")(path) or len(names) == 1


@given(
    st.lists(st.sampled_from(["a", "b", "**"]), min_size=1, max_size=5),
    st.lists(st.sampled_from("ab"), min_size=1, max_size=6),
)
def test_two_stars_agree_with_their_definition(parts: list[str], names: list[str]) -> None:
    """Zero or more folders, checked against the plain recursive reading."""

    def reads(glob: list[str], rest: list[str]) -> bool:
        if not glob:
            return not rest
        if glob[0] == "**":
            last = len(glob) == 1
            return any(reads(glob[1:], rest[at:]) for at in range(last, len(rest) + 1))
        return bool(rest) and rest[0] == glob[0] and reads(glob[1:], rest[1:])

    assert compile_pattern("/".join(parts))("/".join(names)) == reads(parts, names)


@pytest.mark.parametrize(
    ("pattern", "path"), [("*a" * 30 + "b", "a" * 900), ("**/a/" * 30 + "b", "a/" * 450 + "c")]
)
def test_no_pattern_takes_forever(pattern: str, path: str) -> None:
    """The classical traps of backtracking are over in a moment."""
    started = time.process_time()

    assert not compile_pattern(pattern)(path)
    assert time.process_time() - started < 2


@given(st.text())
def test_a_folders_name_is_always_a_collection_name(folder: str) -> None:
    """And naming a name again changes nothing that matters."""
    assert is_collection_name(collection_name(folder))
