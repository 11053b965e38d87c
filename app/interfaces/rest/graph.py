"""Similar documents."""

from __future__ import annotations

from typing import Any

from pydantic import Field
from typing_extensions import TypedDict

from clawmem.app.bootstrap.services import Services
from clawmem.app.interfaces.cli.rendering import result_record
from clawmem.app.interfaces.rest.documents import Named
from clawmem.app.interfaces.rest.operation import reading
from clawmem.app.interfaces.rest.questions import FoundWhole, published_record
from clawmem.app.services.retrieval.request import MAX_LIMIT
from clawmem.app.services.retrieval.similar import LIMIT


class Near(Named):
    """A document, and the number of similar documents."""

    limit: int = Field(LIMIT, ge=1, le=MAX_LIMIT, description="How many.")
    as_of: str = Field("", description="As of this day.")


class Neighbours(TypedDict):
    """Documents near to a document in meaning, nearest first; a score is a cosine."""

    docid: str
    count: int
    similar: list[FoundWhole]
    degraded: dict[str, str]


def similar(services: Services, asked: Near) -> dict[str, Any]:
    """List the documents nearest to a document in meaning."""
    document = services.lookup.find(asked.docid)
    now_ms = services.clock.now_ms()
    found = services.find_similar(document, now_ms=now_ms, limit=asked.limit, as_of=asked.as_of)
    near = [published_record(result_record(result)) for result in found.answer.results]
    degraded = found.answer.trace.degraded
    return {"docid": found.docid, "count": len(near), "similar": near, "degraded": degraded}


OPERATIONS = (reading("GET", "/graph/similar/{docid:path}", Near, Neighbours, similar),)
