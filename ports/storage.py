"""Ports for the file or database that holds a vault: its transactions, leases, salvage, and bundles of its records."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

APPLICATION_ID = 0x434C574D  # of the file of a vault, "CLWM", see `vault.sql`
LATEST = 1  # schema of a vault, see there


class Transactions(Protocol):
    """Reads of one state, and writes that take effect together."""

    def reading(self) -> AbstractContextManager[None]:
        """Return a context manager for reads of one thread that see the same state; `Storage.scrub` waits for it."""

    def writing(self) -> AbstractContextManager[None]:
        """
        Return a context manager for one transaction: its changes become visible and durable at its end, or not at all.

        Nesting raises RuntimeError. A single write outside a block is a transaction of its own. Raises VaultLocked,
        VaultReadOnly, VaultFull, or InterruptedAfterCommit for Ctrl-C during the commit; other interrupts roll back.
        """


@dataclass(frozen=True, slots=True)
class VaultInfo:
    """Description of an open vault by its backend."""

    backend: str
    location: str
    schema: int
    size_bytes: int
    read_only: bool
    lexical_method: str
    vector_method: str


class Storage(Protocol):
    """The file or database that holds the stores of a vault."""

    def info(self) -> VaultInfo:
        """Return the backend, location, schema and size."""

    def scrub(self) -> None:
        """Overwrite deleted data by rewriting the vault, outside of `writing`; raise VaultLocked if it is in use."""

    def check(self) -> list[str]:
        """Return the defects of the storage itself as sentences."""


class Lease(NamedTuple):
    """Lease on ``name`` until ``expires_ms`` (exclusive), with a random token of its own for each acquisition."""

    name: str
    holder: str
    token: str
    expires_ms: int


class LeaseStore(Protocol):
    """Durable leases, one live holder per name. The caller passes the time; methods are atomic across processes."""

    def acquire(self, name: str, holder: str, *, now_ms: int, ttl_ms: int) -> Lease | None:
        """
        Acquire *name* until ``now_ms + ttl_ms`` if it is free or expired (``expires_ms <= now_ms``); else ``None``.

        A live lease is refused to its own holder too. *holder* is unique per process, such as ``"host:pid:nonce"``.
        """

    def current(self, name: str, *, now_ms: int) -> Lease | None:
        """Return the live lease of *name*, for example to `release` that of a dead process; ``None`` if it is free."""

    def renew(self, lease: Lease, *, now_ms: int, ttl_ms: int) -> Lease:
        """Extend a lease, also an expired one that nobody acquired since, keeping its token; or raise LeaseLost."""

    def check(self, lease: Lease, *, now_ms: int) -> None:
        """Raise LeaseLost unless *lease* is live and its token is current; call this before every side effect."""

    def release(self, lease: Lease) -> None:
        """Release *lease* before it expires. A lost lease changes nothing and does not affect the new holder."""


@dataclass(frozen=True, slots=True)
class SalvageReport:
    """
    Report on the records saved from a damaged vault; ``damaged`` is the old file, empty if it was sound.

    ``kept`` counts the rows saved from each table, ``lost`` the unreadable ones (None: unknown). ``notes`` are
    documents whose text is lost, as ``collection/path``, ``spoilt`` those whose text is partly damaged. ``remarks``
    say what else is to be done.
    """

    kept: Mapping[str, int]
    lost: Mapping[str, int | None]
    notes: Sequence[str]
    spoilt: Sequence[str]
    vault: str
    damaged: str
    remarks: Sequence[str] = ()


Value = str | int | float | bytes | None


class RecordTable(NamedTuple):
    """Rows of one table of a vault, in the order of its key."""

    name: str
    columns: tuple[str, ...]
    rows: Iterable[tuple[Value, ...]]


class VaultRecords(NamedTuple):
    """
    The records of one vault file, without indexes, receipts, and data of this machine.

    ``schema`` is the version of the schema, ``sequences`` are the last numbers given out in each table that never uses
    a number twice, and ``tables`` yields every table with rows, by name.
    """

    schema: int
    sequences: Mapping[str, int]
    tables: Iterable[RecordTable]


class BundleWriter(Protocol):
    """A new bundle, whose bytes depend on its content only."""

    def add(self, name: str, chunks: Iterable[bytes]) -> None:
        """Add the part *name*."""

    def finish(self, manifest: Mapping[str, Any]) -> None:
        """Add *manifest* with the size and the hash of every part; nothing follows."""

    def close(self) -> None:
        """Close the file; a second call does nothing."""


class BundleReader(Protocol):
    """A bundle whose parts have the sizes and hashes of its manifest; ``names`` are those of its parts, sorted."""

    location: str  # for messages
    manifest: Mapping[str, Any]
    names: Sequence[str]

    def lines(self, name: str) -> Iterator[bytes]:
        """Yield the lines of a part; raise BundleDamaged if it cannot be read."""

    def content(self, name: str) -> bytes:
        """Return a part as a whole; raise as `lines`."""

    def close(self) -> None:
        """Close the file; a second call does nothing."""
