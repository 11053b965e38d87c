from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.documents.frontmatter import TYPES, content_type


@given(st.text())
def test_a_path_always_has_a_known_type(path: str) -> None:
    """Whatever it looks like."""
    assert content_type(None, path) in TYPES
