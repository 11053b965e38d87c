"""The parameters that tools and routes share."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from clawmem.app.services.retrieval.request import MAX_LIMIT

Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT, description="How many results.")]
Collections = Annotated[str, Field(description="Only these collections, with commas; empty for all.")]
AsOf = Annotated[str, Field(description="As of this day: nothing later is known.")]
Vault = Annotated[str | None, Field(description="Another vault than the usual one; see list_vaults.")]
ADDRESS = "A path, #docid, title, alias, [[wikilink]] or path:line."
Name = Annotated[str, Field(description=ADDRESS)]
