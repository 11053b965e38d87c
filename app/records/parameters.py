"""The parameters that tools and routes share."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from clawmem.app.services.retrieval.request import MAX_LIMIT

Query = Annotated[str, Field(description="The question, as a person would put it.")]
Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT, description="How many results.")]
MinScore = Annotated[float, Field(ge=0, le=1, description="Leave out what scores less.")]
Collections = Annotated[str, Field(description="Only these collections, with commas; empty for all.")]
Compact = Annotated[bool, Field(description="Short snippets and few fields; read on with get.")]
Since = Annotated[str, Field(description="Only what was written from this day on, 2026-03-31.")]
Until = Annotated[str, Field(description="Only what was written up to this day.")]
CandidateLimit = Annotated[
    int | None,
    Field(ge=1, le=MAX_LIMIT, description="How many of the best are compared closely, whatever the limit."),
]
Diverse = Annotated[bool, Field(description="Move near-copies of an answer back.")]
Purpose = Annotated[str, Field(description="What the answer is wanted for; steers, and is not looked for.")]
AsOf = Annotated[str, Field(description="As of this day: nothing later is known.")]
Floor = Annotated[float, Field(ge=0, le=1, description="Answer nothing unless it is this probable.")]
ShowAll = Annotated[bool, Field(description="Show also unlikely results below a likely one.")]
Vault = Annotated[str | None, Field(description="Another vault than the usual one; see list_vaults.")]
ADDRESS = "A path, #docid, title, alias, [[wikilink]] or path:line."
Name = Annotated[str, Field(description=ADDRESS)]
