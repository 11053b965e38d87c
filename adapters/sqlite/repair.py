"""Repair of a damaged vault: a new vault with every row that SQLite can still read."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import apsw

from clawmem.adapters.sqlite.database import PAGE_SIZE, Database, Row, busy_handler
from clawmem.adapters.sqlite.mending import mend
from clawmem.adapters.sqlite.records import record_tables
from clawmem.adapters.sqlite.schema import APPLICATION_ID, prepare, refuse_foreign
from clawmem.adapters.sqlite.vault_file import is_empty, is_text
from clawmem.ports.errors import NotAVault, VaultError, VaultLocked, VaultReadOnly
from clawmem.ports.storage import SalvageReport

_UNREADABLE = (apsw.Error, UnicodeDecodeError)
_LAST = 2**63 - 1  # the largest row number
_HALVINGS = 12  # of the row numbers between unreadable rows
_OF_VAULTS = {
    "content",
    "documents",
    "fragments",
    "meta",
}  # tables of every vault, in a readable list of them

_LONG_AGO = "1970-01-01T00:00:00.000Z"
# Places, hashes and times of documents are in indexes, too.
_INDEXES = (
    "select id, collection, path from documents indexed by sqlite_autoindex_documents_1 where ? < ? order by 2{0}, 3{0}",
    "select id, hash from documents indexed by documents_hash where ? < ? order by 2{0}, 1{0}",
    """
    select id, authored_at from documents indexed by documents_chronology
     where inactive is null and ? < ? order by 2{0}, 1{0}
    """,
)
# Until its file is read again, nobody knows who wrote the text.
_PUT_BACK = """
insert into documents (id, collection, path, title, hash, source_hash, authored_at, modified_at, indexed_at, content_type,
    confidence, pinned, body_length, origin, inactive)
select :id, :collection, :path, :path, hash, '', :at, :at, :at, 'note', .5,
       coalesce((select act = 'pin' from acts where document_id = :id and act in ('pin', 'unpin') order by id desc), 0),
       length(body), 'tool_outside',
       case when exists (select 1 from acts where document_id = :id and act in ('forget', 'purge')) then 'forgotten'
            when body = '' then 'removed' when not :is_served then 'archived' end
  from content where hash = :hash
