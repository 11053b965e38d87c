"""claude-mem: observations and summaries of sessions in SQLite."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from clawmem.adapters.imports.reading import Row, database, file_in, text, words
from clawmem.ports.imports import ForeignMemory, Unmatched

TOOL = "claude-mem"
_TYPES = {"decision": "decision", "bugfix": "problem", "preference": "preference"}
_PARTS = ("request", "investigated", "learned", "completed", "next_steps", "notes")


def read(place: Path) -> Iterator[ForeignMemory | Unmatched]:
    """Yield observations, then summaries; prompts of the user have no counterpart (see ``clawmem mine``)."""
    with database(TOOL, file_in(TOOL, place, "claude-mem.db")) as store:
        store.require("observations", "id", "project", "text", "type", "created_at")
        for row in store.rows("select * from observations order by id"):
            yield _observation(row)
        if store.columns("session_summaries"):
            for row in store.rows("select * from session_summaries order by id"):
                parts = [(part, text(row, part)) for part in _PARTS if text(row, part)]
                yield ForeignMemory(
                    f"summary-{row['id']}",
                    "\n\n".join(
                        f"**{part.replace('_', ' ').capitalize()}:** {value}" for part, value in parts
                    ),
                    text(row, "request")[:80],
                    "handoff",
                    text(row, "created_at"),
                    project=text(row, "project"),
                )
        if store.columns("user_prompts"):
            for _ in store.rows("select 1 from user_prompts"):
                yield Unmatched("prompt")


def _observation(row: Row) -> ForeignMemory:
    facts = "\n".join(f"- {fact}" for fact in words(row.get("facts")))
    files = dict.fromkeys((*words(row.get("files_read")), *words(row.get("files_modified"))))
    parts = (
        text(row, "subtitle"),
        text(row, "narrative") or text(row, "text"),
        facts,
        f"Files: {', '.join(files)}" if files else "",
    )
    return ForeignMemory(
        f"observation-{row['id']}",
        "\n\n".join(filter(None, parts)),
        text(row, "title"),
        _TYPES.get(text(row, "type"), "observation"),
        text(row, "created_at"),
        tuple(filter(None, (text(row, "type"), *words(row.get("concepts"))))),
        project=text(row, "project"),
    )
