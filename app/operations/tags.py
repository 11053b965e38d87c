"""Tags of notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from clawmem.app.operations.fields import CollectionNames, named_collections
from clawmem.app.operations.operation import Command, Effect, Option, Result, operation
from clawmem.app.operations.output import Part, table
from clawmem.app.services.documents.filters import check_filters
from clawmem.domain.documents.properties import tags_below
from clawmem.domain.security.quoting import without_orders
from clawmem.ports.documents import TAGS
from clawmem.ports.records import Origin, Scope

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services

MAX_LISTED = 10_000
NO_TAGS = "No note has a tag."


class TagCount(Result):
    """A tag, and the number of notes with it or with a tag below it."""

    tag: str
    count: int


class Tags(Result):
    """The tags of notes, most used first; ``count`` includes tags that are not listed."""

    count: int
    tags: list[TagCount]


def _text(result: Tags) -> str:
    return "\n".join(f"#{count.tag} ({count.count})" for count in result.tags) or NO_TAGS


def _parts(result: Tags) -> list[Part]:
    return (
        [table(("notes", "tag"), [(str(count.count), count.tag) for count in result.tags])]
        if result.tags
        else [NO_TAGS]
    )


@operation(Effect.READS, text=_text, route="/tags", commands=(Command("tags"),), terminal=_parts)
def list_tags(
    services: Services,
    tag: Annotated[
        str,
        Field(description="Only this tag and those below it, such as project/garden."),
        Option(metavar="TAG", is_argument=True),
    ] = "",
    collection: CollectionNames = "",
    limit: Annotated[
        int, Field(ge=1, le=MAX_LISTED, description="Maximum number."), Option(("-n", "--limit"))
    ] = 1000,
) -> Tags:
    """List the tags of notes, most used first; a note with a/b counts for a, too."""
    scope = Scope(frozenset(named_collections(services, collection)))
    found = services.vault.properties.values(TAGS, scope)
    if tag:
        check_filters(services.vault.documents, services.vault.properties, [tag], ())
        below = tags_below(tag, found)
        found = {name: count for name, count in found.items() if name in below}
    # Several notes have a tag, so that no single origin is known: a tag that reads like an order is never shown.
    listed = [(without_orders(name, Origin.IMPORTED), count) for name, count in [*found.items()][:limit]]
    return Tags(count=len(found), tags=[TagCount(tag=name, count=count) for name, count in listed])
