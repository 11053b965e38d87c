from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.documents.markdown import Markdown
from clawmem.domain.documents.names import title


@given(st.none() | st.text(), st.text(), st.text())
def test_a_title_is_never_empty(declared: str | None, body: str, path: str) -> None:
    """One trimmed line for any input at all."""
    found = title(declared, Markdown(body), path)

    assert found and found == found.strip() and len(found.splitlines()) == 1


@pytest.mark.parametrize(
    "line", ["`" * 200_000 + "x`", "# " + "#" * 200_000 + "x", "# " + " " * 200_000 + "x #"]
)
def test_a_huge_line_is_read_in_one_go(line: str) -> None:
    """Time grows with the length, not with its square."""
    started = time.process_time()

    assert Markdown(line).headings is not None

    assert time.process_time() - started < 2
