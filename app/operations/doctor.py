"""The checks of a vault and its environment."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from clawmem.app.environment.places import topics_folder
from clawmem.app.environment.private_files import files_of_vault, sweep_drafts
from clawmem.app.operations.indexing import PERSON
from clawmem.app.operations.operation import Effect, Opening, Result, operation
from clawmem.app.services.maintenance.finding import CheckResult
from clawmem.app.services.maintenance.machine_checks import (
    disk_findings,
    draft_finding,
    permission_finding,
    server_findings,
)

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services


class Examination(Result):
    """The findings of every check; ``way_out`` is the remedy."""

    ok: bool
    findings: list[CheckResult]

    @property
    def exit_code(self) -> int:
        """Return 1 if a check found something."""
        return 0 if self.ok else 1


def _doctor_text(result: Examination) -> Iterator[str]:
    yield from (check.line for check in result.findings)
    wrong = sum(not check.ok for check in result.findings)
    yield f"{wrong} of {len(result.findings)} checks found something." if wrong else "All is well."


@operation(Effect.REPEATABLE, text=_doctor_text, route="/doctor", is_tool=False, opens=Opening.CURRENT)
def doctor(services: Services) -> Examination:
    """
    Check the vault and its environment; report remedies.

    It changes two things: files of the vault, and the config file, are made private if other users can read them, and
    drafts of commands that were killed are deleted.
    """
    settings = services.settings
    kept = [*files_of_vault(settings.vault), topics_folder(os.environ), settings.config_file]
    private = permission_finding(kept)
    swept = draft_finding(sweep_drafts(settings.vault))
    is_person = services.caller == PERSON  # a request to the server must not start programs
    agents = services.client_checks(os.environ, project=Path.cwd() if is_person else None, starts=is_person)
    machine = [*disk_findings(settings.vault), *server_findings(settings.vault)]
    findings = [*machine, *services.doctor(), private, swept, *agents]
    return Examination(ok=all(check.ok for check in findings), findings=findings)
