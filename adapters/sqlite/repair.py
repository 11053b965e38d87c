"""Repair of a damaged vault: a new vault with every row that SQLite can still read."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from operator import itemgetter
from pathlib import Path
from typing import Any

import apsw

from clawmem.adapters.sqlite.database import PAGE_SIZE, Database, Row, busy_handler
from clawmem.adapters.sqlite.mending import mend, put_back
from clawmem.adapters.sqlite.migrations import migrate, refuse_foreign
from clawmem.adapters.sqlite.records import record_tables
from clawmem.adapters.sqlite.vault_file import is_empty
from clawmem.ports.errors import NotAVault, VaultError, VaultLocked, VaultReadOnly
from clawmem.ports.storage import SalvageReport

_UNREADABLE = (apsw.Error, UnicodeDecodeError)
_LAST = 2**63 - 1  # the largest row number
_HALVINGS = 12  # of the row numbers between unreadable rows
_TABLES = {
    "content",
    "documents",
    "fragments",
    "meta",
}  # a readable list of a vault's tables names one of these
_KINDS: dict[str, type | tuple[type, ...]] = {
    "text": str,
    "integer": int,
    "real": (int, float),
    "blob": bytes,
}
_PLACES = (
    "select id, collection, path from documents indexed by sqlite_autoindex_documents_1 order by 2{0}, 3{0}"
)
_HASHES = "select id, hash from documents indexed by documents_hash order by 2{0}, 1{0}"
_SERVED = "select id, authored_at from documents indexed by documents_chronology where inactive is null order by 2{0}, 1{0}"


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
            migrate(new)
            with _reading(vault, draft) as old:
                report = _copy(_OldVault(old) if old else None, new)
        if aside:
            _exchange(vault, draft, aside)
    except PermissionError as error:
        raise VaultReadOnly(vault) from error
    except OSError as error:
        raise VaultError(
            vault, f"{vault} could not be repaired: {error.strerror}. It is unchanged."
        ) from error
    finally:
        discard_vault(draft)
    return report


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
            if tables and not tables & _TABLES:
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
    with open(vault, "rb") as file:  # noqa: PTH123
        if not any(b"\0" in part for part in iter(lambda: file.read(PAGE_SIZE), b"")):
            raise NotAVault(vault, "it is a text file")
    copy = shutil.copyfile(vault, f"{draft}.header")
    with suppress(FileNotFoundError):
        shutil.copyfile(f"{vault}-wal", f"{copy}-wal")
    header = bytearray(Path(draft).read_bytes()[:100])
    header[28:32] = (os.path.getsize(copy) // PAGE_SIZE).to_bytes(4, "big")  # noqa: PTH202
    with open(copy, "rb+") as file:  # noqa: PTH123
        file.write(header)
    return copy


class _OldVault:
    """Reads what it can of a damaged vault; ``faults`` counts the queries that met damage."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self.faults = 0

    def value(self, sql: str, *bindings: str) -> Any:
        """Return the first column of the first row, None if it cannot be read."""
        try:
            return self._connection.execute(sql, bindings).get
        except _UNREADABLE:
            return None

    def knows(self, table: str) -> bool:
        """Whether the readable part of the schema describes *table*."""
        try:
            self._connection.execute(f"select 1 from {table} limit 0")
        except apsw.SQLError:
            return False
        return True

    def both_ways(self, sql: str) -> Iterator[Row]:
        """Yield the rows in ascending order up to an unreadable one, then those behind it in descending order."""
        for order in ("", " desc"):
            try:
                yield from self._connection.execute(sql.format(order))
            except _UNREADABLE:
                self.faults += 1
            else:
                return

    def between(self, sql: str, low: int, high: int, last: int, halvings: int = _HALVINGS) -> Iterator[Row]:
        """Yield the rows between two row numbers, from both ends to an unreadable row, then of both halves in the same way."""
        for order in ("", " desc"):
            try:
                for row in self._connection.execute(sql.format(order), (low, high)):
                    low, high = (low, row[0]) if order else (row[0], high)
                    yield row
            except _UNREADABLE:
                self.faults += 1
            else:
                return
        high = min(high, max(last, 2 * low) + 1024)
        if halvings and high - low > 2:
            middle = (low + high + 1) // 2
            yield from self.between(sql, low, middle, last, halvings - 1)
            yield from self.between(sql, middle - 1, high, last, halvings - 1)


