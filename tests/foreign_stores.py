"""
Small stores of other memory tools, made here with the schema that each tool was seen to write.

Seen: mem0ai 2.2.1 (history.db), claude-mem 13.25.3 (the CREATE TABLE statements of its worker),
and the tables of ClawMem 0.9. Basic Memory and OpenClaw keep Markdown files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
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
    """Four events of two memories, one of which was deleted."""
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


def openclaw(folder: Path) -> None:
    _file(folder / "memory/2025-03-04.md", f"# Tuesday\n\n{TEXT}\n")
    _file(folder / "MEMORY.md", "# Long-term\n\nAnn makes bowls.\n")
    _file(folder / "SOUL.md", "You are a bot.")


def lines(folder: Path) -> None:
    """The lines that ``clawmem export --format jsonl`` writes, and one that is damaged."""
    memories: list[dict[str, Any]] = [
        {
            "id": "notes/ann.md", "text": "Ann likes blue.", "title": "Ann", "authored_at": OLD,
            "facts": [{"subject": "Ann", "predicate": "uses", "object": "Kiln", "kind": "person"}],
            "relations": [{"target": "notes/kiln.md", "kind": "supporting", "weight": 0.7}],
        },
        {"id": "notes/kiln.md", "text": TEXT, "authored_at": OLD, "tags": ["craft"], "project": "pottery"},
    ]  # fmt: skip
    _file(folder / "memories.jsonl", "".join(f"{json.dumps(one)}\n" for one in memories) + "{broken\n")


STORES: dict[str, Callable[[Path], None]] = {
    "mem0": mem0,
    "claude-mem": claude_mem,
    "clawmem": clawmem,
    "basic-memory": basic_memory,
    "openclaw": openclaw,
    "jsonl": lines,
}
