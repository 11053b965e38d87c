"""The figures that the published system names for knowledge and upkeep, and that nothing else here would notice."""

from __future__ import annotations

from itertools import permutations

import pytest

from clawmem.app.services.knowledge import enriching, model_enrichment, resolving
from clawmem.app.services.maintenance import lanes, synthesis
from clawmem.domain.capture import causes
from clawmem.domain.graph import meta_paths, traversal
from clawmem.domain.knowledge import enrichment, names, notes, triples
from clawmem.domain.knowledge.enrichment import ModelTask
from clawmem.domain.maintenance import (
    contradiction_gate,
    deduction,
    merge_gate,
    patterns,
    schedule,
    selection,
)
from clawmem.domain.maintenance.schedule import LaneName
from clawmem.ports import entities


@pytest.mark.parametrize(
    ("asked", "warmth", "tokens"),
    [
        (model_enrichment.NOTE, 0.3, 300),
        (enrichment.NAMES, 0.2, 400),
        (enrichment.LINKS, 0.3, 500),
        (enrichment.EVOLUTION, 0.4, 400),
        (patterns.PATTERNS, 0.3, 500),
        (patterns.VERDICT, 0.2, 150),
        (deduction.DRAFTS, 0.3, 500),
        (deduction.JUDGE, 0.2, 400),
    ],
    ids=lambda value: value.purpose if isinstance(value, ModelTask) else "",
)
def test_how_models_are_asked(asked: ModelTask, warmth: float, tokens: int) -> None:
    """As warm and for as many tokens as published: what was calibrated elsewhere holds here."""
    assert (asked.temperature, asked.max_tokens) == (warmth, tokens)


def test_how_much_is_looked_at() -> None:
    """Characters, neighbours and documents, by what they are for."""
    assert (notes.SHOWN, enrichment.NEIGHBOURS, enrichment.EVOLVED) == (2000, 8, 5)
    assert (causes.LEAST_FACTS, causes.LEAST_CONFIDENCE, causes.MAX_TOKENS, causes.TEMPERATURE) == (
        2,
        0.6,
        600,
        0.3,
    )
    assert (enriching.DOCUMENTS_EACH, enriching.SIMILAR, resolving.LOOKED_AT) == (20, 0.7, 20)
    assert (entities.MOST_COMPANIONS, entities.DOCUMENTS_EACH) == (30, 10)
    assert (lanes.ENRICH_LIMIT, selection.LIGHT_LIMIT, selection.HEAVY_LIMIT) == (3, 50, 100)
    assert (synthesis.MOST, lanes.DEDUCTION_LIMIT, synthesis.EARLIER, synthesis.RELATED) == (
        20,
        40,
        20,
        10,
    )
    assert (deduction.MOST_DRAFTS, deduction.LEAST_SOURCES, deduction.SHORTEST) == (3, 2, 10)
    assert (patterns.MOST_PATTERNS, patterns.FACT_CHARS, selection.NEIGHBOURS) == (5, 300, 5)
    assert synthesis.RECENT_MS == 7 * 86_400_000
    assert {"decision", "preference", "milestone", "problem"} == deduction.TYPES


def test_from_which_figure_on_something_is_done() -> None:
    """Thresholds of the gates, of names, and of what is believed."""
    assert (merge_gate.NORMAL, merge_gate.STRICT) == (0.93, 0.98)
    assert (merge_gate.SAME_ANCHORS, merge_gate.SAME_MATTER, deduction.SAME_TITLE) == (0.5, 0.5, 0.5)
    assert contradiction_gate.LEAST_CONFIDENCE == 0.5
    assert (names.SAME, names.SAME_PERSON, names.TITLE_ALIKE) == (0.75, 0.65, 0.85)
    assert (deduction.CONFIDENCE, triples.SURE, triples.LESS_SURE) == (0.85, 0.9, 0.7)
    assert (meta_paths.ALPHA, meta_paths.LEAST, meta_paths.EDGES_A_NODE) == (0.15, 1e-4, 10)
    assert traversal.Bounds(depth=2, beam=5, budget=30) == traversal.SEARCH_BOUNDS
    assert traversal.Bounds(depth=2, beam=3, budget=15) == traversal.CLAUSE_BOUNDS
    assert len(triples.PREDICATES) == 13


def test_when_lanes_work() -> None:
    """Intervals, the shortest that may be chosen, leases, drains, and how much may be asked meanwhile."""
    light, heavy = LaneName.LIGHT, LaneName.HEAVY
    assert (light.interval_ms, light.least_interval_ms, light.drain_s) == (300_000, 15_000, 15.0)
    assert (heavy.interval_ms, heavy.least_interval_ms, heavy.drain_s) == (1_800_000, 30_000, 30.0)
    assert (light.lease, heavy.lease) == ("light-consolidation", "heavy-maintenance")
    assert schedule.LEASE_MS == schedule.RECENT_MS == 600_000
    assert schedule.MOST_QUESTIONS == 30
    assert (lanes.USUAL.hosted, lanes.USUAL.surprisal, lanes.USUAL.window) == (
        (),
        False,
        schedule.ALWAYS,
    )


def test_what_is_never_one_thing() -> None:
    """People, organisations, places and what is made are four things, whatever they are called."""
    kinds = ("person", "org", "location", "tool")
    for one, other in permutations(kinds, 2):
        assert not names.is_same(names.Name("Aurora", one), names.Name("Aurora", other))
    for one, other in permutations(("project", "service", "tool", "concept"), 2):
        assert names.is_same(names.Name("Aurora", one), names.Name("Aurora", other))
