from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.documents.title import headings, title


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a/b/stand-up.md", "stand-up"),
        ("notes.TXT", "notes"),
        ("v2.3.1.md", "v2.3.1"),
        ("a.md.txt", "a.md"),
        ("README", "README"),
        ("a/.md", ".md"),
        ("a/b/", "b"),
        ("", "Untitled"),
        ("/", "Untitled"),
        (" ", "Untitled"),
    ],
)
def test_the_file_name_is_last(path: str, expected: str) -> None:
    """Without its extension, unless nothing else is left."""
    assert title(None, "no heading", path) == expected


@given(st.none() | st.text(), st.text(), st.text())
def test_a_title_is_never_empty(declared: str | None, body: str, path: str) -> None:
    """One trimmed line for any input at all."""
    found = title(declared, body, path)

    assert found and found == found.strip() and len(found.splitlines()) == 1


@pytest.mark.parametrize(
    "body",
    [
        "```\n# no\n```\n# yes",
        "~~~ sh\n# no\n```\n# no\n~~~~\n# yes",
        "````\n# no\n```\n# no\n````\n# yes",
        "   ```py\n# no\n   ```  \n# yes",
        "```\n# no\n``` x\n# no\n```\n# yes",
        "```\n# no\n    ```\n# no\n```\n# yes",
        "``` a`b\n# yes",
    ],
)
def test_code_holds_no_headings(body: str) -> None:
    """A fence closes with its own mark, at least as long, and nothing after it."""
    assert list(headings(body)) == ["yes"]


def test_line_ends_of_every_kind_are_read() -> None:
    """CRLF and a lone CR end a line like LF."""
    assert list(headings("# a\r\n# b\r# c\n")) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "line", ["`" * 200_000 + "x`", "# " + "#" * 200_000 + "x", "# " + " " * 200_000 + "x #"]
)
def test_a_huge_line_is_read_in_one_go(line: str) -> None:
    """Time grows with the length, not with its square."""
    started = time.process_time()

    list(headings(line))

    assert time.process_time() - started < 2
