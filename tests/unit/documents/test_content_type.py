from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.documents.content_type import RULES, TYPES, content_type


def test_there_are_thirteen_published_types_and_an_internal_one() -> None:
    """Every rule names a known one."""
    assert len(TYPES) == len(set(TYPES)) == 14
    assert {name for name, _ in RULES} < set(TYPES)


@pytest.mark.parametrize("declared", ["decision", "Meeting Notes", "observation"])
def test_a_declared_type_is_kept_as_written(declared: str) -> None:
    """Known or not, whatever the path says."""
    assert content_type(declared, "handoffs/a.md") == declared


@pytest.mark.parametrize("declared", [None, "", "  "])
def test_a_blank_declaration_counts_for_nothing(declared: str | None) -> None:
    """The path speaks then."""
    assert content_type(declared, "handoffs/a.md") == "handoff"


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


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("adr/001.md", "decision"),
        ("docs/adr-001.md", "decision"),
        ("index.md", "hub"),
        ("team/Index.md", "hub"),
        ("decisions/index.md", "decision"),
        ("research/index.md", "hub"),
        ("project-status.md", "project"),
        ("a/my-index.md", "note"),
        ("index.md/a.md", "note"),
        ("chatLog.md", "note"),
    ],
)
def test_the_first_rule_wins(path: str, expected: str) -> None:
    """In the published order; only a file called index.md is a cover page."""
    assert content_type(None, path) == expected


@given(st.text())
def test_a_path_always_has_a_known_type(path: str) -> None:
    """Whatever it looks like."""
    assert content_type(None, path) in TYPES
