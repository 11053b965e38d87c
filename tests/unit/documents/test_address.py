"""Addresses of notes as texts."""

from __future__ import annotations

import pytest

from clawmem.domain.documents.names import Address, is_called, read_address, unicode_forms
from clawmem.ports.records import Document

NOTE = Document("work", "clients/Straße 5.md", "The yard", "h", "s", "t", "t", "t", aliases=("Hof",))


def test_both_normal_forms() -> None:
    """File systems decompose names, keyboards do not."""
    assert len(unicode_forms("Café")) == 2
    assert unicode_forms("Cafe") == ("Cafe",)


@pytest.mark.parametrize(
    ("digits", "docid"), [("#a1b2c3 notes/a.md", "a1b2c3"), ("A1B2C3", "a1b2c3"), ("a1b2c", "")]
)
def test_docids(digits: str, docid: str) -> None:
    """With or without its sign, alone or before a place; a link holds none."""
    assert read_address(digits)[0].docid == docid
    assert read_address(f"[[x{digits}]]")[0].docid == ""


@pytest.mark.parametrize("name", ["hof", "THE  YARD", "strasse 5"])
def test_names_whatever_their_case(name: str) -> None:
    """Title, alias and file name; blanks count once."""
    assert is_called(Address(name), NOTE)
    assert not is_called(Address(f"{name}x"), NOTE)
