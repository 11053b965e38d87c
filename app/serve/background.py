"""Background work of a host process, such as a server or a watcher: maintenance lanes, file watcher, postponed jobs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from clawmem.app.services.maintenance.lanes import read_plan
from clawmem.app.settings.model import Settings, load_settings
from clawmem.domain.maintenance.schedule import LaneName
from clawmem.ports.errors import EmbeddingError, ModelError

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.indexing.folders import Folder
    from clawmem.app.services.indexing.watching import WatchEvent
    from clawmem.ports.watcher import StopSignal

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
    from clawmem.app.services.indexing.watching import WatchOptions

    def then(progress: Progress) -> list[str]:
        return [*_embedded(services, embed or folders.embeds, progress), *_carried(services, progress)]

    def sync_issues(project: str) -> list[str]:
        from clawmem.app.bootstrap.integrations import issue_sync  # most folders have no issues

        problems = issue_sync(services)(project).problems
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
            self._settings, self._folders = fresh, replace(self._services, settings=fresh).folders
            self._read_at = stamp
        return self._folders

    @property
    def embeds(self) -> bool | None:
        """Whether the current settings let new texts be embedded; ``None`` if they do not say so."""
        return self._settings.embeds(self._settings.collections)


def _embedded(
    services: Services, wanted: bool | None, progress: Progress = lambda done, total: None
) -> list[str]:
    from clawmem.app.operations.embedding import embed_as  # not for a server that watches nothing

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

Complain = Callable[[BaseException], None]


class BackgroundThread:
    """
    Thread that repeats *work* until the end is requested.

    Args:
        work: Called with the event that requests the end; returns soon after it is set.
        complain: Called with each error; the next attempt follows after a pause.
    """

    def __init__(self, name: str, work: Callable[[threading.Event], None], complain: Complain) -> None:
        self._work = work
        self._complain = complain
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"clawmem-{name}", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def tell(self) -> None:
        """Request the end, without waiting."""
        self._stop.set()

    def close(self, seconds: float) -> None:
        """Request the end, and wait for it at most *seconds*."""
        self.tell()
        self._thread.join(seconds)

    def _run(self) -> None:
        while not self._stop.is_set():
            if not self._attempt():
                self._stop.wait(LOOKS_AGAIN_S)

    def _attempt(self) -> bool:
        """Return whether the work was done without an error."""
        try:
            self._work(self._stop)
        except BaseException as error:  # noqa: BLE001  a later attempt may succeed
            self._complain(error)
            return False
        return True


class Drainer(BackgroundThread):
    """
    Thread that processes the jobs that hooks leave in the spool: when it is woken, and every `LOOKS_AGAIN_S` seconds.

    After the request to end it starts no more jobs; the rest stays in the spool on disk.
    """

    def __init__(self, drain: Callable[[], None], complain: Complain) -> None:
        super().__init__("drain", lambda stop: drain(), complain)
        self._awake = threading.Event()

    def wake(self) -> None:
        """Notify the thread of new jobs."""
        self._awake.set()

    def tell(self) -> None:
        """Request the end, without waiting."""
        super().tell()
        self.wake()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._awake.clear()
            self._attempt()
            self._awake.wait(LOOKS_AGAIN_S)


class WatcherThread(BackgroundThread):
    """
    Thread that keeps the vault of *settings* up to date with its folders, with its own connection.

    A requested end rolls back the current pass; the next watcher starts with a full pass.
    """

    def __init__(self, settings: Settings, complain: Complain) -> None:
        super().__init__("watch", self._watch, complain)
        self._settings = settings

    def _watch(self, stop: threading.Event) -> None:
        from clawmem.app.bootstrap.opening import open_services
        from clawmem.app.services.indexing.watching import FULL_PASS_EVERY_S

        with open_services(self._settings, create=False) as services:
            watch(services, stop, self._hear, every_s=FULL_PASS_EVERY_S)

    def _hear(self, news: WatchEvent) -> None:
        if news.event == "problem":
            self._complain(RuntimeError(news.text))


class LaneThread(BackgroundThread):
    """Thread that runs one maintenance lane of the vault of *settings*, with its own connection."""

    def __init__(self, name: LaneName, settings: Settings, complain: Complain) -> None:
        super().__init__(name, self._serve, complain)
        self.name = name
        self._settings = settings

    def close(self, seconds: float | None = None) -> None:
        """Request the end, and wait for it at most *seconds*, by default the drain time of the lane."""
        super().close(self.name.drain_s if seconds is None else seconds)

    def _serve(self, stop: threading.Event) -> None:
        from clawmem.app.bootstrap.opening import open_services

        with open_services(self._settings, create=False) as services:
            services.lanes().serve(self.name, stop, lambda ticked: None)


def lane_threads(settings: Settings | None, complain: Complain) -> list[LaneThread]:
    """Return a thread for each lane that *settings* enable; none without settings."""
    if settings is None:
        return []
    return [LaneThread(name, settings, complain) for name in read_plan(settings.lanes).hosted]


@contextmanager
def at_work(threads: Sequence[LaneThread]) -> Iterator[None]:
    """Run *threads* until the block ends; then wait for each one for at most its drain time."""
    for one in threads:
        one.start()
    try:
        yield
    finally:
        end_lanes(threads)


def end_lanes(threads: Sequence[LaneThread]) -> None:
    """Request the end of *threads*, and wait for each one for at most its drain time."""
    for one in threads:
        one.tell()
    for one in threads:
        one.close()
