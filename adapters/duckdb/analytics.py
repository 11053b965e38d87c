from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import duckdb
import pyarrow as pa

from clawmem.adapters.duckdb.arrow import DOCUMENTS, HITS, RECALLS, document_tables, recall_tables
from clawmem.adapters.duckdb.questions import QUERIES, VIEWS
from clawmem.ports.analytics import COLUMNS, Question, Table
from clawmem.ports.errors import InvalidInput
from clawmem.ports.records import Document
from clawmem.ports.telemetry import Recall

_TABLES = {"documents": DOCUMENTS, "recalls": RECALLS, "hits": HITS}

# By default DuckDB downloads missing extensions, which takes seconds and is not announced.
_OFFLINE: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}


class DuckdbAnalytics:
    """``Analytics`` in an in-memory DuckDB that is discarded on close; exports Parquet."""

    def __init__(self) -> None:
        self._db = duckdb.connect(":memory:", config=_OFFLINE)
        self._db.execute("set TimeZone = 'UTC'")
        for name, schema in _TABLES.items():
            self._with(schema.empty_table(), f"create table {name} as from incoming")
        self._db.execute(VIEWS)

    def load(self, documents: Iterable[Document], recalls: Iterable[Recall]) -> None:
        for rows in document_tables(documents):
            self._with(rows, "insert into documents from incoming")
        for rows, hits in recall_tables(recalls):
            self._with(rows, "insert into recalls from incoming")
            self._with(hits, "insert into hits from incoming")

    def ask(self, question: Question, *, now: str, limit: int | None = None) -> Table:
        query = QUERIES[question]
        found = self._db.execute(query, {"now": now} if "$now" in query else {})
        return Table(COLUMNS[question], tuple(found.fetchall() if limit is None else found.fetchmany(limit)))

    def export(self, folder: str) -> list[str]:
        return [self._write(name, Path(folder) / f"{name}.parquet") for name in _TABLES]

    def close(self) -> None:
        self._db.close()

    def _with(self, incoming: pa.Table, statement: str) -> None:
        """Run a statement that reads from ``incoming``."""
        self._db.register("incoming", incoming)
        self._db.execute(statement)
        self._db.unregister("incoming")

    def _write(self, table: str, path: Path) -> str:
        try:
            self._db.table(table).write_parquet(str(path), compression="zstd", overwrite=True)
        except duckdb.IOException as error:
            raise InvalidInput("INVALID_PATH", f"{path} cannot be written: {error}") from error
        return str(path)
