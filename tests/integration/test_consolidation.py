"""Observations that say the same, over a real vault: merged, found, taken apart again and forgotten."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.generator import ScriptedGenerator
from clawmem.adapters.sqlite.vault import SqliteVault
from clawmem.app.services.briefing.profile import Profile
from clawmem.app.services.capture.memories import Memories
from clawmem.app.services.lifecycle.forgetting import Forgetting
from clawmem.app.services.maintenance.consolidation import Consolidation, ConsolidationReport
from clawmem.app.services.maintenance.grouping import Thresholds
from clawmem.app.services.maintenance.synthesis import Synthesis
from clawmem.app.services.maintenance.trends import trends
from clawmem.app.services.retrieval.pipelines.search import search
from clawmem.app.services.retrieval.request import read_request
from clawmem.contracts.samples import fetch
from clawmem.domain.capture.kinds import Kind
from clawmem.domain.capture.notes import COLLECTION, Note
from clawmem.domain.knowledge.entities import entity_id
from clawmem.domain.maintenance.contradiction_gate import Policy
from clawmem.domain.maintenance.patterns import CONSOLIDATED, Trend
from clawmem.ports.acts import Act
from clawmem.ports.entities import Entity
from clawmem.ports.errors import LeaseLost
from clawmem.ports.generator import GeneratedText
from clawmem.ports.origin import Origin
from clawmem.ports.records import InactiveReason
from clawmem.ports.relations import Relation, RelationKind
from clawmem.ports.transcripts import Speaker, TranscriptMessage
from clawmem.ports.triples import Triple

NOW_MS = 1_700_000_000_000
DAY_MS = 86_400_000
FRIDAY, AGAIN = "The export of Hartmann fails on Fridays", "The export of Hartmann fails on Fridays!"
SHORT, LIKED = "Mira prefers short commit messages.", "Mira likes commit messages to be short."


class World:
    """A vault, and observations that were made on one day after the other."""

    def __init__(self, vault: SqliteVault) -> None:
        self.vault, self.clock = vault, ManualClock(NOW_MS)

    def observe(self, text: str, kind: Kind = Kind.QUESTION) -> int:
        self.clock.advance(DAY_MS)
        at = f"2023-11-{15 + len(self.vault.documents.latest()):02}T10:00:00.000Z"
        message = TranscriptMessage(f"m{self.clock.now_ms()}", 1, Speaker.USER, text, at)
        note = Note(kind, text, text, message, 0.8, is_observation=kind is Kind.QUESTION)
        with self.vault.writing():
            return Memories(self.vault, self.clock).keep(note, "session-one").document_id

    def consolidate(
        self,
        answer: Callable[[str], str] | None = None,
        policy: Policy = Policy.LINK,
        *,
        dry_run: bool = False,
    ) -> ConsolidationReport:
        generator = ScriptedGenerator(answer) if answer else None
        work = Consolidation(self.vault, self.clock, generator, policy=policy)
        return work(self.vault.documents.latest(), dry_run=dry_run)

    def restore(self, document_id: int) -> list[int]:
        return [one.id for one in Consolidation(self.vault, self.clock).restore(document_id, "cli", "wrong")]

    def found(self, query: str) -> list[str]:
        request = read_request(query, now_ms=self.clock.now_ms())
        return [result.document.display_path for result in search(self.vault)(request).results]

    def reason(self, document_id: int) -> InactiveReason | None:
        return fetch(self.vault, document_id).inactive


@pytest.fixture
def world(vault: SqliteVault) -> World:
    return World(vault)


def lumping(prompt: str) -> str:
    """A model that takes any two notes for the same, and sees no contradiction."""
    if "Can both" in prompt:
        return json.dumps({"contradictory": False, "confidence": 0.9})
    return json.dumps({"patterns": [{"observation": SHORT, "source_indices": [1, 2]}]})


@pytest.mark.parametrize(
    ("one", "other"),
    [("at -5 °C", "at 5 °C"), ("at +3 %", "at −3 %"), ("at –18 degrees", "at 18 degrees")],
)
def test_observations_that_differ_in_a_sign_stay_apart(world: World, one: str, other: str) -> None:
    """The sign belongs to the number, whichever dash writes it."""
    world.observe(f"The cold room of Hartmann is kept {one}")
    world.observe(f"The cold room of Hartmann is kept {other}")

    assert world.consolidate().groups == ()


def test_what_was_observed_twice_becomes_one_that_is_found(world: World) -> None:
    """One labelled document stands for both, which are served no more; who looks for it finds it alone."""
    one, two, other = world.observe(FRIDAY), world.observe(AGAIN), world.observe("The boat needs a new sail")

    done = world.consolidate()

    [made] = done.created
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


def test_a_third_time_joins(world: World) -> None:
    """What stands for others is merged on, and every occasion stays written in it."""
    world.observe(FRIDAY)
    world.observe(AGAIN)
    [first] = world.consolidate().created
    third = world.observe(FRIDAY)

    [second] = world.consolidate().created

    assert world.reason(first) is InactiveReason.SUPERSEDED
    assert "It was noted 3 times" in (world.vault.documents.body(second) or "")
    assert world.restore(second) == sorted([first, third])
    assert world.consolidate().groups == ()


def test_a_dry_run_changes_nothing(world: World) -> None:
    """It says what would be merged, and the vault is as before."""
    ids = [world.observe(FRIDAY), world.observe(AGAIN)]
    before = world.vault.documents.latest()

    done = world.consolidate(dry_run=True)

    assert [sorted(one.id for one in group.members) for group in done.groups] == [ids]
    assert done.created == ()
    assert world.vault.documents.latest() == before
    assert world.vault.journal.replacements() == []


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
        return sorted((one.predicate, one.document_id) for one in world.vault.triples.current(export.id, 9))

    def led_to(document_id: int) -> list[int]:
        causal = {RelationKind.CAUSAL}
        effects = world.vault.relations.outbound([document_id], causal, limit=9)
        causes = world.vault.relations.inbound([document_id], causal, limit=9)
        return [*(one.target for one in effects), *(one.source for one in causes)]

    [made] = world.consolidate().created
    assert known() == [("depends_on", made), ("uses", made)]
    assert led_to(made) == [other, other]

    world.restore(made)
    assert known() == [("depends_on", first), ("uses", second)]
    assert (led_to(first), led_to(second), led_to(made)) == ([other], [other], [])


def test_both_are_brought_back(world: World) -> None:
    """A restore serves both again instead of the one, says who did it, and they are not merged once more."""
    ids = [world.observe(FRIDAY), world.observe(AGAIN)]
    [made] = world.consolidate().created

    assert world.restore(made) == ids
    assert world.reason(made) is InactiveReason.SUPERSEDED
    assert len(world.found("export Hartmann Fridays")) == 2
    assert {(e.document_id, e.act, e.by, e.why) for e in world.vault.acts.latest(9)} == {
        (one, Act.RESTORE, "cli", "wrong") for one in ids
    }
    assert world.restore(made) == []
    assert world.consolidate().groups == ()


def test_a_model_finds_the_same_in_other_words(world: World) -> None:
    """Without one they stay two; with one they become its sentence."""
    ids = [world.observe(LIKED), world.observe(SHORT)]
    assert world.consolidate().groups == ()

    [made] = world.consolidate(lumping).created

    assert fetch(world.vault, made).title == SHORT.rstrip(".")
    assert sorted(world.vault.journal.replacements()[0].replaced) == ids


def test_a_careless_model_merges_nothing(world: World) -> None:
    """The gates look at what was observed, not at what a model makes of it; the reason is counted."""
    world.observe("Jonas likes commit messages to be short.")
    world.observe(SHORT)

    done = world.consolidate(lumping)

    assert done.groups == ()
    assert done.rejected["they name others"] >= 1


def test_an_answer_that_cannot_be_used_is_counted(world: World) -> None:
    """A model that answers nonsense takes nothing away from what the words show."""
    ids = [world.observe(FRIDAY), world.observe(AGAIN)]

    done = world.consolidate(lambda prompt: "no")

    assert (done.null_calls, len(done.created)) == (1, 1)
    assert sorted(world.vault.journal.replacements()[0].replaced) == ids


def test_a_contradiction_is_linked_once(world: World) -> None:
    """Both stay served and are related; the next run finds nothing new."""
    old = world.observe("The export job takes 30 minutes")
    new = world.observe("The export job takes 45 minutes")

    assert world.consolidate().contradictions == 1
    [edge] = world.vault.relations.outbound([new], {RelationKind.CONTRADICTS}, limit=9)
    assert (edge.target, edge.weight) == (old, 0.5)
    assert (world.reason(old), world.reason(new)) == (None, None)
    assert world.consolidate().contradictions == 0


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


def test_what_is_new_meets_all_that_is_old(world: World) -> None:
    """Though only the new one is looked at: what it says stood for others long ago."""
    world.observe(FRIDAY)
    world.observe(AGAIN)
    world.consolidate()
    new = world.observe(FRIDAY)

    served = world.vault.documents.latest()
    alone = [one for one in served if one.id == new]
    done = Consolidation(world.vault, world.clock)(alone, dry_run=False, among=served)

    assert (done.considered, len(done.created)) == (1, 1)
    assert "It was noted 3 times" in (world.vault.documents.body(done.created[0]) or "")


def test_every_time_that_it_was_seen_counts(world: World) -> None:
    """One said the same again a minute later and is one document: both times are counted, and the last one is its day."""
    one = world.observe(FRIDAY)
    world.clock.advance(-DAY_MS + 60_000)
    assert world.observe(FRIDAY) == one
    world.observe(AGAIN)

    [made] = world.consolidate().created

    document, body = fetch(world.vault, made), world.vault.documents.body(made) or ""
    assert (document.duplicate_count, "It was noted 3 times" in body) == (3, True)
    [seen] = trends(world.vault, [document], world.clock.now_ms())
    assert (seen.times, seen.last, seen.trend) == (3, document.authored_at[:10], Trend.NEW)


def test_each_decision_says_why(world: World) -> None:
    """What was merged, kept apart and related, with the figures that it rests on; and no text of any note."""
    same = [world.observe(FRIDAY), world.observe(AGAIN)]
    other = world.observe("The export of Weber fails on Fridays")
    times = [world.observe("The import takes 30 minutes"), world.observe("The import takes 45 minutes")]

    told = world.consolidate().decisions.in_journal()

    assert [(one["verdict"], one["documents"], one["why"]) for one in told["decisions"]] == [
        ("merge", same[::-1], "they say the same words"),
        ("link", times[::-1], "their numbers differ"),
        ("refuse", times[::-1], "their numbers differ"),
        ("refuse", [other, same[1]], "they name others"),
        ("refuse", [other, same[0]], "they name others"),
    ]
    assert told["decisions"][1]["confidence"] == 0.5
    refused = told["decisions"][3]
    assert (refused["threshold"], refused["method"], refused["by"]) == (0.93, "lexical_only", "words")
    assert 0.7 < refused["score"] < 0.93
    assert told["decided"] == 5


def test_thresholds_are_the_owners(world: World) -> None:
    """Nothing is merged at a cosine that cannot be reached, and a contradiction that is not sure enough is none."""
    world.observe(FRIDAY)
    world.observe("The export of Hartmann fails on all Fridays")
    world.observe("The import takes 30 minutes")
    world.observe("The import takes 45 minutes")
    served = world.vault.documents.latest()

    def done(normal: float, least: float) -> tuple[int, int]:
        work = Consolidation(world.vault, world.clock, thresholds=Thresholds(normal, normal), least=least)
        found = work(served, dry_run=True)
        return len(found.groups), found.contradictions

    assert done(1.0, 0.6) == (0, 0)
    assert done(0.9, 0.5) == (1, 1)


class Counting(ScriptedGenerator):
    """Says what its answers cost."""

    def generate(self, prompt: str, **how: Any) -> str:
        return GeneratedText(super().generate(prompt, **how), 120, 7)


def test_models_are_asked_within_the_limit_of_the_day(world: World) -> None:
    """Each question is in the ledger with what it cost by the model's own count; one too many is not asked."""
    world.observe(FRIDAY)
    world.observe("The boat needs a new sail")
    counting = Counting(lambda prompt: '{"patterns": []}')

    def run() -> ConsolidationReport:
        work = Consolidation(world.vault, world.clock, counting, calls_a_day=1)
        return work(world.vault.documents.latest(), dry_run=False)

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

    assert "30 minutes" not in json.dumps(done.decisions.in_journal())
    assert [one.why for one in world.vault.journal.replacements()] == [
        "a model says that they contradict each other"
    ]
    world.restore(new)
    [edge] = world.vault.relations.outbound([new], {RelationKind.CONTRADICTS}, limit=9)
    assert edge.metadata["reasoning"] == "30 minutes is not 45"


