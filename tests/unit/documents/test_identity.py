from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.documents.identity import (
    body_hash,
    check_path,
    docid,
    docid_digits,
    parse_virtual_path,
    source_hash,
)

HASHES = st.sets(st.text("0a", min_size=12, max_size=12), min_size=1, max_size=30)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_body_hash_is_the_source_hash_of_its_utf8(body: str) -> None:
    """For text that UTF-8 can carry, the two hashes agree."""
    assert body_hash(body) == source_hash(body.encode())


def test_a_lone_surrogate_is_hashed_and_not_refused() -> None:
    """Half an emoji out of a broken transcript is content as well."""
    assert body_hash("\ud83d") == hashlib.sha256(b"\xed\xa0\xbd").hexdigest()


@given(HASHES)
def test_docids_of_different_contents_differ(hashes: set[str]) -> None:
    """No docid is the beginning of another hash, and none could be one digit shorter."""
    for one in hashes:
        short = docid(one, hashes)
        assert [other for other in hashes if other.startswith(short)] == [one]
        assert len(short) == 6 or sum(other.startswith(short[:-1]) for other in hashes) > 1


def test_a_wildcard_never_leaves_normalisation() -> None:
    """What is not a docid has no digits."""
    assert docid_digits("#A1B2C3") == "a1b2c3"
    assert docid_digits("a1b2c%") == ""


@given(st.from_regex(r"[a-z0-9_-]+", fullmatch=True), st.lists(st.from_regex(r"[^/]+", fullmatch=True)))
def test_a_displayed_path_leads_back(collection: str, segments: list[str]) -> None:
    """What people are shown can be asked for."""
    path = "/".join(segments)

    assert parse_virtual_path(f"clawmem://{collection}/{path}") == (collection, path)


@pytest.mark.parametrize("path", ["a/b.md", "..a/b..", "a/...", ".", "", "x" * 1000])
def test_an_ordinary_path_passes(path: str) -> None:
    """Dots inside a name are no climbing, and a thousand characters are allowed."""
    check_path(path)
