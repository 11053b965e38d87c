"""Memory of one agent, in its own vault: the memory files of its workspace, other notes, and its sessions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from clawmem.app.services.indexing.collections import withdraw_collection
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.indexing.update import PassReport, UpdateCollection
from clawmem.app.services.openclaw.sessions import SessionFiles
from clawmem.app.services.retrieval.answer import Answer, Result
from clawmem.domain.openclaw.chunks import chunk_fragments
from clawmem.domain.openclaw.session_notes import FOLDER
from clawmem.ports.agent_sessions import AgentSessions
from clawmem.ports.errors import NotFound
from clawmem.ports.files import FileSource
from clawmem.ports.origin import Origin
from clawmem.ports.records import Document
from clawmem.ports.stores import LifecycleStores

MEMORY, SESSIONS, EXTRA = "memory", "sessions", "extra"
MEMORY_FILES = f"{{MEMORY.md,memory.md,{FOLDER}/**/*.md}}"
LONGEST_SNIPPET = 700  # characters, as in OpenClaw


class AgentSources(NamedTuple):
    """
    Sources of an agent's memory: its workspace, other files and folders of notes, and its sessions.

    ``tokens`` and ``overlap`` are those of chunks.
    """

    workspace: Path
    extra: Sequence[Path]
    has_sessions: bool
    tokens: int
    overlap: int


class MemoryHit(NamedTuple):
    """A chunk that was found; a part of the score is ``None`` if that search did not find it."""

    path: str
    start_line: int
    end_line: int
    score: float
    snippet: str
    source: str
    vector_score: float | None
    text_score: float | None


class AgentMemory:
    """
    The memory of one agent. Nothing outside of its sources and its own vault is read.

    Args:
        update_from: Returns the service that indexes a folder of a source of files.
    """

    def __init__(
        self,
        vault: LifecycleStores,
        sources: AgentSources,
        update_from: Callable[[FileSource], UpdateCollection],
        files: FileSource,
        sessions: AgentSessions,
    ) -> None:
        self._vault = vault
        self._sources = sources
        self._update_from = update_from
        self._files = files
        self._sessions = sessions

    def sync(self, *, force: bool = False, all_sessions: bool = False) -> list[PassReport]:
        """
        Index changed files, and the sessions that grew enough; with *all_sessions* every changed session.

        Documents of a source that is no longer one are removed. With *force* every file is split again.
        """
        update = self._update_from(self._files)
        reports = [update(one, force=force) for one in self._folders()]
        files = SessionFiles(self._sessions, self._vault, SESSIONS, all_due=force or all_sessions)
        if self._sources.has_sessions:
            folder = self._folder(SESSIONS, str(self._sources.workspace), "*.jsonl", Origin.ASSISTANT)
            report = self._update_from(files)(folder, force=force)
            report.problems = [files.fault] if files.fault else report.problems
            reports.append(report)
        kept = {one.collection for one in reports}
        for name in self._vault.documents.collections().keys() - kept:
            withdraw_collection(self._vault, name)
        return reports

    def hits(self, answer: Answer) -> list[MemoryHit]:
        """Return the results of a search as OpenClaw reports them."""
        return [self._hit(one) for one in answer.results]

    def find(self, path: str) -> Document:
        """
        Return the document at *path* as a search reports it.

        Raises:
            NotFound: The memory has no such file.
        """
        for name, root in self._roots().items():
            inside = path if root is None else path.removeprefix(f"{root}/")
            if root is None or inside != path:
                found = self._vault.documents.at(name, inside)
                if found and found.inactive is None:
                    return found
        raise NotFound("memory file", path)

    def path_of(self, document: Document) -> str:
        """Return the path by which OpenClaw knows *document*: relative to the workspace, absolute elsewhere."""
        root = self._roots().get(document.collection)
        return document.path if root is None else f"{root}/{document.path}"

    def _hit(self, one: Result) -> MemoryHit:
        start, end = (one.span.start, one.span.end) if one.span else (0, 0)
        return MemoryHit(
            self.path_of(one.document),
            one.span.start_line if one.span else one.start_line,
            one.span.end_line if one.span else one.end_line,
            one.score,
            one.body[start:end][:LONGEST_SNIPPET],
            SESSIONS if one.document.collection == SESSIONS else MEMORY,
            one.legs.get("vector"),
            one.legs.get("passage"),
        )

    def _roots(self) -> dict[str, str | None]:
        """Return the prefix of the paths of each collection; ``None`` for those of the workspace itself."""
        extra = {one.name: one.root for one in self._folders()[1:]}
        return {MEMORY: None, SESSIONS: SESSIONS, **extra}

    def _folders(self) -> list[Folder]:
        found = [self._folder(MEMORY, str(self._sources.workspace), MEMORY_FILES)]
        for number, path in enumerate(self._sources.extra, start=1):
            root, pattern = (path, "**/*.md") if path.is_dir() else (path.parent, path.name)
            found.append(self._folder(f"{EXTRA}-{number}", str(root), pattern))
        return found

    def _folder(self, name: str, root: str, pattern: str, origin: Origin = Origin.USER) -> Folder:
        split = partial(chunk_fragments, tokens=self._sources.tokens, overlap=self._sources.overlap)
        return Folder(name, root, pattern, origin=origin, gitignore=False, split=split)
