"""Stores of other memory tools, which are opened for reading only."""

import json
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from shutil import get_unpack_formats
from typing import Any
from urllib.parse import quote
from zipfile import is_zipfile

import apsw
from pydantic import TypeAdapter
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from clawmem.ports.errors import StoreUnreadable
from clawmem.ports.imports import ForeignFact, ForeignMemory, ForeignRelation, ForeignStore, Unmatched
from clawmem.ports.json_text import read_json, whole_text
from clawmem.ports.storage import APPLICATION_ID, LATEST

MAX_TEXT = 64 << 20  # bytes of one file of text
MOST_WRONG = 100  # first lines that are no memories, after which a file is no such store
Row = dict[str, Any]
Memories = Iterator[ForeignMemory | Unmatched]


class NoStore(Exception):
    """A place that holds no store of the tool; the message is the reason."""


@contextmanager
def database(file: Path) -> Iterator[apsw.Connection]:
    """Open an SQLite file, whose rows come as mappings. Raises apsw.Error if it is no database."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    with closing(apsw.Connection(f"file:{quote(str(file.absolute()))}?mode=ro", flags=flags)) as store:
        store.set_busy_timeout(2_000)
        store.row_trace = lambda cursor, row: dict(
            zip((name for name, *_ in cursor.get_description()), row, strict=True)
        )
        yield store


def has_table(store: apsw.Connection, table: str) -> bool:
    """Whether the database has *table*."""
    return any(store.execute("select 1 from pragma_table_info(?)", (table,)))


def text_of(file: Path) -> str:
    """
    Return the text of *file*; bytes that are not UTF-8 are replaced.

    Raises:
        NoStore: It is no regular file, or has more than 64 MB.
        OSError: It cannot be read.
    """
    if file.exists() and not file.is_file():
        raise NoStore("it is not a regular file")
    if file.stat().st_size > MAX_TEXT:
        raise NoStore(f"it has more than {MAX_TEXT >> 20} MB")
    return file.read_text("utf-8-sig", "replace")


def file_in(place: Path, *names: str) -> Path:
    """Return *place* itself, or the first of *names* in that folder; raise NoStore if it is no file."""
    file = next((place / name for name in names if (place / name).is_file()), None)
    if place.is_dir() and not file:
        raise NoStore(f"the folder has no {' or '.join(names)}")
    if not place.exists():
        raise NoStore("there is no such file")
    if not (file or place).is_file():
        raise NoStore("it is not a regular file")
    return file or place


def words(value: object) -> tuple[str, ...]:
    """Return a list of texts, or JSON text of one, as texts; anything else gives none."""
    if isinstance(value, str):
        with suppress(ValueError):
            value = read_json(value)
    items = value if isinstance(value, list) else []
    return tuple(str(item) for item in items if isinstance(item, str | int))


def text(row: Mapping[str, Any], name: str) -> str:
    """Return a text of *row*; empty if it has none."""
    value = row.get(name)
    return whole_text(str(value)) if value is not None else ""


def share(value: object, usual: float) -> float:
    """Return a number from 0 to 1, else *usual*."""
    return float(value) if isinstance(value, int | float) and 0.0 <= value <= 1.0 else usual


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
            files = dict.fromkeys((*words(row.get("files_read")), *words(row.get("files_modified"))))
            parts = (
                text(row, "subtitle"),
                text(row, "narrative") or text(row, "text"),
                "\n".join(f"- {fact}" for fact in words(row.get("facts"))),
                f"Files: {', '.join(files)}" if files else "",
            )
            yield ForeignMemory(
                f"observation-{row['id']}",
                "\n\n".join(filter(None, parts)),
                text(row, "title"),
                _TYPES.get(text(row, "type"), "observation"),
                text(row, "created_at"),
                tuple(filter(None, (text(row, "type"), *words(row.get("concepts"))))),
                project=text(row, "project"),
            )
        if has_table(store, "session_summaries"):
            for row in store.execute("select * from session_summaries order by id"):
                named = [(part.replace("_", " ").capitalize(), text(row, part)) for part in _PARTS]
                yield ForeignMemory(
                    f"summary-{row['id']}",
                    "\n\n".join(f"**{part}:** {value}" for part, value in named if value),
                    text(row, "request")[:80],
                    "handoff",
                    text(row, "created_at"),
                    project=text(row, "project"),
                )
        if has_table(store, "user_prompts"):
            for _ in store.execute("select 1 from user_prompts"):
                yield Unmatched("prompt")


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


def clawmem_original(place: Path) -> Memories:
    """Yield every served document; archived, forgotten and invalidated ones have no counterpart."""
    file = file_in(place, "index.sqlite", "clawmem.sqlite")
    with database(file) as store:
        [found] = store.execute("select * from pragma_application_id, pragma_user_version")
        if found["application_id"] == APPLICATION_ID:
            remedy = f"To copy it, run: clawmem --vault {shlex.quote(str(file))} export FILE, then: clawmem import bundle FILE"
            if found["user_version"] > LATEST:
                remedy = f"Its schema {found['user_version']} is newer than this clawmem supports. Install a newer one."
            raise StoreUnreadable("clawmem", str(file), "it is a vault of clawmem itself", remedy)
        has_facts, has_relations = has_table(store, "entity_triples"), has_table(store, "memory_relations")
        for row in store.execute(_DOCUMENTS):
            if not row["active"] or row.get("invalidated_at"):
                yield Unmatched("inactive document")
                continue
            facts = store.execute(_FACTS, (row["id"],)) if has_facts else ()
            links = store.execute(_RELATIONS, (row["id"],)) if has_relations else ()
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
                tuple(
                    ForeignFact(
                        text(fact, "subject"),
                        text(fact, "predicate"),
                        text(fact, "object"),
                        text(fact, "valid_from")[:10],
                        text(fact, "valid_to")[:10],
                        share(fact["confidence"], 1.0),
                        text(fact, "kind"),
                    )
                    for fact in facts
                ),
                tuple(
                    ForeignRelation(
                        str(link["target_id"]), text(link, "relation_type"), share(link["weight"], 1.0)
                    )
                    for link in links
                ),
            )


# -- Basic Memory and OpenClaw: Markdown files ------------------------------------------------------------

_RELATION = re.compile(r"- (?:([A-Za-z_ -]{1,60}) )?\[\[([^\[\]|]{1,200})")
_DATES = ("created", "created_at", "date", "modified", "updated")


def _markdown(selects: Callable[[Path], bool], place: Path, marks: frozenset[str] = frozenset()) -> Memories:
    """Yield every Markdown file below *place* that *selects* accepts; one must have a field of *marks*, if any."""
    if not place.is_dir():
        raise NoStore("it is a file, and its folder is needed" if place.exists() else "no such folder exists")
    closed, listed = list[OSError](), os.walk(place, onerror=lambda error: closed.append(error))
    files = (Path(folder, name) for folder, _, names in listed for name in names if name.endswith(".md"))
    paths = sorted(file.relative_to(place) for file in files if file.is_file() and not file.is_symlink())
    for error in closed:
        if not paths:
            raise error
        yield Unmatched(f"folder that cannot be read ({error.filename})")
    for path in paths:
        if (shown := os.fsencode(path).decode("utf-8", "backslashreplace")) != str(path):
            yield Unmatched(f"file whose name is not UTF-8 ({shown})")
    paths = [path for path in paths if text({"": path}, "") == str(path)]
    paths = [path for path in paths if not any(part.startswith(".") for part in path.parts[:-1])]
    notes = {path: _parts(text_of(place / path)) for path in paths if selects(path)}
    if not notes:
        raise NoStore("the folder has none of its Markdown files")
    if marks and not any(marks & fields.keys() for fields, _ in notes.values()):
        raise NoStore(f"none of its notes has {' or '.join(sorted(marks))} in its front matter")
    yield from [Unmatched("other file")] * (len(paths) - len(notes))
    ids: dict[str, str] = {}
    for path, (fields, _) in notes.items():
        own = text(fields, "permalink") or path.as_posix()
        ids.update(dict.fromkeys((text(fields, "title") or path.stem, path.as_posix(), own), own))
    for path, (fields, body) in notes.items():
        if not body.strip():
            yield Unmatched("empty file")
            continue
        tags = fields.get("tags") or ()
        day = re.search(r"\d{4}-\d{2}-\d{2}", path.name)
        changed = datetime.fromtimestamp((place / path).stat().st_mtime, UTC).isoformat()
        dates = (*(text(fields, name) for name in _DATES), day[0] if day else changed)
        relations = (
            ForeignRelation(ids[target.strip()], (kind or "links_to").strip())
            for kind, target in _RELATION.findall(body)
            if ids.get(target.strip(), ids[path.as_posix()]) != ids[path.as_posix()]
        )
        yield ForeignMemory(
            ids[path.as_posix()],
            body.strip(),
            text(fields, "title") or path.stem,
            text(fields, "type") or "note",
            next(filter(None, dates)),
            tuple(str(tag).strip(" #") for tag in (tags.split(",") if isinstance(tags, str) else tags)),
            project=text(fields, "project"),
            relations=tuple(dict.fromkeys(relations)),
        )


def _parts(source: str) -> tuple[Row, str]:
    """Return the front matter and the body of a note; malformed front matter is part of the body."""
    above, front, body = [*re.split(r"^---\r?$", source, maxsplit=2, flags=re.MULTILINE), "", ""][:3]
    fields = None
    if front and not above:
        with suppress(YAMLError, ValueError, RecursionError):
            fields = YAML(typ="base", pure=True).load(front)  # every value is a text
    return (fields, body) if isinstance(fields, dict) else ({}, source)


# Notes of a project of Basic Memory have these in their front matter.
basic_memory = partial(_markdown, lambda path: True, marks=frozenset({"permalink", "type"}))


def openclaw(place: Path) -> Memories:
    """Yield the memory files of a workspace; files in folders of other names are not read."""
    if place.is_dir() and not any((place / name).exists() for name in ("MEMORY.md", "memory.md", "memory")):
        raise NoStore("a workspace of OpenClaw has MEMORY.md or memory/ directly in it; here is neither")
    return _markdown(lambda path: path.parts[0] in ("MEMORY.md", "memory.md", "memory"), place)


# -- the table of tools -----------------------------------------------------------------------------------


def _lines(place: Path) -> Memories:
    """Yield the memories of a file that ``clawmem export --format jsonl`` wrote: one JSON object on each line."""
    adapter, is_empty, wrong = TypeAdapter(ForeignMemory), True, list[str]()
    for number, line in enumerate(text_of(file_in(place, "memories.jsonl")).split("\n"), 1):
        if not line.strip():
            continue
        if is_empty and len(wrong) == MOST_WRONG:
            break
        try:
            memory = adapter.validate_json(json.dumps(read_json(line)))
        except (ValueError, RecursionError):  # pydantic's error is a ValueError
            wrong.append(str(number))
            continue
        has_content = bool(memory.text.strip() or memory.properties)
        is_empty &= not has_content
        yield memory if has_content else Unmatched("empty memory")
    if is_empty:
        raise NoStore(f"no line is a memory in JSON, of {len(wrong)} that were read")
    lines = f"{', '.join(wrong[:5])}{', ...' if wrong[5:] else ''}"
    yield from [Unmatched(f"line that is no memory ({lines})")] * len(wrong)


def _read(tool: str, read: Callable[[Path], Memories], place: str) -> Memories:
    """Read the store at *place*; refuse an archive."""
    archives = tuple(ending for _, endings, _ in get_unpack_formats() for ending in endings)
    if Path(place).is_file() and (is_zipfile(place) or place.endswith(archives)):
        remedy = (
            f"Unpack it, and name the store in it: clawmem import {tool} PATH. If it holds conversations, run: "
            f"clawmem mine {shlex.quote(place)}"
        )
        raise StoreUnreadable(tool, place, "it is an archive", remedy)
    try:
        yield from read(Path(place))
    except OSError as error:
        raise StoreUnreadable(tool, place, (error.strerror or type(error).__name__).lower()) from error
    except (NoStore, apsw.Error, UnicodeError) as error:
        raise StoreUnreadable(tool, place, str(error)) from error


_TOOLS: tuple[tuple[str, tuple[str, ...], Callable[[Path], Memories]], ...] = (
    ("mem0", (".mem0",), mem0),
    ("claude-mem", (".claude-mem",), claude_mem),
    ("basic-memory", ("basic-memory",), basic_memory),
    ("openclaw", (".openclaw/workspace",), openclaw),
    ("clawmem", (".cache/clawmem",), clawmem_original),
    ("jsonl", (), _lines),
)
STORES = {tool: ForeignStore(tool, usual, partial(_read, tool, read)) for tool, usual, read in _TOOLS}
