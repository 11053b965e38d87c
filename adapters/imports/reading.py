"""Rows of foreign databases, and files of foreign folders."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote
from zipfile import is_zipfile

import apsw

from clawmem.ports.imports import ForeignMemory, ForeignStore, StoreUnreadable, Unmatched

MOST_BYTES = 64 << 20  # of one file of text
Row = dict[str, Any]


class ForeignDatabase:
    """An SQLite file of another tool, opened for reading; columns that it lacks are left out of its rows."""

    def __init__(self, tool: str, connection: apsw.Connection, place: Path) -> None:
        self._tool = tool
        self._connection = connection
        self._place = place

    def columns(self, table: str) -> frozenset[str]:
        """Return the columns of *table*; none if there is no such table."""
        rows = self._connection.execute("select name from pragma_table_info(?)", (table,))
        return frozenset(name for (name,) in rows)

    def require(self, table: str, *columns: str) -> None:
        """Raise StoreUnreadable unless *table* has all of *columns*."""
        if missing := {*columns} - self.columns(table):
            raise StoreUnreadable(
                self._tool, str(self._place), f"its table {table} has no {', '.join(sorted(missing))}"
            )

    def rows(self, sql: str, bindings: Sequence[Any] = ()) -> Iterator[Row]:
        """Yield the rows of a query by column."""
        try:
            cursor = self._connection.execute(sql, bindings)
            for row in cursor:
                names = [name for name, *_ in cursor.get_description()]
                yield dict(zip(names, row, strict=True))
        except (apsw.Error, UnicodeError) as error:
            raise StoreUnreadable(self._tool, str(self._place), str(error)) from error


@contextmanager
def database(tool: str, place: Path) -> Iterator[ForeignDatabase]:
    """
    Open the SQLite file *place* of *tool*.

    Raises:
        StoreUnreadable: There is no such file, or it is no database.
    """
    if not place.is_file():
        raise StoreUnreadable(tool, str(place), "there is no such file")
    try:
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        connection = apsw.Connection(f"file:{quote(str(place.absolute()))}?mode=ro", flags=flags)
        with closing(connection):
            connection.set_busy_timeout(2_000)
            connection.execute("select count(*) from sqlite_schema")
            yield ForeignDatabase(tool, connection, place)
    except apsw.Error as error:
        raise StoreUnreadable(tool, str(place), f"it is no readable database ({error})") from error


def text_of(tool: str, file: Path) -> str:
    """
    Return the text of *file*; bytes that are not UTF-8 are replaced.

    Raises:
        StoreUnreadable: It cannot be read, or has more than 64 MB.
    """
    try:
        if file.exists() and not file.is_file():
            raise StoreUnreadable(tool, str(file), "it is not a regular file")
        if file.stat().st_size > MOST_BYTES:
            raise StoreUnreadable(tool, str(file), f"it has more than {MOST_BYTES >> 20} MB")
        return file.read_text("utf-8-sig", "replace")
    except OSError as error:
        raise StoreUnreadable(tool, str(file), (error.strerror or type(error).__name__).lower()) from error


def json_of(tool: str, file: Path) -> Any:
    """Return the JSON value in *file*; raise StoreUnreadable if there is none."""
    try:
        return json.loads(text_of(tool, file))
    except (ValueError, RecursionError) as error:
        raise StoreUnreadable(tool, str(file), f"it is no JSON ({error})") from error


def found_in(tool: str, place: Path, *names: str) -> Path:
    """Return *place* itself, or the first of *names* in that folder; raise StoreUnreadable if there is neither."""
    if not place.is_dir():
        return place
    files = (place / name for name in names)
    if file := next((one for one in files if one.is_file()), None):
        return file
    raise StoreUnreadable(tool, str(place), f"the folder has no {' or '.join(names)}")


def store_of(
    tool: str, usual: tuple[str, ...], read: Callable[[Path], Iterator[ForeignMemory | Unmatched]]
) -> ForeignStore:
    """Return the store of *tool* with *read*, which refuses a ZIP file."""

    def unpacked(place: str) -> Iterator[ForeignMemory | Unmatched]:
        _refuse_archive(tool, Path(place))
        return read(Path(place))

    return ForeignStore(tool, usual, unpacked)


def _refuse_archive(tool: str, place: Path) -> None:
    if not (place.is_file() and is_zipfile(place)):
        return
    remedy = (
        f"Unpack it, and name the store in it: clawmem import {tool} PATH. If it holds conversations, run: "
        f"clawmem mine {shlex.quote(str(place))}"
    )
    raise StoreUnreadable(tool, str(place), "it is a ZIP file", remedy)


def words(value: object) -> tuple[str, ...]:
    """Return a list of texts, or JSON text of one, as texts; anything else gives none."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return ()
    return tuple(str(one) for one in value if isinstance(one, str | int)) if isinstance(value, list) else ()


def text(row: Mapping[str, Any], name: str) -> str:
    """Return a text of *row*; empty if it has none."""
    value = row.get(name)
    return str(value).encode("utf-8", "replace").decode() if value is not None else ""


def share(value: object, usual: float) -> float:
    """Return a number from 0 to 1, else *usual*."""
    return float(value) if isinstance(value, int | float) and 0.0 <= value <= 1.0 else usual
