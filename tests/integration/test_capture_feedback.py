"""Handoffs, feedback on surfaced notes, and the state before a compaction."""

from __future__ import annotations

from pathlib import Path

import pytest
from capture_world import LEDGER, World
from wired import session_cases

from clawmem.adapters.memory.clock import ManualClock
from clawmem.app.services.retrieval.receipts import query_hash
from clawmem.contracts.samples import fetch, save
from clawmem.domain.documents.times import iso_utc
from clawmem.ports.knowledge import RelationKind
from clawmem.ports.sessions import session_key
from clawmem.ports.telemetry import Recall, RecallHit
from clawmem.ports.vault import Vault


@pytest.fixture
def world(vault: Vault, clock: ManualClock, tmp_path: Path) -> World:
    return World(vault, clock, tmp_path)


class TestHandoff:
    def test_a_session_leaves_one_document(self, world: World) -> None:
        """A handoff is written anew at every Stop, at one place; the session's entry points at it."""
        session = world.session("s1", *LEDGER)
        hand_over = session_cases(world.vault, world.clock).handoffs().write

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
        learn = session_cases(world.vault, world.clock).feedback_loop()

        assert learn(session) == [used, beside, late]
        assert learn(session) == []

        marks = [[hit.was_referenced for hit in one.hits] for one in world.vault.telemetry.of_session("s1")]
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
        learn = session_cases(world.vault, world.clock).feedback_loop()
        assert learn(session) == []

        world.session("s1", ("assistant", "See ledger.md, and not audit.md."), ("user", "Thanks.", "p3"))

        assert learn(session) == [asked_for]


def test_precompact_extract(world: World) -> None:
    """Before compaction the last request, decisions and open questions are told, without secrets."""
    secret = ("user", "We'll use password=" + "hunter2Xk93Lmq for the ledger.")

    text = (
        session_cases(world.vault, world.clock)
        .handoffs()
        .state(world.session("s1", *LEDGER, secret, ("assistant", "How long?")))
    )

    assert "- We'll use Postgres for the ledger." in text
    assert "hunter2" not in text
    assert "[redacted" in text
    assert "- How long?" in text
