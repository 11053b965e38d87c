from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from capture_world import GREETING, LEDGER, World
from wired import session_cases

from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.models import ScriptedGenerator
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.services.documents.succession import current_successors
from clawmem.app.services.knowledge.graph import causes_and_effects
from clawmem.contracts.samples import fetch, save
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.text.words import query_hash
from clawmem.ports.knowledge import RelationKind
from clawmem.ports.records import Grain, LexicalQuery, Term
from clawmem.ports.sessions import session_key
from clawmem.ports.telemetry import Recall, RecallHit
from clawmem.ports.vault import Vault


@pytest.fixture
def world(vault: Vault, clock: ManualClock, tmp_path: Path) -> World:
    return World(vault, clock, tmp_path)


class TestDecisionExtractor:
    def test_what_was_said_is_kept_with_its_source(self, world: World) -> None:
        """A decision becomes a document that can be found, quotes its sentence, and says who said it where."""
        captured = world.extract(world.session("s1", *LEDGER))

        decision, failure = world.kept()
        assert captured == [(decision.id, True), (failure.id, True)]
        assert (decision.content_type, decision.confidence, decision.tags) == (
            "decision",
            0.85,
            ("origin:user",),
        )
        assert (failure.content_type, failure.confidence) == ("antipattern", 0.75)
        assert decision.authored_at == "2023-11-14T22:00:00.000Z"
        body = world.vault.documents.body(decision.id) or ""
        assert "> We'll use Postgres for the ledger." in body
        said = {p.name: p.value for p in world.vault.properties.many([decision.id])[decision.id]}["said-in"]
        assert said.startswith("transcript line 3")
        [seen] = world.vault.captures.sightings(decision.id)
        assert (seen.line, seen.quote, seen.origin) == (3, "We'll use Postgres for the ledger.", "user")
        hits = world.vault.lexical.search(LexicalQuery((Term("postgres"),)), Grain.DOCUMENT, 5)
        assert [hit.key.document_id for hit in hits] == [decision.id]

    @pytest.mark.parametrize(
        ("sentence", "minutes", "documents"),
        [
            ("The login test fails because the clock stands still.", 7 * 1440, 1),
            ("The login test fails because the clock stands still.", 7 * 1440 + 1, 2),
            ("We decided to use Postgres for the ledger.", 100_000, 1),
        ],
    )
    def test_duplicates(self, world: World, sentence: str, minutes: int, documents: int) -> None:
        """The same failure within a week is one document seen twice, a decision at any time."""
        world.extract(world.session("s1", *GREETING, ("user", "Look."), ("assistant", sentence)))
        world.clock.advance(minutes * 60_000)

        again = world.extract(
            world.session("s2", *GREETING, ("user", "Look."), ("assistant", sentence.upper()))
        )

        assert len(world.kept()) == documents
        assert sum(not memory.is_new for memory in again) == 2 - documents
        assert world.kept()[0].duplicate_count == 3 - documents

    def test_an_earlier_decision_is_relied_on_less(self, world: World) -> None:
        """A decision of another session that is overturned falls by 0.15, is related, and is read back so."""
        world.extract(world.session("s1", *LEDGER))
        change = ("user", "We use MySQL instead of Postgres for the ledger.")

        world.extract(world.session("s2", *GREETING, change, ("assistant", "Noted.")))

        old, _, new = world.kept()
        assert fetch(world.vault, old.id).confidence == pytest.approx(0.70)
        [relation] = world.vault.relations.outbound([new.id], limit=5)
        assert (relation.target, relation.kind) == (old.id, RelationKind.CONTRADICTS)

    @pytest.mark.parametrize(
        "change", ["We use MySQL instead of Postgres for the ledger.", "We no longer use Postgres."]
    )
    def test_a_session_changes_its_mind(self, world: World, change: str) -> None:
        """A later decision of the session supersedes the earlier one, which keeps its confidence."""
        session = world.session("s1", *LEDGER)
        world.extract(session)
        world.session("s1", ("user", change))

        world.extract(session)

        old, _, new = world.kept()
        assert (
            current_successors(world.vault.documents, world.vault.successions, [old.id])[old.id].id == new.id
        )
        assert old.confidence == 0.85

    def test_killed_in_the_middle(self, world: World, tmp_path: Path) -> None:
        """A process killed before its transaction ends has stored nothing; the next stores everything, once."""
        session = world.session("s1", *LEDGER)
        world.vault.close()
        code = (
            "import os, signal, sys\n"
            "from clawmem.adapters.memory.clock import ManualClock\n"
            "from clawmem.adapters.sqlite.sessions import SqliteCaptures\n"
            "from clawmem.adapters.sqlite.vault import open_vault\n"
            "from clawmem.app.services.capture.session import Session\n"
            "from wired import session_cases\n"
            "SqliteCaptures.advance = lambda *given: os.kill(os.getpid(), signal.SIGKILL)\n"
            "vault = open_vault(sys.argv[1])\n"
            "session_cases(vault, ManualClock()).session_capture().memorize(Session('s1', sys.argv[2]))\n"
        )
        path = str(tmp_path / "vault.sqlite")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

        killed = subprocess.run(
            [sys.executable, "-c", code, path, session.transcript], check=False, env=environment
        )

        assert killed.returncode == -signal.SIGKILL
        world.vault = open_vault(path)
        try:
            assert world.kept() == []
            assert len(world.extract(session)) == 2
            assert world.extract(session) == []
        finally:
            world.vault.close()


