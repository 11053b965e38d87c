"""MemPalace: drawers in a Chroma database, and statements of its knowledge graph."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from clawmem.adapters.imports.reading import database, found_in, share, store_of, text
from clawmem.ports.imports import ForeignFact, ForeignMemory, Unmatched

TOOL = "mempalace"

_GRAPHS = ("knowledge_graph.sqlite3", "kg.sqlite3")
_DRAWERS = """
select embeddings.embedding_id as id, key, string_value as value
  from embedding_metadata join embeddings using (id)
  join segments on segments.id = segment_id join collections on collections.id = segments.collection
 where collections.name glob '*drawers*' or collections.name = 'mempalace'
 order by embeddings.id, key
"""
_OTHERS = """
select count(*) as count from embeddings join segments on segments.id = segment_id
  join collections on collections.id = segments.collection
 where not (collections.name glob '*drawers*' or collections.name = 'mempalace')
"""
_STATEMENTS = """
select coalesce(one.name, subject) as subject, predicate, coalesce(other.name, object) as object,
       valid_from, valid_to, confidence, one.type as kind, extracted_at
  from triples left join entities as one on one.id = subject left join entities as other on other.id = object
 order by subject, triples.rowid
"""
_DAY = len("2026-03-31")


def read(place: Path) -> Iterator[ForeignMemory | Unmatched]:
    """Yield the drawers, then one memory for each subject of the knowledge graph; closets have no counterpart."""
    drawers = found_in(TOOL, place, "chroma.sqlite3")
    with database(TOOL, drawers) as store:
        store.require("embedding_metadata", "id", "key", "string_value")
        for number, rows in groupby(store.rows(_DRAWERS), key=lambda row: str(row["id"])):
            yield _drawer(number, {row["key"]: row["value"] for row in rows})
        for row in store.rows(_OTHERS):
            yield from [Unmatched("closet")] * row["count"]
    folders = (drawers.parent, drawers.parent.parent)
    graph = next((folder / one for folder in folders for one in _GRAPHS if (folder / one).is_file()), None)
    if graph:
        with database(TOOL, graph) as store:
            for subject, rows in groupby(store.rows(_STATEMENTS), key=lambda row: str(row["subject"])):
                yield _statements(subject, list(rows))


def _drawer(number: str, values: dict[str, Any]) -> ForeignMemory | Unmatched:
    body = text(values, "chroma:document")
    if not body.strip():
        return Unmatched("drawer without text")
    return ForeignMemory(
        number,
        body,
        authored_at=text(values, "source_mtime_iso") or text(values, "filed_at"),
        tags=tuple(filter(None, (text(values, "room"), text(values, "hall")))),
        project=text(values, "wing"),
    )


def _statements(subject: str, rows: list[dict[str, Any]]) -> ForeignMemory:
    facts = tuple(
        ForeignFact(
            subject,
            text(row, "predicate"),
            text(row, "object"),
            text(row, "valid_from")[:_DAY],
            text(row, "valid_to")[:_DAY],
            share(row["confidence"], 1.0),
            text(row, "kind"),
        )
        for row in rows
    )
    lines = [f"- {one.subject} {one.predicate.replace('_', ' ')} {one.object}{_span(one)}" for one in facts]
    return ForeignMemory(
        f"graph-{subject}", "\n".join(lines), subject, authored_at=text(rows[-1], "extracted_at"), facts=facts
    )


def _span(one: ForeignFact) -> str:
    since = f" since {one.valid_from}" if one.valid_from else ""
    return f"{since} until {one.valid_to}" if one.valid_to else since


STORES = (store_of(TOOL, (".mempalace/palace", ".local/share/mempalace/palace"), read),)