@pytest.mark.parametrize("selected", [0, 1])
def test_where_there_is_nothing_to_compare_nobody_is_asked(world: World, selected: int) -> None:
    """A selection that is empty is one, and no reason to look at everything; a model costs nothing then."""
    for text in ("The office moved to Oslo", "Jonas pays the rent", "The cellar floods in spring"):
        world.observe(text)
    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return lumping(prompt)

    consolidate = Consolidation(world.vault, world.clock, ScriptedGenerator(answer))
    every = world.vault.documents.latest()

    done = consolidate(every[:selected], dry_run=False, among=every)

    assert (done.considered, done.created, asked) == (selected, (), [])


def test_what_somebody_tends_is_left_alone(world: World) -> None:
    """A pinned observation is not merged away."""
    one, _ = world.observe(FRIDAY), world.observe(AGAIN)
    world.vault.documents.pin(one, True)

    assert world.consolidate().groups == ()


def test_a_fence_that_falls_leaves_all_as_it_was(world: World) -> None:
    """Who has lost the right to work writes nothing."""
    world.observe(FRIDAY)
    world.observe(AGAIN)
    before = world.vault.documents.latest()

    def fallen() -> None:
        raise LeaseLost("light", "me")

    with pytest.raises(LeaseLost):
        Consolidation(world.vault, world.clock)(before, dry_run=False, fence=fallen)
    assert world.vault.documents.latest() == before


