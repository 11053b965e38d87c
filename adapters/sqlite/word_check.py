"""Comparison of FTS5 tables with the texts that they were made from, word by word, in tables in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing

from clawmem.adapters.sqlite.database import MEMORY, Database
from clawmem.adapters.sqlite.lexical_index import SqliteLexicalIndex
from clawmem.adapters.sqlite.postings import Postings, missed_terms, postings
from clawmem.ports.errors import VaultDamaged
from clawmem.ports.records import Grain, LexicalEntry

_NAMES = "entity_names"


def wrong_words(db: Database, entries: Iterable[Sequence[LexicalEntry]]) -> list[str]:
    """Return how the lexical index differs from *entries*, which are given in batches."""
    expected = dict.fromkeys(Grain, Postings())
    for batch in entries:
        with closing(ScratchLexicalIndex(db)) as scratch:
            scratch.put(batch)
            expected = {grain: part.plus(scratch.postings(grain)) for grain, part in expected.items()}
    return [
        sentence
        for grain, whole in expected.items()
        for sentence in _differences(db, f"lexical_{grain}", f"The {grain} index", whole)
    ]


def wrong_names(db: Database) -> list[str]:
    """Return how the words of the names of entities differ from these names."""
    with closing(Database(MEMORY)) as memory:
        memory.write(db.value("select sql from sqlite_schema where name = ?", (_NAMES,)))
        with memory.atomic():
            names = db.stream("select key, name from entities")
            memory.write_many(f"insert into {_NAMES} (rowid, name) values (?, ?)", names)
        expected = postings(memory, _NAMES)
    return _differences(db, _NAMES, "The index of entity names", expected)


def _differences(db: Database, table: str, name: str, expected: Postings) -> list[str]:
    try:
        wrong = postings(db, table).differences(expected)
        missed = missed_terms(db, table)
    except VaultDamaged:
        return [f"{name} cannot be read to its end"]
    if missed:
        wrong.append(f"{missed} words that a search misses")
    return [f"{name} differs from the records: {', '.join(wrong)}"] if wrong else []


_TABLES = """
create table meta (name text primary key, value text not null) without rowid;
create table documents (id integer primary key, collection text not null, authored_at text not null);
"""
_LEXICAL = "select sql from sqlite_master where type = 'table' and name like 'lexical%' and sql like 'create virtual%'"
_DOCUMENT = "insert or replace into documents values (?, ?, ?)"


class ScratchLexicalIndex(SqliteLexicalIndex):
    """A temporary lexical index in memory with the same tables as the index of a vault."""

    method = "FTS5 in memory"

    def __init__(self, vault: Database) -> None:
        """
        Create the tables of the index.

        Args:
            vault: Database whose lexical tables are recreated in memory.
        """
        memory = Database(MEMORY)
        memory.write(_TABLES)
        for (sql,) in vault.rows(_LEXICAL):
            memory.write(sql)
        super().__init__(memory)

    def put(self, entries: Sequence[LexicalEntry]) -> None:
        with self._changing():
            # A scope limits documents; their records are in the vault, so the needed columns are copied here.
            documents = {(e.key.document_id, e.collection, e.authored_at) for e in entries}
            self._db.write_many(_DOCUMENT, documents)
            super().put(entries)

    def close(self) -> None:
        """Release the memory."""
        self._db.close()
