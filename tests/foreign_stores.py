"""
Small stores of other memory tools, made here with the schema that each tool was seen to write.

Seen: mem0ai 2.2.1 (history.db, and Qdrant on disk), claude-mem 13.25.3 (the CREATE TABLE statements of its worker),
mempalace 3.11.0 with chromadb 1.5.9, portable-ai-memory 1.0.0, and the tables of ClawMem 0.9. Basic Memory, memsearch and
OpenClaw keep Markdown files; agent files of Letta are JSON.
"""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import apsw

OLD = "2025-03-04T05:06:07+00:00"
TEXT = "The kiln fires at nine hundred and fifty degrees."


def sqlite(file: Path, script: str, *inserts: tuple[str, Iterable[Any]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with closing(apsw.Connection(str(file))) as made:
        made.execute(script)
        for table, row in inserts:
            values = list(row)
            made.execute(f"insert into {table} values ({', '.join('?' * len(values))})", values)


def mem0(folder: Path) -> None:
    """Three events of two memories, one of which was deleted, and the payload of the other in Qdrant."""
    events = """create table history (id text primary key, memory_id text, old_memory text, new_memory text, event text,
        created_at datetime, updated_at datetime, is_deleted integer, actor_id text, role text)"""
    sqlite(
        folder / "history.db",
        events,
        ("history", ("1", "m1", None, "The kiln fires at nine hundred.", "ADD", OLD, OLD, 0, None, "user")),
        ("history", ("2", "m2", None, "Clay comes from Delft.", "ADD", OLD, OLD, 0, None, "user")),
        ("history", ("3", "m1", "The kiln", TEXT, "UPDATE", OLD, OLD, 0, None, "user")),
        ("history", ("4", "m2", "Clay", None, "DELETE", OLD, OLD, 1, None, "user")),
    )
    payload = {"data": TEXT, "user_id": "ann", "category": "craft", "created_at": OLD}
    points = "create table points (id text primary key, point blob)"
    sqlite(
        folder / "qdrant/collection/mem0/storage.sqlite",
        points,
        ("points", ("m1", qdrant_point("m1", payload))),
    )


def qdrant_point(number: str, payload: dict[str, Any]) -> bytes:
    """A pickled point of the class that the client of Qdrant has, which is not installed here."""
    module = ModuleType("qdrant_client.http.models.models")
    point = type("PointStruct", (), {"__module__": module.__name__, "__qualname__": "PointStruct"})
    module.PointStruct = point  # type: ignore[attr-defined]
    parts = module.__name__.split(".")
    parents = [".".join(parts[: number + 1]) for number in range(len(parts))]
    sys.modules.update({name: ModuleType(name) for name in parents[:-1]} | {module.__name__: module})
    try:
        made = point()
        vars(made).update(id=number, vector={"": [0.1, 0.2]}, payload=payload)
        return pickle.dumps(made)
    finally:
        for name in parents:
            del sys.modules[name]


def claude_mem(folder: Path) -> None:
    script = """
        create table observations (id integer primary key, memory_session_id text, project text, text text, type text,
            created_at text, created_at_epoch integer, title text, subtitle text, facts text, narrative text,
            concepts text, files_read text, files_modified text);
        create table session_summaries (id integer primary key, memory_session_id text, project text, request text,
            investigated text, learned text, completed text, next_steps text, files_read text, files_edited text,
            notes text, created_at text, created_at_epoch integer);
        create table user_prompts (id integer primary key, prompt_text text);"""
    observation = (7, "s", "pottery", "raw", "decision", OLD, 0, "Hotter kiln", "", '["It glazes better."]', TEXT,
                   '["kiln"]', '["kiln.py"]', None)  # fmt: skip
    summary = (
        1,
        "s",
        "pottery",
        "Tune the kiln",
        None,
        "Heat matters",
        "Raised it",
        None,
        "[]",
        "[]",
        None,
        OLD,
        0,
    )
    sqlite(
        folder / "claude-mem.db",
        script,
        ("observations", observation),
        ("session_summaries", summary),
        ("user_prompts", (1, "hello")),
    )


def mempalace(folder: Path) -> None:
    script = """
        create table collections (id text primary key, name text);
        create table segments (id text primary key, collection text);
        create table embeddings (id integer primary key, segment_id text, embedding_id text, seq_id blob, created_at text);
        create table embedding_metadata (id integer, key text, string_value text, int_value integer, float_value real,
            bool_value integer, primary key (id, key));
        insert into collections values ('c', 'mempalace_drawers'), ('d', 'mempalace_closets');
        insert into segments values ('s', 'c'), ('t', 'd');
        insert into embeddings values (1, 's', 'drawer_kiln', x'01', ''), (2, 't', 'closet_1', x'02', '');"""
    values = {"chroma:document": TEXT, "wing": "home", "room": "craft", "filed_at": OLD}
    rows = [("embedding_metadata", (1, key, value, None, None, None)) for key, value in values.items()]
    sqlite(folder / "palace/chroma.sqlite3", script, *rows)
    graph = """
        create table entities (id text primary key, name text, type text, properties text, created_at text);
        create table triples (id text primary key, subject text, predicate text, object text, valid_from text,
            valid_to text, confidence real, extracted_at text);
        insert into entities values ('ann', 'Ann', 'person', '{}', ''), ('kiln', 'Kiln', 'tool', '{}', '');"""
    triple = ("t", "ann", "uses", "kiln", "2025-01-01", None, 0.9, "2025-03-04 05:06:07")
    sqlite(folder / "knowledge_graph.sqlite3", graph, ("triples", triple))


def clawmem(folder: Path) -> None:
    script = """
        create table content (hash text primary key, doc text, created_at text);
        create table documents (id integer primary key, collection text, path text, title text, hash text,
            modified_at text, active integer, tags text, content_type text, confidence real, pinned integer,
            snoozed_until text, invalidated_at text);
        create table memory_relations (source_id integer, target_id integer, relation_type text, weight real);
        create table entity_nodes (entity_id text primary key, entity_type text, name text);
        create table entity_triples (id integer primary key, subject_entity_id text, predicate text,
            object_entity_id text, object_literal text, valid_from text, valid_to text, confidence real,
            source_doc_id integer);
        insert into entity_nodes values ('default:tool:kiln', 'tool', 'Kiln');
        insert into entity_triples values (1, 'default:tool:kiln', 'prefers', null, 'slow cooling', '2025-01-01', null, .9, 1);
        insert into memory_relations values (1, 2, 'supporting', .8), (2, 1, 'causal', .7), (1, 3, 'semantic', .7);"""
    sqlite(
        folder / "index.sqlite",
        script,
        ("content", ("h1", TEXT, OLD)),
        ("content", ("h2", "Slow cooling prevents cracks.", OLD)),
        (
            "documents",
            (1, "notes", "kiln.md", "Kiln", "h1", OLD, 1, '["craft"]', "decision", 0.8, 1, None, None),
        ),
        (
            "documents",
            (2, "notes", "b.md", "Cooling", "h2", OLD, 1, "[]", "note", 0.5, 0, "2099-01-01", None),
        ),
        ("documents", (3, "notes", "c.md", "Gone", "h2", OLD, 0, "[]", "note", 0.5, 0, None, None)),
    )


def _file(file: Path, content: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, "utf-8")


def basic_memory(folder: Path) -> None:
    head = f"---\ntitle: Kiln\ntype: note\npermalink: craft/kiln\ncreated: {OLD}\ntags: [craft, heat]\n---\n"
    _file(folder / "craft/Kiln.md", f"{head}- [fact] {TEXT} #heat\n\n## Relations\n- needs [[Clay]]\n")
    _file(
        folder / "craft/Clay.md",
        "---\ntitle: Clay\npermalink: craft/clay\ntags:\n- craft\n---\nFrom Delft.\n",
    )
    _file(folder / ".obsidian/app.md", "hidden")


def memsearch(folder: Path) -> None:
    _file(folder / "2025-03-04.md", f"## Session 10:12\n\n- {TEXT}\n")


def openclaw(folder: Path) -> None:
    _file(folder / "memory/2025-03-04.md", f"# Tuesday\n\n{TEXT}\n")
    _file(folder / "MEMORY.md", "# Long-term\n\nAnn makes bowls.\n")
    _file(folder / "SOUL.md", "You are a bot.")


def letta(folder: Path) -> None:
    blocks = [
        {"id": "block-0", "label": "human", "description": "about Ann", "value": TEXT, "created_at": OLD},
        {"id": "block-1", "label": "persona", "value": ""},
    ]
    agents = [{"name": "Potter", "messages": [{"role": "user"}, {"role": "assistant"}], "tools": []}]
    _file(folder / "potter.af", json.dumps({"agents": agents, "blocks": blocks}))


def pam(folder: Path) -> None:
    def memory(number: str, text: str, **more: Any) -> dict[str, Any]:
        return {
            "id": number, "type": "preference", "content": text, "content_hash": "sha256:0",
            "temporal": {"created_at": OLD}, "provenance": {"platform": "chatgpt"}, "tags": ["craft"], **more,
        }  # fmt: skip

    memories = [memory("m1", TEXT), memory("m2", "Ann likes blue."), memory("m3", "No.", status="retracted")]
    relations = [{"id": "r", "from": "m2", "to": "m1", "type": "supports", "created_at": OLD}]
    store = {
        "schema": "portable-ai-memory",
        "schema_version": "1.0",
        "owner": {"id": "ann"},
        "memories": memories,
    }
    _file(folder / "memory-store.json", json.dumps({**store, "relations": relations}))


def memory_jsonl(folder: Path) -> None:
    lines = [
        {"type": "entity", "name": "Kiln", "entityType": "tool", "observations": [TEXT]},
        {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["makes bowls"]},
        {"type": "relation", "from": "Ann", "to": "Kiln", "relationType": "uses"},
        {"type": "relation", "from": "Bob", "to": "Kiln", "relationType": "uses"},
    ]
    _file(folder / "memory.jsonl", "\n".join(map(json.dumps, lines)) + "\n{broken\n")


STORES: dict[str, Callable[[Path], None]] = {
    "mem0": mem0,
    "claude-mem": claude_mem,
    "mempalace": mempalace,
    "clawmem": clawmem,
    "basic-memory": basic_memory,
    "memsearch": memsearch,
    "openclaw": openclaw,
    "letta": letta,
    "pam": pam,
    "memory-jsonl": memory_jsonl,
}
USUAL = {"mempalace": "palace"}  # the store in the folder, where it is not the folder itself
