"""Watcher that keeps a vault synchronized with its folders."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import PurePath
from time import monotonic

from clawmem.app.services.indexing.folders import GIT, OWN, Folder, Ownership
from clawmem.app.services.indexing.update import PassReport
from clawmem.app.services.leases import WorkLease
from clawmem.app.services.progress import Progress
from clawmem.domain.documents.eligibility import is_excluded
from clawmem.ports.errors import ClawmemError, LeaseLost, VaultError
from clawmem.ports.files import FolderWatcher, StopSignal
from clawmem.ports.storage import LeaseStore

FULL_PASS_EVERY_S = 300.0
LOOKS_UP_S = 1.0  # interval of checking the settings, the roots and the lease
RETRY_S = 1.0
QUIET_S = 0.4  # without a further change, before a pass begins
LONGEST_S = 2.0  # delay of a pass under continuous changes

ISSUES = ".beads"
_SETTINGS, _AFTER = "", " "  # keys for problems outside collections; no collection has such a name


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """
    A report of the watcher. ``event`` is ``waiting`` (another process watches), ``watching``, ``pass``, ``problem``
    or ``ended``; ``text`` is for a person.
    """

    event: str
    text: str
    report: PassReport | None = None


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """
    Options of the watcher.

    Args:
        folders: Returns the current collections; called often. Raises `ClawmemError` while they are unknown.
        tell: Receives reports.
        sync_issues: Called with a folder after changes in its folder ``.beads``; returns problems.
        then: Called after passes that changed documents, with a progress callback that may end it; returns problems.
        every_s: Interval of full passes in seconds.
    """

    folders: Callable[[], list[Folder]]
    tell: Callable[[WatchEvent], None]
    then: Callable[[Progress], list[str]] = lambda progress: []
    sync_issues: Callable[[str], list[str]] = lambda project: []
    every_s: float = FULL_PASS_EVERY_S


class _Ended(Exception):
    """The watcher was stopped during a pass, which keeps its commits."""


def keep_watch(
    watched: WatchOptions,
    stop: StopSignal,
    watcher: FolderWatcher,
    update: Callable[..., PassReport],
    lease: WorkLease,
) -> None:
    """
    Watch a vault until *stop* is set. Of several processes one watches, and another takes over when it ends or dies.

    File events only select the collections to check; a regular pass finds the changes. A missed event therefore
    delays a change until the next full pass, but loses nothing.

    Args:
        update: `clawmem.app.services.indexing.update.UpdateCollection`.
    """
    reason = ""
    while not stop.is_set():
        former, reason = reason, ""
        try:
            if not lease.acquire():
                current = lease.current()
                holder = current.holder if current else "Another process"
                reason = f"{holder} watches this vault; waiting for its end."
        except VaultError as error:
            reason = str(error)
        if not reason:
            turn = _Turn(watcher, update, lease, watched, stop)
            try:
                # Another process may take the lease during a suspension or a long pass.
                with suppress(LeaseLost, _Ended), closing(watcher):
                    turn.run()
            finally:
                if not turn.is_locked:  # otherwise releasing the lease would wait for the writing process
                    lease.release()
        elif reason != former:
            watched.tell(WatchEvent("waiting", reason))
        stop.wait(LOOKS_UP_S)
    watched.tell(WatchEvent("ended", "No longer waiting." if reason else "No longer watched."))


def watch_state(leases: LeaseStore, is_gone: Callable[[str], bool]) -> str:
    """Return a sentence that names the process that watches the vault, or says that none does."""
    lease = leases.current("watch", now_ms=0)  # an expired one is that of a long pass
    if lease and not is_gone(lease.holder):
        return f"{lease.holder} reads changed files as they are saved."
    return "No process watches the folders. To read changed files, run: clawmem update"


@dataclass(slots=True)
class _Turn:
    """One period of holding the lease. ``is_locked`` says that the last pass met a locked vault."""

    watcher: FolderWatcher
    update: Callable[..., PassReport]
    lease: WorkLease
    watched: WatchOptions
    stop: StopSignal
    is_locked: bool = field(default=False, init=False)
    # The times of the first pending change of a collection, and from which its pass is due.
    _due: dict[str, tuple[float, float]] = field(default_factory=dict, init=False)
    _folders: dict[str, Folder] = field(default_factory=dict, init=False)
    _ownership: Ownership = field(default_factory=lambda: Ownership(()), init=False)
    _projects: set[str] = field(default_factory=set, init=False)
    _armed_at: float | None = field(default=None, init=False)
    _greeting: str = field(default="", init=False)
    _problems: dict[str, list[str]] = field(default_factory=dict, init=False)
    _is_first: bool = field(default=True, init=False)

    def run(self) -> None:
        """Watch until stopped. Raises `LeaseLost`, and `_Ended` if stopped during a pass."""
        while not self.stop.is_set():
            self.lease.renew()
            self._look_up()
            left = min((at for _, at in self._due.values()), default=math.inf) - monotonic()
            seconds = max(0.0, min(left, LOOKS_UP_S))
            for change in self.watcher.wait(seconds, self.stop):
                path = PurePath(change.path).as_posix()
                folder, _, file = path.rpartition("/")
                project, is_inside, issues = path.partition(f"/{ISSUES}")
                # Databases of the tracker do not count: reading them changes them.
                if project and is_inside and (not issues or (issues[0] == "/" and issues.endswith(".jsonl"))):
                    self._projects.add(project)
                    names = [project]
                elif change.folder or file in (GIT, OWN):
                    names = [name for name, *_ in self._ownership.around(path if change.folder else folder)]
                else:
                    names = [owner for owner in [self._ownership.owner(path)] if owner]
                for name in names:
                    first, _ = self._due.get(name, (monotonic(), 0.0))
                    self._due[name] = first, min(first + LONGEST_S, monotonic() + QUIET_S)
            now = monotonic()
            names = [name for name, (_, at) in self._due.items() if at <= now]
            self._due = {name: times for name, times in self._due.items() if name not in names}
            for project in [name for name in names if name in self._projects]:
                with self._reporting(project, project) as problems:
                    problems += self.watched.sync_issues(project)
            names = [name for name in names if name in self._folders]
            is_changed = self._is_first
            for name in names:
                with self._reporting(name, name) as problems:
                    report = self.update(self._folders[name], progress=self._until_ended)
                    problems += report.problems
                    if report.added or report.updated or report.removed:
                        is_changed = True
                        self.watched.tell(WatchEvent("pass", str(report), report))
            if names and (is_changed or self._problems.get(_AFTER)):
                self._is_first = False
                with self._reporting(_AFTER, *names) as problems:
                    problems += self.watched.then(self._until_ended)
            if self._greeting and (names or not self._folders):
                self.watched.tell(WatchEvent("watching", self._greeting))
                self._greeting = ""

    def _look_up(self) -> None:
        """Check the configured collections, and schedule a full pass if it is due."""
        with self._reporting(_SETTINGS):
            folders = {folder.name: folder for folder in self.watched.folders()}
            if folders != self._folders:
                self._ownership = Ownership(folders.values())
                self._folders, self._armed_at = folders, None
        is_first = self._armed_at is None
        if self._armed_at is not None and monotonic() - self._armed_at < self.watched.every_s:
            return
        included = {name for folder in self._folders.values() for name in folder.include}
        count = self.watcher.arm(
            [folder.root for folder in self._folders.values()],
            lambda path: not is_excluded(path, {*included, ISSUES}),
        )
        self._armed_at = monotonic()
        self._due = {name: times for name, times in self._due.items() if name in self._projects}
        self._due |= dict.fromkeys(self._folders, (self._armed_at, self._armed_at))
        if is_first:
            how = ", polled: the system limit of watches is reached" if self.watcher.polling else ""
            self._greeting = f"Watching {', '.join(self._folders)}: {count} folders{how}."
            if not self._folders:
                self._greeting = "There is nothing to watch yet. Run: clawmem collection add PATH"

    @contextmanager
    def _reporting(self, name: str, *again: str) -> Iterator[list[str]]:
        """Report the problems that the block adds, unless they are those of before; repeat *again* after an error."""
        problems: list[str] = []
        try:
            yield problems
            self.is_locked = False
        except ClawmemError as error:
            self.is_locked = isinstance(error, VaultError)
            problems = [str(error)]
            for waiting in again:
                self._due[waiting] = monotonic(), monotonic() + RETRY_S
        before, self._problems[name] = self._problems.get(name, []), problems
        about = f"{name}: " if name in self._folders else ""
        for problem in problems if problems != before else ():
            self.watched.tell(WatchEvent("problem", f"{about}{problem}"))

    def _until_ended(self, done: int, total: int) -> None:
        if self.stop.is_set():
            raise _Ended
