"""Rows of foreign databases, and files of foreign folders, which are opened for reading only."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import apsw

MAX_TEXT = 64 << 20  # bytes of one file of text
Row = dict[str, Any]


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
    """Return *place* itself, or the first of *names* in that folder; raise NoStore if there is neither."""
    file = next((place / name for name in names if (place / name).is_file()), None)
    if place.is_dir() and not file:
        raise NoStore(f"the folder has no {' or '.join(names)}")
    if not place.exists():
        raise NoStore("there is no such file")
    return file or place


def words(value: object) -> tuple[str, ...]:
    """Return a list of texts, or JSON text of one, as texts; anything else gives none."""
    if isinstance(value, str):
        with suppress(ValueError):
            value = json.loads(value)
    items = value if isinstance(value, list) else []
    return tuple(str(item) for item in items if isinstance(item, str | int))


def text(row: Mapping[str, Any], name: str) -> str:
    """Return a text of *row*; empty if it has none."""
    value = row.get(name)
    return str(value).encode("utf-8", "replace").decode() if value is not None else ""


def share(value: object, usual: float) -> float:
    """Return a number from 0 to 1, else *usual*."""
    return float(value) if isinstance(value, int | float) and 0.0 <= value <= 1.0 else usual
