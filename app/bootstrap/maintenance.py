"""Scheduled maintenance of an opened vault, assembled from the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.maintenance.lanes import Lanes


def lanes_of(services: Services, *, asks_models: bool) -> Lanes:
    """Return the scheduled maintenance of *services*; without *asks_models* it works by rules alone."""
    from clawmem.adapters.system.clock import local_hour
    from clawmem.app.services.maintenance.lanes import Lanes, read_plan
    from clawmem.app.services.maintenance.phases import NO_MODEL, NOT_ASKED, Phases
    from clawmem.app.services.maintenance.synthesis import Synthesis
    from clawmem.app.services.maintenance.tidying import Cleanup

    plan = read_plan(services.settings.lanes)
    calls = plan.daily_calls
    generator = services.adapters.generator() if asks_models else None
    days = services.settings.retention_days, services.settings.kept_receipt_days
    cleanup = Cleanup(services.vault, services.clock, *days, forgets=not services.settings.read_only)
    phases = Phases(
        services.vault,
        services.clock,
        plan,
        services.consolidation(asks_models=asks_models),
        cleanup,
        synthesis=Synthesis(services.vault, services.clock, generator, calls_a_day=calls)
        if generator
        else None,
        by_rules=services.enrich(with_model=False) if plan.enriches else None,
        by_model=services.enrich(calls_a_day=calls) if generator and plan.enriches else None,
        no_model=NO_MODEL if asks_models else NOT_ASKED,
    )
    return Lanes(services.vault, services.clock, services.lane, phases, local_hour, plan)
