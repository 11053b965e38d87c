"""Tools whose memories are in SQLite: mem0, claude-mem, and ClawMem, the vault of the Node program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from clawmem.adapters.imports.reading import Row, database, file_in, has_table, share, text, words
from clawmem.ports.imports import ForeignFact, ForeignMemory, ForeignRelation, Unmatched

Memories = Iterator[ForeignMemory | Unmatched]

# -- mem0: its history in SQLite --------------------------------------------------------------------------

_LAST_EVENTS = """
select memory_id, new_memory, created_at, event, is_deleted from history
 where rowid in (select max(rowid) from history group by memory_id) order by rowid
"""


def mem0(place: Path) -> Memories:
    """Yield the present text of each memory, by its last event; *place* is ``history.db`` or its folder."""
    with database(file_in(place, "history.db")) as store:
        for row in store.execute(_LAST_EVENTS):
            if row["is_deleted"] or row["event"] == "DELETE" or not text(row, "new_memory").strip():
                yield Unmatched("deleted memory")
            else:
                created = text(row, "created_at")
                yield ForeignMemory(text(row, "memory_id"), text(row, "new_memory"), authored_at=created)


# -- claude-mem: observations and summaries of sessions ---------------------------------------------------

_TYPES = {"decision": "decision", "bugfix": "problem", "preference": "preference"}
_PARTS = ("request", "investigated", "learned", "completed", "next_steps", "notes")


def claude_mem(place: Path) -> Memories:
    """Yield observations, then summaries; prompts of the user have no counterpart (see ``clawmem mine``)."""
    with database(file_in(place, "claude-mem.db")) as store:
        # The names are those that every version has.
        for row in store.execute(
            "select id, project, text, type, created_at, * from observations order by id"
        ):
            yield _observation(row)
        if has_table(store, "session_summaries"):
            for row in store.execute("select * from session_summaries order by id"):
                parts = [(part.replace("_", " ").capitalize(), text(row, part)) for part in _PARTS]
                yield ForeignMemory(
                    f"summary-{row['id']}",
                    "\n\n".join(f"**{part}:** {value}" for part, value in parts if value),
                    text(row, "request")[:80],
                    "handoff",
                    text(row, "created_at"),
                    project=text(row, "project"),
                )
        if has_table(store, "user_prompts"):
            for _ in store.execute("select 1 from user_prompts"):
                yield Unmatched("prompt")


def _observation(row: Row) -> ForeignMemory:
    files = dict.fromkeys((*words(row.get("files_read")), *words(row.get("files_modified"))))
    parts = (
        text(row, "subtitle"),
        text(row, "narrative") or text(row, "text"),
        "\n".join(f"- {fact}" for fact in words(row.get("facts"))),
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


# -- ClawMem: documents, relations, facts, pins, snoozes and confidence -----------------------------------

_DOCUMENTS = """
select documents.id, collection, title, active, modified_at, documents.*, content.doc as body
  from documents join content using (hash) order by documents.id
"""
_FACTS = """
select coalesce(nodes.name, subject_entity_id) as subject, predicate,
       coalesce(objects.name, object_literal, object_entity_id) as object,
       valid_from, valid_to, confidence, nodes.entity_type as kind
  from entity_triples
  left join entity_nodes as nodes on nodes.entity_id = subject_entity_id
  left join entity_nodes as objects on objects.entity_id = object_entity_id
 where source_doc_id = ? order by id
"""
_RELATIONS = "select target_id, relation_type, weight from memory_relations where source_id = ? order by 1, 2"
_DAY = len("2026-03-31")


def clawmem_original(place: Path) -> Memories:
    """Yield every served document; archived, forgotten and invalidated ones have no counterpart."""
    with database(file_in(place, "index.sqlite", "clawmem.sqlite")) as store:
        has_facts, has_relations = has_table(store, "entity_triples"), has_table(store, "memory_relations")
        for row in store.execute(_DOCUMENTS):
            if not row["active"] or row.get("invalidated_at"):
                yield Unmatched("inactive document")
                continue
            facts = store.execute(_FACTS, (row["id"],)) if has_facts else ()
            relations = store.execute(_RELATIONS, (row["id"],)) if has_relations else ()
            yield ForeignMemory(
                str(row["id"]),
                text(row, "body"),
                text(row, "title"),
                text(row, "content_type") or "note",
                text(row, "modified_at"),
                words(row.get("tags")),
                share(row.get("confidence"), 0.5),
                bool(row.get("pinned")),
                text(row, "snoozed_until"),
                text(row, "collection"),
                tuple(map(_fact, facts)),
                tuple(
                    ForeignRelation(
                        str(link["target_id"]), text(link, "relation_type"), share(link["weight"], 1.0)
                    )
                    for link in relations
                ),
            )


def _fact(row: Row) -> ForeignFact:
    return ForeignFact(
        text(row, "subject"),
        text(row, "predicate"),
        text(row, "object"),
        text(row, "valid_from")[:_DAY],
        text(row, "valid_to")[:_DAY],
        share(row["confidence"], 1.0),
        text(row, "kind"),
    )
