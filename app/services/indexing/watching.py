"""Watcher that keeps a vault synchronized with its folders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from time import monotonic
from typing import Protocol

from clawmem.app.services.indexing.exclusions import GIT, OWN
from clawmem.app.services.indexing.folders import Folder, Ownership
from clawmem.app.services.indexing.update import PassReport, Progress
from clawmem.app.services.leases import WorkLease
from clawmem.domain.documents.eligibility import is_excluded
from clawmem.domain.maintenance.debounce import Debounce
from clawmem.ports.errors import ClawmemError, LeaseLost, VaultError
from clawmem.ports.files import FolderWatcher, PathChange, StopSignal

FULL_PASS_EVERY_S = 300.0
LOOKS_UP_S = 1.0  # interval of checking the settings, the roots and the lease
RETRY_S = 1.0

ISSUES = ".beads"
_SETTINGS, _AFTER = "", " "  # keys for problems outside collections; no collection has such a name


class Update(Protocol):
    """Type of `clawmem.app.services.indexing.update.UpdateCollection`."""

    def __call__(self, folder: Folder, *, progress: Progress) -> PassReport:
        """Run one pass."""


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


class VaultWatcher:
    """
    The watcher of a vault. Of several processes one watches, and another takes over when it ends or dies.

    File events only select the collections to check; a regular pass finds the changes. A missed event therefore
    delays a change until the next full pass, but loses nothing.
    """

    def __init__(self, watcher: FolderWatcher, update: Update, lease: WorkLease) -> None:
        self._watcher = watcher
        self._update = update
        self._lease = lease

    def __call__(self, watched: WatchOptions, stop: StopSignal) -> None:
        """Watch until *stop* is set."""
        reason = ""
        while not stop.is_set():
            former, reason = reason, self._refusal()
            if not reason:
                turn = _Turn(self._watcher, self._update, self._lease, watched, stop)
                try:
                    turn.run()
                except (
                    LeaseLost,
                    _Ended,
                ):  # another process took the lease during a suspension or a long pass
                    pass
                finally:
                    self._watcher.close()
                    if not turn.locked:  # otherwise releasing the lease would wait for the writing process
                        self._lease.release()
            elif reason != former:
                watched.tell(WatchEvent("waiting", reason))
            stop.wait(LOOKS_UP_S)
        watched.tell(WatchEvent("ended", "No longer watched."))

    def _refusal(self) -> str:
        """Acquire the lease; return why that failed, empty on success."""
        try:
            if self._lease.acquire():
                return ""
            lease = self._lease.current()
        except VaultError as error:
            return str(error)
        return f"{lease.holder if lease else 'Another process'} watches this vault; waiting for its end."


class _Turn:
    """One period of holding the lease."""

    def __init__(
        self,
        watcher: FolderWatcher,
        update: Update,
        lease: WorkLease,
        watched: WatchOptions,
        stop: StopSignal,
    ) -> None:
        self._watcher = watcher
        self._update = update
        self._lease = lease
        self._watched = watched
        self._stop = stop
        self._waiting = Debounce()
        self._folders: dict[str, Folder] = {}
        self._ownership = Ownership(())
        self._projects: set[str] = set()
        self._armed_at: float | None = None
        self._greeting = ""
        self._trouble: dict[str, tuple[list[str], int]] = {}
        self._owes = True
        self.locked = False

    def run(self) -> None:
        """Watch until stopped. Raises `LeaseLost`, and `_Ended` if stopped during a pass."""
        while not self._stop.is_set():
            self._lease.renew()
            self._look_up()
            left = self._waiting.left(monotonic())
            seconds = LOOKS_UP_S if left is None else min(left, LOOKS_UP_S)
            for change in self._watcher.wait(seconds, self._stop):
                for name in self._concerned(change):
                    self._waiting.touch(name, monotonic())
            self._work(self._waiting.due(monotonic()))

    def _look_up(self) -> None:
        """Check the configured collections, and schedule a full pass if it is due."""
        try:
            folders = {folder.name: folder for folder in self._watched.folders()}
            if folders != self._folders:
                self._ownership = Ownership(folders.values())
                self._folders, self._armed_at = folders, None
            self._report(_SETTINGS, [])
        except ClawmemError as error:
            self._report(_SETTINGS, [str(error)])
        is_first = self._armed_at is None
        if self._armed_at is not None and monotonic() - self._armed_at < self._watched.every_s:
            return
        count = self._watcher.arm([folder.root for folder in self._folders.values()], _is_watched)
        self._armed_at = monotonic()
        self._waiting.keep({*self._folders, *self._projects})
        for name in self._folders:
            self._waiting.touch(name, self._armed_at)
        if is_first:
            how = ", polled: the system limit of watches is reached" if self._watcher.polling else ""
            self._greeting = f"Watching {', '.join(self._folders)}: {count} folders{how}."
            if not self._folders:
                self._greeting = "There is nothing to watch yet. Run: clawmem collection add PATH"

    def _concerned(self, change: PathChange) -> list[str]:
        path = PurePath(change.path).as_posix()
        if project := issue_project(path):
            self._projects.add(project)
            return [project]
        folder, _, name = path.rpartition("/")
        if change.folder or name in (GIT, OWN):
            return self._ownership.concerned(path if change.folder else folder)
        return [owner for owner in [self._ownership.owner(path)] if owner]

    def _work(self, names: list[str]) -> None:
        """Run the passes of the collections that are due, and what follows from them."""
        for project in [name for name in names if name in self._projects]:
            self._attempt(project, [project], partial(self._watched.sync_issues, project))
        names = [name for name in names if name in self._folders]
        changed = [self._pass(self._folders[name]) for name in names]
        if any(changed) or (names and self._owes):
            self._owes = self._attempt(_AFTER, names, lambda: self._watched.then(self._until_ended))
        if self._greeting and (names or not self._folders):
            self._watched.tell(WatchEvent("watching", self._greeting))
            self._greeting = ""

    def _attempt(self, name: str, again: list[str], work: Callable[[], list[str]]) -> bool:
        """Do *work* and report its problems; return whether it has any. If the vault was locked, repeat it soon."""
        try:
            problems = work()
        except ClawmemError as error:
            problems = [str(error)]
            if isinstance(error, VaultError):
                for waiting in again:
                    self._waiting.touch(waiting, monotonic() + RETRY_S)
        self._report(name, problems)
        return bool(problems)

    def _pass(self, folder: Folder) -> bool:
        """Run a pass; return whether it changed documents."""
        try:
            report = self._update(folder, progress=self._until_ended)
        except ClawmemError as error:
            self.locked = isinstance(error, VaultError)
            self._report(folder.name, [str(error)])
            self._waiting.touch(folder.name, monotonic() + RETRY_S)
            return False
        self.locked = False
        self._report(folder.name, report.problems)
        changed = bool(report.added or report.updated or report.removed)
        if changed:
            counts = f"{report.added} added, {report.updated} updated, {report.removed} removed"
            self._watched.tell(WatchEvent("pass", f"{report.collection}: {counts}", report))
        return changed

    def _report(self, name: str, problems: list[str]) -> None:
        """Report problems found twice in a row, because a file may have been incomplete during the first pass."""
        before, times = self._trouble.pop(name, ([], 0))
        if not problems:
            return
        times = times + 1 if problems == before else 1
        self._trouble[name] = problems, times
        if times == 1 and name in self._folders:
            self._waiting.touch(name, monotonic() + RETRY_S)
        if times == (1 if name == _AFTER or name in self._projects else 2):
            about = f"{name}: " if name in self._folders else ""
            for problem in problems:
                self._watched.tell(WatchEvent("problem", f"{about}{problem}"))

    def _until_ended(self, done: int, total: int) -> None:
        if self._stop.is_set():
            raise _Ended


def _is_watched(path: str) -> bool:
    """Whether a folder is watched: one that is indexed, or the issues of a project."""
    above, _, name = path.rpartition("/")
    return not is_excluded((above or ".") if name == ISSUES else path)


def issue_project(path: str) -> str:
    """
    Return the project whose issues are in the file or folder *path*, empty if there is none.

    Databases of the tracker do not count: reading them changes them.
    """
    project, folder, file = path.partition(f"/{ISSUES}")
    is_inside = bool(folder) and (not file or (file.startswith("/") and file.endswith(".jsonl")))
    return project if is_inside else ""