"""


def repair_vault(vault: str, draft: str, aside: str | None) -> SalvageReport:
    """
    Replace the damaged *vault* by a new one with its readable records; the damaged file stays as *aside*.

    The new file is written as *draft*, so a repair that is killed changes nothing. Indexes stay empty.

    Args:
        aside: None: report what would be kept and lost, and change nothing.

    Raises:
        VaultLocked: Another process is writing.
        VaultFull, VaultReadOnly: The draft cannot be written.
        VaultError: *vault* is of another version or program, or cannot be read or replaced.
    """
    discard_vault(draft)
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL, 0o600))
        with closing(Database(draft)) as new:
            prepare(new)
            with _reading(vault, draft) as old, new.without_rules(), new.atomic():
                kept, lost = _copy(old, new) if old else ({}, {})
                notes, damaged = mend(new)
        if aside:
            shutil.copy2(vault, aside)
            if (log := Path(f"{vault}-wal")).exists():
                log.replace(f"{aside}-wal")  # otherwise SQLite would replay it into the new file
            Path(f"{vault}-shm").unlink(missing_ok=True)
            Path(draft).replace(vault)
    except PermissionError as error:
        raise VaultReadOnly(vault) from error
    except OSError as error:
        raise VaultError(
            vault, f"{vault} could not be repaired: {error.strerror}. It is unchanged."
        ) from error
    finally:
        discard_vault(draft)
    return SalvageReport(kept, lost, tuple(notes), tuple(damaged))


def discard_vault(path: str) -> None:
    """Delete the vault at *path*, which nothing uses, and its log."""
    for end in ("", "-wal", "-shm", "-journal"):
        Path(f"{path}{end}").unlink(missing_ok=True)
        Path(f"{path}.header{end}").unlink(missing_ok=True)


@contextmanager
def _reading(vault: str, draft: str) -> Iterator[apsw.Connection | None]:
    """Open *vault* without changing it, and keep other writers out for the block; None if it is empty."""
    if is_empty(vault):
        yield None
        return
    if Path(vault).is_dir():
        raise NotAVault(vault, "it is a folder, and a vault is a file")
    old = apsw.Connection(vault, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        old.set_busy_handler(busy_handler())
        old.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        with suppress(apsw.Error):  # a damaged list of tables
            tables = {name for (name,) in old.execute("select name from sqlite_schema where type = 'table'")}
            if tables and not tables >= _OF_VAULTS and old.pragma("application_id") != APPLICATION_ID:
                raise NotAVault(vault, "it is the SQLite database of another program")
        old.execute("pragma writable_schema = on")  # use the readable part of a damaged schema
        try:
            old.execute("begin immediate; select id from documents limit 0").fetchall()
        except apsw.BusyError as error:
            raise VaultLocked(vault) from error
        except (apsw.NotADBError, apsw.SQLError):  # a damaged header
            old.close()
            old = apsw.Connection(_with_header(vault, draft))
            old.execute("pragma writable_schema = on")
        except apsw.Error:
            pass  # its damage allows no lock
        with suppress(apsw.Error):
            if application := old.pragma("application_id"):
                refuse_foreign(vault, application, old.pragma("user_version"))
        yield old
    finally:
        with suppress(apsw.Error):
            old.close()


def _with_header(vault: str, draft: str) -> str:
    """Return the path of a copy of *vault* with the file header of the new vault *draft*."""
    if is_text(vault):
        raise NotAVault(vault, "it is a text file")
    copy = shutil.copyfile(vault, f"{draft}.header")
    with suppress(FileNotFoundError):
        shutil.copyfile(f"{vault}-wal", f"{copy}-wal")
    header = bytearray(Path(draft).read_bytes()[:100])
    header[28:32] = (os.path.getsize(copy) // PAGE_SIZE).to_bytes(4, "big")  # noqa: PTH202
    with open(copy, "rb+") as file:  # noqa: PTH123
        file.write(header)
    return copy


def _copy(old: apsw.Connection, new: Database) -> tuple[dict[str, int], dict[str, int | None]]:
    """Copy the readable rows; return their numbers by table, and the numbers of the others, None if that is unknown."""
    kept: dict[str, int] = {}
    lost: dict[str, int | None] = {}
    count: int | None
    with suppress(*_UNREADABLE):  # numbers that were given out are not used again
        for name, last in old.execute("select name, seq from sqlite_sequence"):
            new.write("insert into sqlite_sequence values (?, ?)", (name, last))
    for table in record_tables(new):
        lost[table] = None
        try:
            count = int(old.execute(f"select count(*) from {table}").get)  # read from the smallest index
        except apsw.SQLError:  # its schema is lost
            continue
        except _UNREADABLE:
            count = None
        columns = new.rows("select name, pk from pragma_table_info(?) order by pk", (table,))
        names = ", ".join(f'"{name}"' for name, _ in columns)
        if new.value("select wr from pragma_table_list where name = ?", (table,)):
            keys = ", ".join(f'"{name}"{{0}}' for name, pk in columns if pk)
            rows = _readable(old, f"select 0, {names} from {table} where ? < ? order by {keys}", halvings=0)
        else:
            sql = f"select rowid, {names} from {table} where rowid > ? and rowid < ? order by rowid{{0}}"
            rows = _readable(old, sql)
        action = "replace" if table == "meta" else "insert"  # the new vault has an id already
        with new.connection() as writer:
            for row in rows:
                with suppress(apsw.ConstraintError):  # a value of another type, or none of its vocabulary
                    writer.execute(
                        f"{action} into {table} ({names}) values ({', '.join('?' * len(columns))})", row[1:]
                    )
        kept[table] = int(new.value(f"select count(*) from {table}"))
        if count is not None:
            lost[table] = max(0, count - kept[table])
    if lost["documents"] != 0:
        _put_back(old, new)
    return {table: count for table, count in kept.items() if count}, {t: n for t, n in lost.items() if n != 0}


def _put_back(old: apsw.Connection, new: Database) -> None:
    """Add a record for each document whose own one is unreadable and whose text is not."""
    places, hashes, times = ({row[0]: row[1:] for row in _readable(old, sql, halvings=0)} for sql in _INDEXES)
    for number in (places.keys() & hashes.keys()) - {*new.values("select id from documents")}:
        place = dict(zip(("collection", "path"), places[number], strict=True))
        known = {
            "hash": hashes[number][0],
            "at": times.get(number, (_LONG_AGO,))[0],
            "is_served": number in times,
        }
        new.write(_PUT_BACK, {"id": number, **place, **known})


def _readable(
    old: apsw.Connection, sql: str, low: int = -1, high: int = _LAST, *, halvings: int = _HALVINGS
) -> Iterator[Row]:
    """
    Yield the rows between two row numbers, from both ends to an unreadable row, then of both halves in the same way.

    Args:
        sql: Query for the row number and the columns, with a place for the direction.
    """
    for order in ("", " desc"):
        try:
            for row in old.execute(sql.format(order), (low, high)):
                low, high = (low, row[0]) if order else (row[0], high)
                yield row
        except _UNREADABLE:
            continue
        return
    if high == _LAST:  # the last rows are unreadable
        high = 2 * max(low, 0) + 4096
    if halvings and high - low > 2:
        middle = (low + high + 1) // 2
        yield from _readable(old, sql, low, middle, halvings=halvings - 1)
        yield from _readable(old, sql, middle - 1, high, halvings=halvings - 1)