class TestWithGenerator:
    def test_what_the_conversation_proves_is_kept(self, world: World) -> None:
        """A model's observation is kept with its quote; one that nobody said, or of an unknown type, is not."""
        noted = [
            {
                "type": "decision",
                "title": "Postgres for the ledger",
                "facts": ["The ledger is kept in Postgres.", "no"],
                "quote": "We'll use Postgres for the ledger.",
            },
            {"type": "decision", "title": "Made up", "quote": "We'll use Oracle for everything."},
            {
                "type": "bugfix",
                "title": "Retention",
                "quote": "The last import of ledgers failed because the disk was full",
            },
            {"type": "change", "title": "{{title}}", "quote": "We'll use Postgres for the ledger."},
        ]
        generator = ScriptedGenerator(lambda prompt: json.dumps({"observations": noted}))

        world.extract(world.session("s1", *LEDGER), generator=generator)

        decision, fix = world.kept()
        assert (decision.title, decision.confidence) == ("Postgres for the ledger", 0.9)
        assert "- The ledger is kept in Postgres.\n\n>" in (world.vault.documents.body(decision.id) or "")
        assert (fix.content_type, fix.confidence) == ("observation", 0.8)

    @pytest.mark.parametrize("answer", ["no idea", '{"observations": []}', '{"observations": [{"type": 3}]}'])
    def test_rules_stand_in(self, world: World, answer: str) -> None:
        """What a model cannot say in the shape asked for is found by rules."""
        captured = world.extract(
            world.session("s1", *LEDGER), generator=ScriptedGenerator(lambda prompt: answer)
        )

        assert len(captured) == 2


class TestHandoff:
    def test_a_session_leaves_one_document(self, world: World) -> None:
        """A handoff is written anew at every Stop, at one place; the session's entry points at it."""
        session = world.session("s1", *LEDGER)
        hand_over = session_cases(world.vault, world.clock).session_capture().hand_over

        hand_over(session)
        hand_over(session)
        world.session("s1", ("user", "We'll keep closed ledgers for ten years."), ("assistant", "Fine."))
        world.clock.advance(86_400_000)
        hand_over(session)

        [document] = world.kept()
        assert (document.path, document.content_type, document.confidence, document.revision_count) == (
            f"agent/handoffs/2023-11-14-{session_key('s1')}.md",
            "handoff",
            0.6,
            2,
        )
        assert "- We'll keep closed ledgers for ten years." in (world.vault.documents.body(document.id) or "")
        entry = world.vault.sessions.get("s1")
        assert entry.handoff_path == document.display_path
        assert entry.ended_at == "2023-11-14T22:00:00.000Z"
        assert entry.summary.startswith("We'll use Postgres")


