from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from clawmem.ports.errors import ClawmemError, VaultError

Value = str | int | float | bytes | None


class RecordTable(NamedTuple):
    """Rows of one table of a vault, in the order of its key."""

    name: str
    columns: tuple[str, ...]
    rows: Iterable[tuple[Value, ...]]


class BundleUnreadable(ClawmemError):
    """The file to restore cannot be read as a bundle; nothing was written."""

    exit_code = 2  # as of every other file that cannot be imported

    def __init__(self, path: str, message: str) -> None:
        self.path = path
        super().__init__(message)


class BundleDamaged(BundleUnreadable):
    """A file is no bundle, is truncated, or differs from its hashes; nothing was written."""

    code = "BUNDLE_DAMAGED"

    def __init__(self, path: str, reason: str) -> None:
        self.reason = reason
        super().__init__(
            path,
            f"{path} cannot be restored: {reason}. Nothing was written. Use another copy of the bundle, or "
            "export it again.",
        )


class NotABundle(BundleUnreadable):
    """The file to restore is missing, or is something else than a bundle; ``remedy`` says which command reads it."""

    code = "NOT_A_BUNDLE"

    def __init__(self, path: str, what: str, remedy: str) -> None:
        super().__init__(path, f"{path} is no bundle: {what}. Nothing was written. {remedy}")


class BundleTooNew(BundleUnreadable):
    """A later clawmem wrote the bundle."""

    code = "BUNDLE_TOO_NEW"

    def __init__(self, path: str, found: int, known: int) -> None:
        super().__init__(
            path,
            f"{path} has schema {found}, newer than this clawmem supports ({known}). "
            "Run: pip install --upgrade clawmem",
        )


class VaultNotEmpty(VaultError):
    """The place of a new vault has a vault with documents, which was left unchanged."""

    code = "VAULT_NOT_EMPTY"

    def __init__(self, path: str, documents: int, bundle: str) -> None:
        self.documents = documents
        super().__init__(
            path,
            f"{path} has {documents} documents, and a bundle never replaces notes. Nothing was changed. Restore to "
            f"another file: clawmem --vault NEW_FILE restore {bundle}",
        )


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


class BundleWriter(Protocol):
    """A new bundle, whose bytes depend on its content only."""

    def add(self, name: str, chunks: Iterable[bytes]) -> None:
        """Add the part *name*."""

    def finish(self, manifest: Mapping[str, Any]) -> None:
        """Add *manifest* with the size and the hash of every part; nothing follows."""


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
