from __future__ import annotations

import pytest
from wired import publisher

from clawmem.adapters.files.front_matter import parse_yaml
from clawmem.app.services.documents.lookup import AddressResolver, Lookup, MultiGet
from clawmem.app.services.indexing.source import parse_source
from clawmem.ports.errors import Ambiguous, InvalidInput, NotFound
from clawmem.ports.records import Document, InactiveReason, SourceStamp
from clawmem.ports.vault import Vault

STAMP = SourceStamp(1, 1_690_000_000_000_000_000)
ROOTS = {"notes": "/home/ada/notes", "tasks": "/srv/tasks/"}


@pytest.fixture
def lookup(vault: Vault) -> Lookup:
    return lookup_below(vault, ROOTS)


def lookup_below(vault: Vault, roots: dict[str, str]) -> Lookup:
    resolver = AddressResolver(vault.documents, vault.lexical, vault.journal, vault.acts, roots)
    return Lookup(resolver, vault.documents, vault.successions)


def put(vault: Vault, name: str, source: str | None = None) -> Document:
    """A document at ``collection/path``; without *source* its name is all it says."""
    collection, _, path = name.partition("/")
    data = (name if source is None else source).encode()
    parsed = parse_source(data, collection, path, STAMP, now_ms=1_700_000_000_000, parse_yaml=parse_yaml)
    with vault.transactions.writing():
        document_id = publisher(vault).publish(parsed.document, parsed.body, parsed.fragments)
    saved = vault.documents.get(document_id)
    assert saved is not None
    return saved


def shown(found: MultiGet) -> list[str]:
    return [excerpt.document.display_path for excerpt in found.excerpts]


class TestByDocid:
    @pytest.mark.parametrize("length", [6, 7, 64])
    @pytest.mark.parametrize("mark", ["", "#"])
    def test_any_prefix_from_six_digits_on(
        self, vault: Vault, lookup: Lookup, length: int, mark: str
    ) -> None:
        """Six to all 64 digits, in either case, with or without a hash sign, name the document."""
        document = put(vault, "notes/a.md")
        put(vault, "notes/b.md")

        assert lookup.find(mark + document.hash[:length].upper()).id == document.id

    def test_bare_digits_may_be_a_path(self, vault: Vault, lookup: Lookup) -> None:
        """Hex digits that no hash begins with are read as the end of a path."""
        document = put(vault, "notes/facade")

        assert lookup.find("facade").id == document.id

    def test_same_body_at_two_paths_is_ambiguous(self, vault: Vault, lookup: Lookup) -> None:
        """The same content twice is two documents; the error names both, and each name given resolves."""
        put(vault, "notes/b.md", "Same.")
        first = put(vault, "notes/a.md", "Same.")

        with pytest.raises(Ambiguous) as caught:
            lookup.find(first.hash[:8])

        docid = f"#{first.hash[:6]}"
        assert [(one.docid, one.file) for one in caught.value.candidates] == [
            (docid, "notes/a.md"),
            (docid, "notes/b.md"),
        ]
        assert lookup.find(f"{docid} notes/a.md").id == first.id


