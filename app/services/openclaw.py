"""Memory of one agent, in its own vault: the memory files of its workspace, other notes, and its sessions."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.indexing.update import PassReport, UpdateCollection
from clawmem.app.services.retrieval.answer import Answer
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.openclaw import (
    FOLDER,
    LAST_MESSAGES,
    SessionSize,
    chunk_fragments,
    is_session_due,
    session_path,
    session_text,
    topic_slug,
)
from clawmem.domain.security.redaction import redact_parts
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import NotFound, SourceMissing, SourceUnreadable
from clawmem.ports.files import FileSource, NewFiles
from clawmem.ports.imports import AgentMessage, AgentSessions
from clawmem.ports.records import Document, Origin, Scan, SourceFile, SourceStamp
from clawmem.ports.sessions import Transcripts

ENDING = ".jsonl"  # as OpenClaw calls transcripts


@dataclass(eq=False, slots=True)
class SessionFiles:
    """
    ``FileSource`` with a text for each session, without secrets.

    A session that is not due keeps its stamp, so that a pass leaves it alone; with *all_due* every changed one is read.
    ``fault`` says why the sessions could not be listed; then a pass keeps all of them.
    """

    sessions: AgentSessions
    documents: DocumentStore
    collection: str
    all_due: bool = False
    fault: str = ""

    def scan(self, root: str, *, enter: Callable[[str], bool], wanted: Callable[[str], bool]) -> Scan:
        """See `clawmem.ports.files.FileSource.scan`. Without a readable record there is no root."""
        try:
            found = self.sessions.sessions()
        except SourceUnreadable as error:
            self.fault = str(error)
            return Scan((), root_exists=False)
        known = self.documents.sources(self.collection)
        files = []
        for session in found:
            path, indexed = f"{session.id}{ENDING}", None
            document = known.get(path)
            stamp = document.stamp if document else None
            if document and stamp:
                indexed = SessionSize(stamp.size, (self.documents.body(document.id) or "").count("\n"))
            current = SessionSize(session.size_bytes, session.messages)
            if session.messages and (
                current != indexed if self.all_due else is_session_due(indexed, current)
            ):
                stamp = SourceStamp(session.size_bytes, session.updated_ms * 1_000_000)
            if stamp and wanted(path):
                files.append(SourceFile(path, stamp))
        return Scan(tuple(files))

    def read(self, root: str, path: str) -> bytes:
        messages = self.sessions.messages(path.removesuffix(ENDING)) if path.endswith(ENDING) else ()
        if not messages:
            raise SourceMissing(path, "there is no such session")
        texts = redact_parts([message.text for message in messages])
        redacted = [message._replace(text=text) for message, text in zip(messages, texts, strict=True)]
        return session_text(redacted).encode("utf-8", "replace")


def save_session(
    transcript: str,
    workspace: str,
    transcripts: Transcripts,
    files: FileSource,
    new_files: NewFiles,
    clock: Clock,
) -> str:
    """
    Save the last 15 messages of a session as ``memory/YYYY-MM-DD-SLUG.md``, named by their most frequent words.

    Return the path of the note in *workspace*; empty for a session without messages. A note is written once.

    Args:
        transcripts: Reader of transcripts without secrets.

    Raises:
        InvalidInput, SourceUnreadable: The transcript cannot be read.
        FileNotCreated: The note cannot be written.
    """
    messages = transcripts.read(transcript).messages
    latest = [AgentMessage(message.speaker.value, message.text) for message in messages][-LAST_MESSAGES:]
    text = session_text(latest)
    if not text:
        return ""
    at_ms = next((ms for message in reversed(messages) if (ms := parse_iso(message.at))), clock.now_ms())
    content = f"# Session of {iso_utc(at_ms)[:16].replace('T', ' ')} UTC\n\n" + text.replace("\n", "\n\n")
    path = session_path(at_ms, topic_slug(latest))
    with suppress(SourceUnreadable):
        if files.read(workspace, path).decode("utf-8", "replace").rstrip() == content.rstrip():
            return path
    folder, _, name = path.rpartition("/")
    # Other sessions of the same day and topic have a number.
    names = [name, *(f"{name.removesuffix('.md')}-{number}.md" for number in range(2, 1000))]
    return new_files.create(workspace, folder, names, content.rstrip("\n") + "\n")


MEMORY, SESSIONS, EXTRA = "memory", "sessions", "extra"
MEMORY_FILES = f"{{MEMORY.md,memory.md,{FOLDER}/**/*.md}}"


class AgentSettings(BaseModel):
    """Settings of an agent's memory: its workspace, more files and folders of notes, and its sessions."""

    workspace: Path
    extra: list[Path] = []
    sessions: bool = False


