"""Records of a vault as tables: read for a bundle, and written to a new vault."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from secrets import token_hex
from zlib import crc32

from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.embeddings import create_vectors
from clawmem.adapters.sqlite.repair import mend
from clawmem.adapters.sqlite.schema import NEW_ID, create, record_tables, version
from clawmem.ports.storage import RecordTable, VaultRecords

# A register of this machine, its id and stamps, a cache, and receipts, which quote questions
_OF_THIS_MACHINE = frozenset({"indexes", "meta", "model_answers", "receipts"})
# The serving space and its texts, with vectors of int8 numbers, are tables of a bundle, too.
_VECTOR_TABLES = {
    "spaces": ("id", "fingerprint", "state", "dimensions"),
    "texts": ("id", "space", "hash", "vector"),
}


@contextmanager
def open_records(path: str) -> Iterator[VaultRecords]:
    """Lend the records of the vault at *path*, which nothing else uses, while it is open."""
    with closing(Database(path)) as db:
        layout = _layout(db)
        rows = db.rows("select name, seq from sqlite_sequence order by name")
        sequences = {name: number for name, number in rows if name in layout}
        yield VaultRecords(version(db), sequences, _tables(db, layout))


def _tables(db: Database, layout: Mapping[str, tuple[str, ...]]) -> Iterator[RecordTable]:
    for name, columns in sorted(layout.items()):
        keys = db.values("select name from pragma_table_info(?) where pk order by pk", (name,))
        sql = f"select {_quoted(columns)} from {name} order by {_quoted(keys)}"
        if db.value(f"select exists (select 1 from {name})"):
            yield RecordTable(name, columns, db.stream(sql))
    yield from stored_vectors(db)


def load_records(target: Path, tables: Iterable[RecordTable], sequences: Mapping[str, int]) -> None:
    """
    Fill the new vault *target*, which gets an id of its own.

    Raises:
        ValueError: A table or a column does not exist.
        VaultError: The file cannot be written, or a row breaks a rule of its table.
    """
    with closing(Database(str(target))) as db:
        create(db)
        layout = _layout(db)
        with db.without_rules(), db.atomic():
            for name in layout:
                db.write(f"delete from {name}")
            for table in tables:
                if table.name in _VECTOR_TABLES:
                    _load_vectors(db, table)
                    continue
                if not {*table.columns} <= {*layout.get(table.name, ())}:
                    raise ValueError(f"unknown table or column in {table.name}")
                marks = ", ".join("?" * len(table.columns))
                db.write_many(
                    f"insert into {table.name} ({_quoted(table.columns)}) values ({marks})", table.rows
                )
            for name, last in sequences.items():
                db.write("update sqlite_sequence set seq = max(seq, ?) where name = ?", (last, name))
            db.write(NEW_ID, {"id": token_hex(8)})
            mend(db)


def _layout(db: Database) -> dict[str, tuple[str, ...]]:
    sql = "select name from pragma_table_info(?) order by cid"
    tables = [name for name in record_tables(db) if name not in _OF_THIS_MACHINE]
    return {table: tuple(db.values(sql, (table,))) for table in tables}


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def stored_vectors(db: Database) -> Iterator[RecordTable]:
    """Iterate over the serving space, and its texts with their vectors in int8 numbers, as tables of a bundle."""
    sql = "select id, fingerprint, state, dimensions from spaces where state = 'serving' and dimensions > 0"
    for space in db.rows(sql):
        yield RecordTable("spaces", _VECTOR_TABLES["spaces"], [space])
        sql = f"""
            select id, space, hash, embedding from texts join vectors_{space[0]} as vectors on vectors.rowid = id
             where space = ? order by id
            """
        yield RecordTable("texts", _VECTOR_TABLES["texts"], db.stream(sql, space[:1]))


def _load_vectors(db: Database, table: RecordTable) -> None:
    """
    Fill a new vault with one of the tables of `stored_vectors`, which come in their order.

    Raises:
        ValueError: A column does not exist, or a value is not of its kind.
    """
    if tuple(table.columns) != _VECTOR_TABLES[table.name]:
        raise ValueError(f"unknown columns in {table.name}")
    if table.name == "spaces":
        for number, fingerprint, _, dimensions in table.rows:
            if not isinstance(number, int) or not isinstance(dimensions, int):
                raise ValueError("an embedding space has no number or no dimensions")  # noqa: TRY004
            sql = "insert into spaces (id, fingerprint, state, dimensions) values (?, ?, 'serving', ?)"
            db.write(sql, (number, fingerprint, dimensions))
            create_vectors(db, f"vectors_{number}", dimensions)
        return
    number, dimensions = db.rows("select id, dimensions from spaces")[0]
    for text, _, name, codes in table.rows:
        if not isinstance(codes, bytes) or len(codes) != dimensions:
            raise ValueError("a vector has another length than its embedding space")
        db.write("insert into texts values (?, ?, ?, ?)", (text, number, name, crc32(codes)))
        db.write(f"insert into vectors_{number} (rowid, embedding) values (?, vec_int8(?))", (text, codes))
