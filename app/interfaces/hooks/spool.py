"""
Files of hooks next to the vault: jobs that outlive their hook, and fingerprints of injected texts.

A job is a small file; the process that does jobs holds a lock, and renames the file of the current job. A job that was
interrupted by a kill is done again, so jobs must be idempotent: those at the end of a turn use a cursor that advances
in the transaction of their results.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock, Timeout

from clawmem.app.environment.private_files import PRIVATE, appended, make_folder, state_folder, write_whole
from clawmem.domain.security.fingerprint import fingerprint, from_bytes, to_bytes
from clawmem.ports.errors import ClawmemError, InvalidInput, SourceUnreadable
from clawmem.ports.sessions import session_key

ATTEMPTS = 3  # failed attempts after which a job is dropped
PERMANENT_ERRORS = (InvalidInput, SourceUnreadable)  # not retried; the next turn adds a new job
WAITING, CURRENT = ".job", ".taken"

KEPT_S = 30 * 86_400
_MOST_BYTES = 4_000_000  # per session: half a million runs of words


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
    """Failures of jobs in the spool, each a sentence that names the job with its reason."""

    def __init__(self, failures: Sequence[str]) -> None:
        self.failures = failures
        super().__init__("; ".join(failures))


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

    def jobs(self) -> list[Path]:
        """Return the files of all jobs, the oldest first, including the current one."""

        ages: dict[Path, int] = {}
        with suppress(OSError):
            for file in self._folder.iterdir():
                if file.suffix in (WAITING, CURRENT):
                    with suppress(OSError):  # done meanwhile by another process
                        ages[file] = file.stat().st_mtime_ns
        return sorted(ages, key=lambda file: (ages[file], file.name))

    def work_off(self, do: Callable[[Job], None]) -> list[str]:
        """
        Do all jobs, including those added meanwhile; return a sentence for each failure.

        Nothing happens while another process does them.
        """
        failures: list[str] = []
        lock = self._folder.with_suffix(".lock")
        with suppress(Timeout):
            if self.jobs():
                with FileLock(lock, blocking=False, is_singleton=False, mode=PRIVATE):
                    # Bounded, because a job may be added again and again.
                    for _ in range(ATTEMPTS * (1 + len(self.jobs()))):
                        if file := next(iter(self.jobs()), None):
                            failures += self._attempt(file.replace(file.with_suffix(CURRENT)), do)
        return failures

    def _attempt(self, current: Path, do: Callable[[Job], None]) -> Iterator[str]:
        """Do the job in *current*; a failed one goes to the end of the queue until its attempts are used up."""
        job = _read(current)
        if job is None or job.attempts >= ATTEMPTS:
            yield f"{current.name} was given up"
        else:
            # Counted before it is made, so that a job that kills its process is dropped in the end.
            job = job._replace(attempts=job.attempts + 1)
            with suppress(OSError):  # on a full disk the job is still attempted
                write_whole(current, json.dumps(job._asdict()).encode())
            try:
                do(job)
            except Exception as error:  # noqa: BLE001  a failing job must not block the others
                waits = job.attempts < ATTEMPTS and not isinstance(error, PERMANENT_ERRORS)
                yield f"{job.hook}: {error or type(error).__name__}{'' if waits else ' (given up)'}"
                # A waiting job with the same key makes this one redundant.
                if waits and not current.with_suffix(WAITING).exists():
                    self.put(job)
        current.unlink(missing_ok=True)


def _read(file: Path) -> Job | None:
    try:
        values = json.loads(file.read_bytes())
        return Job(str(values["hook"]), dict(values["event"]), int(values["attempts"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


class InjectedFingerprints:
    """Fingerprints of injected texts, so that a session that repeats one is not captured as new information."""

    def __init__(self, vault: Path) -> None:
        self._folder = state_folder(vault) / "injected"

    def add(self, session_id: str, text: str) -> None:
        """Add *text*, best effort. Also delete the files of sessions older than `KEPT_S`."""
        if not session_id or not text:
            return
        file = self._folder / session_key(session_id)
        with suppress(OSError):
            make_folder(self._folder)
            if not file.exists() or file.stat().st_size <= _MOST_BYTES:
                with appended(file) as out:
                    out.write(to_bytes(fingerprint(text)))
            for old in self._folder.iterdir():
                if time.time() - old.stat().st_mtime > KEPT_S:
                    old.unlink(missing_ok=True)

    def of(self, session_id: str) -> frozenset[int]:
        """Return the fingerprint of all text injected into a session; empty if none."""
        try:
            packed = (self._folder / session_key(session_id)).read_bytes()
        except OSError:
            return frozenset()
        return from_bytes(packed[: len(packed) // 8 * 8])  # a hash has 8 bytes