class TestByPlace:
    @pytest.mark.parametrize(
        "name",
        [
            "clawmem://notes/sub/a.md",
            "clawmem:////notes//sub/a.md",
            "//notes/sub/a.md",
            "notes/sub/a.md",
            "notes//sub/./a.md",
            "sub/a.md",
            "./sub/a.md",
            "a.md",
            "/home/ada/notes/sub/a.md",
            "/home/ada//notes/./sub/a.md",
            "sub\\a.md",
        ],
    )
    def test_every_way_to_say_where(self, vault: Vault, lookup: Lookup, name: str) -> None:
        """Virtual, complete, partial and absolute paths mean the same document, with a line or not."""
        document = put(vault, "notes/sub/a.md")
        put(vault, "tasks/b.md")

        assert lookup.find(name).id == document.id
        assert lookup.find(f"{name}:7").id == document.id

    def test_windows_paths_below_a_root(self, vault: Vault) -> None:
        """A drive letter and backslashes are compared with the root as text."""
        document = put(vault, "notes/sub/a.md")

        lookup = lookup_below(vault, {"notes": "C:\\ada\\notes\\"})
        assert lookup.find("C:\\ada\\notes\\sub\\a.md").id == document.id

    @pytest.mark.parametrize(
        "name", ["d/a.md", "otes/a.md", "A.md", "/home/ada/notesx/a.md", "clawmem://tasks/a.md"]
    )
    def test_parts_of_a_name_do_not_fit(self, vault: Vault, lookup: Lookup, name: str) -> None:
        """A name fits from a slash on, to the letter, and a complete place fits only itself."""
        put(vault, "notes/a.md")

        with pytest.raises(NotFound):
            lookup.find(name)

    def test_a_complete_path_wins_over_the_end_of_another(self, vault: Vault, lookup: Lookup) -> None:
        """Every document can be reached by ``collection/path``, whatever else ends like it."""
        document = put(vault, "notes/a.md")
        put(vault, "tasks/notes/a.md")

        assert lookup.find("notes/a.md").id == document.id

    def test_an_end_that_fits_two_is_ambiguous(self, vault: Vault, lookup: Lookup) -> None:
        """The same file name twice is an error that lists docid and path of both."""
        one, two = put(vault, "notes/a.md"), put(vault, "tasks/a.md")

        with pytest.raises(Ambiguous) as caught:
            lookup.find("a.md")
        assert [(found.docid, found.file) for found in caught.value.candidates] == [
            (f"#{one.hash[:6]}", "notes/a.md"),
            (f"#{two.hash[:6]}", "tasks/a.md"),
        ]

    def test_a_file_below_two_roots_is_ambiguous(self, vault: Vault) -> None:
        """Of nested folders neither is preferred in silence."""
        put(vault, "all/notes/a.md")
        put(vault, "notes/a.md")

        with pytest.raises(Ambiguous):
            lookup_below(vault, {"all": "/home/ada", "notes": "/home/ada/notes"}).find("/home/ada/notes/a.md")

    def test_forgotten_documents_are_not_found(self, vault: Vault, lookup: Lookup) -> None:
        """What is not served is found by none of its places, nor suggested, and makes no docid ambiguous."""
        kept = put(vault, "notes/kept.md", "Same.")
        forgotten = put(vault, "notes/a.md", "Same.")
        with vault.transactions.writing():
            publisher(vault).withdraw([forgotten.id], InactiveReason.FORGOTTEN)

        assert lookup.find(f"#{kept.hash[:6]}").id == kept.id

        for name in ("clawmem://notes/a.md", "notes/a.md", "/home/ada/notes/a.md"):
            with pytest.raises(NotFound) as caught:
                lookup.find(name)
            assert "notes/a.md" not in caught.value.suggestions


class TestSuggestions:
    @pytest.mark.parametrize("name", ["readmee.md", "NOTES/REDME.md", "clawmem://notes/redme.md"])
    def test_near_names_are_offered(self, vault: Vault, lookup: Lookup, name: str) -> None:
        """A few edits away, whatever the case, with or without the collection."""
        put(vault, "notes/readme.md")
        put(vault, "tasks/something-quite-different.md")

        with pytest.raises(NotFound) as caught:
            lookup.find(name)
        assert caught.value.suggestions == ("notes/readme.md",)

    def test_nearest_first_at_most_five(self, vault: Vault, lookup: Lookup) -> None:
        """Of seven near paths the five nearest come, equal ones by collection and path."""
        for name in ("aaaaaaax", "aaaaaaxx", "aaaaaxxx", "aaaaaayy", "aaaaxxxx", "aaaxxxxx", "aaaaaaaz"):
            put(vault, f"notes/{name}")

        with pytest.raises(NotFound) as caught:
            lookup.find("aaaaaaaa")

        expected = ["aaaaaaax", "aaaaaaaz", "aaaaaaxx", "aaaaaayy", "aaaaaxxx"]
        assert caught.value.suggestions == tuple(f"notes/{name}" for name in expected)

    @pytest.mark.parametrize(
        ("typed", "offered"), [("meetingxxxxx", True), ("meetingxxxxxx", False), ("#abcdef", False)]
    )
    def test_what_is_near(self, vault: Vault, lookup: Lookup, typed: str, offered: bool) -> None:
        """Five edits are near, six are not; a docid is not compared with paths."""
        put(vault, "notes/meeting")
        put(vault, "notes/abcdef")

        with pytest.raises(NotFound) as caught:
            lookup.find(typed)
        assert bool(caught.value.suggestions) is offered


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
        self,
        vault: Vault,
        lookup: Lookup,
        name: str,
        first: int | None,
        most: int | None,
        text: str,
        start: int,
    ) -> None:
        """Front matter counts, only line feeds break, a line before the body means its first."""
        document = put(vault, "notes/a.md", SOURCE)
        excerpt = lookup.get(name, from_line=first, max_lines=most)

        assert (excerpt.text, excerpt.start_line, excerpt.total_lines) == (text, start, 6)
        assert (excerpt.document, excerpt.docid) == (document, document.hash[:6])

    @pytest.mark.parametrize("source", ["", "no line break", "one\n", "one\n\ntwo"])
    def test_the_whole_body_comes_back_unchanged(self, vault: Vault, lookup: Lookup, source: str) -> None:
        """Whatever the last line ends with, the text is the body to the letter."""
        put(vault, "notes/a.md", source)
        excerpt = lookup.get("a.md")

        assert excerpt.text == source
        assert excerpt.total_lines == len(source.splitlines())

    @pytest.mark.parametrize(
        ("name", "numbers"),
        [
            ("a.md", {"from_line": 0}),
            ("a.md", {"max_lines": 0}),
            ("a.md:0", {}),
            ("a.md", {"from_line": 7}),
            ("a.md:99999999999999999999", {}),
        ],
    )
    def test_lines_count_from_one(
        self, vault: Vault, lookup: Lookup, name: str, numbers: dict[str, int]
    ) -> None:
        """Zero is out of bounds, as a line and as a number of lines."""
        put(vault, "notes/a.md")

        with pytest.raises(InvalidInput) as caught:
            lookup.get(name, **numbers)
        assert caught.value.code == "OUT_OF_BOUNDS"

    def test_what_is_changed_has_the_named_line(self, vault: Vault, lookup: Lookup) -> None:
        """A command that changes a note takes its last line, and none beyond."""
        document = put(vault, "notes/a.md", SOURCE)

        assert lookup.target("a.md:6") == document
        with pytest.raises(InvalidInput, match="6 lines, no line 7"):
            lookup.target("a.md:7")


