"""Notes and entries of the diary that people and agents write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from clawmem.app.bootstrap.services import Services
from clawmem.app.operations.fields import Limit, Names, listed
from clawmem.app.operations.indexing import PERSON, embed_new
from clawmem.app.operations.operation import Command, Effect, Opening, Option, Result, operation
from clawmem.app.services.capture.memories import AGENT, LAST, NAME_CHARS, TOPIC, DiaryEntry
from clawmem.app.services.capture.remembering import NewNote
from clawmem.app.services.documents.records import DocumentReference, place_of
from clawmem.domain.capture.remembering import MOST_CHARACTERS
from clawmem.domain.security.secrets import find_secrets
from clawmem.ports.records import Origin

NOTHING_WRITTEN = 1  # exit code
SECRET_REMARK = "A secret seems to stand in the text, which was saved as written. Keep secrets in a password manager, and note where."
TYPED = Option(metavar="TEXT...", is_argument=True, from_stdin=True, about="Text to remember; - reads stdin.")


class SavedNote(DocumentReference):
    """
    The note that was saved; with the action ``known``, the note that states the text already, and nothing was saved.

    ``has_secret`` says whether a secret seems to stand in the text, which is saved as written.
    """

    action: Literal["saved", "known"]
    line: int | None = Field(default=None, description="Line of a known note that states the text.")
    is_part: bool = Field(default=False, description="Whether the file of the known note states more.")
    has_secret: bool = False
    supersedes: str | None = Field(default=None, description="The path of the replaced note.")
    not_embedded: str = Field(default="", description="Why it is found by words only, if so.")

    @property
    def exit_code(self) -> int:
        """Return 1 if nothing was saved."""
        return NOTHING_WRITTEN if self.action == "known" else 0

    @property
    def remarks(self) -> Sequence[str]:
        """Return sentences about secrets and missing vectors."""
        words_only = [f"The note is found by words only: {self.not_embedded}"] if self.not_embedded else []
        return [*([SECRET_REMARK] if self.has_secret else []), *words_only]


def _saved_text(result: SavedNote) -> str:
    if result.action == "saved":
        replaced = f", superseding {result.supersedes}" if result.supersedes else ""
        return f"Saved: {result.file}  {result.docid}{replaced}"
    change = f'to replace that note, --supersedes "{result.docid}".'
    return (
        f"Known already: {result.file}:{result.line}  {result.docid}  {result.title}\n"
        f"Nothing was written. To write it all the same, add --anyway; "
        f"{'to change it, edit that line.' if result.is_part else change}"
    )


@operation(
    Effect.ADDS,
    text=_saved_text,
    route="/remember",
    commands=(Command("remember"),),
    opens=Opening.CREATED,
    any_vault=False,
)
def memory_remember(
    services: Services,
    text: Annotated[str, Field(description="Text to remember, as Markdown."), TYPED],
    title: Annotated[str, Field(description="Its title; the first line of the text otherwise.")] = "",
    tag: Annotated[Names, Field(description="Its tags.")] = "",
    collection: Annotated[
        str,
        Field(description="Its collection; that of the inbox, or the only one, otherwise."),
        Option(("--in",)),
    ] = "",
    supersedes: Annotated[
        str, Field(description="The note that it replaces: path, #docid, title, alias or [[wikilink]].")
    ] = "",
    anyway: Annotated[bool, Field(description="Save it although a note states it already.")] = False,
) -> SavedNote:
    """
    Save a text as a Markdown file in a folder of the user; it can be found at once.

    Nothing is saved if a note that is up to date states the same; the answer names that note. A secret in the text is
    reported, and saved as written. Correct a note by saving the new text with supersedes.
    """
    origin = Origin.USER if services.caller == PERSON else Origin.ASSISTANT
    note = NewNote(text, title, listed(tag), collection, supersedes, origin)
    saved = services.remember(note, anyway=anyway)
    place = place_of(services.vault.documents, saved.document)
    if saved.line is not None:
        return SavedNote(action="known", line=saved.line, is_part=saved.is_part, **place)
    return SavedNote(
        action="saved",
        has_secret=bool(find_secrets("\n".join([text, title, *note.tags]))),
        supersedes=saved.superseded.display_path if saved.superseded else None,
        not_embedded=embed_new(services),
        **place,
    )


class WrittenEntry(Result):
    """The document of a new entry; ``has_secret`` says whether a secret seems to stand in it."""

    action: Literal["inserted"] = "inserted"
    id: int
    file: str
    has_secret: bool

    @property
    def remarks(self) -> Sequence[str]:
        """Return a sentence about a secret."""
        return [SECRET_REMARK] if self.has_secret else []


@operation(
    Effect.ADDS,
    text=lambda entry: f"Written: {entry.file}",
    route="/diary",
    commands=(Command("diary write", defaults={"agent": "user"}),),
)
def diary_write(
    services: Services,
    entry: Annotated[
        str, Field(min_length=1, max_length=MOST_CHARACTERS, description="Text to remember."), TYPED
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
    document = services.diary.write(entry, topic, agent)
    embed_new(services)
    return WrittenEntry(id=document.id, file=document.display_path, has_secret=bool(find_secrets(entry)))


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
    agent: Annotated[
        str, Field(description="Only of this writer; empty for all."), Option(("-a", "--agent"))
    ] = "",
) -> list[DiaryEntry]:
    """Return the last entries of the diary, newest first."""
    return services.diary.read(last_n, agent)
