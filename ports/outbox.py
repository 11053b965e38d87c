from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from clawmem.ports.named_tuple import NamedTuple
from clawmem.ports.records import IndexRecord, Marker, Role


class Changes(NamedTuple):
    """Documents that changed, each once in the order of its first change, and the marker of the last change among them."""

    document_ids: tuple[int, ...]
    upto: Marker


class Outbox(Protocol):
    """
    What indexes outside of the records have to see, written in the same transaction as what it is about.

    Every saved or withdrawn document is a change for both roles, every vector stored or forgotten one for
    `Role.VECTORS`. Changes are kept from the registration of the first index on; without any there are none.
    """

    def head(self) -> Marker:
        """The marker of an index that has seen everything."""
        ...

    def knows(self, marker: Marker) -> bool:
        """
        Whether everything that came after *marker* is still here, so that an index that stands there can catch up.

        False for another vault's marker, for one ahead of the vault, for one of a history that was cut off by
        restoring a backup, and for one so old that changes after it were trimmed.
        """
        ...

    def after(self, marker: Marker, role: Role, limit: int | None = None) -> Changes:
        """What changed after *marker* that this role must see, at most *limit* changes; ``upto`` is *marker* if nothing did."""
        ...

    def indexes(self) -> Sequence[IndexRecord]:
        """Every registered index, by role and generation."""
        ...

    def register(self, role: Role, engine: str) -> IndexRecord:
        """Begin a new generation for a role: building, since the present head. Changes are kept from here on."""
        ...

    def built(self, record: IndexRecord, to: int) -> None:
        """Remember how far a building index is: every document up to the id *to* is in it."""
        ...

    def seen(self, record: IndexRecord, marker: Marker) -> None:
        """
        Remember that an index stands at *marker*.

        Changes that every building and serving index has seen are forgotten; the last of them stays, so that
        the index which stands there is known.
        """
        ...

    def serve(self, record: IndexRecord | None, role: Role) -> None:
        """Let *record* serve its role from now on, with ``None`` the vault's own index; whoever did so before is retired."""
        ...

    def strike(self, record: IndexRecord) -> None:
        """Forget an index; the last one takes the changes along."""
        ...