def test_forgetting_takes_the_sources_along(world: World) -> None:
    """What was merged is in no document any more, served or not, and does not come back."""
    ids = [world.observe(FRIDAY), world.observe(AGAIN)]
    [made] = world.consolidate().created

    Forgetting(world.vault, world.clock, Profile(world.vault, world.clock, str))(
        [fetch(world.vault, made)], "cli"
    )

    assert [world.reason(one) for one in (*ids, made)] == [InactiveReason.FORGOTTEN] * 3
    assert [world.vault.documents.body(one) for one in (*ids, made)] == [""] * 3
    assert world.restore(made) == []


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
    draw = Synthesis(world.vault, world.clock, ScriptedGenerator(drafting(True)))

    stats = draw()

    assert (stats.considered, stats.drafted, stats.accepted, stats.created) == (3, 2, 1, 1)
    assert (stats.rejected, stats.contaminationRejects) == (1, 1)
    [made] = [one for one in world.vault.documents.latest() if one.content_type == "deductive"]
    assert (made.confidence, made.path.startswith("deductions/")) == (0.85, True)
    edges = world.vault.relations.inbound([made.id], {RelationKind.SUPPORTING}, limit=9)
    assert sorted(edge.source for edge in edges) == sources
    assert made.display_path in world.found("slow export Hartmann invoices")
    assert draw().considered == 1


