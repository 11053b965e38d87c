"""Notes that are saved as files in a folder of the user."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from clawmem.app.operations.embedding import embed_new
from clawmem.app.operations.fields import DocumentReference, Names, listed, place_of
from clawmem.app.operations.indexing import PERSON
from clawmem.app.operations.operation import Command, Effect, Opening, Option, operation
from clawmem.app.services.capture.remembering import NewNote
from clawmem.ports.records import Origin

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services

NOTHING_WRITTEN = 1  # exit code
SECRET_REMARK = "A secret seems to stand in the text, which was saved as written. Keep secrets in a password manager, and note where."


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
        words = f"The note is found by words only: {self.not_embedded}"
        applies = {SECRET_REMARK: self.has_secret, words: self.not_embedded}
        return [remark for remark, is_true in applies.items() if is_true]


def _text(result: SavedNote) -> str:
    if result.action == "known":
        change = (
            "to change it, edit that line."
            if result.is_part
            else f'to replace that note, --supersedes "{result.docid}".'
        )
        return (
            f"Known already: {result.file}:{result.line}  {result.docid}  {result.title}\n"
            f"Nothing was written. To write it all the same, add --anyway; {change}"
        )
    replaced = f", superseding {result.supersedes}" if result.supersedes else ""
    return f"Saved: {result.file}  {result.docid}{replaced}"


@operation(
    Effect.ADDS,
    text=_text,
    route="/remember",
    commands=(Command("remember"),),
    opens=Opening.CREATED,
    any_vault=False,
)
def memory_remember(
    services: Services,
    text: Annotated[
        str,
        Field(description="Text to remember, as Markdown."),
        Option(
            metavar="TEXT...", is_argument=True, from_stdin=True, about="Text to remember; - reads stdin."
        ),
    ],
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
    from clawmem.domain.security.secrets import find_secrets

    origin = Origin.USER if services.caller == PERSON else Origin.ASSISTANT
    note = NewNote(text, title, listed(tag), collection, supersedes, origin)
    saved = services.remember(note, anyway=anyway)
    place = place_of(services, saved.document)
    if saved.line is not None:
        return SavedNote(action="known", line=saved.line, is_part=saved.is_part, **place)
    return SavedNote(
        action="saved",
        has_secret=bool(find_secrets("\n".join((text, title, *note.tags)))),
        supersedes=saved.superseded.display_path if saved.superseded else None,
        not_embedded=embed_new(services),
        **place,
    )
