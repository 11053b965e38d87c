"""
A vault with something to do for every phase of upkeep, and a process that stands still in the middle of one:

    python tests/upkeep_world.py VAULT PHASE within|after
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from command_process import start_process
from dependency_injector import providers
from process_environ import process_environ
from wired import memory_writer

from clawmem.adapters.memory.models import ScriptedGenerator
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.bootstrap.services import Services
from clawmem.app.services.leases import WorkLease
from clawmem.app.services.maintenance import lanes
from clawmem.app.settings.model import load_settings
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.maintenance.schedule import LEASE_MS, LaneName
from clawmem.domain.surfacing.turns import CONTEXT_SURFACING
from clawmem.ports.clock import Clock
from clawmem.ports.journal import Journal, Run, RunStatus
from clawmem.ports.telemetry import Recall, RecallHit
from clawmem.ports.vault import Vault

OBSERVED = ("The export of Hartmann fails on Fridays", "The export of Hartmann fails on Fridays!")
DECIDED = ("Hartmann gets invoices from the export.", "The export is slow since March.")
PROGRAM = f"""
import runpy, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
runpy.run_path({__file__!r}, run_name="__main__")
"""
CONCLUDED = "The slow export hurts Hartmann and its invoices"


def observe(vault: Vault, clock: Clock, *texts: str, kind: str = "observation") -> list[int]:
    """Keep *texts* as observations, or as another kind of memory; their ids."""
    with vault.transactions.writing():
        place = sum(vault.documents.collections().values())
        return [
            memory_writer(vault, clock).write(
                f"agent/observations/2023-11-{10 + place + n:02}-one-{kind}-{place + n}.md",
                text,
                f"# {text}\n\n> {text}\n",
                kind,
                0.8,
                iso_utc(clock.now_ms() + n),
            )
            for n, text in enumerate(texts)
        ]


def fill(vault: Vault, clock: Clock) -> None:
    """Something said twice, something to conclude, and something that was surfaced."""
    first, *_ = observe(vault, clock, *OBSERVED)
    observe(vault, clock, *DECIDED, kind="decision")
    hits = (RecallHit(first, 1, 0.9),)
    vault.telemetry.record(
        Recall(iso_utc(clock.now_ms()), CONTEXT_SURFACING, "abc", 1.0, 3, (), hits, "session")
    )


def two_leases(vault: Vault, clock: Clock, lane: str) -> tuple[WorkLease, WorkLease]:
    """Leases of two holders on one lane."""
    me, other = (
        WorkLease(lane, vault.leases, clock, holder, lambda who: False, lease_ms=LEASE_MS)
        for holder in ("me", "it")
    )
    return me, other


def sensible(prompt: str) -> str:
    """A model that concludes one thing, and finds nothing else."""
    if "What follows" in prompt:
        draft = {"conclusion": CONCLUDED, "premises": ["it is slow"], "source_indices": [1, 2]}
        return json.dumps({"deductions": [draft]})
    if "Does the conclusion" in prompt:
        return json.dumps({"supported": True})
    if "Can both" in prompt:
        return json.dumps({"contradictory": False, "confidence": 0.9})
    return json.dumps({"patterns": []})


@contextmanager
def upkeep(vault: Path, script: Callable[[str], str] = sensible) -> Iterator[Services]:
    """The services over a vault, with a model that answers what *script* says."""
    with open_services(load_settings(vault=vault)) as services:
        services.container.gateways.generator.override(providers.Object(ScriptedGenerator(script)))
        yield services


def _stand_still(services: Services, phase: str) -> None:
    """Where the phase asks whether it still may: in the transaction of its effect, or before a question."""
    usual = lanes.check_lease

    def stop_in_phase(lease: WorkLease, stops: Callable[[], bool]) -> None:
        usual(lease, stops)
        if services.vault.journal.runs(1)[0].phase == phase:
            print("there", flush=True)  # noqa: T201  whoever started it waits for this
            time.sleep(600)

    lanes.check_lease = stop_in_phase


def _stand_still_at_the_end(services: Services, phase: str) -> None:
    """Where all effects of the phase are kept, and its end is not written down yet."""
    journal = type(services.vault.journal)
    usual = journal.update

    def tell(self: Journal, run: Run) -> None:
        if run.phase == phase and run.status is not RunStatus.STARTED:
            print("there", flush=True)  # noqa: T201  whoever started it waits for this
            time.sleep(600)
        usual(self, run)  # type: ignore[arg-type]

    journal.update = tell  # type: ignore[method-assign,assignment]


def killed_in(vault_file: Path, phase: str, where: str) -> None:
    """A vault with something to do, and a process that was killed within that, or after it and before its end."""
    with upkeep(vault_file) as services:
        fill(services.vault, services.clock)
    environ = process_environ(vault_file.parent, CLAWMEM_NO_LOCAL_MODELS="true")
    pipes = {"stdout": subprocess.PIPE, "text": True}
    process = start_process("-c", PROGRAM, vault_file, phase, where, environ=environ, **pipes)
    assert process.stdout and process.stdout.readline() == "there\n"
    process.kill()
    process.communicate()


if __name__ == "__main__":
    with upkeep(Path(sys.argv[1])) as opened:
        (_stand_still if sys.argv[3] == "within" else _stand_still_at_the_end)(opened, sys.argv[2])
        opened.lanes.tick(LaneName.LIGHT)
