"""The served observations of a vault, read as far as upkeep needs them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import NamedTuple

from clawmem.domain.maintenance import patterns
from clawmem.domain.maintenance.merge_gate import ObservationText
from clawmem.domain.maintenance.nearby import StatementIndex
from clawmem.ports.records import Document
from clawmem.ports.vault import Vault


class Observation(NamedTuple):
    """A document and what it states."""

    document: Document
    said: ObservationText

    @property
    def id(self) -> int:
        """The document's."""
        return self.document.id

    @property
    def when(self) -> tuple[str, int]:
        """By which the later one of two is told."""
        return self.document.authored_at, self.document.id


class Observations:
    """
    *documents*, each read when it is first asked for.

    Of those that stand for others there may be tens of thousands: to find what is near, their titles do.
    """

    def __init__(self, vault: Vault, documents: Sequence[Document]) -> None:
        self._vault = vault
        self._documents = {one.id: one for one in documents if is_free(one)}
        self._read: dict[int, Observation] = {}

    def __getitem__(self, document_id: int) -> Observation:
        if document_id not in self._read:
            self._read[document_id] = self._observation(self._documents[document_id])
        return self._read[document_id]

    def near(self, one: Observation, without: Collection[int] = ()) -> list[Observation]:
        """The others that may be about the same, the latest first; those *without* are left out."""
        numbers = (number for number in self._nearby.near(one.said.text) if number not in without)
        found = [self[number] for number in numbers if number != one.id]
        return sorted(found, key=lambda other: other.when, reverse=True)

    @cached_property
    def _nearby(self) -> StatementIndex:
        return StatementIndex((one.id, self._short(one)) for one in self._documents.values())

    def _short(self, document: Document) -> str:
        is_whole = patterns.CONSOLIDATED in document.tags and not document.title.endswith("…")
        return document.title if is_whole else self[document.id].said.text

    def _observation(self, document: Document) -> Observation:
        text = patterns.stated_text(document, self._vault.documents.body(document.id) or "")
        entities = frozenset(one.id for one in self._vault.entities.mentions(document.id))
        return Observation(document, ObservationText(text, entities))


def is_free(document: Document) -> bool:
    """Whether it is an observation that nobody looks after: what was pinned or snoozed is somebody's own matter."""
    return patterns.is_observation(document) and not (document.is_pinned or document.snoozed_until)
