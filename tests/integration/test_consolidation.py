"""Observations that say the same, over a real vault: merged, found, taken apart again and forgotten."""

from __future__ import annotations

import json
from typing import Any

import pytest
from observed_days import DAY_MS, World, merged
from wired import consolidation, wired

from clawmem.adapters.memory.models import ScriptedGenerator
from clawmem.app.services.maintenance.phase_run import PhaseRun, Verdict
from clawmem.contracts.samples import fetch
from clawmem.domain.capture.cues import Kind
from clawmem.domain.knowledge.entities import entity_id
from clawmem.domain.maintenance.contradiction_gate import Policy
from clawmem.domain.maintenance.patterns import CONSOLIDATED
from clawmem.ports.journal import Act, Run, RunStatus
from clawmem.ports.knowledge import Entity, Relation, RelationKind, Triple
from clawmem.ports.models import GeneratedText
from clawmem.ports.records import InactiveReason, Origin
from clawmem.ports.vault import Vault

FRIDAY, AGAIN = "The export of Hartmann fails on Fridays", "The export of Hartmann fails on Fridays!"
SHORT, LIKED = "Mira prefers short commit messages.", "Mira likes commit messages to be short."


def recorded(run: PhaseRun) -> list[dict[str, Any]]:
    decisions: list[dict[str, Any]] = run.recorded(Run("", "", RunStatus.STARTED, "")).metrics["decisions"]
    return decisions


@pytest.fixture
def world(vault: Vault) -> World:
    return World(vault)


def lumping(prompt: str) -> str:
    """A model that takes any two notes for the same, and sees no contradiction."""
    if "Can both" in prompt:
        return json.dumps({"contradictory": False, "confidence": 0.9})
    return json.dumps({"patterns": [{"observation": SHORT, "source_indices": [1, 2]}]})


def test_what_was_observed_twice_becomes_one_that_is_found(world: World) -> None:
    """One labelled document stands for both, which are served no more; who looks for it finds it alone."""
    one, two, other = world.observe(FRIDAY), world.observe(AGAIN), world.observe("The boat needs a new sail")

    done = world.consolidate()

    [made] = merged(done)
    document = fetch(world.vault, made)
    assert (document.title, document.content_type, CONSOLIDATED in document.tags) == (
        AGAIN,
        "observation",
        True,
    )
    assert (world.reason(one), world.reason(two), world.reason(other)) == (
        InactiveReason.SUPERSEDED,
        InactiveReason.SUPERSEDED,
        None,
    )
    assert "It was noted 2 times" in (world.vault.documents.body(made) or "")
    assert world.found("export Hartmann Fridays") == [document.display_path]
    [held] = world.vault.journal.replacements()
    assert (held.document_id, held.replaced, held.why) == (made, (one, two), "they say the same words")


def test_near_copies_of_a_decision_become_one(world: World) -> None:
    """A word more at the end or the beginning does not matter; decisions and observations stay apart."""
    said = "We decided to keep the orders of Lund in a table of their own"
    ours = said.replace("We", "We've")
    texts = f"{said}.", f"{said}, indeed.", f"Well, {said}.", f"{ours}!"
    copies = [world.observe(text, Kind.DECISION) for text in texts]
    other = world.observe("We decided to keep the invoices in a table of their own", Kind.DECISION)
    base = "We decided to use {} for the billing service because of the transactions"
    numbered = [world.observe(base.format(name), Kind.DECISION) for name in ("Postgres 15", "Postgres")]
    seen = world.observe(said)

    [made] = merged(world.consolidate())

    body = world.vault.documents.body(made) or ""
    assert [f": {text}\n" in body for text in (f"{said}.", f"{said}, indeed.", f"Well, {said}.")] == [
        True
    ] * 3
    assert [world.reason(number) for number in numbered] == [None, None]

    assert [world.reason(number) for number in copies] == [InactiveReason.SUPERSEDED] * 4
    assert world.reason(other) is None and world.reason(seen) is None
    document = fetch(world.vault, made)
    assert (document.content_type, document.origin) == ("decision", Origin.USER)
    assert merged(world.consolidate()) == []


