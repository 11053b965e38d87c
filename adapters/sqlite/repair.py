"""Repair of a damaged vault, a new one with every row that SQLite can still read; and checked copies of a sound one."""

import os
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

import apsw

from clawmem.adapters.sqlite.database import BUSY_TIMEOUT_S, Database, Row, open_reader, open_writer
from clawmem.adapters.sqlite.documents import NOTHING
from clawmem.adapters.sqlite.schema import NEW_ID, prepare, record_tables, refuse_foreign
from clawmem.adapters.sqlite.sqlite_errors import ExplainedErrors, write_refusal
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.adapters.sqlite.vault_file import is_empty, kind_of_stranger, log_is_empty, refuse_special
from clawmem.ports.errors import NotAVault, VaultDamaged, VaultError, VaultFull, VaultLocked
from clawmem.ports.storage import APPLICATION_ID, SalvageReport

_UNREADABLE = (apsw.Error, UnicodeDecodeError)
_LAST = 2**63 - 1  # the largest row number
_HALVINGS = 12  # of the row numbers between unreadable rows
_OF_VAULTS = {"content", "documents", "fragments", "meta"}  # tables of every vault


def repair_vault(vault: str, draft: str, aside: str) -> SalvageReport:
    """
    Replace the damaged *vault* by a new one with its readable records; the damaged file stays as *aside*.

    The new file is written as *draft*, so a repair that is killed changes nothing. Indexes stay empty.

    Args:
        aside: Path at which the damaged file stays.

    Raises:
        VaultLocked: Another process is writing.
        VaultFull, OSError: The draft cannot be written, or *vault* cannot be replaced.
        VaultError: *vault* is of another version or program, or cannot be read.
    """
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL, 0o600))
        with closing(Database(draft)) as new:
            prepare(new)
            with reading_damaged(vault) as old, new.without_rules(), new.atomic():
                saved, lost = _copy(old, new) if old else ({}, {})
                notes, damaged = mend(new)
        if not log_is_empty(draft):  # SQLite closes a file without an error if its log does not fit into it
            raise VaultFull(draft)
        Path(shutil.copy2(vault, f"{draft}-old")).replace(aside)
        if (log := Path(f"{vault}-wal")).exists():
            log.replace(f"{aside}-wal")  # otherwise SQLite would replay it into the new file
        Path(f"{vault}-shm").unlink(missing_ok=True)
        Path(draft).replace(vault)
    except VaultFull as error:
        raise VaultFull(vault) from error
    finally:
        discard_vault(draft)
    return SalvageReport(saved, lost, notes, damaged, vault, aside)


def discard_vault(path: str) -> None:
    """Delete the vault at *path*, which nothing uses, and its log."""
    for end in ("", "-wal", "-shm", "-journal"):
        Path(f"{path}{end}").unlink(missing_ok=True)


def discard_unused_vault(path: str) -> None:
    """Delete the vault at *path* and its log, unless it has documents or another process has it open."""
    if is_empty(path) and not log_is_empty(path):  # a damaged one
        return
    with closing(apsw.Connection(path)) as connection:
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        try:
            connection.execute("pragma locking_mode = exclusive; begin exclusive")  # also on a full disk
            is_vault = connection.pragma("application_id") == APPLICATION_ID
            if list(
                connection.execute(f"select 1 from {'documents' if is_vault else 'sqlite_schema'} limit 1")
            ):
                return
        except apsw.Error:
            return
    discard_vault(path)


@contextmanager
def reading_damaged(vault: str) -> Iterator[apsw.Connection | None]:
    """Open *vault* unchanged, and keep other writers out; None if nothing can be read. Refuse what no repair may touch."""
    if is_empty(vault):
        yield None
        return
    refuse_special(vault)
    with ExplainedErrors(vault, read_only=False):
        connection = apsw.Connection(vault, flags=apsw.SQLITE_OPEN_READWRITE)
    with closing(connection) as old:
        old.set_busy_timeout(round(BUSY_TIMEOUT_S * 1000))
        old.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        with suppress(apsw.Error):  # a damaged list of tables
            tables = {name for (name,) in old.execute("select name from sqlite_schema where type = 'table'")}
            if tables and not tables >= _OF_VAULTS and old.pragma("application_id") != APPLICATION_ID:
                raise NotAVault(vault, "it is the SQLite database of another program")
        try:
            old.execute("pragma writable_schema = on")  # use the readable part of a damaged schema
            old.execute("begin immediate; select id from documents limit 0").fetchall()
        except apsw.BusyError as error:
            raise VaultLocked(vault) from error
        except apsw.NotADBError as error:
            if kind := kind_of_stranger(vault):
                raise NotAVault(vault, kind) from error
            yield None
            return
        except apsw.Error:
            pass  # its damage allows no lock
        with suppress(apsw.Error):
            if application := old.pragma("application_id"):
                refuse_foreign(vault, application, old.pragma("user_version"))
        yield old


def _copy(old: apsw.Connection, new: Database) -> tuple[dict[str, int], dict[str, int | None]]:
    """Copy the readable rows; return their numbers by table, and the numbers of the others, None if that is unknown."""
    saved: dict[str, int] = {}
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
        saved[table] = int(new.value(f"select count(*) from {table}"))
        if count is not None:
            lost[table] = max(0, count - saved[table])
    return {table: count for table, count in saved.items() if count}, {
        t: n for t, n in lost.items() if n != 0
    }


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


