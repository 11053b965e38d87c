from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.documents.frontmatter import RULES, TYPES, content_type


@pytest.mark.parametrize(("name", "words"), RULES)
def test_every_word_of_a_rule_hits(name: str, words: frozenset[str]) -> None:
    """As a folder, as a file, and in capitals."""
    for word in words:
        assert content_type(None, f"{word}/a.md") == name
        assert content_type(None, f"x/2026-{word.upper()}_b.md") == name


@pytest.mark.parametrize(
    "path", ["github/a.md", "chatty.md", "statusquo.md", "adrenaline.md", "a.md", "mocha/b.md"]
)
def test_a_part_of_a_word_does_not_hit(path: str) -> None:
    """Only whole words count."""
    assert content_type(None, path) == "note"


@given(st.text())
def test_a_path_always_has_a_known_type(path: str) -> None:
    """Whatever it looks like."""
    assert content_type(None, path) in TYPES
