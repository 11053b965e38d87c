"""Descriptions of folders, which are shown with the notes below them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from clawmem.app.operations.operation import (
    Command,
    Effect,
    Opening,
    Option,
    Result,
    operation,
)
from clawmem.app.operations.output import Table, table
from clawmem.app.settings.config_file import remove_value, set_value
from clawmem.ports.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services

EVERYTHING = "/"
REINDEX = "clawmem reindex --force"
MOST = 1000  # characters; a description is read with every note below its folder
NONE_YET = "No descriptions yet. Run: clawmem context set FOLDER TEXT"

Place = Annotated[
    str,
    Field(description="A collection, a folder or file in it such as notes/work, or / for everything."),
    Option(metavar="PLACE", is_argument=True),
]


class Context(Result):
    """A place and its description; the place / is everything."""

    place: str
    text: str


class Contexts(Result):
    """All descriptions, those of outer folders first."""

    count: int
    contexts: list[Context]


class ContextChange(Result):
    """A place, with its description before and now; empty if it has none."""

    place: str
    text: str
    before: str

    @property
    def remarks(self) -> Sequence[str]:
        """Return the command that brings the change into vectors."""
        return [] if self.place == EVERYTHING else [f"For vectors that include the change: {REINDEX}"]


def _contexts(services: Services) -> dict[str, str]:
    """Return every description by its place."""
    settings = services.settings
    found = {EVERYTHING: settings.global_context} if settings.global_context.strip() else {}
    for name, collection in settings.collections.items():
        for prefix, text in collection.context.items():
            found[f"{name}/{prefix.strip('/')}".rstrip("/")] = text
    return found


def _place(services: Services, text: str) -> str:
    """Return the place that *text* names, a collection and a path in it, or a path on the disk."""
    collections = services.settings.collections
    if text == EVERYTHING:
        return text
    name, _, prefix = text.strip("/").partition("/")
    if name in collections:
        return f"{name}/{prefix}".rstrip("/")
    path = Path(text).expanduser().absolute()
    above = [collection for collection, folder in collections.items() if path.is_relative_to(folder.path)]
    if not above:
        raise NotFound("collection", name or text, suggestions=sorted(collections))
    inner = max(above, key=lambda one: len(collections[one].path.parts))
    return f"{inner}/{path.relative_to(collections[inner].path).as_posix()}".removesuffix("/.")


def _key(services: Services, name: str, prefix: str) -> str:
    """Return the key of the config file for *prefix*, with slashes in the spelling of the file."""
    known = services.settings.collections[name].context
    return next((text for text in known if text.strip("/") == prefix), prefix or EVERYTHING)


def _check_presence(services: Services, name: str, prefix: str) -> None:
    root = services.settings.collections[name].path
    if root.is_dir() and not (root / prefix).exists():
        raise NotFound("folder or file", str(root / prefix))


def _text(result: Contexts) -> str | list[Table]:
    rows = [(context.place, context.text) for context in result.contexts]
    return [table(("place", "description"), rows)] if rows else NONE_YET


@operation(
    Effect.READS,
    name="contexts",
    text=_text,
    commands=(Command("context list"),),
    is_tool=False,
    opens=Opening.NOTHING,
)
def list_contexts(services: Services) -> Contexts:
    """List the descriptions of folders."""
    found = [Context(place=place, text=text) for place, text in sorted(_contexts(services).items())]
    return Contexts(count=len(found), contexts=found)


@operation(
    Effect.REPEATABLE,
    text=lambda one: f"{one.place}: {one.text}" + (f" (before: {one.before})" if one.before else ""),
    is_tool=False,
    opens=Opening.NOTHING,
    any_vault=False,
)
def context_set(
    services: Services,
    place: Place,
    text: Annotated[
        str,
        Field(description="The description.", min_length=1, max_length=MOST),
        Option(metavar="TEXT", is_argument=True),
    ],
) -> ContextChange:
    """
    Describe a folder, a file or everything.

    The description is shown with every note below the folder, in results and above its text. Vectors of the notes
    include it after: clawmem reindex --force
    """
    place, text = _place(services, place), " ".join(text.split())
    if not text:
        raise InvalidInput("INVALID_INPUT", f"The description of {place} is blank. Give it a text.")
    before = _contexts(services).get(place, "")
    name, _, prefix = place.partition("/")
    config = services.settings.config_file
    if place == EVERYTHING:
        set_value(config, ["global_context"], text)
    else:
        _check_presence(services, name, prefix)
        set_value(config, ("collections", name, "context", _key(services, name, prefix)), text)
    return ContextChange(place=place, text=text, before=before)


@operation(
    Effect.DESTROYS,
    text=lambda one: f"Description of {one.place} removed. It was: {one.before}",
    is_tool=False,
    opens=Opening.NOTHING,
    any_vault=False,
)
def context_remove(
    services: Services,
    place: Place,
) -> ContextChange:
    """Remove a description."""
    place, known = _place(services, place), _contexts(services)
    if place not in known:
        raise NotFound("description", place, suggestions=sorted(known))
    name, _, prefix = place.partition("/")
    config = services.settings.config_file
    if place == EVERYTHING:
        set_value(config, ["global_context"], "")
    else:
        remove_value(config, ("collections", name, "context", _key(services, name, prefix)))
    return ContextChange(place=place, text="", before=known[place])