def test_conclusions_that_contradict_each_other_are_both_kept(world: World) -> None:
    """The later one says that it speaks against the earlier one; the same once more is not kept."""
    world.observe("Hartmann gets invoices from the export.", Kind.PROBLEM)
    world.observe("The export is slow since March.", Kind.DECISION)
    said = [
        "The slow export hurts Hartmann and its invoices",
        "The slow export never hurts Hartmann and its invoices",
    ]

    def script(prompt: str) -> str:
        if "What follows" not in prompt:
            return json.dumps({"supported": True})
        drafts = [{"conclusion": one, "premises": [], "source_indices": [1, 2]} for one in (*said, said[0])]
        return json.dumps({"deductions": drafts})

    stats = Synthesis(world.vault, world.clock, ScriptedGenerator(script))()

    assert (stats.created, stats.dedupSkipped) == (2, 1)
    made = {one.title: one.id for one in world.vault.documents.latest() if one.content_type == "deductive"}
    [edge] = world.vault.relations.outbound([made[said[1]]], {RelationKind.CONTRADICTS}, limit=9)
    assert (edge.target, edge.weight) == (made[said[0]], 0.6)


def test_a_conclusion_without_support_is_not_kept(world: World) -> None:
    """The model that is shown the evidence has the last word."""
    world.observe("Hartmann gets invoices from the export.", Kind.PROBLEM)
    world.observe("The export is slow since March.", Kind.DECISION)

    stats = Synthesis(world.vault, world.clock, ScriptedGenerator(drafting(False)))()

    assert (stats.created, stats.unsupportedRejects) == (0, 2)
    assert world.vault.documents.collections() == {COLLECTION: 2}