class TestFeedback:
    def test_each_turn_has_its_own(self, world: World) -> None:
        """A document counts as used where the answer of its own turn names it, in the diary and on the record."""
        used = save(world.vault, "adr/ledger.md", "About it.")
        beside = save(world.vault, "adr/audit.md", "About that.")
        late = save(world.vault, "adr/later.md", "Of the next turn.")
        prompts = ("What about the ledger?", "And then?")
        for turn, ids in ((0, (used, beside, late)), (1, (late,))):
            hits = tuple(RecallHit(number, rank, 0.5) for rank, number in enumerate(ids, start=1))
            asked = iso_utc(world.clock.now_ms() + turn)
            asked_by = query_hash(prompts[turn])
            world.vault.telemetry.record(Recall(asked, "s", asked_by, 1.0, 5, (), hits, "s1", turn))
        session = world.session(
            "s1",
            ("user", prompts[0]),
            ("assistant", "See adr/ledger.md and audit.md."),
            ("user", prompts[1]),
            ("assistant", "That is in later.md."),
        )
        learn = session_cases(world.vault, world.clock).session_capture().credit

        assert learn(session) == [used, beside, late]
        assert learn(session) == []

        marks = [
            [hit.was_referenced for hit in one.hits] for one in world.vault.telemetry.recalls(session_id="s1")
        ]
        assert marks == [[True, True, False], [True]]
        assert world.vault.usage.partners(used) == {beside: 1}
        assert [fetch(world.vault, number).access_count for number in (used, beside, late)] == [1, 1, 1]
        assert len(world.vault.relations.outbound([used], {RelationKind.USAGE}, limit=5)) == 1

    def test_turns_with_names_are_not_counted(self, world: World) -> None:
        """A prompt that was taken back had a row and left no line: the answer still goes to the prompt it was for."""
        asked_for = save(world.vault, "adr/ledger.md", "What the second prompt was about.")
        taken_back = save(world.vault, "adr/audit.md", "What the first one was about.")
        for turn, (prompt, number) in enumerate((("p1", taken_back), ("p2", asked_for))):
            asked, hits = iso_utc(world.clock.now_ms() + turn), (RecallHit(number, 1, 0.5),)
            row = Recall(asked, "s", "0" * 12, 1.0, 5, (), hits, "s1", turn, prompt_id=prompt)
            world.vault.telemetry.record(row)
        session = world.session("s1", ("user", "About the ledger.", "p2"), ("assistant", "Let me see."))
        learn = session_cases(world.vault, world.clock).session_capture().credit
        assert learn(session) == []

        world.session("s1", ("assistant", "See ledger.md, and not audit.md."), ("user", "Thanks.", "p3"))

        assert learn(session) == [asked_for]


LEAK = "The worker leaks a handle on every retry."
RESTART = "We'll restart the workers every night."
SAID = (*GREETING, ("assistant", LEAK), ("user", RESTART), ("assistant", "Noted."))
NOTED = {
    "observations": [
        {"type": "discovery", "title": "A leak", "facts": ["Retries leak handles."], "concepts": ["gotcha", "x"], "quote": LEAK},
        {"type": "decision", "title": "Nightly restart", "facts": ["Workers restart at night."], "quote": RESTART},
    ]
}  # fmt: skip


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


def test_a_transcript_that_was_written_again_is_read_again(world: World) -> None:
    """Also one that is no shorter: what it says is captured, and nothing twice."""
    session = world.session("s1", *LEDGER, *[("user", "Go on."), ("assistant", "Done.")] * 9)
    world.extract(session)
    world.extract(world.session("s1", ("user", "Go on again."), ("assistant", "Done again.")))
    transcript = Path(session.transcript)
    size, lines = transcript.stat().st_size, transcript.read_text().splitlines()
    later = json.dumps(
        {"type": "user", "uuid": "new", "message": {"content": "We use Redis for the queue of the web shop."}}
    )
    padding = json.dumps({"type": "summary", "summary": "x" * size})
    transcript.write_text("\n".join([lines[2], later, padding, *lines[3:6]]) + "\n")

    again = world.extract(session)

    assert transcript.stat().st_size > size
    assert len([memory for memory in again if memory.is_new]) == 1 and len(world.kept()) == 3
    assert {one.duplicate_count for one in world.kept()} == {1}
    assert world.extract(session) == []
