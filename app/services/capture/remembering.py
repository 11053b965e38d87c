"""Notes that a person or an agent saves as files in a folder of the user."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePath
from typing import NamedTuple

from clawmem.app.services.documents.lookup import Lookup
from clawmem.app.services.documents.succession import current_successors, succession_mark
from clawmem.app.services.indexing.collections import root_of
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.indexing.update import UpdateCollection
from clawmem.domain.capture.contradiction import contradicted_line
from clawmem.domain.capture.known import statement_of
from clawmem.domain.capture.remembering import (
    FOLDER,
    checked_name,
    checked_text,
    file_names,
    note_text,
    title_of,
)
from clawmem.domain.documents.likeness import is_longer_note
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.domain.security.origin import as_tag, is_verified
from clawmem.domain.security.redaction import redact_parts
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ClawmemError, ConfigError, InvalidInput, NotFound
from clawmem.ports.files import NewFiles
from clawmem.ports.origin import Origin
from clawmem.ports.records import Document, Grain
from clawmem.ports.vault import Vault

LOOKED_AT = 20  # hits of each granularity that may state the text already
ASKED_CHARACTERS = 1_000  # of the text, to find notes that may state it


class NewNote(NamedTuple):
    """A text to be saved; ``supersedes`` is the address of a note, and ``collection`` a name or empty."""

    text: str
    title: str = ""
    tags: Sequence[str] = ()
    collection: str = ""
    supersedes: str = ""
    origin: Origin = Origin.USER


class SavedNote(NamedTuple):
    """
    The document of a new note, or the one that states its text already, from ``line`` on.

    ``redacted`` says whether secrets were replaced, ``is_part`` whether the file of a known note states more, and
    ``resembles`` names a line that does not make the text known, and why: it is outdated, or contradicts the text.
    """

    document: Document
    line: int | None = None
    redacted: bool = False
    superseded: Document | None = None
    is_part: bool = False
    resembles: str = ""


class Remember:
    """
    Saves texts as Markdown files and indexes each file at once.

    Args:
        inbox: The folder of new notes: below a collection, or absolute in one of the collections, which then is the
            usual one. Empty for ``_clawmem`` in the collection.
    """

    def __init__(
        self,
        vault: Vault,
        clock: Clock,
        files: NewFiles,
        update: UpdateCollection,
        lookup: Lookup,
        folders: Callable[[], Sequence[Folder]],
        inbox: str = "",
    ) -> None:
        self._vault = vault
        self._clock = clock
        self._files = files
        self._update = update
        self._lookup = lookup
        self._folders = folders
        self._inbox = inbox

    def __call__(self, note: NewNote, *, anyway: bool = False) -> SavedNote:
        """
        Save *note*, unless a note states its text already; with *anyway* also then.

        A superseded note states nothing any more, and neither does a line that a later line of its note updates.
        Secrets are replaced by ``[redacted: kind]`` in text, title and tags. If the file cannot be indexed, it is
        removed again.

        Raises:
            InvalidInput: The text or a name is unusable, or the new file is not one of the collection's.
            NotFound, Ambiguous: No collection has the name, or ``supersedes`` names no note or several.
            ConfigError: There is no collection, or the inbox is in none.
            FileNotCreated, VaultError: Nothing was saved.
        """
        text = checked_text(note.text)
        title = checked_name("title", note.title) if note.title else title_of(text)
        tags = [checked_name("tag", tag.lstrip("#")) for tag in note.tags]
        clean, title, *tags = redact_parts([text, title, *tags])
        folder, inbox = self._place(note.collection)
        past = self._superseded(note.supersedes, folder)
        like = [*self._alike(clean)]
        if not anyway and (known := self._stated(clean, past, like)):
            return known
        resembles = "" if past else self._resembled(clean, like)
        if note.origin is not Origin.USER:
            tags.append(as_tag(note.origin))
        created = datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC).astimezone(self._clock.zone())
        content = note_text(
            clean, title, tags=list(dict.fromkeys(tags)), created=created, supersedes=_address(past, folder)
        )
        names = file_names(title, f"{created:%Y-%m-%d}")
        # A record of a file that is gone, such as a forgotten note, keeps its place.
        free = (one for one in names if self._vault.documents.at(folder.name, f"{inbox}/{one}") is None)
        path = self._files.create(folder.root, inbox, free, content)
        document = self._indexed(folder, path)
        if past and not self._supersedes(document, past):
            self._files.remove(folder.root, path)
            self._update(replace(folder, only=frozenset([path])))
            raise InvalidInput(
                "NOT_SAVED",
                f"Nothing was saved: a note cannot name {past.display_path} by its path. Rename that file, then repeat.",
            )
        return SavedNote(document, None, clean != text, past, resembles=resembles)

    def _place(self, name: str) -> tuple[Folder, str]:
        """Return the collection *name*, by default that of the inbox or the only one, and the folder below it."""
        folders = self._folders()
        if not folders:
            raise ConfigError(
                "No collections yet, so there is no folder for the note. Run: clawmem collection add PATH"
            )
        home = self._collection_of_inbox(folders)
        if not name:
            if home is None and len(folders) > 1:
                raise InvalidInput(
                    "INVALID_INPUT",
                    f"There are several collections: {', '.join(one.name for one in folders)}. Name one (--in NAME, or "
                    "the parameter collection), or set inbox: FOLDER in the config file.",
                )
            chosen = home or folders[0]
        else:
            known = {one.name: one for one in folders}
            if name not in known:
                raise NotFound("collection", name, suggestions=sorted(known))
            chosen = known[name]
        if home is None:
            return chosen, self._inbox or FOLDER
        below = PurePath(self._inbox).relative_to(home.root).as_posix()
        return chosen, below if chosen is home else FOLDER

    def _collection_of_inbox(self, folders: Sequence[Folder]) -> Folder | None:
        """Return the innermost collection that has the absolute inbox; ``None`` for an inbox below each collection."""
        inbox = PurePath(self._inbox)
        if not inbox.is_absolute():
            return None
        around = [one for one in folders if inbox.is_relative_to(one.root)]
        if not around:
            raise ConfigError(
                f"inbox: {self._inbox} is in no collection, so its notes would not be found. Choose a folder in one of them: "
                f"{', '.join(one.root for one in folders)}"
            )
        return max(around, key=lambda one: len(root_of(one)))

    def _superseded(self, address: str, folder: Folder) -> Document | None:
        if not address:
            return None
        if not is_verified(folder.origin):
            raise InvalidInput(
                "INVALID_INPUT",
                f"A note in {folder.name} supersedes nothing, because the collection is not trusted. Choose another "
                f"with --in, or run: clawmem trust set {folder.name} user",
            )
        return self._lookup.target(address)

    def _alike(self, text: str) -> Iterator[tuple[Document, str]]:
        """Yield the verified notes that are closest to *text*, each with its body."""
        query = query_forms(text[:ASKED_CHARACTERS]).relaxed
        grains = (Grain.DOCUMENT, Grain.PASSAGE, Grain.LINE) if query.terms else ()
        hits = [hit for grain in grains for hit in self._vault.lexical.search(query, grain, LOOKED_AT)]
        numbers = list(dict.fromkeys(hit.key.document_id for hit in hits))
        known, bodies = self._vault.documents.many(numbers), self._vault.documents.bodies(numbers)
        for number in numbers:
            document = known.get(number)
            if document and not document.inactive and is_verified(document.origin):
                yield document, bodies.get(number, "")

    def _stated(
        self, text: str, past: Document | None, like: Sequence[tuple[Document, str]]
    ) -> SavedNote | None:
        """Return the note that states *text* already; one to be superseded only if its text is the same."""
        newer = current_successors(
            self._vault.documents, self._vault.successions, [one.id for one, _ in like]
        )
        for document, body in like:
            if document.id in newer or (past and document.id == past.id and body.strip() != text):
                continue
            found = statement_of(text, body)
            if found and found.updated_by is None:
                is_part = document.stamp is not None and is_longer_note(text, body)
                return SavedNote(document, document.body_line + found.line - 1, is_part=is_part)
        return None

    def _resembled(self, text: str, like: Sequence[tuple[Document, str]]) -> str:
        """Return the first line that states *text* and does not hold any more, or that contradicts it; or nothing."""
        newer = current_successors(
            self._vault.documents, self._vault.successions, [one.id for one, _ in like]
        )
        for document, body in like:
            if found := statement_of(text, body):
                line, update = (number and document.body_line + number - 1 for number in found)
                why = succession_mark(newer.get(document.id)) or (
                    f"updated by line {update}" if update else ""
                )
                if why:
                    return f"The text resembles {document.display_path}:{line}, {why}."
            elif document.id not in newer and (denied := contradicted_line(text, body)):
                return f"The text contradicts {document.display_path}:{document.body_line + denied - 1}."
        return ""

    def _supersedes(self, document: Document, past: Document) -> bool:
        """Return whether the claim of *document* was aimed at *past*."""
        places = {one.place for one in self._vault.successions.claims() if one.document_id == document.id}
        return (past.collection, past.path) in places

    def _indexed(self, folder: Folder, path: str) -> Document:
        """Return the document of the new file at *path*; remove the file if it does not become one."""
        try:
            problems = self._update(replace(folder, only=frozenset([path]))).problems
        except ClawmemError:
            self._files.remove(folder.root, path)
            raise
        document = self._vault.documents.at(folder.name, path)
        if document is None or document.inactive:
            self._files.remove(folder.root, path)
            why = " ".join(problems) or (
                f"collection {folder.name} does not read {path}: another collection, its pattern {folder.pattern} or an "
                "exclusion keeps it out. Set inbox: FOLDER in the config file, or choose another collection."
            )
            raise InvalidInput("NOT_INDEXED", f"Nothing was saved: {why}")
        return document


def _address(past: Document | None, folder: Folder) -> str | None:
    """Return how a note in *folder* names *past*: by its path, which is exact."""
    if past is None:
        return None
    return past.path if past.collection == folder.name else past.display_path
