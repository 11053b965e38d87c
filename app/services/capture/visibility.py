"""Rules for documents that are shown to a session unasked, and the files that they cite."""

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path

from clawmem.app.environment.places import real_path
from clawmem.app.environment.session_topics import PROJECT, project_label, project_of
from clawmem.app.services.documents.succession import current_successors
from clawmem.app.settings.model import Settings
from clawmem.domain.retrieval.versions import successor_label
from clawmem.domain.security.origin import is_verified
from clawmem.domain.surfacing.filters import is_private
from clawmem.domain.text.written_dates import local_day
from clawmem.ports.documents import DocumentStore, Property, PropertyStore, SuccessionStore
from clawmem.ports.journal import Act, ActJournal
from clawmem.ports.records import Document, Scope
from clawmem.ports.sessions import CaptureStore

APPLIES_TO = "applies-to"  # property of a memory: the only project to which it applies
DAY = len("2026-03-31")
PRIVATE = "private"  # a property of notes, and the cursor of a collection: whether its settings said so last
SAID = "said-in"  # property of a memory: the place of the sentence that it quotes
CITES = "cites"  # property of a memory: a path in the work tree, perhaps lines, and the hash of what is there
CHANGED = "the file changed since"
MOST_CITED, MOST_BYTES = 5, 1 << 20  # files of a sentence, and bytes of each
_LINES = r":(?P<first>[1-9]\d{0,6})(?:-(?P<last>[1-9]\d{0,6}))?"
_WITH_LINES = re.compile(rf"(?<![\w/.])(?P<path>[\w./@+~-]{{1,300}}\w){_LINES}(?![\w:])")
_QUOTED = re.compile(rf"`(?P<path>[^`\n:]{{1,300}})(?:{_LINES})?`")
_VALUE = re.compile(rf"\A(?P<path>[^\n:]{{1,300}})(?:{_LINES})? (?P<hash>[0-9a-f]{{64}})")


def day_of(document: Document) -> str:
    """Return the day on which a note was written; empty if only its file has a time, maybe that of a copy of today."""
    is_sure = document.has_own_date or document.modified_at < document.indexed_at[:DAY]
    return local_day(document.authored_at) if is_sure else ""


def shown_successor(successor: Document | None, withheld: Collection[int] = ()) -> str:
    """Return the mark of a superseded note; empty without a successor. The path of a private successor is not named."""
    if successor is not None and (successor.id in withheld or is_private(successor.display_path)):
        return "superseded"
    return successor_label(successor.display_path, successor.authored_at) if successor else ""


def without_replaced(
    store: DocumentStore, successions: SuccessionStore, documents: Sequence[Document]
) -> list[tuple[Document, str]]:
    """Return *documents*, each with its `shown_successor`, except those whose successor is in the list."""
    newer = current_successors(store, successions, [note.id for note in documents])
    listed = {note.id for note in documents}
    shown = [note for note in documents if note.id not in newer or newer[note.id].id not in listed]
    return [(note, shown_successor(newer.get(note.id))) for note in shown]


def may_show(document: Document, now: str) -> bool:
    """
    Whether a document may be shown unasked: neither private nor snoozed, and written by the user or an assistant.

    *now* is a time in record format.
    """
    is_withheld = is_private(document.display_path) or document.is_snoozed(now)
    return is_verified(document.origin) and not is_withheld


def projects_elsewhere(properties: PropertyStore, project: str) -> Mapping[int, str]:
    """Return the labels of the documents of other projects than *project* by id."""
    labels = {number: project_label(values, project) for number, values in properties.named(PROJECT).items()}
    return {number: label for number, label in labels.items() if label}


def made_private(acts: ActJournal) -> set[int]:
    """Return the ids of the notes that a person made private, and not public since."""
    public = acts.last(Act.PUBLIC)
    return {number for number, at in acts.last(Act.PRIVATE).items() if at > public.get(number, "")}


@dataclass(frozen=True, slots=True)
class Withheld:
    """
    Selection of the notes that no model sees unasked.

    The notes of a collection that is no longer configured stay private if it was.
    """

    documents: DocumentStore
    properties: PropertyStore
    acts: ActJournal
    captures: CaptureStore
    settings: Settings

    def covers(self, collection: str) -> bool:
        """Whether every note of *collection* is private, or was before its settings were lost."""
        folder = self.settings.collections.get(collection)
        return folder.private if folder else self.captures.cursor(collection, PRIVATE).line > 0

    def __call__(self, project: str = "") -> frozenset[int]:
        """Return the ids of private notes, and of memories that apply to other projects than *project* alone."""
        marks, is_public = self.properties.named(PRIVATE).items(), frozenset({"false", "no", "0", ""})
        private = frozenset(filter(self.covers, self.documents.collections()))
        local = self.properties.named(APPLIES_TO).items() if project else ()
        return frozenset().union(
            (number for number, values in marks if is_public.isdisjoint(value.key for value in values)),
            self.documents.ids(Scope(private)) if private else (),
            made_private(self.acts),
            (number for number, values in local if all(value.value != project for value in values)),
        )


def citations(sentence: str, folder: str) -> list[str]:
    """Return the files of the work tree around *folder* that *sentence* cites, as values of `CITES`."""
    if not project_of(folder):
        return []
    tree = _tree_of(folder)
    found: dict[str, str] = {}
    for match in (*_WITH_LINES.finditer(sentence), *_QUOTED.finditer(sentence)):
        for base in (Path(folder), tree):
            path, digest = _cited(base / match["path"], tree, match["first"], match["last"])
            if digest:
                lines = sentence[match.end("path") : match.end()].strip("`")
                found.setdefault(f"{path}{lines}", digest)
                break
    return [f"{place} {digest}" for place, digest in islice(found.items(), MOST_CITED)]


def citation_label(properties: Collection[Property], folder: str) -> str:
    """Return `CHANGED` if a file that a memory of the project of *folder* cites changed since, or is gone; else empty."""
    values = [given.value for given in properties if given.name == CITES]
    cited = [*filter(None, map(_VALUE.fullmatch, values))][:MOST_CITED]
    projects = {given.value for given in properties if given.name == PROJECT}
    if not cited or (project := project_of(folder)) not in projects or not project:
        return ""
    tree = _tree_of(folder)
    digests = [_cited(tree / match["path"], tree, match["first"], match["last"])[1] for match in cited]
    return "" if digests == [match["hash"] for match in cited] else CHANGED


def _tree_of(folder: str) -> Path:
    """Return the root of the work tree of *folder*, which may not be that of its project; else the folder."""
    start = real_path(folder)
    return next((root for root in (start, *start.parents) if (root / ".git").exists()), start)


def _cited(path: Path, tree: Path, first: str | None, last: str | None) -> tuple[str, str]:
    """
    Return the real path of a regular file in *tree*, and the SHA-256 of its lines, or of all of it.

    Both are empty for anything else, and if the lines cannot be read.
    """
    with suppress(OSError, ValueError):
        file = real_path(path)
        if file.is_relative_to(tree) and file.is_file() and file.stat().st_size <= MOST_BYTES:
            content = file.read_bytes()
            lines = content.splitlines()[int(first) - 1 : int(last or first)] if first else [content]
            if lines:
                return file.relative_to(tree).as_posix(), sha256(b"\n".join(lines)).hexdigest()
    return "", ""
