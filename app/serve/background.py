"""Background work of a host process, such as a server or a watcher: maintenance lanes, file watcher, postponed jobs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import lru_cache, partial
from pathlib import Path
from time import monotonic
from typing import Any

from clawmem.app.bootstrap.container import Clawmem
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.bootstrap.services import Services
from clawmem.app.environment.places import file_identity, file_version, is_there
from clawmem.app.operations.indexing import embed_after
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.indexing.watching import FULL_PASS_EVERY_S, LOOKS_UP_S, WatchEvent, WatchOptions
from clawmem.app.settings.model import Settings, load_settings
from clawmem.domain.maintenance.schedule import LaneName
from clawmem.ports.errors import ClawmemError, ConfigError
from clawmem.ports.files import StopSignal

LOOKS_AGAIN_S = 60.0  # after an error, and between two looks for jobs left by another process
GRACE_S = 2.0  # for which the end of a thread is awaited, apart from a lane

Progress = Callable[[int, int], None]
Complain = Callable[[str, BaseException], object]  # gets the name of a thread and its error


def watch(
    services: Services, stop: StopSignal, *, tell: Callable[[WatchEvent], None], every_s: float
) -> None:
    """Keep the vault up to date with its folders until *stop* is set, with a full pass every *every_s* seconds."""
    vault, config_file = services.settings.vault, services.settings.config_file

    @lru_cache(maxsize=1)
    def configured(version: object) -> tuple[bool | None, list[Folder]]:
        """Return whether the settings embed new texts, and the folders of the collections, in a *version* of the file."""
        settings = load_settings(vault=vault)
        use_cases: Any = Clawmem(settings=settings).use_cases
        return settings.embeds(settings.collections), use_cases.folders()

    def embedded(progress: Progress = lambda done, total: None) -> list[str]:
        caller = services.called_by(services.caller, lambda what: nullcontext(progress))
        try:
            report = embed_after(caller, wanted=configured(file_version(config_file))[0])
        except ConfigError as error:
            return [str(error)]
        return [str(report.error)] if report and report.stopped else []

    def after_pass(progress: Progress) -> list[str]:
        problems = embedded(progress)
        services.indexes.keep_up(progress)
        lagging = services.indexes.lagging.items()
        return problems + [f"The {role} index lags: {reason}" for role, reason in lagging]

    options = WatchOptions(
        folders=lambda: configured(file_version(config_file))[1],
        tell=tell,
        then=after_pass,
        sync_issues=lambda project: [*services.issue_sync(project).problems, *embedded()],
        every_s=every_s,
    )
    services.watching(options, stop)


class _UntilReplaced:
    """Stop signal that is also set when the file at *vault* is removed or replaced."""

    def __init__(self, stop: StopSignal, vault: Path) -> None:
        self._stop, self._vault, self._identity = stop, vault, file_identity(vault)

    def is_set(self) -> bool:
        return self._stop.is_set() or file_identity(self._vault) != self._identity

    def wait(self, timeout: float) -> bool:
        end = monotonic() + timeout
        while not self.is_set() and (left := end - monotonic()) > 0:
            self._stop.wait(min(left, LOOKS_UP_S))
        return self.is_set()


def work_on_vault(settings: Settings, work: Callable[[Services, StopSignal], None], stop: StopSignal) -> None:
    """
    Call *work* with the vault of *settings* open; open it again when another file has taken its place.

    While there is none, nothing is done, and none is created. An open file that was removed would still accept writes.
    """
    while not stop.is_set():
        until = _UntilReplaced(stop, settings.vault)
        if is_there(settings.vault):
            with open_services(settings, create=False) as services:
                work(services, until)
        else:
            stop.wait(LOOKS_UP_S)


class BackgroundThread(threading.Thread):
    """
    Daemon thread that repeats *work*, with a pause of `LOOKS_AGAIN_S` seconds, until the end is requested.

    Args:
        work: Called with the event that requests the end; returns soon after it is set.
        grace_s: Seconds for which `at_work` waits for the end.
    """

    def __init__(
        self, name: str, work: Callable[[threading.Event], None], complain: Complain, grace_s: float = GRACE_S
    ) -> None:
        super().__init__(name=name, daemon=True)
        self._work, self._complain, self.grace_s = work, complain, grace_s
        self._end, self._awake = threading.Event(), threading.Event()

    def run(self) -> None:
        """Work until the end is requested."""
        while not self._end.is_set():
            self._awake.clear()
            try:
                self._work(self._end)
            except BaseException as error:  # noqa: BLE001  a later attempt may succeed
                self._complain(self.name, error)
            if not self._end.is_set():
                self._awake.wait(LOOKS_AGAIN_S)

    def wake(self) -> None:
        """Let the thread work again at once."""
        self._awake.set()

    def stop(self) -> None:
        """Request the end, without waiting."""
        self._end.set()
        self._awake.set()


def watcher_thread(settings: Settings, complain: Complain) -> BackgroundThread:
    """
    Return a thread that keeps the vault of *settings* up to date with its folders, with its own connection.

    A requested end rolls back the current pass; the next watcher starts with a full pass.
    """

    def report(event: WatchEvent) -> None:
        if event.event == "problem":
            complain("watch", ClawmemError(event.text))

    work = partial(watch, tell=report, every_s=FULL_PASS_EVERY_S)
    return BackgroundThread("watch", partial(work_on_vault, settings, work), complain)


def lane_threads(settings: Settings, complain: Complain) -> list[BackgroundThread]:
    """Return a thread with its own connection for each maintenance lane that *settings* enable."""

    def work(lane: LaneName, stop: StopSignal) -> None:
        work_on_vault(settings, lambda services, end: services.lanes.serve(lane, end), stop)

    hosted = settings.lanes.hosted
    return [BackgroundThread(lane, partial(work, lane), complain, lane.drain_s) for lane in hosted]


@contextmanager
def at_work(threads: Sequence[BackgroundThread]) -> Iterator[None]:
    """Run *threads* until the block ends; then request the end of all, and wait a limited time for each one."""
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for thread in threads:
            thread.stop()
        for thread in threads:
            thread.join(thread.grace_s)