@pytest.mark.parametrize(
    ("text", "other"),
    [
        (
            "Der Kran von Hartmann am Hafen wird im Sommer {}gestrichen, weil die Farbe dann trocknet",
            "nicht ",
        ),
        ("La grue de Hartmann dans le port n'est {}peinte en juin, parce que la peinture est rare", "pas "),
        (
            "Кран Hartmann в порту на этой неделе мы решили {}красить, потому что краска сохнет медленно",
            "не ",
        ),
        ("Решили: цвет крана у Hartmann будет {}", "зелёный"),
    ],
)
def test_a_decision_and_its_opposite_stay_two(world: World, text: str, other: str) -> None:
    """In other languages and scripts too; the same words are one."""
    two = [
        world.observe(text.format(word), Kind.DECISION)
        for word in ("" if other[-1] == " " else "синий", other)
    ]
    copy = world.observe(f"{text.format(other)}!", Kind.DECISION)

    world.consolidate()

    assert [world.reason(number) for number in (*two, copy)] == [None, *[InactiveReason.SUPERSEDED] * 2]


def test_what_they_say_of_things_is_known_as_before(world: World) -> None:
    """Facts, and what led to what, are the merged one's; brought back they are theirs again."""
    first, second = (world.observe(text) for text in (FRIDAY, AGAIN))
    other = world.observe("The office moved to Oslo")
    export, paper = (Entity(entity_id(name, "tool"), name, "tool") for name in ("export", "paper"))
    world.vault.triples.add(
        [Triple(export, "depends_on", paper, first, "2023-11-01"), Triple(export, "uses", paper, second)]
    )
    world.vault.relations.put(
        [Relation(first, other, RelationKind.CAUSAL, 0.8), Relation(other, second, RelationKind.CAUSAL, 0.7)]
    )

    def known() -> list[tuple[str, int]]:
        return sorted(
            (one.predicate, one.document_id)
            for one in world.vault.triples.recorded(export.id, 9, ended=False)
        )

    def led_to(document_id: int) -> list[int]:
        causal = {RelationKind.CAUSAL}
        effects = world.vault.relations.outbound([document_id], causal, limit=9)
        causes = world.vault.relations.inbound([document_id], causal, limit=9)
        return [*(one.target for one in effects), *(one.source for one in causes)]

    [made] = merged(world.consolidate())
    assert known() == [("depends_on", made), ("uses", made)]
    assert led_to(made) == [other, other]

    world.restore(made)
    assert known() == [("depends_on", first), ("uses", second)]
    assert (led_to(first), led_to(second), led_to(made)) == ([other], [other], [])


def test_both_are_brought_back(world: World) -> None:
    """A restore serves both again instead of the one, says who did it, and they are not merged once more."""
    ids = [world.observe(FRIDAY), world.observe(AGAIN)]
    [made] = merged(world.consolidate())

    assert world.restore(made) == ids
    assert world.reason(made) is InactiveReason.SUPERSEDED
    assert len(world.found("export Hartmann Fridays")) == 2
    assert {(e.document_id, e.act, e.by, e.why) for e in world.vault.acts.latest(9)} == {
        (one, Act.RESTORE, "cli", "wrong") for one in ids
    }
    assert world.restore(made) == []
    assert not world.consolidate().decided(Verdict.MERGE)


def test_a_model_finds_the_same_in_other_words(world: World) -> None:
    """Without one they stay two; with one they become its sentence."""
    ids = [world.observe(LIKED), world.observe(SHORT)]
    assert not world.consolidate().decided(Verdict.MERGE)

    [made] = merged(world.consolidate(lumping))

    assert fetch(world.vault, made).title == SHORT.rstrip(".")
    assert sorted(world.vault.journal.replacements()[0].replaced) == ids


def test_a_careless_model_merges_nothing(world: World) -> None:
    """The gates look at what was observed, not at what a model makes of it; the reason is counted."""
    world.observe("Jonas likes commit messages to be short.")
    world.observe(SHORT)

    done = world.consolidate(lumping)

    assert not done.decided(Verdict.MERGE)
    assert "they name others" in {decision["why"] for decision in done.decided(Verdict.REFUSE)}


