"""The diary: its last entries, and one more."""

from __future__ import annotations

from pydantic import Field
from typing_extensions import TypedDict

from clawmem.app.opened import Services
from clawmem.app.records.diary import Entry, Written, entry_of, written_of
from clawmem.app.rest.operation import Asked, changing, reading
from clawmem.app.services.capture.diary import AGENT, LAST
from clawmem.app.services.retrieval.request import MAX_LIMIT
from clawmem.domain.capture.diary import TOPIC


class Latest(Asked):
    """How many of whose."""

    limit: int = Field(LAST, ge=1, le=MAX_LIMIT, description="How many.")
    agent: str = Field("", description="Only of this writer.")


class Page(Asked):
    """An entry."""

    entry: str = Field(min_length=1, description="What there is to remember.")
    topic: str = Field(TOPIC, description="What it is about.")
    agent: str = Field(AGENT, description="Who writes.")


class Entries(TypedDict):
    """Entries, newest first."""

    count: int
    entries: list[Entry]


def read(services: Services, asked: Latest) -> Entries:
    """The last entries of the diary, newest first."""
    entries = [entry_of(one) for one in services.diary.read(asked.limit, asked.agent)]
    return {"count": len(entries), "entries": entries}


def write(services: Services, asked: Page) -> Written:
    """Add an entry to the diary; it is found like any document."""
    return written_of(services.diary.write(asked.entry, asked.topic, asked.agent))


OPERATIONS = (
    reading("GET", "/diary", Latest, Entries, read),
    changing("/diary", Page, Written, write),
)
