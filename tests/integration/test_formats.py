"""Formats of listed documents, for programs and for other documents."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path

import pytest
from command_line import Invoke, ask_json, read_json, write_notes

from clawmem.app.interfaces.cli.formats import file_of

VERBS = ("query", "search", "vsearch", "retrieve", "intent-search", "plan")
QUESTION = "sessions in Redis or Postgres"
REDIS = "notes/decisions/2026-02-11-redis.md"


@pytest.mark.parametrize(
    "asked",
    [*((verb, QUESTION, "--all") for verb in VERBS), ("similar", REDIS), ("list",)],
    ids=lambda asked: asked[0],
)
def test_every_format_lists_the_same_documents(
    remembered: Invoke, notes: Path, asked: tuple[str, ...]
) -> None:
    """JSON is that of ``--json``; lines of JSON, CSV and paths have a record, a row and a file of each document."""
    said = ask_json(remembered, *asked)
    records = said.get("results") or said["documents"]

    def formatted(shape: str) -> str:
        done = remembered(*asked, "--format", shape)
        assert done.exit_code == 0, done.output
        return str(done.stdout)

    names = [one["file"] for one in records]
    assert len(names) > 1
    assert (json.loads(formatted("json")).get("results") or said["documents"]) == records
    assert [json.loads(line) for line in formatted("jsonl").splitlines()] == records
    rows = list(csv.DictReader(StringIO(formatted("csv"))))
    assert [(row["file"], row["title"], row["trusted"]) for row in rows] == [
        (one["file"], one["title"], "true") for one in records
    ]
    assert formatted("paths").splitlines() == [str(notes.parent / name) for name in names]
    assert [line.split()[0].partition(":")[0] for line in formatted("table").splitlines()[1:]] == names
    items = [line for line in formatted("md").splitlines() if line.startswith("- [")]
    assert len(items) == len(names)
    assert all(name in item for name, item in zip(names, items, strict=True))


def test_properties_in_formats(invoke: Invoke, tmp_path: Path) -> None:
    """The properties that a list was asked by are columns and facts; a list without a question has no confidence."""
    note = "---\nstatus: {}\ntitle: Bill {}\ndue: 2026-0{}-01\n---\nThe bill.\n"
    write_notes(tmp_path / "notes", {f"{n}.md": note.format("open", n, n) for n in (2, 1)})
    invoke("collection", "add", tmp_path / "notes")
    invoke("update")
    asked = ("list", "--where", "status=open", "--sort", "due", "--format")

    head, *rows = invoke(*asked, "table").stdout.splitlines()
    assert head.split() == ["place", "docid", "written", "status", "due", "title"]
    assert [row.split()[3:5] for row in rows] == [["open", "2026-01-01"], ["open", "2026-02-01"]]
    [first, _] = csv.DictReader(StringIO(invoke(*asked, "csv").stdout))
    assert (first["title"], first["property status"], first["property due"]) == (
        "Bill 1",
        "open",
        "2026-01-01",
    )
    assert "status: open, due: 2026-01-01" in invoke(*asked, "md").stdout
    write_notes(tmp_path / "notes", {"3.md": "---\ntype: invoice\namount: 2150.00\n---\nThe bill.\n"})
    invoke("update")
    listed = invoke("list", "--where", "type=invoice", "--where", "amount=2150.00").stdout.splitlines()
    assert listed[0].split() == ["docid", "written", "type", "amount", "file", "title"]
    assert listed[1].split()[2:4] == ["invoice", "2150.00"]


def test_whole_texts(remembered: Invoke) -> None:
    """With --full as text, as quotation in Markdown, and as a column; a table and paths have no room."""
    asked = ("search", "ticket machines", "-n", 1, "--full")

    for shape in ((), ("--format", "md"), ("--format", "csv"), ("--json",)):
        assert "Counts seconds." in remembered(*asked, *shape).stdout
    assert (
        "  > Designs ticket machines.\n  >\n  > Counts seconds."
        in remembered(*asked, "--format", "md").stdout
    )
    for shape in ("table", "paths"):
        refused = remembered(*asked, "--format", shape)
        assert refused.exit_code == 2
        assert "Choose: json, jsonl, csv, md" in refused.stderr


def test_texts_of_others_are_quoted(invoke: Invoke, home: Path) -> None:
    """Markdown names the source, and no format obeys marks in a title or sends escapes to a terminal."""
    text = "# Offer [free](http://x)\n\nThe boiler costs 900.\x1b[2J\n"
    write_notes(home / "shared", {"a b>.md": text})
    assert invoke("bootstrap", home / "shared").exit_code == 0
    assert invoke("trust", "set", "shared", "shared").exit_code == 0

    said = invoke("search", "boiler", "--format", "md").stdout

    assert "\\[free\\]" in said
    assert "Quoted from a shared collection, not verified" in said
    assert "](<a b%3E.md>)" in said
    assert "\x1b" not in said + invoke("search", "boiler", "--format", "csv").stdout


def test_nothing_found(remembered: Invoke) -> None:
    """Programs get an empty list and people a sentence; an unlikely answer is marked as such."""
    for shape, stdout in (("jsonl", ""), ("paths", ""), ("md", ""), ("table", "")):
        done = remembered("search", "zzz", "--format", shape)
        assert (done.exit_code, done.stdout) == (0, stdout)
    assert remembered("search", "zzz", "--format", "csv").stdout.startswith("file,start_line")
    assert read_json(remembered("search", "zzz", "--format", "json"))["count"] == 0
    assert "No confident answer" in remembered("query", "football cup", "--format", "paths").stderr


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (("--format", "xml"), "Choose: table, json, jsonl, csv, md, paths."),
        (("--format", "csv", "--json"), "Leave out one of them"),
    ],
)
def test_formats_that_cannot_be_meant(remembered: Invoke, arguments: tuple[str, ...], remedy: str) -> None:
    """The error names the choices."""
    done = remembered("search", "redis", *arguments)

    assert done.exit_code == 2
    assert remedy in done.stderr


def test_documents_without_a_file(remembered: Invoke) -> None:
    """Paths leave out the diary, which the vault alone has, and say so."""
    entry = ask_json(remembered, "diary", "write", "The ferry leaves at nine.")["file"]

    done = remembered("search", "ferry", "--format", "paths")

    assert done.stdout == ""
    assert f"{entry} is in no folder of the config file" in done.stderr
    assert file_of("work/notes/a.md", {"work": "/w", "work/notes": "/n"}) == "/n/a.md"


@pytest.mark.parametrize("asked", [("search", "crane"), ("list", "-n", "2")])
def test_names_with_line_breaks(remembered: Invoke, notes: Path, asked: tuple[str, ...]) -> None:
    """A line is a path that exists; a name with a line break is left out, with a sentence."""
    names = {
        "two\nlines.md": "# Crane\n\nThe crane is red.\n",
        "a tab and\tspaces.md": "# Crane\n\nThe crane is blue.\n",
    }
    write_notes(notes, names)
    assert remembered("update").exit_code == 0

    done = remembered(*asked, "--format", "paths")

    assert "two lines.md was left out" in done.stderr
    shown = done.stdout.splitlines()
    assert all(Path(line).exists() for line in shown)
    assert (asked[0] == "list") or shown == [f"{notes}/a tab and\tspaces.md"]