class TestMultiGet:
    def test_a_list_is_ordered_and_each_document_once(self, vault: Vault, lookup: Lookup) -> None:
        """Names of any kind, blanks around them, come by collection and path without doubles."""
        put(vault, "tasks/a.md")
        put(vault, "notes/sub/c.md")
        by_id = put(vault, "notes/b.md")

        found = lookup.multi_get(f"tasks/a.md, sub/c.md ,#{by_id.hash[:6]},,clawmem://tasks/a.md")

        assert shown(found) == ["notes/b.md", "notes/sub/c.md", "tasks/a.md"]
        assert [excerpt.text for excerpt in found.excerpts] == shown(found)
        assert found.errors == ()

    def test_a_bad_name_spoils_nothing_else(self, vault: Vault, lookup: Lookup) -> None:
        """Unknown, ambiguous and refused names become entries; at most three paths are suggested."""
        for name in ("notes/a1", "notes/a2", "notes/a3", "notes/a4", "notes/x/s", "tasks/x/s"):
            put(vault, f"{name}.md")

        found = lookup.multi_get("a1.md,a9.md,s.md,../a1.md,a\0.md,#zz")

        assert shown(found) == ["notes/a1.md"]
        codes = ["NOT_FOUND", "AMBIGUOUS", "PATH_TRAVERSAL", "INVALID_PATH", "INVALID_INPUT"]
        assert [error.code for error in found.errors] == codes
        assert found.errors[0].suggestions == ("notes/a1.md", "notes/a2.md", "notes/a3.md")

    @pytest.mark.parametrize(
        ("pattern", "expected"),
        [
            ("notes/*.md", ["notes/a.md", "notes/b.md", "tasks/notes/d.md"]),
            ("notes/**", ["notes/a.md", "notes/b.md", "notes/sub/c.md", "tasks/notes/d.md"]),
            ("clawmem://notes/**", ["notes/a.md", "notes/b.md", "notes/sub/c.md"]),
            ("//notes/*/c.md", ["notes/sub/c.md"]),
            ("clawmem://notes/", ["notes/a.md", "notes/b.md", "notes/sub/c.md"]),
            ("*.md", ["notes/a.md", "notes/b.md"]),
            ("*/*/*/*", []),
            ("notes/{a,b}.m?", ["notes/a.md", "notes/b.md"]),
            ("?.md,b.md", []),
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

        found = lookup.multi_get(pattern)

        assert shown(found) == expected
        assert bool(found.errors) is (not expected)

    @pytest.mark.parametrize(("size", "given"), [(10_240, True), (10_241, False)])
    def test_a_body_too_large_is_an_entry(self, vault: Vault, lookup: Lookup, size: int, given: bool) -> None:
        """Bytes are counted, not characters; the entry says both sizes and how to read it."""
        put(vault, "notes/a.md", "é" * 5120 + "x" * (size - 10_240))

        found = lookup.multi_get("*.md")

        assert bool(found.excerpts) is given
        if not given:
            assert str(found.errors[0]) == (
                "notes/a.md has 10.1 KB, more than the 10.0 KB that are given of one among several. "
                'Read it with: clawmem get "notes/a.md"  (or raise --max-bytes.)'
            )

    def test_a_limit_of_nothing_is_out_of_bounds(self, lookup: Lookup) -> None:
        """A limit below one byte is a mistake, not an empty answer."""
        with pytest.raises(InvalidInput) as caught:
            lookup.multi_get("*", max_bytes=0)
        assert caught.value.code == "OUT_OF_BOUNDS"