def _copy(old: _OldVault | None, new: Database) -> SalvageReport:
    kept: dict[str, int] = {}
    lost: dict[str, int | None] = {}
    with new.without_rules(), new.atomic():
        for table in record_tables(new):
            if old is None:
                break
            kept[table], expected = _copy_table(old, new, table)
            if expected != kept[table]:
                lost[table] = None if expected is None else expected - kept[table]
        if old and "documents" in lost:
            old.faults = 0
            served: dict[int, str] = dict(row for row in old.both_ways(_SERVED))
            knows_served = not old.faults
            places = {row[0]: row[1:] for row in old.both_ways(_PLACES)}
            put_back(
                new, places, dict(row for row in old.both_ways(_HASHES)), served if knows_served else None
            )
        losses = mend(new)
    kept["content"] = kept.get("content", 0) - losses.nameless
    return SalvageReport({table: rows for table, rows in kept.items() if rows}, lost, *losses)


def _copy_table(old: _OldVault, new: Database, table: str) -> tuple[int, int | None]:
    """Copy the readable rows of *table*; return their number, and the number that it had, None if that is unknown."""
    columns = new.rows('select name, lower(type), "notnull", pk from pragma_table_info(?)', (table,))
    names = ", ".join(f'"{name}"' for name, *_ in columns)
    old.faults = 0
    if not old.knows(table):
        return 0, None
    count = old.value(f"select count(*) from {table}")  # read from the smallest index
    last = old.value("select seq from sqlite_sequence where name = ?", table) or 0
    if new.value("select wr from pragma_table_list where name = ?", (table,)):
        keys = ", ".join(f'"{name}"{{0}}' for name, _, _, pk in sorted(columns, key=itemgetter(3)) if pk)
        rows = old.both_ways(f"select 0, {names} from {table} order by {keys}")
    else:
        sql = f"select rowid, {names} from {table} where rowid > ? and rowid < ? order by rowid{{0}}"
        rows = old.between(sql, -1, _LAST, max(last, count or 0))
    fits = [(_KINDS.get(kind, (str, int)), bool(required)) for _, kind, required, _ in columns]
    sound = (row[1:] for row in rows if all(map(_is_sound, row[1:], fits)))
    if table == "meta":
        new.write("delete from meta")
    new.write_many(f"insert or ignore into {table} ({names}) values ({', '.join('?' * len(columns))})", sound)
    new.write("update sqlite_sequence set seq = max(seq, ?) where name = ?", (last, table))
    if table == "meta":
        new.write("insert or ignore into meta values ('vault_id', lower(hex(randomblob(8))))")
    found = int(new.value(f"select count(*) from {table}"))
    return found, max(count, found) if count is not None else None if old.faults else found


def _is_sound(value: Any, expected: tuple[type | tuple[type, ...], bool]) -> bool:
    return not expected[1] if value is None else isinstance(value, expected[0])


def _exchange(vault: str, new: str, aside: str) -> None:
    """
    Replace *vault* by the file *new*, and keep the old file and its log as *aside*.

    The old file exists under both names until the new file takes its place.
    """
    log, log_aside = Path(f"{vault}-wal"), Path(f"{aside}-wal")
    try:
        try:
            os.link(vault, aside)
        except OSError:  # a file system without hard links
            shutil.copy2(vault, aside)
        if log.exists():
            log.replace(log_aside)  # otherwise SQLite would replay it into the new file
        Path(f"{vault}-shm").unlink(missing_ok=True)
        Path(new).replace(vault)
        with suppress(OSError):  # Windows cannot open a folder
            folder = os.open(os.path.dirname(vault) or ".", os.O_RDONLY)  # noqa: PTH120
            os.fsync(folder)
            os.close(folder)
    except OSError:
        with suppress(OSError):
            log_aside.replace(log)
        raise
