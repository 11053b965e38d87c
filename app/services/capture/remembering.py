"""Notes that a person or an agent saves as files in a folder of the user."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePath
from typing import Literal

from filelock import FileLock
from pydantic import Field

from clawmem.app.environment.private_files import PRIVATE, make_folder
from clawmem.app.services.documents.lookup import Lookup
from clawmem.app.services.documents.records import DocumentReference, place_of, reference_to
from clawmem.app.services.documents.succession import current_successors
from clawmem.app.services.indexing.folders import Folder, root_of
from clawmem.app.services.indexing.update import UpdateCollection
from clawmem.domain.capture.cues import Kind, kind_of, sentences
from clawmem.domain.capture.remembering import (
    FOLDER,
    checked_name,
    checked_text,
    corrected_topic,
    corrects,
    file_names,
    note_text,
    title_of,
    with_supersession,
)
from clawmem.domain.documents.eligibility import is_excluded
from clawmem.domain.documents.markdown import BlockKind, Markdown
from clawmem.domain.retrieval.query_forms import content_words, query_forms
from clawmem.domain.retrieval.versions import CORRECTION
from clawmem.domain.security.origin import as_tag, is_verified
from clawmem.domain.security.redaction import redact
from clawmem.domain.security.secrets import find_secrets
from clawmem.domain.text.likeness import has_words, is_longer_note, restating_line
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore, SuccessionStore
from clawmem.ports.errors import ClawmemError, ConfigError, InvalidInput, NotFound
from clawmem.ports.files import NewFiles
from clawmem.ports.indexes import LexicalIndex
from clawmem.ports.records import Document, Grain, LexicalQuery, Origin
from clawmem.ports.sessions import Speaker

SECRET_REMARK = "A secret seems to stand in the text, which was saved as written. Keep secrets in a password manager, and note where."

# The words of messages for the collection, the subject, the repetition and the replaced note.
OPTIONS = "--in", '--when "release" --until DAY', "--anyway", "--supersedes"  # on the command line
PARAMETERS = "collection", "when", "anyway: true", "supersedes:"  # for programs


class SavedNote(DocumentReference):
    """The note that was saved; with the action ``known``, the one that states the text already, from ``line`` on."""

    action: Literal["saved", "known"]
    line: int | None = None
    supersedes: str | None = Field(default=None, description="The path of the replaced note.")
    similar: list[DocumentReference] = Field(
        default=[],
        description="Notes that the text seems to correct. To replace one, repeat with supersedes.",
    )
    remarks: list[str] = Field(default=[])

    @property
    def exit_code(self) -> int:
        """Return 1 if nothing was saved."""
        return int(self.action == "known")


def _statements(document: Document, body: str) -> Iterator[str]:
    """Yield the title, and then each block with the title, the headings and the list items above it."""
    yield document.title
    above: list[str] = []  # list items, each indented less than the next
    for block in Markdown(body).blocks:
        text = body[block.start : block.end]
        above = [item for item in above if len(item) - len(item.lstrip()) < len(text) - len(text.lstrip())]
        yield "\n".join([document.title, block.above, *above, block.label, text])
        above += [text] if block.kind is BlockKind.ITEM else []


@dataclass(frozen=True, slots=True)
class Remember:
    """
    Saves texts as Markdown files and indexes each file at once.

    Args:
        inbox: The folder of new notes: below a collection, or absolute in one of the collections, which then is the
            usual one. Empty for ``_clawmem`` in the collection.
    """

    documents: DocumentStore
    successions: SuccessionStore
    lexical: LexicalIndex
    clock: Clock
    new_files: NewFiles
    lock_file: Path
    update: UpdateCollection
    lookup: Lookup
    folders: Callable[[], Sequence[Folder]]
    inbox: str = ""

    def __call__(
        self,
        text: str,
        title: str = "",
        tags: Sequence[str] = (),
        collection: str = "",
        supersedes: str = "",
        *,
        origin: Origin = Origin.USER,
        anyway: bool = False,
        when: str = "",
        until: str = "",
    ) -> SavedNote:
        """
        Save *text*, unless a note states it already; with *anyway* also then.

        A superseded note states nothing any more. A text that was saved before gets *supersedes* in its file, and a note
        of the user that states it hinders no supersession. If the file cannot be indexed, it is removed again.

        Args:
            collection: The name of one, or empty for the usual one.
            supersedes: The address of a note.
            when: The subject of prompts that the note is shown with, up to the day *until*.

        Raises:
            InvalidInput: The text or a name is unusable, or the new file is not one of the collection's.
            NotFound, Ambiguous: No collection has the name, or ``supersedes`` names no note or several.
            ConfigError: There is no collection, or the inbox is in none.
            FileNotCreated, VaultError: Nothing was saved.
        """
        text = checked_text(text)
        title = checked_name("title", title) if title else title_of(redact(text))
        tags = [checked_name("tag", tag.lstrip("#")) for tag in tags]
        option, subject, repeating, superseding = OPTIONS if origin is Origin.USER else PARAMETERS
        properties = {"when": checked_name("subject", when), "until": until} if when else {}
        if (until and not when) or (when and not content_words(when)):
            raise InvalidInput("INVALID_INPUT", f"Name the subject of a reminder in words: {subject}")
        folder, inbox = self._place(collection, option)
        past = self._superseded(supersedes, folder, option)
        replaced = past and (past.path if past.collection == folder.name else past.display_path)
        make_folder(self.lock_file.parent)
        with FileLock(self.lock_file, is_singleton=False, mode=PRIVATE):  # the same text may be saved at once
            document, line = (None, 0) if anyway else self._known(text, past)
            is_longer = document is not None and is_longer_note(text, self.documents.body(document.id) or "")
            if document and past and replaced and document.id != past.id:
                is_here = document.collection == folder.name and document.path.startswith(f"{inbox}/")
                change = partial(with_supersession, superseded=replaced)
                if is_here and not is_longer and self.new_files.rewrite(folder.root, document.path, change):
                    self.update(replace(folder, only=frozenset([document.path])))
                    place = place_of(self.documents, document)
                    return SavedNote(**place, action="saved", supersedes=past.display_path)
            elif document:
                place = place_of(self.documents, document)
                replacing = f'to replace that note, {superseding} "{place["docid"]}".'
                remedy = "to change it, edit that line." if document.stamp and is_longer else replacing
                remark = f"Nothing was written. To write it all the same, add {repeating}; {remedy}"
                line += document.body_line - 1
                return SavedNote(**place, action="known", line=line, remarks=[remark])
            if origin is not Origin.USER:
                tags.append(as_tag(origin))
            created = datetime.fromtimestamp(self.clock.now_ms() / 1000, UTC).astimezone(self.clock.zone())
            speaker = Speaker.USER if origin is Origin.USER else Speaker.ASSISTANT
            stated = next((kind_of(sentence, speaker) for sentence in sentences(text) if not when), None)
            for kind in (stated, past.content_type if past else None):  # that of the replaced note goes first
                if kind in (Kind.DECISION, Kind.PREFERENCE):
                    properties["content_type"] = kind
            content = note_text(text, title, tags, created, replaced, properties)
            remarks = [SECRET_REMARK] if find_secrets("\n".join([text, title, *tags])) else []
            # A record of a file that is gone, such as a forgotten note, keeps its place.
            names = file_names(redact(title), f"{created:%Y-%m-%d}")
            free = (name for name in names if self.documents.at(folder.name, f"{inbox}/{name}") is None)
            saved = self._indexed(folder, self.new_files.create(folder.root, inbox, free, content))
        if past:
            remarks.append("To take the supersession back, delete the line supersedes in the new file.")
        corrected = [] if past else self._corrected(text, saved)
        similar = [reference_to(self.documents, note) for note in corrected]
        remarks += [
            f"It seems to correct {note.file}. If so, repeat it with {superseding} '{note.docid}'"
            for note in similar
        ]
        return SavedNote(
            **place_of(self.documents, saved),
            action="saved",
            supersedes=past.display_path if past else None,
            similar=similar,
            remarks=remarks,
        )

    def _place(self, name: str, option: str) -> tuple[Folder, str]:
        """Return the collection *name*, by default that of the inbox or the only one, and the folder below it."""
        folders = self.folders()
        if not folders:
            raise ConfigError(
                "No collections yet, so there is no folder for the note. Run: clawmem collection add PATH"
            )
        inbox, home = PurePath(self.inbox), None
        if inbox.is_absolute():
            around = [folder for folder in folders if inbox.is_relative_to(folder.root)]
            home = max(around, key=lambda folder: len(root_of(folder)), default=None)  # the innermost
            if home is None:
                roots = ", ".join(folder.root for folder in folders)
                raise ConfigError(
                    f"inbox: {self.inbox} is in no collection, so its notes would not be found. Choose a folder in one of "
                    f"them: {roots}"
                )
        folders = [folder for folder in folders if not folder.has_commits] or folders
        known = {folder.name: folder for folder in folders}
        if name and name not in known:
            raise NotFound("collection of files", name, suggestions=sorted(known))
        own = [folder for folder in folders if is_verified(folder.origin)] or folders
        if not name and home is None and len(own) > 1:
            raise InvalidInput(
                "INVALID_INPUT",
                f"There are several collections: {', '.join(folder.name for folder in own)}. Name one by {option}, or "
                "set inbox: FOLDER in the config file.",
            )
        chosen = known[name] if name else home or own[0]
        below = inbox.relative_to(home.root) if home else inbox
        if is_excluded(below.as_posix()):
            raise ConfigError(f"inbox: {self.inbox} is not read. Set inbox: FOLDER in the config file.")
        return chosen, FOLDER if not self.inbox or home not in (None, chosen) else below.as_posix()

    def _superseded(self, address: str, folder: Folder, option: str) -> Document | None:
        if not address:
            return None
        if not is_verified(folder.origin):
            raise InvalidInput(
                "INVALID_INPUT",
                f"A note in {folder.name} supersedes nothing, because the collection is not trusted. Choose another "
                f"by {option}, or run: clawmem trust set {folder.name} user",
            )
        document = self.lookup.find(address)
        if "|" in document.path:
            message = f"A note cannot name {document.display_path} by its path. Rename that file."
            raise InvalidInput("NOT_SAVED", message)
        return document

    def _current(self, query: LexicalQuery) -> Iterator[tuple[Document, str]]:
        """Yield the verified notes that *query* finds and that nothing supersedes, with their bodies."""
        grains = (Grain.DOCUMENT, Grain.PASSAGE, Grain.LINE) if query.terms else ()
        hits = [hit for grain in grains for hit in self.lexical.search(query, grain, 20)]
        numbers = list(dict.fromkeys(hit.key.document_id for hit in hits))
        documents, bodies = self.documents.many(numbers), self.documents.bodies(numbers)
        newer = current_successors(self.documents, self.successions, numbers)
        for number in numbers:
            document = documents.get(number)
            if document and not document.inactive and number not in newer and is_verified(document.origin):
                yield document, bodies.get(number, "")

    def _known(self, text: str, past: Document | None) -> tuple[Document | None, int]:
        """Return the note that states *text* already and its line; one to be superseded only if its text is the same."""
        for document, body in self._current(query_forms(text[:1_000]).relaxed):
            is_superseded = past is not None and document.id == past.id and body.strip() != text
            if not is_superseded and (line := restating_line(text, body)):
                return document, line
        return None, 0

    def _corrected(self, text: str, saved: Document) -> list[Document]:
        """
        Return the notes that *text* seems to correct: those with most words of its topic, or with a number that it
        replaces, the latest first, and then corrections of before that have most of them.
        """
        found: list[dict[Document, float]] = [{}, {}]
        for document, body in self._current(query_forms(" ".join(corrected_topic(text))).relaxed):
            if document.id != saved.id:
                shared = max(corrects(text, line) for line in _statements(document, body))
                if not shared and CORRECTION.match(text) and (title := content_words(document.title)):
                    shared = float(all(has_words(title, text)))  # the new value may be a name of no note
                found[CORRECTION.match(body) is not None][document] = shared
        likely: list[Document] = []
        for notes in found:
            best = [note for note, shared in notes.items() if shared == max([1, *notes.values()])]
            likely += sorted(best, key=lambda note: note.authored_at, reverse=True)
        return likely[:3]

    def _indexed(self, folder: Folder, path: str) -> Document:
        """Return the document of the new file at *path*; remove the file if it does not become one."""
        try:
            problems = self.update(replace(folder, only=frozenset([path]))).problems
        except ClawmemError:
            self.new_files.remove(folder.root, path)
            raise
        document = self.documents.at(folder.name, path)
        if document is None or document.inactive:
            self.new_files.remove(folder.root, path)
            why = " ".join(problems) or (
                f"collection {folder.name} does not read {path}. Set inbox: FOLDER in the config file, or choose "
                "another collection."
            )
            raise InvalidInput("NOT_INDEXED", f"Nothing was saved: {why}")
        return document
