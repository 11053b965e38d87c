"""Salvage: a new vault with everything that can be read of a damaged one."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import closing
from typing import Any, NamedTuple

from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.migrations import migrate, refuse_foreign
from clawmem.adapters.sqlite.rescue.adoption import adopt
from clawmem.adapters.sqlite.rescue.cells import Cell, Values
from clawmem.adapters.sqlite.rescue.layout import Table, Tree, Trees, tables_of
from clawmem.adapters.sqlite.rescue.mending import IndexClues, mend
from clawmem.adapters.sqlite.rescue.pages import PageFile
from clawmem.ports.errors import VaultError, VaultFull, VaultReadOnly
from clawmem.ports.salvage import SalvageReport
from clawmem.ports.vault_errors import NotAVault

_SCHEMA = Table(
    "sqlite_schema",
    ("type", "name", "tbl_name", "rootpage", "sql"),
    ((str,), (str,), (str,), (int,), (str,)),
    (True, True, True, False, False),
    (None,) * 5,
    None,
    is_index=False,
    least=5,
)
_SEQUENCES = Table(
    "sqlite_sequence",
    ("name", "seq"),
    ((str,), (int,)),
    (True, True),
    (None,) * 2,
    None,
    is_index=False,
    least=2,
)
_OWNER_ALONE = 0o600
_TYPES = ("table", "index", "trigger", "view")


class _SalvagedContent(NamedTuple):
    """
    Content of the file: the trees of its tables and indexes, the number of rows that an index gives
    for a table, and clues from the indexes of documents.
    """

    trees: Mapping[str, Tree]
    held: Mapping[str, int | None]
    clues: IndexClues
    sequences: dict[str, int]


def salvage(source: str, target: str) -> SalvageReport:
    """
    Create the new vault *target* from everything that can be read of *source*, which is opened read-only.

    Derived tables stay empty. A document whose record is lost gets a new record if its path is known.

    Raises:
        VaultTooNew, VaultDamaged: a later clawmem or another program wrote *source*.
        VaultReadOnly, VaultFull: *target* cannot be written.
        VaultError: *source* cannot be read.
    """
    with closing(_opened(source)) as file:
        _refuse_strangers(file, source)
        _make_file(target, source)
        with closing(Database(target)) as db:
            return _copy(file, db)


def _copy(file: PageFile, db: Database) -> SalvageReport:
    migrate(db)
    tables = tables_of(db)
    found = _read(file, tables, {name for (name,) in db.rows("select name from sqlite_schema")})
    with db.without_rules(), db.atomic():
        kept = {table.name: _insert(db, table, found.trees[table.name]) for table in tables}
        for name, last in found.sequences.items():
            db.write("update sqlite_sequence set seq = max(seq, ?) where name = ?", (last, name))
    with db.without_rules(), db.atomic():
        losses = mend(db, found.clues)
    lost = {name: _lost(found.trees[name], rows, found.held[name]) for name, rows in kept.items()}
    kept["content"] -= losses.nameless
    return SalvageReport(
        {name: rows for name, rows in kept.items() if rows},
        {name: rows for name, rows in lost.items() if rows != 0},
        losses.lost,
        losses.spoilt,
        losses.nameless,
    )


def _opened(source: str) -> PageFile:
    try:
        return PageFile(source)
    except OSError as error:
        raise VaultError(
            source, f"{source} cannot be read: {error.strerror}. Run this as its owner."
        ) from error


def _make_file(target: str, source: str) -> None:
    try:
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, _OWNER_ALONE))
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise (VaultFull if full else VaultReadOnly)(source) from error


def _refuse_strangers(file: PageFile, source: str) -> None:
    if file.is_text:
        raise NotAVault(source, "it is a text file")
    if file.has_header and file.application_id:
        refuse_foreign(source, file.application_id, file.user_version)


def _read(file: PageFile, tables: Iterable[Table], names: AbstractSet[str]) -> _SalvagedContent:
    """Read the records of *tables*; other trees that a vault has are those of *names*."""
    trees = Trees(file)
    roots = _roots(trees.walk(1, _SCHEMA), file)
    known = {table.name: table for table in tables}
    recognized = {**known, _SEQUENCES.name: _SEQUENCES}
    # Records come first: a damaged pointer of another tree must not claim their pages.
    walked = {name: trees.walk(roots[name], table) for name, table in recognized.items() if name in roots}
    walked |= {n: trees.walk(root) for n, root in roots.items() if n in names and n not in recognized}
    adopt(trees, walked, recognized)
    held = {name: _held(name, walked, roots) for name in known}
    return _SalvagedContent(walked, held, _clues(walked), _sequences(walked[_SEQUENCES.name]))


def _roots(schema: Tree, file: PageFile) -> dict[str, int]:
    """Return the root page of each table and index; if a schema page is damaged, also search unreferenced pages."""
    cells = list(schema.cells)
    if not schema.is_whole:
        cells += [cell for _, page in Trees(file).unclaimed_pages() for cell in page.cells]
    told = (_SCHEMA.values(cell) for cell in cells)
    return {row[1]: row[3] for row in told if row and row[0] in _TYPES[:2] and row[3]}


def _rows(table: Table, cells: Iterable[Cell]) -> Iterator[Values]:
    for cell in cells:
        values = table.values(cell)
        if values is not None:
            yield values


def _lost(tree: Tree, rows: int, held: int | None) -> int | None:
    """Return the number of lost rows, *held* minus *rows* if an index gives the total; None if it is unknown."""
    if held is not None:
        return max(0, held - rows)
    if tree.broken:
        return None
    return tree.unreadable + tree.records - rows


# For each table, an index with one entry per row, which gives the original number of rows.
_COUNTED_BY = {
    "documents": "sqlite_autoindex_documents_1",
    "content": "sqlite_autoindex_content_1",
    "space_vectors": "sqlite_autoindex_space_vectors_1",
    "acts": "acts_document",
    "entities": "sqlite_autoindex_entities_1",
    "recalls": "recalls_asked",
    "receipts": "receipts_asked",
    "sessions": "sqlite_autoindex_sessions_1",
    "triples": "triples_document",
    "relations": "relations_outbound",
    "sightings": "sightings_document",
    "mentions": "mentions_entity",
}


def _held(name: str, walked: Mapping[str, Tree], roots: Mapping[str, int]) -> int | None:
    index = _COUNTED_BY.get(name)
    if index is None or index not in roots or not walked[index].is_whole:
        return None
    return walked[index].records


def _clues(walked: Mapping[str, Tree]) -> IndexClues:
    """Return the facts that the indexes of documents hold."""
    nothing = Tree()

    def entries(name: str, *kinds: type) -> Iterator[tuple[Any, ...]]:
        for cell in walked.get(name, nothing).cells:  # an index that names the id ends with it twice
            values = cell.values[: len(kinds)]
            if len(values) == len(kinds) and all(map(isinstance, values, kinds)):
                yield values

    places = {number: (c, path) for c, path, number in entries("sqlite_autoindex_documents_1", str, str, int)}
    hashes = {number: name for name, number in entries("documents_hash", str, int)}
    served: dict[int, str] = {}
    for collection, modified, number in entries("documents_chronology_within", str, str, int):
        served[number] = modified
        del collection
    return IndexClues(
        places, hashes, served, walked.get("documents_chronology_within", Tree(broken=1)).is_whole
    )


def _sequences(tree: Tree) -> dict[str, int]:
    return dict(_rows(_SEQUENCES, tree.cells))


def _insert(db: Database, table: Table, tree: Tree) -> int:
    """Insert the rows of *table* that *tree* holds; return their number."""
    count = 0
    for values in _rows(table, tree.cells):
        columns = ", ".join(f'"{name}"' for name in table.columns[: len(values)])
        marks = ", ".join("?" * len(values))
        db.write(f"insert or replace into {table.name} ({columns}) values ({marks})", values)
        count += 1
    return count
