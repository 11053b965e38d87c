"""Background work of a host process, such as a server or a watcher: maintenance lanes, file watcher, postponed jobs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clawmem.app.bootstrap.container import Clawmem
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.operations.embedding import embed_as
from clawmem.app.services.indexing.watching import FULL_PASS_EVERY_S, WatchEvent, WatchOptions
from clawmem.app.services.maintenance.lanes import read_plan
from clawmem.app.settings.model import Settings, load_settings
from clawmem.domain.maintenance.schedule import LaneName
from clawmem.ports.errors import EmbeddingError, ModelError

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.indexing.folders import Folder
    from clawmem.ports.files import StopSignal

Progress = Callable[[int, int], None]


def watch(
    services: Services,
    stop: StopSignal,
    tell: Callable[[WatchEvent], None],
    *,
    every_s: float,
    embed: bool = False,
    environ: Mapping[str, str] | None = None,
) -> None:
    """
    Keep the vault up to date with its folders until *stop* is set.

    Args:
        every_s: See `clawmem.app.services.indexing.watching.Watched`.
        embed: Whether new texts are embedded after each pass that changed something, whatever the settings say. If
            neither says so, they are where it is quick.
        environ: The environment for the settings; that of this process by default.
    """

    def then(progress: Progress) -> list[str]:
        return [*_embedded(services, embed or folders.embeds, progress), *_carried(services, progress)]

    def sync_issues(project: str) -> list[str]:
        problems = services.issue_sync(project).problems
        return [*problems, *_embedded(services, embed or folders.embeds)]

    folders = LiveFolders(services, environ)
    services.watching(WatchOptions(folders, tell, then, sync_issues, every_s), stop)


class LiveFolders:
    """The collections of the config file, read again after a change."""

    def __init__(self, services: Services, environ: Mapping[str, str] | None = None) -> None:
        self._services = services
        self._environ = environ
        self._settings, self._folders = services.settings, services.folders
        self._read_at = _stamp(services.settings.config_file)

    def __call__(self) -> list[Folder]:
        """
        Return the folders of the collections.

        Raises:
            ConfigError: The file cannot be read now; the next call tries again.
        """
        stamp = _stamp(self._services.settings.config_file)
        if stamp != self._read_at:
            fresh = load_settings(vault=self._services.settings.vault, environ=self._environ)
            use_cases: Any = Clawmem(settings=fresh).use_cases
            self._settings, self._folders = fresh, use_cases.folders()
            self._read_at = stamp
        return self._folders

    @property
    def embeds(self) -> bool | None:
        """Whether the current settings let new texts be embedded; ``None`` if they do not say so."""
        return self._settings.embeds(self._settings.collections)


def _embedded(
    services: Services, wanted: bool | None, progress: Progress = lambda done, total: None
) -> list[str]:
    try:
        report = embed_as(services.called_by(services.caller, lambda what: nullcontext(progress)), wanted)
    except (EmbeddingError, ModelError) as error:
        return [str(error)]
    return [str(report.error)] if report and report.stopped else []


def _carried(services: Services, progress: Progress) -> list[str]:
    services.indexes.keep_up(progress)
    return [f"The {role} index lags: {reason}" for role, reason in services.indexes.lagging.items()]


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


LOOKS_AGAIN_S = (
    60.0  # pause after an unexpected error, and between two looks for jobs left by another process
)
GRACE_S = 2.0  # for which the end of a thread is awaited, apart from a lane

Complain = Callable[[BaseException], None]


class BackgroundThread:
    """
    Daemon thread that repeats *work* until the end is requested.

    Args:
        work: Called with the event that requests the end; returns soon after it is set.
        complain: Called with each error; the next attempt follows after a pause.
        is_job: Whether *work* ends by itself; the thread then waits `LOOKS_AGAIN_S` seconds, or until it is woken.
        grace_s: Seconds for which `close` waits.
    """

    def __init__(
        self,
        name: str,
        work: Callable[[threading.Event], None],
        complain: Complain,
        *,
        is_job: bool = False,
        grace_s: float = GRACE_S,
    ) -> None:
        self._work, self._complain = work, complain
        self._is_job, self._grace_s = is_job, grace_s
        self._stop, self._awake = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"clawmem-{name}", daemon=True)
        self.name = name

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def wake(self) -> None:
        """Let the thread work again at once."""
        self._awake.set()

    def tell(self) -> None:
        """Request the end, without waiting."""
        self._stop.set()
        self._awake.set()

    def close(self) -> None:
        """Request the end, and wait for it a limited time."""
        self.tell()
        self._thread.join(self._grace_s)

    def _run(self) -> None:
        while not self._stop.is_set():
            pauses = self._is_job
            self._awake.clear()
            try:
                self._work(self._stop)
            except BaseException as error:  # noqa: BLE001  a later attempt may succeed
                self._complain(error)
                pauses = True
            if pauses and not self._stop.is_set():
                self._awake.wait(LOOKS_AGAIN_S)


def watcher_thread(settings: Settings, complain: Complain) -> BackgroundThread:
    """
    Return a thread that keeps the vault of *settings* up to date with its folders, with its own connection.

    A requested end rolls back the current pass; the next watcher starts with a full pass.
    """

    def report(event: WatchEvent) -> None:
        if event.event == "problem":
            complain(RuntimeError(event.text))

    def work(stop: threading.Event) -> None:
        with open_services(settings, create=False) as services:
            watch(services, stop, report, every_s=FULL_PASS_EVERY_S)

    return BackgroundThread("watch", work, complain)


def lane_threads(settings: Settings | None, complain: Complain) -> list[BackgroundThread]:
    """Return a thread with its own connection for each maintenance lane that *settings* enable; none without settings."""

    def serve(name: LaneName, stop: threading.Event) -> None:
        assert settings
        with open_services(settings, create=False) as services:
            services.lanes.serve(name, stop, lambda ticked: None)

    return [
        BackgroundThread(name, partial(serve, name), complain, grace_s=name.drain_s)
        for name in (read_plan(settings.lanes).hosted if settings else ())
    ]


@contextmanager
def at_work(threads: Sequence[BackgroundThread]) -> Iterator[None]:
    """Run *threads* until the block ends; then request the end of all, and wait a limited time for each one."""
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for thread in threads:
            thread.tell()
        for thread in threads:
            thread.close()
