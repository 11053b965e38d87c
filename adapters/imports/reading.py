"""Rows of foreign databases, and files of foreign folders, which are opened for reading only."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import apsw

from clawmem.ports.errors import StoreUnreadable

MAX_TEXT = 64 << 20  # bytes of one file of text
Row = dict[str, Any]


class ForeignDatabase:
    """An SQLite file of another tool; rows have the columns that the file has."""

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
            reason = f"its table {table} has no {', '.join(sorted(missing))}"
            raise StoreUnreadable(self._tool, str(self._place), reason)

    def rows(self, sql: str, bindings: Sequence[Any] = ()) -> Iterator[Row]:
        """Yield the rows of a query by column; raise StoreUnreadable where the file is damaged."""
        try:
            cursor = self._connection.execute(sql, bindings)
            for row in cursor:
                yield dict(zip((name for name, *_ in cursor.get_description()), row, strict=True))
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
        with closing(
            apsw.Connection(f"file:{quote(str(place.absolute()))}?mode=ro", flags=flags)
        ) as connection:
            connection.set_busy_timeout(2_000)
            connection.execute("select count(*) from sqlite_schema")
            yield ForeignDatabase(tool, connection, place)
    except apsw.Error as error:
        raise StoreUnreadable(tool, str(place), f"it is no readable database ({error})") from error


def text_of(tool: str, file: Path) -> str:
    """
    Return the text of *file*; bytes that are not UTF-8 are replaced.

    Raises:
        StoreUnreadable: It is no regular file, cannot be read, or has more than 64 MB.
    """
    try:
        if file.exists() and not file.is_file():
            raise StoreUnreadable(tool, str(file), "it is not a regular file")
        if file.stat().st_size > MAX_TEXT:
            raise StoreUnreadable(tool, str(file), f"it has more than {MAX_TEXT >> 20} MB")
        return file.read_text("utf-8-sig", "replace")
    except OSError as error:
        raise StoreUnreadable(tool, str(file), (error.strerror or type(error).__name__).lower()) from error


def file_in(tool: str, place: Path, *names: str) -> Path:
    """Return *place* itself, or the first of *names* in that folder; raise StoreUnreadable if there is neither."""
    if not place.is_dir():
        return place
    if file := next((place / name for name in names if (place / name).is_file()), None):
        return file
    raise StoreUnreadable(tool, str(place), f"the folder has no {' or '.join(names)}")


def words(value: object) -> tuple[str, ...]:
    """Return a list of texts, or JSON text of one, as texts; anything else gives none."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return ()
    return (
        tuple(str(item) for item in value if isinstance(item, str | int)) if isinstance(value, list) else ()
    )


def text(row: Mapping[str, Any], name: str) -> str:
    """Return a text of *row*; empty if it has none."""
    value = row.get(name)
    return str(value).encode("utf-8", "replace").decode() if value is not None else ""


def share(value: object, usual: float) -> float:
    """Return a number from 0 to 1, else *usual*."""
    return float(value) if isinstance(value, int | float) and 0.0 <= value <= 1.0 else usual
