from __future__ import annotations

from collections.abc import Sequence

from clawmem.adapters.sqlite.database import MEMORY, Database
from clawmem.adapters.sqlite.lexical_index import SqliteLexicalIndex
from clawmem.ports.records import LexicalEntry

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
        memory = Database(MEMORY, vector_extension=False)
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
