"""Notes and entries of the diary that people and agents write."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from clawmem.app.bootstrap.services import Services
from clawmem.app.operations.fields import Limit, Names, listed
from clawmem.app.operations.indexing import PERSON, embed_new
from clawmem.app.operations.operation import Command, Effect, Option, operation
from clawmem.app.services.capture.memories import AGENT, LAST, NAME_CHARS, TOPIC, DiaryEntry
from clawmem.app.services.capture.remembering import SECRET_REMARK, SavedNote
from clawmem.app.services.capture.visibility import DAY
from clawmem.app.services.documents.records import place_of
from clawmem.app.services.surfacing.reminders import DAYS
from clawmem.domain.capture.remembering import MOST_CHARACTERS
from clawmem.domain.security.secrets import find_secrets
from clawmem.ports.records import Origin

TYPED = Option(metavar="TEXT...", is_argument=True, from_stdin=True, about="Text to remember; - reads stdin.")


def _saved_text(note: SavedNote) -> str:
    if note.action == "known":
        return f"Known already: {note.file}:{note.line}  {note.docid}"
    return f"Saved: {note.file}  {note.docid}" + (
        f", superseding {note.supersedes}" if note.supersedes else ""
    )


@operation(Effect.ADDS, text=_saved_text, route="/remember", commands=(Command("remember"),), any_vault=False)
def memory_remember(
    services: Services,
    text: Annotated[str, "Text to remember, as Markdown.", TYPED],
    title: Annotated[str, "Its title; the first line of the text otherwise."] = "",
    tag: Annotated[Names, "Its tags."] = "",
    collection: Annotated[str, "Its collection, if there are several.", Option(("--in",))] = "",
    supersedes: Annotated[str, "The note that it replaces: path, #docid, title …"] = "",
    when: Annotated[str, "Show it with prompts about this subject, at most three times."] = "",
    until: Annotated[str, "The last day of that; 90 days from now otherwise."] = "",
    anyway: Annotated[bool, "Save it although a note states it already."] = False,
) -> SavedNote:
    """
    Save a text as a Markdown file in a folder of the user; it can be found at once.

    Nothing is saved if a note that is up to date states the same; the answer names that note. A secret in the text is
    reported, and saved as written. Correct a note by saving the new text with supersedes.
    """
    origin = Origin.USER if services.caller == PERSON else Origin.ASSISTANT
    last = services.lifecycle.read_until(until or f"{DAYS}d")[:DAY] if when or until else ""
    note = services.remember(
        text, title, listed(tag), collection, supersedes, origin=origin, anyway=anyway, when=when, until=last
    )
    if note.action == "saved" and (why := embed_new(services)):
        note.remarks.append(f"The note is found by words only: {why}")
    return note


@operation(
    Effect.ADDS,
    text=_saved_text,
    route="/diary",
    commands=(Command("diary write", defaults={"agent": "user"}),),
)
def diary_write(
    services: Services,
    entry: Annotated[str, "Text to remember.", Field(min_length=1, max_length=MOST_CHARACTERS), TYPED],
    topic: Annotated[str, "Its topic.", Field(max_length=NAME_CHARS), Option(("-t", "--topic"))] = TOPIC,
    agent: Annotated[str, "Its writer.", Field(max_length=NAME_CHARS), Option(("-a", "--agent"))] = AGENT,
) -> SavedNote:
    """
    Add an entry to the diary; it can be searched like any note.

    A secret in the entry is reported, and saved as written.
    """
    document = services.diary.write(entry, topic, agent)
    embed_new(services)
    remarks = [SECRET_REMARK] if find_secrets(entry) else []
    return SavedNote(**place_of(services.vault.documents, document), action="saved", remarks=remarks)


@operation(
    Effect.READS,
    columns="authored_at=written agent text",
    empty="The diary is empty.",
    items="entries",
    route="/diary",
)
def diary_read(
    services: Services,
    last_n: Limit = LAST,
    agent: Annotated[str, "Only of this writer; empty for all.", Option(("-a", "--agent"))] = "",
) -> list[DiaryEntry]:
    """Return the last entries of the diary, newest first."""
    return services.diary.read(last_n, agent)