# A file that exists comes back with the next update.
_WITHOUT_TEXT = f"""
update documents set hash = '{NOTHING}', inactive = coalesce(inactive, 'removed'), source_hash = '',
    source_mtime_ns = 0, body_length = 0 where id = ?
"""
UNUSED_ENTITIES = """
delete from entities
 where key not in (select entity from mentions) and key not in (select subject from triples)
   and key not in (select object from triples where object is not null)
"""
_DERIVED = f"""
delete from fragments where key >> 20 not in (select id from documents);
delete from fragments where key >> 20 in (
    select id from documents where inactive = 'forgotten' or (source_hash = '' and hash = '{NOTHING}'));
delete from content where hash not in (select hash from documents);
-- Triggers count these otherwise, for documents in service.
update entities set mention_count = (
    select count(*) from mentions join documents on id = document_id where entity = entities.key and inactive is null);
delete from companions;
insert into companions
select one.entity, other.entity, count(*)
  from mentions as one join mentions as other using (document_id) join documents on id = document_id
 where one.entity <> other.entity and inactive is null group by 1, 2;
{UNUSED_ENTITIES};
insert into entity_names (entity_names) values ('delete-all');
insert into entity_names (rowid, name) select key, name from entities;
-- A text without a vector is to be embedded again.
update documents set embed_state = 'pending' where embed_state <> 'pending' and id in (
    select key >> 20 from fragments
     where text_hash is not null and text_hash not in (select hash from embedded_texts)
       and text_hash not in (select text_hash from embed_failures where state = 'serving'));
"""


def mend(db: Database) -> tuple[list[str], list[str]]:
    """
    Make the records of *db* consistent. Call this inside a transaction without triggers.

    Return the documents whose text is lost, and those whose text is partly damaged, as ``collection/path``.
    """
    db.write("insert or ignore into content values (?, '')", (NOTHING,))
    lost, damaged = [], []
    sql = """
        select id, collection || '/' || path, hash, source_size is not null, inactive, source_hash
          from documents order by collection, path
        """
    for number, place, body_hash, is_file, inactive, source_hash in db.rows(sql):
        body = db.value("select body from content where hash = ?", (body_hash,))
        if inactive == "forgotten":
            db.write("update documents set hash = ? where id = ?", (NOTHING, number))
        elif body is None or (body_hash == NOTHING and source_hash == ""):
            db.write(_WITHOUT_TEXT, (number,))
            lost.append(place)
        elif (digest := sha256(body.encode("utf-8", "surrogatepass")).hexdigest()) != body_hash:
            damaged.append(place)
            if is_file:
                db.write(_WITHOUT_TEXT, (number,))
            else:  # nothing tells which words are right, so the text is kept in the archive
                db.write("insert or ignore into content values (?, ?)", (digest, body))
                sql = "update documents set hash = ?, inactive = 'archived' where id = ?"
                db.write(sql, (digest, number))
    # Records that refer to lost records are deleted, until no reference is dangling.
    while broken := db.rows('select distinct "table", "parent", fkid from pragma_foreign_key_check'):
        for table, parent, number in broken:
            sql = 'select "from", "to", on_delete from pragma_foreign_key_list(?) where id = ?'
            [(column, key, on_delete)] = db.rows(sql, (table, number))
            act = f"update {table} set {column} = null" if on_delete == "SET NULL" else f"delete from {table}"
            condition = f"{column} is not null and {column} not in (select {key or 'rowid'} from {parent})"
            db.write(f"{act} where {condition}")
    db.write(_DERIVED)
    return lost, damaged


def copy_vault(source: str, target: str, *, detached: bool = False) -> bool:
    """
    Copy the vault *source* to the new file *target* as one consistent snapshot; *source* is opened read-only.

    The copy is one file without a write-ahead log. It shares no index in an object store, because it gets an id of its
    own; a *detached* copy has no external indexes instead. Return whether it lost some: the indexes in its file are then
    to be rebuilt.

    Raises:
        VaultFull: the disk of *target* is full.
        VaultError: *source* cannot be read, or *target* cannot be written.
    """
    try:
        reader, writer = open_reader(source), open_writer(target)
        try:
            with writer.backup("main", reader, "main") as backup:
                backup.step()
            writer.pragma("journal_mode", "delete")
            if detached:
                writer.execute("delete from indexes")
                return writer.changes() > 0
            writer.execute(NEW_ID, {"id": token_hex(8)})
            return False
        finally:
            writer.close()
            reader.close()
    except apsw.Error as error:
        if refused := write_refusal(error, target):
            raise refused from error
        raise VaultError(source, f"{source} cannot be copied to {target}: {error}") from error


def back_up_vault(source: str, target: str) -> int:
    """
    Copy the vault *source* to the new file *target*, check the copy, and return its number of documents.

    Raises:
        VaultDamaged: the copy has a defect, because *source* has it.
        VaultFull, VaultError: as `copy_vault`.
    """
    copy_vault(source, target)
    with closing(open_vault(target, read_only=True)) as copy:
        if defects := copy.storage.check():
            raise VaultDamaged(source, "; ".join(defects))
        return sum(copy.documents.collections().values())
