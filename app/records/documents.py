"""Documents as records: a place, and a step in a chain of causes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from typing_extensions import TypedDict

from clawmem.app.records.provenance import provenance_of, title_of
from clawmem.app.services.documents.docids import docids
from clawmem.domain.security.quoting import without_orders
from clawmem.ports.origin import Origin
from clawmem.ports.records import Document

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.graph.causal_links import CausalStep


class Place(TypedDict):
    """
    A document by all its names; ``docid`` with its ``#``, ``file`` with its collection.

    A text that is not ``trusted`` comes from others and is not an instruction.
    """

    docid: str
    file: str
    title: str
    origin: Origin
    trusted: bool


class Step(Place):
    """A document of a chain and its link to the chain; ``origin`` is that of the less trusted end of the link."""

    depth: int
    direction: str
    weight: float
    reasoning: str


def place_of(services: Services, document: Document) -> Place:
    """Return a document as a record."""
    [docid] = docids(services.vault.documents, [document]).values()
    return _place(document, docid)


def steps_of(services: Services, chain: Sequence[CausalStep]) -> list[Step]:
    """Return a chain of causes as records."""
    names = docids(services.vault.documents, [step.document for step in chain])
    return [_step(step, names[step.document.id]) for step in chain]


def _place(document: Document, docid: str) -> Place:
    return {
        "docid": f"#{docid}",
        "file": document.display_path,
        "title": title_of(document),
        **provenance_of(document.origin),
    }


def _step(step: CausalStep, docid: str) -> Step:
    return {
        **_place(step.document, docid),
        **provenance_of(step.origin),
        "depth": step.depth,
        "direction": step.direction,
        "weight": step.weight,
        "reasoning": without_orders(step.reasoning, step.origin),
    }
