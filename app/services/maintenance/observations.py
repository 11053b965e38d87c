"""The served observations of a vault, loaded on demand."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import NamedTuple

from clawmem.domain.maintenance import patterns
from clawmem.domain.maintenance.merge_gate import ObservationText, StatementIndex
from clawmem.ports.records import Document
from clawmem.ports.vault import Vault


class Observation(NamedTuple):
    """A document and its statement."""

    document: Document
    said: ObservationText

    @property
    def id(self) -> int:
        """The document's id."""
        return self.document.id

    @property
    def when(self) -> tuple[str, int]:
        """The key that orders observations by time."""
        return self.document.authored_at, self.document.id


class Observations:
    """
    The observations among *documents*, each read on first use.

    There may be tens of thousands of consolidated documents: to find similar ones, their titles are enough.
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
        """Return other observations similar to *one*, latest first, leaving out the ids *without*."""
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
    """Whether *document* is an observation that the user manages neither by pinning nor by snoozing it."""
    return patterns.is_observation(document) and not (document.is_pinned or document.snoozed_until)
