"""Work that waits beside the vault: kept whole, done once, given up in the end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clawmem.adapters.memory.clock import ManualClock
from clawmem.app.environment.private_files import state_folder
from clawmem.app.interfaces.hooks.spool import ATTEMPTS, LEASE, LEASE_MS, Drain, Job, Spool
from clawmem.ports.vault import Vault

EVENT = {"session_id": "s1", "transcript_path": "/t/s1.jsonl"}


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    """The spool of that vault."""
    return Spool(tmp_path / "vault.sqlite")


def draining(spool: Spool, vault: Vault, clock: ManualClock, holder: str = "me", gone: bool = False) -> Drain:
    return Drain(spool, vault.leases, clock, holder, lambda name: gone)


def test_a_job_is_done_once(spool: Spool, vault: Vault, clock: ManualClock) -> None:
    """What was put comes as it was, and afterwards nothing waits."""
    done: list[Job] = []
    spool.put(Job("feedback-loop", EVENT))

    assert draining(spool, vault, clock)(done.append) == []
    assert draining(spool, vault, clock)(done.append) == []

    assert [(job.hook, job.event) for job in done] == [("feedback-loop", EVENT)]
    assert spool.waiting() == 0


def test_one_job_for_each_hook_and_session(spool: Spool) -> None:
    """A session of a hundred turns leaves one job, not a hundred: the last covers what the first would have done."""
    for _ in range(100):
        spool.put(Job("feedback-loop", EVENT))
    spool.put(Job("feedback-loop", {**EVENT, "session_id": "s2"}))
    spool.put(Job("handoff-generator", EVENT))

    assert spool.waiting() == 3


def test_a_job_that_comes_meanwhile_is_done_as_well(spool: Spool, vault: Vault, clock: ManualClock) -> None:
    """Another turn ends while the first one's job is in hand: it may hold what that job did not see."""
    done: list[str] = []
    spool.put(Job("feedback-loop", EVENT))

    def do(job: Job) -> None:
        if not done:
            spool.put(Job("feedback-loop", EVENT))
        done.append(job.hook)

    draining(spool, vault, clock)(do)

    assert done == ["feedback-loop", "feedback-loop"]
    assert spool.waiting() == 0


def test_two_never_work_at_once(spool: Spool, vault: Vault, clock: ManualClock) -> None:
    """Who finds somebody at it leaves the work to them."""
    others: list[Job] = []
    spool.put(Job("feedback-loop", EVENT))

    draining(spool, vault, clock, "first")(
        lambda job: draining(spool, vault, clock, "second")(others.append) and None
    )

    assert others == []
    assert spool.waiting() == 0


def test_what_a_killed_process_had_in_hand_is_done_again(
    spool: Spool, vault: Vault, clock: ManualClock
) -> None:
    """At once where its process is known to be gone, else when its lease has run out."""
    spool.put(Job("feedback-loop", EVENT))
    vault.leases.acquire(LEASE, "killed", now_ms=clock.now_ms(), ttl_ms=LEASE_MS)
    assert spool.take()
    done: list[Job] = []

    draining(spool, vault, clock)(done.append)
    assert not done
    draining(spool, vault, clock, gone=True)(done.append)

    assert [job.hook for job in done] == ["feedback-loop"]
    assert spool.waiting() == 0


def test_a_job_that_fails_is_tried_again_and_then_given_up(
    spool: Spool, vault: Vault, clock: ManualClock
) -> None:
    """It keeps no other job waiting, and it does not stay for ever."""
    done: list[str] = []
    spool.put(Job("decision-extractor", EVENT))
    spool.put(Job("feedback-loop", EVENT))

    def do(job: Job) -> None:
        if job.hook == "decision-extractor":
            raise ValueError("broken transcript")
        done.append(job.hook)

    failures = draining(spool, vault, clock)(do)

    assert done == ["feedback-loop"]
    assert len(failures) == ATTEMPTS
    assert failures[-1] == "decision-extractor: broken transcript (given up)"
    assert spool.waiting() == 0


def test_a_job_that_kills_its_process_is_given_up_too(spool: Spool, vault: Vault, clock: ManualClock) -> None:
    """Attempts are counted before they are made."""

    class Killed(BaseException):
        pass

    def do(job: Job) -> None:
        raise Killed

    spool.put(Job("decision-extractor", EVENT))
    for _ in range(ATTEMPTS):
        with pytest.raises(Killed):
            draining(spool, vault, clock)(do)

    (failure,) = draining(spool, vault, clock)(do)
    assert "given up" in failure
    assert spool.waiting() == 0


def test_nothing_that_was_said_lies_in_the_spool(spool: Spool, tmp_path: Path) -> None:
    """Names alone, in files of their owner."""
    spool.put(Job("feedback-loop", EVENT))

    (file,) = (state_folder(tmp_path / "vault.sqlite") / "spool").iterdir()
    assert json.loads(file.read_bytes()) == {"hook": "feedback-loop", "event": EVENT, "attempts": 0}
    assert file.stat().st_mode & 0o077 == 0
