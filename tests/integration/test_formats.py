"""Formats of listed documents, for programs and for other documents."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path

import pytest
from command_line import Invoke, ask_json, write_notes

VERBS = (
    "query",
    "search",
    "query --mode=vectors",
    "query --mode=auto",
    "query --mode=intent",
    "query --mode=plan",
)
QUESTION = "sessions in Redis or Postgres"
REDIS = "notes/decisions/2026-02-11-redis.md"


@pytest.mark.parametrize(
    "asked",
    [*((verb, QUESTION, "--all") for verb in VERBS), ("links", "--similar", REDIS), ("list",)],
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
    items = [line for line in formatted("md").splitlines() if line.startswith("- [")]
    assert len(items) == len(names)
    assert all(name in item for name, item in zip(names, items, strict=True))


def test_whole_texts(remembered: Invoke) -> None:
    """With --full as text, as quotation in Markdown, and as a column; paths have no room."""
    asked = ("search", "ticket machines", "-n", 1, "--full")

    for shape in ((), ("--format", "md"), ("--format", "csv"), ("--json",)):
        assert "Counts seconds." in remembered(*asked, *shape).stdout
    assert (
        "  > Designs ticket machines.\n  >\n  > Counts seconds."
        in remembered(*asked, "--format", "md").stdout
    )
    refused = remembered(*asked, "--format", "paths")
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
