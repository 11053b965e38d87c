"""The note that a link means."""

from __future__ import annotations

from clawmem.domain.documents.links import link_key, link_targets
from clawmem.ports.documents import Link, LinkKind, NamedNote, NameKind


def target(written: str, *paths: str) -> int | None:
    """Return the place among *paths* of the note that ``[[written]]`` means in ``x/here.md``."""
    link = Link(LinkKind.WIKILINK, written, link_key(written), 1, "", "", "")
    notes = [NamedNote(n, "notes", path, NameKind.FILE) for n, path in enumerate(paths)]
    return next(iter(link_targets(link, "notes", "x/here.md", notes)), None)


def test_the_same_case_first() -> None:
    """Of two files that differ in case, the one that is spelled as the link; otherwise case does not count."""
    assert target("Cats", "a/cats.md", "long/folder/Cats.md") == 1
    assert target("Cats", "Cats.md", "cats.md") == 0
    assert target("cats", "Cats.md", "cats.md") == 1
    assert target("CATS", "b/cats.md") == 0


def test_namespaces_of_logseq() -> None:
    """A page ``a/b`` is the file ``a___b.md``."""
    assert target("projects/boat", "pages/projects___boat.md", "pages/projects___car.md") == 0
