"""The diary: entries that people and agents write into the vault."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from clawmem.app.operations.embedding import embed_new
from clawmem.app.operations.fields import Limit
from clawmem.app.operations.operation import Command, Effect, Option, Result, operation
from clawmem.app.operations.remembering import SECRET_REMARK
from clawmem.app.services.capture.diary import AGENT, LAST, MOST_CHARACTERS, NAME_CHARS, TOPIC, DiaryEntry

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services


class WrittenEntry(Result):
    """
    The document of a new entry.

    ``has_secret`` says whether a secret seems to stand in the entry, which is saved as written.
    """

    action: str
    id: int
    file: str
    has_secret: bool = False

    @property
    def remarks(self) -> Sequence[str]:
        """Return a sentence about a secret."""
        return [SECRET_REMARK] if self.has_secret else []


class Entry(Result):
    """An entry; ``agent`` is who wrote it."""

    id: int
    file: str
    title: str
    authored_at: str
    modified_at: str
    agent: str
    text: str


class Entries(Result):
    """Entries, newest first."""

    count: int
    entries: list[Entry]


def _entry(one: DiaryEntry) -> Entry:
    document = one.document
    return Entry(
        id=document.id,
        file=document.display_path,
        title=document.title,
        authored_at=document.authored_at,
        modified_at=document.modified_at,
        agent=document.domain or "",
        text=one.text,
    )


def _written_text(result: WrittenEntry) -> str:
    return f"Written: {result.file}"


def _entries_text(result: Entries) -> str:
    lines = [
        f"{entry.authored_at[:16].replace('T', ' ')}  {entry.agent}: {entry.text}\n"
        for entry in result.entries
    ]
    return "\n".join(lines) or "The diary is empty."


@operation(
    Effect.ADDS, text=_written_text, route="/diary", commands=(Command("diary write", {"agent": "user"}),)
)
def diary_write(
    services: Services,
    entry: Annotated[
        str,
        Field(min_length=1, max_length=MOST_CHARACTERS, description="Text to remember."),
        Option(
            metavar="TEXT...", is_argument=True, from_stdin=True, about="Text to remember; - reads stdin."
        ),
    ],
    topic: Annotated[
        str, Field(max_length=NAME_CHARS, description="Topic of the entry."), Option(("-t", "--topic"))
    ] = TOPIC,
    agent: Annotated[
        str, Field(max_length=NAME_CHARS, description="Writer of the entry."), Option(("-a", "--agent"))
    ] = AGENT,
) -> WrittenEntry:
    """
    Add an entry to the diary; it can be searched like any note.

    A secret in the entry is reported, and saved as written.
    """
    from clawmem.domain.security.secrets import find_secrets

    document = services.diary.write(entry, topic, agent)
    embed_new(services)
    return WrittenEntry(
        action="inserted",
        id=document.id,
        file=document.display_path,
        has_secret=bool(find_secrets(entry)),
    )


@operation(Effect.READS, text=_entries_text, route="/diary")
def diary_read(
    services: Services,
    last_n: Annotated[Limit, Option(("-n", "--limit"))] = LAST,
    agent: Annotated[
        str, Field(description="Only of this writer; empty for all."), Option(("-a", "--agent"))
    ] = "",
) -> Entries:
    """Return the last entries of the diary, newest first."""
    entries = [_entry(entry) for entry in services.diary.read(last_n, agent)]
    return Entries(count=len(entries), entries=entries)
