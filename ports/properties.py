from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from clawmem.ports.records import EVERYTHING, Scope

TAGS = "tags"  # the property of the tags of a note: in its front matter and in its text


class Property(NamedTuple):
    """One value of a property of a note as written; ``key`` is the form in which values are compared."""

    name: str
    value: str
    key: str


class PropertyFilter(NamedTuple):
    """
    Condition on the property ``name`` of a note: one of its values is ``key``, or none is with ``is_negated``.

    Without ``key`` any value suffices. Names are compared without the case of ASCII letters.
    """

    name: str
    key: str | None = None
    is_negated: bool = False


class PropertyStore(Protocol):
    """Store of the properties that documents declare, in their order."""

    def put(self, document_id: int, properties: Iterable[Property]) -> None:
        """
        Replace the properties of a document.

        Raises:
            InvalidInput: the document is unknown; nothing was stored.
        """

    def of(self, document_id: int) -> list[Property]:
        """Return the properties of a document in the order in which they were put."""

    def many(self, document_ids: Iterable[int]) -> Mapping[int, Sequence[Property]]:
        """Return the properties of the documents that have any, as `of` does."""

    def named(self, name: str) -> Mapping[int, Sequence[Property]]:
        """Return the properties of each served document that are called *name*, in their order."""

    def names(self) -> Mapping[str, int]:
        """Return the names of properties, each in one spelling, with the number of served documents that have them."""

    def values(self, name: str, scope: Scope = EVERYTHING) -> Mapping[str, int]:
        """
        Return the values of a property with the number of served documents in scope that have them, most frequent first.

        Values with equal keys are counted together, in one spelling; ties are ordered by key.
        """

    def having(self, filters: Iterable[PropertyFilter]) -> frozenset[int]:
        """Return the ids of served documents that meet all *filters*."""
