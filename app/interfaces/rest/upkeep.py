"""Checks of the vault and its environment."""

from __future__ import annotations

import os

from clawmem.app.bootstrap.services import Services
from clawmem.app.environment.places import client_folder, client_servers
from clawmem.app.interfaces.rest.operation import Nothing, changing
from clawmem.app.services.maintenance.client_checks import client_findings
from clawmem.app.services.maintenance.finding import CheckResult


def doctor(services: Services, asked: Nothing) -> list[CheckResult]:
    """Check the vault and its environment, and report remedies."""
    return [*services.doctor(), *client_findings(client_folder(os.environ), client_servers(os.environ))]


OPERATIONS = (changing("/doctor", Nothing, list[CheckResult], doctor),)
