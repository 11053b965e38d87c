"""
Work that a hook may not finish: written down before it is begun, done once, by whoever comes next.

A job is a small file. Who works through them holds a lease of the vault, and marks the one in hand by its name; what
a killed process had in hand is done again, so that a job has to be one that may be repeated: those of a session's end
go by a cursor that moves with what they store.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from clawmem.app.hooks.state import make_folder, state_folder, sweep, write_whole
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ClawmemError, InvalidInput, LeaseLost, SourceUnreadable
from clawmem.ports.lease import LeaseStore
from clawmem.ports.records import Lease

LEASE = "hook spool"
LEASE_MS = 120_000  # longer than any client lets a hook live
ATTEMPTS = 3  # after these a job is given up
HOPELESS = (InvalidInput, SourceUnreadable)  # a job that fails so fails again; the next turn brings a new one

WAITING, IN_HAND = ".job", ".taken"


class Job(NamedTuple):
    """
    What one hook still has to do: its name and its event, less everything that was said in it.

    ``attempts`` counts how often it was begun and failed.
    """

    hook: str
    event: Mapping[str, str]
    attempts: int = 0

    @property
    def key(self) -> str:
        """The same for every job of one hook about one session: the later one does what the earlier would."""
        about = [self.hook, self.event.get("session_id", ""), self.event.get("transcript_path", "")]
        return f"{self.hook}-{sha256(json.dumps(about).encode()).hexdigest()[:16]}"


class JobsFailed(ClawmemError):
    """Jobs of the spool that failed; the message names each with its reason."""


class Spool:
    """The jobs that wait beside *vault*."""

    def __init__(self, vault: Path) -> None:
        self._folder = state_folder(vault) / "spool"

    def put(self, job: Job) -> None:
        """
        Let a job wait, in the place of one like it.

        Raises:
            OSError: it cannot be written; nothing of it is left.
        """
        make_folder(self._folder.parent)
        make_folder(self._folder)
        write_whole(self._folder / f"{job.key}{WAITING}", json.dumps(job._asdict()).encode())

    def waiting(self) -> int:
        """How many jobs there are, the one in hand included."""
        return len(self._jobs())

    def take(self) -> Path | None:
        """The oldest job, marked as in hand; ``None`` when there is none. Only for who holds the lease."""
        for file in self._jobs():
            taken = file.with_suffix(IN_HAND)
            try:
                return file.replace(taken)
            except FileNotFoundError:  # pragma: no cover  a lease that ran out while its holder was away
                continue
        return None

    def begin(self, taken: Path, job: Job) -> Job:
        """One attempt more, counted before it is made: a job that kills its process shall not do so for ever."""
        begun = job._replace(attempts=job.attempts + 1)
        with suppress(OSError):  # on a full disk it is tried all the same
            write_whole(taken, json.dumps(begun._asdict()).encode())
        return begun

    def finish(self, taken: Path) -> None:
        """A job is done, or given up."""
        taken.unlink(missing_ok=True)

    def put_back(self, taken: Path, job: Job) -> bool:
        """Let a failed job wait again, behind the others, unless it failed often enough; return whether it waits."""
        may_wait = job.attempts < ATTEMPTS
        if may_wait and not taken.with_suffix(WAITING).exists():  # else one like it came meanwhile
            self.put(job)
        self.finish(taken)
        return may_wait

    def tidy(self) -> None:
        """Take away what killed processes left half written."""
        for folder in (self._folder, self._folder.parent):  # the diary is rewritten beside the jobs
            sweep(folder, older_than_s=LEASE_MS / 1000)

    def _jobs(self) -> list[Path]:
        try:
            entries = list(self._folder.iterdir())
        except OSError:
            return []
        return sorted((file for file in entries if file.suffix in (WAITING, IN_HAND)), key=_age)


class Drain:
    """
    Works through a spool, alone.

    Args:
        holder: Unique to this process.
        is_gone: Whether the process of a holder is known to be dead.
    """

    def __init__(
        self, spool: Spool, leases: LeaseStore, clock: Clock, holder: str, is_gone: Callable[[str], bool]
    ) -> None:
        self._spool = spool
        self._leases = leases
        self._clock = clock
        self._holder = holder
        self._is_gone = is_gone

    def __call__(self, do: Callable[[Job], None]) -> list[str]:
        """
        Do every job there is, those that come meanwhile included; what failed, in sentences.

        Nothing while another process is at it.
        """
        lease = self._acquired() or self._inherited()
        if lease is None:
            return []
        try:
            return self._all(do, lease)
        except LeaseLost:  # this process was away for longer than any job may take; another one goes on
            return []
        finally:
            self._leases.release(lease)

    def _all(self, do: Callable[[Job], None], lease: Lease) -> list[str]:
        failures = []
        self._spool.tidy()
        for _ in range(ATTEMPTS * (1 + self._spool.waiting())):  # a job that comes again and again ends too
            lease = self._leases.renew(lease, now_ms=self._clock.now_ms(), ttl_ms=LEASE_MS)
            taken = self._spool.take()
            if taken is None:
                break
            failures += self._attempt(do, taken)
        return failures

    def _attempt(self, do: Callable[[Job], None], taken: Path) -> list[str]:
        job = _read(taken)
        if job is None or job.attempts >= ATTEMPTS:
            self._spool.finish(taken)
            return [f"{taken.name} was given up"]
        job = self._spool.begin(taken, job)
        try:
            do(job)
        except Exception as error:  # noqa: BLE001  one job that fails keeps no other one waiting
            waits = not isinstance(error, HOPELESS) and self._spool.put_back(taken, job)
            self._spool.finish(taken)
            return [f"{job.hook}: {error or type(error).__name__}{'' if waits else ' (given up)'}"]
        self._spool.finish(taken)
        return []

    def _acquired(self) -> Lease | None:
        return self._leases.acquire(LEASE, self._holder, now_ms=self._clock.now_ms(), ttl_ms=LEASE_MS)

    def _inherited(self) -> Lease | None:
        """The lease of a process that was killed: nobody else would give it back before it expires."""
        current = self._leases.current(LEASE, now_ms=self._clock.now_ms())
        if current is None or not self._is_gone(current.holder):
            return None
        self._leases.release(current)
        return self._acquired()


def _age(file: Path) -> tuple[int, str]:
    try:
        return file.stat().st_mtime_ns, file.name
    except OSError:
        return 0, file.name


def _read(file: Path) -> Job | None:
    try:
        found = json.loads(file.read_bytes())
        return Job(str(found["hook"]), dict(found["event"]), int(found["attempts"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
