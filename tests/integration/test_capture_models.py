"""What a model adds to what is captured: causes, and nothing that it was told itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from capture_world import GREETING, World

from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.models import ScriptedGenerator
from clawmem.app.services.knowledge.graph import causes_and_effects
from clawmem.contracts.samples import fetch
from clawmem.ports.knowledge import RelationKind
from clawmem.ports.vault import Vault

LEAK = "The worker leaks a handle on every retry."
RESTART = "We'll restart the workers every night."
SAID = (*GREETING, ("assistant", LEAK), ("user", RESTART), ("assistant", "Noted."))
NOTED = {
    "observations": [
        {"type": "discovery", "title": "A leak", "facts": ["Retries leak handles."], "concepts": ["gotcha", "x"], "quote": LEAK},
        {"type": "decision", "title": "Nightly restart", "facts": ["Workers restart at night."], "quote": RESTART},
    ]
}  # fmt: skip


@pytest.fixture
def world(vault: Vault, clock: ManualClock, tmp_path: Path) -> World:
    return World(vault, clock, tmp_path)


def model(*links: dict[str, Any]) -> ScriptedGenerator:
    """One that notes both sentences, and relates them so."""
    asked = {"Below are facts": {"links": list(links)}, "You watch": NOTED}
    return ScriptedGenerator(
        lambda prompt: next(json.dumps(said) for begin, said in asked.items() if prompt.startswith(begin))
    )


def link(source: int, target: int, confidence: float) -> dict[str, Any]:
    return {
        "source_fact_idx": source,
        "target_fact_idx": target,
        "confidence": confidence,
        "reasoning": "a leak",
    }


def test_what_led_to_what(world: World) -> None:
    """A cause that a model is sure of is a relation, read back as a chain, with the facts that it rests on."""
    world.extract(world.session("s1", *SAID), generator=model(link(0, 1, 0.6), link(0, 1, 0.8)))

    leak, restart = world.kept()
    [relation] = world.vault.relations.outbound([leak.id], {RelationKind.CAUSAL}, limit=5)
    assert (relation.target, relation.weight) == (restart.id, 0.8)
    assert relation.metadata == {
        "reasoning": "a leak",
        "source_fact": "Retries leak handles.",
        "target_fact": "Workers restart at night.",
    }
    [step] = causes_and_effects(world.vault.documents, world.vault.relations, restart)
    assert (step.file, step.reasoning) == (leak.display_path, "a leak")
    assert leak.tags == ("origin:model", "type:discovery", "concept:gotcha")


def test_an_observation_that_is_overturned_is_not_served(world: World) -> None:
    """A contradiction takes 0.25 each time; at 0.2 an observation goes out of sight, and what overturned it is named."""
    world.extract(world.session("s0", *SAID), generator=model())
    leak = world.kept()[0]
    judged = {"relation": "contradiction", "confidence": 0.9}
    for number in range(1, 4):
        change = f"We'll say the worker leaks no handle on every retry, as run {number} shows."
        noted = {"observations": [{"type": "decision", "title": f"No leak {number}", "quote": change}]}
        generator = ScriptedGenerator(
            lambda prompt, noted=noted: json.dumps(judged if prompt.startswith("Two decisions") else noted)
        )
        world.clock.advance(1000)
        world.extract(world.session(f"s{number}", *GREETING, ("user", change), ("assistant", "Noted.")), generator=generator)  # fmt: skip

    after = fetch(world.vault, leak.id)
    assert after.confidence == pytest.approx(0.2)
    assert after.inactive.value == "superseded"