def test_each_decision_says_why(world: World) -> None:
    """What was merged, kept apart and related, with the figures that it rests on; and no text of any note."""
    same = [world.observe(FRIDAY), world.observe(AGAIN)]
    other = world.observe("The export of Weber fails on Fridays")
    times = [world.observe("The import takes 30 minutes"), world.observe("The import takes 45 minutes")]

    decisions = recorded(world.consolidate())

    assert [(one["verdict"], one["documents"], one["why"]) for one in decisions] == [
        ("merge", same[::-1], "they say the same words"),
        ("link", times[::-1], "their numbers differ"),
        ("refuse", times[::-1], "their numbers differ"),
        ("refuse", [other, same[1]], "they name others"),
        ("refuse", [other, same[0]], "they name others"),
    ]
    assert decisions[1]["confidence"] == 0.5
    refused = decisions[3]
    assert (refused["threshold"], refused["method"], refused["by"]) == (0.93, "lexical_only", "words")
    assert 0.7 < refused["score"] < 0.93


class Counting(ScriptedGenerator):
    """Says what its answers cost."""

    def generate(self, prompt: str, **how: Any) -> str:
        return GeneratedText(super().generate(prompt, **how), 120, 7)


def test_models_are_asked_within_the_limit_of_the_day(world: World) -> None:
    """Each question is in the ledger with what it cost by the model's own count; one too many is not asked."""
    world.observe(FRIDAY)
    world.observe("The boat needs a new sail")
    counting = Counting(lambda prompt: '{"patterns": []}')

    def run() -> PhaseRun:
        work = consolidation(world.vault, world.clock, counting, calls_a_day=1)
        return work(world.vault.documents.latest(), PhaseRun())

    assert run().stopped == ""
    [cost] = world.vault.ledger.totals()
    assert (cost.purpose, cost.calls, cost.prompt_tokens, cost.answer_tokens) == ("patterns", 1, 120, 7)

    world.observe("The cellar floods in spring")
    world.clock.advance(-DAY_MS)
    assert "limit of 1 calls a day" in run().stopped
    assert world.vault.ledger.totals() == [cost]


def test_what_a_model_says_of_notes_goes_with_them(world: World) -> None:
    """Its reason may quote them: it stands on their relation, and neither in the journal nor with what was replaced."""
    world.observe("The export job takes 30 minutes")
    new = world.observe("The export job takes 45 minutes")

    def quoting(prompt: str) -> str:
        if "Can both" in prompt:
            return json.dumps({"contradictory": True, "confidence": 0.9, "reason": "30 minutes is not 45"})
        return json.dumps({"patterns": []})

    done = world.consolidate(quoting, Policy.SUPERSEDE)

    assert "30 minutes" not in json.dumps(recorded(done))
    assert [one.why for one in world.vault.journal.replacements()] == [
        "a model says that they contradict each other"
    ]
    world.restore(new)
    [edge] = world.vault.relations.outbound([new], {RelationKind.CONTRADICTS}, limit=9)
    assert edge.metadata["reasoning"] == "30 minutes is not 45"


def test_what_somebody_tends_is_left_alone(world: World) -> None:
    """A pinned observation is not merged away."""
    one, _ = world.observe(FRIDAY), world.observe(AGAIN)
    world.vault.documents.pin(one, True)

    assert not world.consolidate().decided(Verdict.MERGE)


def test_forgetting_takes_the_sources_along(world: World) -> None:
    """What was merged is in no document any more, served or not, and does not come back."""
    ids = [world.observe(FRIDAY), world.observe(AGAIN)]
    [made] = merged(world.consolidate())

    forgetting = wired(world.vault, world.clock).forgetting(note=lambda: None)
    forgetting([fetch(world.vault, made)], "cli")

    assert [world.reason(one) for one in (*ids, made)] == [InactiveReason.FORGOTTEN] * 3
    assert [world.vault.documents.body(one) for one in (*ids, made)] == [""] * 3
    assert world.restore(made) == []
