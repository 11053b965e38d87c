"""Fields of requests and records of documents that several operations share."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from typing import Annotated

from pydantic import Field

from clawmem.app.bootstrap.services import Services
from clawmem.app.operations.operation import Option
from clawmem.app.operations.output import encodable
from clawmem.app.services.retrieval.request import MAX_LIMIT
from clawmem.domain.security.quoting import without_orders
from clawmem.ports.errors import NotFound
from clawmem.ports.records import Origin

AsOf = Annotated[str, Field(description="As of this day: nothing later is known.")]
ADDRESS = "A path, #docid, title, alias, [[wikilink]] or path:line."

Address = Annotated[str, Field(min_length=1, description=ADDRESS), Option(metavar="NOTE", is_argument=True)]
OptionalAddress = Annotated[str, Field(description=ADDRESS), Option(metavar="NOTE", is_argument=True)]
Docid = Annotated[
    str,
    Field(min_length=1, description="The docid of the document, such as #a1b2c3; no path or title."),
    Option(metavar="NOTE", is_argument=True, about=ADDRESS),
]
Confirm = Annotated[bool | None, Field(description="Must be true; else it tells what would be done.")]
Why = Annotated[str, Field(max_length=1000, description="The reason, kept with the act.")]
Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT, description="Maximum number."), Option(("-n", "--limit"))]
MAX_LINES = 2**31
FromLine = Annotated[int | None, "Begin with this line.", Field(ge=1, le=MAX_LINES), Option(("--from",))]
MaxLines = Annotated[int | None, "At most so many lines.", Field(ge=1, le=MAX_LINES), Option(("--lines",))]
LongLimit = Annotated[int, Field(ge=1, le=10_000, description="Maximum number."), Option(("-n", "--limit"))]

Names = str | list[str]  # one name, several names, or several names separated by commas
CollectionNames = Annotated[
    Names, Field(description="Only these collections."), Option(("-c", "--collection"))
]
TagNames = Annotated[Names, Field(description="Only with all of these tags, or tags below them.")]
Since = Annotated[str, Field(description="Only documents written on or after this day.")]
Until = Annotated[str, Field(description="Only documents written on or before this day.")]
Conditions = Annotated[Names, Field(description="With these properties: name=value, name!=value, or name.")]


def listed(names: Names, separator: str = ",") -> list[str]:
    """Return *names*, given as a list or separated by commas, as a list."""
    several = [names] if isinstance(names, str) else names
    return [name.strip() for given in several for name in re.split(separator, given) if name.strip()]


conditions_in = partial(listed, separator=r",(?=[^,=]+=)")  # a comma in a value begins no other condition


def named_collections(services: Services, names: Names) -> list[str]:
    """Return *names* as a list; raise `NotFound` for a collection that is neither configured nor in the vault."""
    wanted = listed(names)
    # Computed only when needed, because it counts every document.
    known = {*services.settings.collections, *services.vault.documents.collections()} if wanted else ()
    for name in wanted:
        if name not in known:
            raise NotFound("collection", name, suggestions=sorted(known))
    return wanted


def properties_to_read(properties: Iterable[tuple[str, str]], origin: Origin) -> dict[str, list[str]]:
    """Return the values of each property, without orders that a text of others gives; none for an empty value."""
    found: dict[str, list[str]] = {}
    for pair in properties:
        name, value = (encodable(without_orders(text, origin)) for text in pair)
        found.setdefault(name, []).extend([value] if value else [])
    return found
