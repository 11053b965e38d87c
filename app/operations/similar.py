"""Documents that are near to a document in meaning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from clawmem.app.operations.answer_text import result_parts, result_text
from clawmem.app.operations.answering import found_document
from clawmem.app.operations.answers import FoundDocument
from clawmem.app.operations.fields import Address, DocumentReference, Limit, place_of
from clawmem.app.operations.links import BACKLINKS, LinkRecord, backlink_remarks, backlinks_of
from clawmem.app.operations.operation import Command, Effect, Option, SelectedResult, operation
from clawmem.app.operations.questions import AsOf, Compact
from clawmem.app.services.retrieval.similar import LIMIT

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.operations.output import Part


class SimilarDocuments(SelectedResult):
    """Documents near to a document in meaning, nearest first; a score is a cosine."""

    reference: DocumentReference
    count: int
    results: list[FoundDocument]
    degraded: dict[str, str]
    backlink_count: int = Field(description="Number of links of other notes to the document.")
    backlinks: list[LinkRecord] = Field(description=f"The first {BACKLINKS} of them.")

    @property
    def remarks(self) -> Sequence[str]:
        """Return which notes link to the document."""
        return backlink_remarks(self.reference.file, self.backlinks, self.backlink_count)

    @property
    def left_out(self) -> Mapping[str, str]:
        """Return what could not be taken into account, and why."""
        return self.degraded


def _text(result: SimilarDocuments) -> str:
    lines = [*map(result_text, result.results), *(f"degraded: {k}: {v}" for k, v in result.degraded.items())]
    return "\n".join(lines) or f"Nothing is near to {result.reference.file}."


def _parts(result: SimilarDocuments) -> Iterator[Part]:
    if not result.results:
        yield f"Nothing is near to {result.reference.file}."
    for one in result.results:
        yield from result_parts(one)


@operation(
    Effect.READS,
    text=_text,
    terminal=_parts,
    documents=lambda found: found.results,
    route="/graph/similar/{file:path}",
    commands=(Command("similar", fixed={"compact": False}),),
)
def find_similar(
    services: Services,
    file: Address,
    limit: Annotated[Limit, Option(("-n", "--num", "--limit"))] = LIMIT,
    compact: Compact = True,
    as_of: AsOf = "",
) -> SimilarDocuments:
    """List the documents nearest to a document in meaning; the score is a cosine."""
    document = services.lookup.find(file)
    now_ms = services.clock.now_ms()
    found = services.find_similar(document, now_ms=now_ms, limit=limit, as_of=as_of)
    results = [found_document(result, services.settings, compact=compact) for result in found.answer.results]
    return SimilarDocuments(
        reference=DocumentReference(**place_of(services, document)),
        count=len(results),
        results=results,
        degraded=dict(found.answer.trace.degraded),
        **backlinks_of(services, document),
    )
