"""Columns whose values come from a fixed vocabulary, and checks for unknown values."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from clawmem.adapters.sqlite.database import Database
from clawmem.ports.errors import VaultDamaged
from clawmem.ports.knowledge import RelationKind
from clawmem.ports.origin import Origin
from clawmem.ports.records import EmbedState, FragmentKind, InactiveReason

# A row with an unknown value is read as lost, because its meaning is unknown.
TELLING: dict[tuple[str, str], type[StrEnum]] = {
    ("documents", "inactive"): InactiveReason,
    ("fragments", "kind"): FragmentKind,
    ("relations", "kind"): RelationKind,
}
# An unknown value in these columns is replaced by the safest value.
REPLACEABLE: dict[tuple[str, str], StrEnum] = {
    ("documents", "embed_state"): EmbedState.PENDING,
    ("documents", "origin"): Origin.TOOL_OUTSIDE,
}
LISTS = (("documents", "tags"), ("documents", "aliases"))  # columns that hold a JSON list


def invalid_record() -> VaultDamaged:
    """Return the error for a record with an invalid value."""
    return VaultDamaged("The vault", "one of its records has an invalid value")


def unknown_words(db: Database) -> Iterator[str]:
    """Iterate over sentences that count the rows with unknown values."""
    known = {**TELLING, **{place: type(word) for place, word in REPLACEABLE.items()}}
    for (table, column), words in known.items():
        yield from _counted(db, table, column, _is_unknown(column, words))
    for table, column in LISTS:
        yield from _counted(db, table, column, f"not json_valid({column})")


def remove_unknown_words(db: Database) -> None:
    """Delete rows whose meaning is unknown, and replace other unknown values by safe ones, inside a transaction."""
    for (table, column), words in TELLING.items():
        db.write(f"delete from {table} where {_is_unknown(column, words)}")
    for (table, column), word in REPLACEABLE.items():
        db.write(f"update {table} set {column} = ? where {_is_unknown(column, type(word))}", (word.value,))
    for table, column in LISTS:
        db.write(f"update {table} set {column} = '[]' where not json_valid({column})")


def _counted(db: Database, table: str, column: str, condition: str) -> Iterator[str]:
    if count := int(db.value(f"select count(*) from {table} where {condition}")):
        yield f"{count} rows of {table} have an unknown value in {column}"


def _is_unknown(column: str, words: type[StrEnum]) -> str:
    return f"{column} not in ({', '.join(repr(word.value) for word in words)})"
