from __future__ import annotations

import pytest
from wired import publisher

from clawmem.adapters.files.front_matter import parse_front_matter
from clawmem.app.services.documents.lookup import Excerpt, Lookup
from clawmem.app.services.indexing.source import parse_source
from clawmem.ports.errors import InvalidInput
from clawmem.ports.records import Document, SourceStamp
from clawmem.ports.vault import Vault

STAMP = SourceStamp(1, 1_690_000_000_000_000_000)
ROOTS = {"notes": "/home/ada/notes", "tasks": "/srv/tasks/"}


@pytest.fixture
def lookup(vault: Vault) -> Lookup:
    return lookup_below(vault, ROOTS)


def lookup_below(vault: Vault, roots: dict[str, str]) -> Lookup:
    return Lookup(vault.documents, vault.successions, vault.links, vault.journal, vault.acts, roots)


def put(vault: Vault, name: str, source: str | None = None) -> Document:
    collection, _, path = name.partition("/")
    data = (name if source is None else source).encode()
    parsed = parse_source(
        data, collection, path, STAMP, now_ms=1_700_000_000_000, parse_front_matter=parse_front_matter
    )
    with vault.transactions.writing():
        document_id = publisher(vault).publish(parsed.document, parsed.body, parsed.fragments)
    saved = vault.documents.get(document_id)
    assert saved is not None
    return saved


def shown(excerpts: list[Excerpt]) -> list[str]:
    return [excerpt.document.display_path for excerpt in excerpts]


SOURCE = "---\ntags: [one]\n---\nfirst\nsecond\n\u2028third\n"


class TestGet:
    @pytest.mark.parametrize(
        ("name", "first", "most", "text", "start"),
        [
            ("a.md", None, None, "first\nsecond\n\u2028third\n", 4),
            ("a.md", 1, None, "first\nsecond\n\u2028third\n", 4),
            ("a.md", 2, 1, "first\n", 4),
            ("a.md", 4, 2, "first\nsecond\n", 4),
            ("a.md", 5, 1, "second\n", 5),
            ("a.md:5", None, None, "second\n\u2028third\n", 5),
            ("a.md:5", None, 1, "second\n", 5),
            ("a.md:5-5", None, None, "second\n", 5),
            ("a.md:5", 6, None, "\u2028third\n", 6),
            ("a.md", 6, 99, "\u2028third\n", 6),
        ],
    )
    def test_lines_are_those_of_the_file(
        self, vault: Vault, lookup: Lookup, name: str,
        first: int | None, most: int | None, text: str, start: int,
    ) -> None:  # fmt: skip
        """Front matter counts, only line feeds break, a line before the body means its first."""
        document = put(vault, "notes/a.md", SOURCE)
        excerpt = lookup.get(name, from_line=first, max_lines=most)

        assert (excerpt.text, excerpt.start_line, excerpt.total_lines) == (text, start, 6)
        assert (excerpt.document, excerpt.docid) == (document, document.hash[:6])


class TestMultiGet:
    def test_a_bad_name_spoils_nothing_else(self, vault: Vault, lookup: Lookup) -> None:
        """Unknown, ambiguous and refused names become entries; at most three paths are suggested."""
        for name in (*(f"notes/harbour{n}" for n in range(1, 5)), "notes/x/s", "tasks/x/s"):
            put(vault, f"{name}.md")

        excerpts, errors = lookup.multi_get("harbour1.md,harbour9.md,s.md,../a1.md,a\0.md,#zz")

        assert shown(excerpts) == ["notes/harbour1.md"]
        codes = ["NOT_FOUND", "AMBIGUOUS", "PATH_TRAVERSAL", "INVALID_PATH", "INVALID_INPUT"]
        assert [error.code for error in errors] == codes
        assert len(errors[0].suggestions) == 3

    def test_many_names_cost_little(self, vault: Vault, lookup: Lookup) -> None:
        """A name counts once, the first unknown ones get suggestions, and a list has an end."""
        put(vault, "notes/harbour.md")

        assert shown(lookup.multi_get(",".join(["harbour.md"] * 30_000))[0]) == ["notes/harbour.md"]
        _, errors = lookup.multi_get(["harbour.md", *(f"harbour{n}" for n in range(20))])
        assert [len(error.suggestions) for error in errors] == [1] * 10 + [0] * 10
        with pytest.raises(InvalidInput, match="matches 'kelp, moss'"):
            lookup.multi_get("kelp,moss")
        with pytest.raises(InvalidInput, match="200 are the most"):
            lookup.multi_get(",".join(f"harbour{n}.md" for n in range(30_000)))

    @pytest.mark.parametrize(
        ("pattern", "expected"),
        [
            ("notes/*.md", ["notes/a.md", "notes/b.md", "tasks/notes/d.md"]),
            ("notes/**", ["notes/a.md", "notes/b.md", "notes/sub/c.md", "tasks/notes/d.md"]),
            ("clawmem://notes/**", ["notes/a.md", "notes/b.md", "notes/sub/c.md"]),
            ("//notes/*/c.md", ["notes/sub/c.md"]),
            ("clawmem://notes/", ["notes/a.md", "notes/b.md", "notes/sub/c.md"]),
            ("*.md", ["notes/a.md", "notes/b.md"]),
            ("notes/{a,b}.m?", ["notes/a.md", "notes/b.md"]),
            ("notes/a.md", ["notes/a.md"]),
            ("c.md", ["notes/sub/c.md"]),
        ],
    )
    def test_a_glob_over_places_and_paths(
        self, vault: Vault, lookup: Lookup, pattern: str, expected: list[str]
    ) -> None:
        """Complete and relative paths fit, a virtual one only its place; a comma in a glob is a comma."""
        for name in ("tasks/notes/d.md", "notes/sub/c.md", "notes/b.md", "notes/a.md"):
            put(vault, name)

        excerpts, errors = lookup.multi_get(pattern)

        assert shown(excerpts) == expected and not errors
