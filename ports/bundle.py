from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

Value = str | int | float | bytes | None


class RecordTable(NamedTuple):
    """Rows of one table of a vault, in the order of its key."""

    name: str
    columns: tuple[str, ...]
    rows: Iterable[tuple[Value, ...]]


class VaultRecords(Protocol):
    """The records of one vault file as tables, without indexes and without data of this machine."""

    def keep(self, document_ids: Iterable[int] | None, *, receipts: bool) -> None:
        """
        Delete records that are not exported.

        With *document_ids*, only these documents stay, with what refers to nothing else; the history of questions and
        sessions goes. Without *receipts*, the explanations of answers go.
        """

    def schema(self) -> int:
        """Return the version of the schema."""

    def sequences(self) -> Mapping[str, int]:
        """Return the last number that was given out in each table that never uses a number twice."""

    def tables(self) -> Iterator[RecordTable]:
        """Yield every table with rows, by name."""

    def close(self) -> None:
        """Close the file; a second call does nothing."""


class BundleWriter(Protocol):
    """A new bundle, whose bytes depend on its content only."""

    def add(self, name: str, chunks: Iterable[bytes]) -> None:
        """Add the part *name*."""

    def finish(self, manifest: Mapping[str, Any]) -> None:
        """Add *manifest* with the size and the hash of every part; nothing follows."""

    def close(self) -> None:
        """Close the file; a second call does nothing."""


class BundleReader(Protocol):
    """A bundle whose parts have the sizes and hashes of its manifest."""

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The manifest."""

    @property
    def location(self) -> str:
        """The path, for messages."""

    def names(self) -> list[str]:
        """Return the names of the parts, sorted."""

    def lines(self, name: str) -> Iterator[bytes]:
        """
        Yield the lines of a part.

        Raises:
            BundleDamaged: There is no such part, or it cannot be read.
        """

    def content(self, name: str) -> bytes:
        """Return a part as a whole; raise as `lines`."""

    def close(self) -> None:
        """Close the file; a second call does nothing."""
