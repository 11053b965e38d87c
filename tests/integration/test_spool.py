"""Work that waits beside the vault: kept whole, done once, given up in the end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clawmem.app.environment.private_files import state_folder
from clawmem.app.interfaces.hooks.sessions import ATTEMPTS, Job, Spool

EVENT = {"session_id": "s1", "transcript_path": "/t/s1.jsonl"}


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "vault.sqlite")


def test_one_job_for_each_hook_and_session(spool: Spool) -> None:
    """A session of a hundred turns leaves one job, not a hundred: the last covers what the first would have done."""
    for _ in range(100):
        spool.put(Job("feedback-loop", EVENT))
    spool.put(Job("feedback-loop", {**EVENT, "session_id": "s2"}))
    spool.put(Job("handoff-generator", EVENT))

    assert len(spool.jobs()) == 3


def test_a_job_that_comes_meanwhile_is_done_as_well(spool: Spool) -> None:
    """Another turn ends while the first one's job is in hand: it may hold what that job did not see."""
    done: list[str] = []
    spool.put(Job("feedback-loop", EVENT))

    def do(job: Job) -> None:
        if not done:
            spool.put(Job("feedback-loop", EVENT))
        done.append(job.hook)

    spool.work_off(do)

    assert done == ["feedback-loop", "feedback-loop"]
    assert not spool.jobs()


def test_two_never_work_at_once(spool: Spool, tmp_path: Path) -> None:
    """A second worker leaves the work to the first."""
    others: list[Job] = []
    spool.put(Job("feedback-loop", EVENT))

    spool.work_off(lambda job: Spool(tmp_path / "vault.sqlite").work_off(others.append) and None)

    assert others == []
    assert not spool.jobs()


def test_a_job_that_fails_is_tried_again_and_then_given_up(spool: Spool) -> None:
    """It keeps no other job waiting, and it does not stay for ever."""
    done: list[str] = []
    spool.put(Job("decision-extractor", EVENT))
    spool.put(Job("feedback-loop", EVENT))

    def do(job: Job) -> None:
        if job.hook == "decision-extractor":
            raise ValueError("broken transcript")
        done.append(job.hook)

    failures = spool.work_off(do)

    assert done == ["feedback-loop"]
    assert len(failures) == ATTEMPTS
    assert failures[-1] == "decision-extractor: broken transcript (given up)"
    assert not spool.jobs()


def test_a_job_that_kills_its_process_is_done_again_and_given_up_too(spool: Spool) -> None:
    """Attempts are counted before they are made."""

    class Killed(BaseException):
        pass

    attempts: list[Job] = []

    def do(job: Job) -> None:
        attempts.append(job)
        raise Killed

    spool.put(Job("decision-extractor", EVENT))
    for _ in range(ATTEMPTS):
        with pytest.raises(Killed):
            spool.work_off(do)

    (failure,) = spool.work_off(do)
    assert "given up" in failure and len(attempts) == ATTEMPTS
    assert not spool.jobs()


def test_nothing_that_was_said_lies_in_the_spool(spool: Spool, tmp_path: Path) -> None:
    """Names alone, in files of their owner."""
    spool.put(Job("feedback-loop", EVENT))

    (file,) = (state_folder(tmp_path / "vault.sqlite") / "spool").iterdir()
    assert json.loads(file.read_bytes()) == {"hook": "feedback-loop", "event": EVENT, "attempts": 0}
    assert file.stat().st_mode & 0o077 == 0
