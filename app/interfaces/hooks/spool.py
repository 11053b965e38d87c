"""
Persistent queue of jobs that outlive their hook: stored before they start, processed by one process at a time.

A job is a small file. The process that executes jobs holds a lease of the vault, and renames the file of the current job.
A job that was interrupted by a kill is executed again, so jobs must be idempotent: those at the end of a turn use a cursor
that advances in the transaction of their results.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from clawmem.app.environment.private_files import make_folder, state_folder, write_whole
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ClawmemError, InvalidInput, LeaseLost, SourceUnreadable
from clawmem.ports.storage import Lease, LeaseStore

LEASE = "hook spool"
LEASE_MS = 120_000  # longer than any client's timeout
ATTEMPTS = 3  # failed attempts after which a job is dropped
PERMANENT_ERRORS = (InvalidInput, SourceUnreadable)  # not retried; the next turn adds a new job

WAITING, IN_HAND = ".job", ".taken"


class Job(NamedTuple):
    """
    Job of one hook: its name and the event, without the text of the conversation.

    ``attempts`` counts the attempts that were started.
    """

    hook: str
    event: Mapping[str, str]
    attempts: int = 0

    @property
    def key(self) -> str:
        """Key of the hook and session; a later job replaces an earlier one with the same key."""
        about = [self.hook, self.event.get("session_id", ""), self.event.get("transcript_path", "")]
        return f"{self.hook}-{sha256(json.dumps(about).encode()).hexdigest()[:16]}"


class JobsFailed(ClawmemError):
    """Failure of jobs in the spool; the message names each job with its reason."""


class Spool:
    """Queue of jobs in a folder next to *vault*."""

    def __init__(self, vault: Path) -> None:
        self._folder = state_folder(vault) / "spool"

    def put(self, job: Job) -> None:
        """
        Add a job, replacing a waiting job with the same key.

        Raises:
            OSError: the job cannot be written; no partial file is left.
        """
        make_folder(self._folder)
        write_whole(self._folder / f"{job.key}{WAITING}", json.dumps(job._asdict()).encode())

    def waiting(self) -> int:
        """Return the number of jobs, including the current one."""
        return len(self._jobs())

    def take(self) -> Path | None:
        """Mark the oldest job as current and return its file; ``None`` if there is none. Requires the lease."""
        for file in self._jobs():
            taken = file.with_suffix(IN_HAND)
            try:
                return file.replace(taken)
            except FileNotFoundError:  # pragma: no cover  the lease expired while its holder was suspended
                continue
        return None

    def begin(self, taken: Path, job: Job) -> Job:
        """Count an attempt before it is made, so that a job that kills its process is dropped in the end."""
        begun = job._replace(attempts=job.attempts + 1)
        with suppress(OSError):  # on a full disk the job is still attempted
            write_whole(taken, json.dumps(begun._asdict()).encode())
        return begun

    def finish(self, taken: Path) -> None:
        """Delete a job that is done or dropped."""
        taken.unlink(missing_ok=True)

    def put_back(self, taken: Path, job: Job) -> bool:
        """Return a failed job to the end of the queue, unless its attempts are used up; return whether it waits."""
        may_wait = job.attempts < ATTEMPTS
        # A waiting job with the same key makes this one redundant.
        if may_wait and not taken.with_suffix(WAITING).exists():
            self.put(job)
        self.finish(taken)
        return may_wait

    def _jobs(self) -> list[Path]:
        try:
            entries = list(self._folder.iterdir())
        except OSError:
            return []
        return sorted((file for file in entries if file.suffix in (WAITING, IN_HAND)), key=_age)


class Drain:
    """
    Worker that processes a spool under a lease.

    Args:
        holder: Unique id of this process.
        is_gone: Whether the process of a holder is known to have ended.
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
        Execute all jobs, including those added during the run; return a sentence for each failure.

        Do nothing while another process holds the lease.
        """
        lease = self._acquired() or self._inherited()
        if lease is None:
            return []
        try:
            return self._all(do, lease)
        except LeaseLost:  # this process was suspended for longer than the lease; another one continues
            return []
        finally:
            self._leases.release(lease)

    def _all(self, do: Callable[[Job], None], lease: Lease) -> list[str]:
        failures = []
        for _ in range(ATTEMPTS * (1 + self._spool.waiting())):  # bounds jobs that are added again and again
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
        except Exception as error:  # noqa: BLE001  a failing job must not block the others
            waits = not isinstance(error, PERMANENT_ERRORS) and self._spool.put_back(taken, job)
            self._spool.finish(taken)
            return [f"{job.hook}: {error or type(error).__name__}{'' if waits else ' (given up)'}"]
        self._spool.finish(taken)
        return []

    def _acquired(self) -> Lease | None:
        return self._leases.acquire(LEASE, self._holder, now_ms=self._clock.now_ms(), ttl_ms=LEASE_MS)

    def _inherited(self) -> Lease | None:
        """Take over the lease of a killed process, which would otherwise block until it expires."""
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
