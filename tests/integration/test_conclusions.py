"""Conclusions from observations, and what is looked at again."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from observed_days import World
from wired import synthesis

from clawmem.adapters.memory.models import ScriptedGenerator
from clawmem.app.services.maintenance.phase_run import PhaseRun, Verdict
from clawmem.domain.capture.cues import Kind
from clawmem.domain.capture.notes import COLLECTION
from clawmem.domain.maintenance.contradiction_gate import Policy
from clawmem.ports.knowledge import RelationKind
from clawmem.ports.records import InactiveReason, Origin
from clawmem.ports.vault import Vault


@pytest.fixture
def world(vault: Vault) -> World:
    return World(vault)


def test_a_contradiction_is_linked_once(world: World) -> None:
    """Both stay served and are related; the next run finds nothing new."""
    old = world.observe("The export job takes 30 minutes")
    new = world.observe("The export job takes 45 minutes")

    assert len(world.consolidate().decided(Verdict.LINK)) == 1
    [edge] = world.vault.relations.outbound([new], {RelationKind.CONTRADICTS}, limit=9)
    assert (edge.target, edge.weight) == (old, 0.5)
    assert (world.reason(old), world.reason(new)) == (None, None)
    assert not world.consolidate().decided(Verdict.LINK)


def test_a_contradiction_supersedes_where_that_was_chosen(world: World) -> None:
    """The earlier one is served no more until it is brought back; the later one stays."""
    old = world.observe("The export job takes 30 minutes")
    new = world.observe("The export job takes 45 minutes")

    world.consolidate(policy=Policy.SUPERSEDE)
    assert (world.reason(old), world.reason(new)) == (InactiveReason.SUPERSEDED, None)

    assert world.restore(new) == [old]
    assert (world.reason(old), world.reason(new)) == (None, None)


def test_an_observation_of_others_supersedes_nothing(world: World) -> None:
    """What contradicts an earlier observation is related to it, and the earlier one is still served."""
    old = world.observe("The export job takes 30 minutes")
    new = world.observe("The export job takes 45 minutes")
    world.vault.documents.set_origin([new], Origin.TOOL_OUTSIDE)

    world.consolidate(policy=Policy.SUPERSEDE)

    assert (world.reason(old), world.reason(new)) == (None, None)
    [edge] = world.vault.relations.outbound([new], limit=9)
    assert (edge.target, edge.kind, edge.trust) == (old, RelationKind.CONTRADICTS, Origin.TOOL_OUTSIDE)


def drafting(supported: bool) -> Callable[[str], str]:
    def script(prompt: str) -> str:
        if "What follows" not in prompt:
            return json.dumps({"supported": supported, "reason": "as told"})
        drafts = [
            {"conclusion": "The slow export hurts Hartmann and its invoices", "source_indices": [1, 2]},
            {"conclusion": "Mira slows the export", "source_indices": [1, 2]},
        ]
        return json.dumps({"deductions": [{"premises": ["it is slow"], **one} for one in drafts]})

    return script


def test_a_conclusion_is_kept_with_what_it_rests_on(world: World) -> None:
    """It is searchable, of its own type, and its sources speak for it; the next run does not draw it again."""
    world.observe("Mira leads the move to Postgres.", Kind.DECISION)
    sources = [
        world.observe("Hartmann gets invoices from the export.", Kind.PROBLEM),
        world.observe("The export is slow since March.", Kind.DECISION),
    ]
    draw = synthesis(world.vault, world.clock, ScriptedGenerator(drafting(True)))

    run = draw(PhaseRun())

    assert (run.selected, run.processed, run.metrics["accepted"], run.created) == (3, 2, 1, 1)
    assert (run.rejected, run.metrics["contaminationRejects"]) == (1, 1)
    [made] = [one for one in world.vault.documents.latest() if one.content_type == "deductive"]
    assert (made.confidence, made.path.startswith("deductions/")) == (0.85, True)
    edges = world.vault.relations.inbound([made.id], {RelationKind.SUPPORTING}, limit=9)
    assert sorted(edge.source for edge in edges) == sources
    assert made.display_path in world.found("slow export Hartmann invoices")
    assert draw(PhaseRun()).selected == 1


def test_a_conclusion_without_support_is_not_kept(world: World) -> None:
    """The model that is shown the evidence has the last word."""
    world.observe("Hartmann gets invoices from the export.", Kind.PROBLEM)
    world.observe("The export is slow since March.", Kind.DECISION)

    run = synthesis(world.vault, world.clock, ScriptedGenerator(drafting(False)))(PhaseRun())

    assert (run.created, run.metrics["unsupportedRejects"]) == (0, 2)
    assert world.vault.documents.collections() == {COLLECTION: 2}