def source_of(collection: str) -> str:
    """Return the source of the documents of a collection, as OpenClaw calls it."""
    return SESSIONS if collection == SESSIONS else MEMORY


def stored_settings(vault: Path, **given: Any) -> AgentSettings:
    """Return the stored settings of a memory with those *given*; raise `NotFound` if no workspace is known."""
    file = vault.with_suffix(".json")
    chosen = json.loads(file.read_bytes()) if file.exists() else {}
    chosen |= {name: value for name, value in given.items() if value is not None}
    if not chosen.get("workspace"):
        remedy = f"Run: clawmem openclaw index --agent {vault.stem} --workspace FOLDER"
        raise NotFound("memory of the agent", vault.stem, remark=remedy)
    return AgentSettings.model_validate(chosen)


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """A chunk that was found; a part of the score is ``None`` if that search did not find it."""

    path: str
    start_line: int
    end_line: int
    score: float
    snippet: str
    source: str
    vector_score: float | None
    text_score: float | None


@dataclass(frozen=True, slots=True)
class AgentMemory:
    """
    The memory of one agent. Nothing outside of its sources and its own vault is read.

    Args:
        update_from: Returns the service that indexes a folder of a source of files.
        withdraw: Stops serving the documents of a collection.
    """

    documents: DocumentStore
    settings: AgentSettings
    update_from: Callable[..., UpdateCollection]
    withdraw: Callable[..., object]
    files: FileSource
    sessions: AgentSessions

    def sync(self, *, all_sessions: bool = False) -> list[PassReport]:
        """
        Index changed files, and the sessions that grew enough; with *all_sessions* every changed session.

        Documents of a source that is no longer one are removed.
        """
        update = self.update_from(files=self.files)
        reports = []
        for folder in self._folders():
            reports.append(update(folder))
            if not Path(folder.root).is_dir():
                remedy = "run: clawmem openclaw index, with its new place as --workspace or --extra"
                reports[-1].problems = [
                    f"{folder.root} is no folder any more. Its notes are kept. If it moved, {remedy}"
                ]
        files = SessionFiles(self.sessions, self.documents, SESSIONS, all_due=all_sessions)
        if self.settings.sessions:
            folder = self._folder(SESSIONS, str(self.settings.workspace), "*.jsonl", Origin.ASSISTANT)
            report = self.update_from(files=files)(folder)
            report.problems = [files.fault] if files.fault else report.problems
            reports.append(report)
        for name in self.documents.collections().keys() - {report.collection for report in reports}:
            self.withdraw(name=name)
        return reports

    def hits(self, answer: Answer) -> list[MemoryHit]:
        """Return the results of a search as OpenClaw reports them."""
        return [
            MemoryHit(
                self.path_of(result.document),
                result.span.start_line if result.span else result.start_line,
                result.span.end_line if result.span else result.end_line,
                round(result.score, 4),
                result.body[result.span.start : result.span.end][:700] if result.span else "",
                source_of(result.document.collection),
                result.legs.get("vector"),
                result.legs.get("passage"),
            )
            for result in answer.results
        ]

    def find(self, path: str) -> Document:
        """
        Return the document at *path* as a search reports it.

        Raises:
            NotFound: The memory has no such file.
        """
        for name, root in self._roots().items():
            inside = path if root is None else path.removeprefix(f"{root}/")
            if root is None or inside != path:
                document = self.documents.at(name, inside)
                if document and document.inactive is None:
                    return document
        raise NotFound("memory file", path)

    def path_of(self, document: Document) -> str:
        """Return the path by which OpenClaw knows *document*: relative to the workspace, absolute elsewhere."""
        root = self._roots().get(document.collection)
        return document.path if root is None else f"{root}/{document.path}"

    def _roots(self) -> dict[str, str | None]:
        """Return the prefix of the paths of each collection; ``None`` for those of the workspace itself."""
        extra = {folder.name: folder.root for folder in self._folders()[1:]}
        return {MEMORY: None, SESSIONS: SESSIONS, **extra}

    def _folders(self) -> list[Folder]:
        folders = [self._folder(MEMORY, str(self.settings.workspace), MEMORY_FILES)]
        for number, path in enumerate(self.settings.extra, start=1):
            root, pattern = (path, "**/*.md") if path.is_dir() else (path.parent, path.name)
            folders.append(self._folder(f"{EXTRA}-{number}", str(root), pattern))
        return folders

    def _folder(self, name: str, root: str, pattern: str, origin: Origin = Origin.USER) -> Folder:
        return Folder(name, root, pattern, origin=origin, gitignore=False, split=chunk_fragments)
