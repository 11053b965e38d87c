from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from capture_world import GREETING, LEDGER, World

from clawmem.adapters.files.transcripts import DiskTranscripts
from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.generator import ScriptedGenerator
from clawmem.adapters.sqlite.vault import SqliteVault
from clawmem.app.services.capture.compaction import PrecompactExtract
from clawmem.app.services.capture.decisions import NOTHING
from clawmem.app.services.capture.feedback import Feedback, FeedbackLoop
from clawmem.app.services.capture.handoffs import HandoffGenerator
from clawmem.contracts.samples import fetch, save
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.security.redaction import redact
from clawmem.ports.captures import Utility
from clawmem.ports.records import Grain, LexicalQuery, Term
from clawmem.ports.relations import RelationKind
from clawmem.ports.telemetry import Recall, RecallHit
from clawmem.ports.vault import Vault


@pytest.fixture
def world(vault: Vault, clock: ManualClock, tmp_path: Path) -> World:
    return World(vault, clock, tmp_path)


class TestDecisionExtractor:
    def test_what_was_said_is_kept_with_its_source(self, world: World) -> None:
        """A decision becomes a document that can be found, quotes its sentence, and says who said it where."""
        captured = world.extract(world.session("s1", *LEDGER))

        decision, question = world.kept()
        assert captured.stored == (decision.id, question.id)
        assert (decision.content_type, decision.confidence, decision.tags) == (
            "decision",
            0.85,
            ("origin:user",),
        )
        assert (question.content_type, question.confidence) == ("observation", 0.8)
        assert decision.authored_at == "2023-11-14T22:00:00.000Z"
        body = world.vault.documents.body(decision.id) or ""
        assert "> We'll use Postgres for the ledger." in body
        assert "Said by the user in session s1, transcript line 3" in body
        [seen] = world.vault.captures.sightings(decision.id)
        assert (seen.line, seen.quote, seen.origin) == (3, "We'll use Postgres for the ledger.", "user")
        hits = world.vault.lexical.search(LexicalQuery((Term("postgres"),)), Grain.DOCUMENT, 5)
        assert [hit.key.document_id for hit in hits] == [decision.id]

    def test_a_title_is_cut_from_a_redacted_sentence(self, world: World) -> None:
        """The word that announces a secret may stand behind the place where the title is cut."""
        said = "We decided to unlock the keystore of the builds with Marble7Gate (keytool -list -storepass Marble7Gate)."

        world.extract(world.session("s1", ("user", said)), redact=lambda text: redact(text).text)

        [decision] = world.kept()
        assert decision.title.startswith("We decided to unlock the keystore of the builds with [redacted:")
        assert "Marble7Gate" not in (world.vault.documents.body(decision.id) or "")

    def test_a_second_stop_stores_nothing(self, world: World) -> None:
        """The same transcript again is nothing new; what was added is read on its own."""
        session = world.session("s1", *LEDGER)
        world.extract(session)

        assert world.extract(session) == NOTHING
        world.session("s1", ("user", "We'll keep the ledger for ten years."), ("assistant", "Fine."))
        assert len(world.extract(session).stored) == 1
        assert world.extract(session) == NOTHING
        assert len(world.kept()) == 3

    def test_one_message_is_enough(self, world: World) -> None:
        """What the first message decides is kept at the first Stop, and not again at the next."""
        session = world.session("s1", ("user", "We'll use Postgres for the ledger."))

        assert len(world.extract(session).stored) == 1
        world.session("s1", ("assistant", "Noted."))
        assert world.extract(session) == NOTHING

    def test_a_choice_is_understood_over_two_stops(self, world: World) -> None:
        """What a prompt answers is known although it was read at the Stop before."""
        asked = ("assistant", "CSS variables, or a theme? Which do you want?")
        session = world.session("s1", *GREETING, ("user", "Dark mode."), asked)
        world.extract(session)

        world.session("s1", ("user", "css variables"), ("assistant", "Done."))
        world.extract(session)

        assert [one.title for one in world.kept()] == ["css variables"]

    def test_a_resumed_session_copies_its_history(self, world: World) -> None:
        """Messages that a resumed session copied into its own transcript are not captured again."""
        first = world.session("s1", *LEDGER)
        world.extract(first)
        second = world.session("s2")
        Path(second.transcript).write_text(Path(first.transcript).read_text())

        assert world.extract(second) == NOTHING
        assert len(world.kept()) == 2

    @pytest.mark.parametrize(
        ("sentence", "minutes", "documents"),
        [
            ("The login test fails because the clock stands still.", 30, 1),
            ("The login test fails because the clock stands still.", 31, 2),
            ("We'll use Postgres for the ledger.", 100_000, 1),
        ],
    )
    def test_duplicates(self, world: World, sentence: str, minutes: int, documents: int) -> None:
        """The same thing within half an hour is one document seen twice, a decision at any time."""
        world.extract(world.session("s1", *GREETING, ("user", "Look."), ("assistant", sentence)))
        world.clock.advance(minutes * 60_000)

        again = world.extract(
            world.session("s2", *GREETING, ("user", "Look."), ("assistant", sentence.upper()))
        )

        assert len(world.kept()) == documents
        assert len(again.merged) == 2 - documents
        assert world.kept()[0].duplicate_count == 3 - documents

    def test_an_earlier_decision_is_relied_on_less(self, world: World) -> None:
        """A decision of another session that is overturned falls by 0.15, is related, and is read back so."""
        world.extract(world.session("s1", *LEDGER))
        change = ("user", "We use MySQL instead of Postgres for the ledger.")

        captured = world.extract(world.session("s2", *GREETING, change, ("assistant", "Noted.")))

        old, _, new = world.kept()
        assert captured.lowered == (old.id,)
        assert fetch(world.vault, old.id).confidence == pytest.approx(0.70)
        [relation] = world.vault.relations.outbound([new.id], limit=5)
        assert (relation.target, relation.kind) == (old.id, RelationKind.CONTRADICTS)

    def test_the_same_session_does_not_contradict_itself(self, world: World) -> None:
        """Whoever changes their mind within a session has not been wrong for long."""
        session = world.session("s1", *LEDGER)
        world.extract(session)
        world.session("s1", ("user", "We use MySQL instead of Postgres for the ledger."))

        assert world.extract(session).lowered == ()

    def test_what_was_injected_is_not_captured_back(self, world: World) -> None:
        """A sentence that repeats what was surfaced is no finding."""
        captured = world.extract(
            world.session("s1", *LEDGER), is_echo=lambda sentence: "Postgres" in sentence
        )

        assert [one.content_type for one in world.kept()] == ["observation"]
        assert len(captured.stored) == 1

    def test_secrets_stay_out(self, world: World) -> None:
        """What is stored has no secret in it, in no document, quote or title."""
        secret = "password" + "=hunter2Xk93Lmq"
        said = ("user", f"We'll use {secret} for the ledger database.")

        world.extract(
            world.session("s1", *GREETING, said, ("assistant", "Noted.")),
            redact=lambda text: redact(text).text,
        )

        [kept] = world.kept()
        [seen] = world.vault.captures.sightings(kept.id)
        for text in (kept.title, kept.path, seen.quote, world.vault.documents.body(kept.id) or ""):
            assert "hunter2" not in text

    def test_killed_in_the_middle(self, world: World, tmp_path: Path) -> None:
        """A process killed before its transaction ends has stored nothing; the next stores everything, once."""
        session = world.session("s1", *LEDGER)
        world.vault.close()
        code = (
            "import os, signal, sys\n"
            "from clawmem.adapters.files.transcripts import DiskTranscripts\n"
            "from clawmem.adapters.memory.clock import ManualClock\n"
            "from clawmem.adapters.sqlite.captures import SqliteCaptures\n"
            "from clawmem.adapters.sqlite.vault import SqliteVault\n"
            "from clawmem.app.services.capture.decisions import DecisionExtractor\n"
            "from clawmem.app.services.capture.session import Session\n"
            "SqliteCaptures.advance = lambda *given: os.kill(os.getpid(), signal.SIGKILL)\n"
            "vault = SqliteVault(sys.argv[1])\n"
            "DecisionExtractor(vault, DiskTranscripts(), ManualClock())(Session('s1', sys.argv[2]))\n"
        )
        path = str(tmp_path / "vault.sqlite")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

        killed = subprocess.run(
            [sys.executable, "-c", code, path, session.transcript], check=False, env=environment
        )

        assert killed.returncode == -signal.SIGKILL
        world.vault = SqliteVault(path)
        try:
            assert world.kept() == []
            assert len(world.extract(session).stored) == 2
            assert world.extract(session) == NOTHING
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
                "quote": "It is still unclear how long closed ledgers are kept",
            },
            {"type": "change", "title": "{{title}}", "quote": "We'll use Postgres for the ledger."},
        ]
        generator = ScriptedGenerator(lambda prompt: json.dumps({"observations": noted}))

        captured = world.extract(world.session("s1", *LEDGER), generator=generator)

        decision, fix = world.kept()
        assert captured.degraded == ""
        assert (decision.title, decision.confidence) == ("Postgres for the ledger", 0.9)
        assert "- The ledger is kept in Postgres.\n\n>" in (world.vault.documents.body(decision.id) or "")
        assert (fix.content_type, fix.confidence) == ("observation", 0.8)

    @pytest.mark.parametrize("answer", ["no idea", '{"observations": []}', '{"observations": [{"type": 3}]}'])
    def test_rules_stand_in(self, world: World, answer: str) -> None:
        """What a model cannot say in the shape asked for is found by rules, and the reason is told."""
        captured = world.extract(
            world.session("s1", *LEDGER), generator=ScriptedGenerator(lambda prompt: answer)
        )

        assert len(captured.stored) == 2
        assert captured.degraded

    def test_no_time_left(self, world: World) -> None:
        """Without time for a model rules do the work."""
        captured = world.extract(
            world.session("s1", *LEDGER), generator=ScriptedGenerator(), left=lambda: 0.5
        )

        assert len(captured.stored) == 2
        assert "no time" in captured.degraded

    @pytest.mark.parametrize(("confidence", "expected"), [(0.7, 0.6), (0.69, 0.85)])
    def test_a_model_judges_earlier_decisions(self, world: World, confidence: float, expected: float) -> None:
        """A contradiction that a model is sure enough of costs 0.25, one that it is not costs nothing."""
        world.extract(world.session("s1", *LEDGER))
        change = "We'll move the ledger to Dynamo."
        noted = {"observations": [{"type": "decision", "title": "Dynamo", "quote": change}]}
        judged = {"relation": "contradiction", "confidence": confidence}
        generator = ScriptedGenerator(
            lambda prompt: json.dumps(judged if prompt.startswith("Two decisions") else noted)
        )

        world.extract(
            world.session("s2", *GREETING, ("user", change), ("assistant", "Noted.")), generator=generator
        )

        assert fetch(world.vault, world.kept()[0].id).confidence == pytest.approx(expected)


class TestHandoff:
    def test_a_session_leaves_one_document(self, world: World) -> None:
        """A handoff is written anew at every Stop, at one place; the session's entry points at it."""
        session = world.session("s1", *LEDGER)
        hand_over = HandoffGenerator(world.vault, DiskTranscripts(), world.clock)

        first = hand_over(session)
        again = hand_over(session)
        world.session("s1", ("user", "We'll keep closed ledgers for ten years."), ("assistant", "Fine."))
        world.clock.advance(86_400_000)
        hand_over(session)

        [document] = world.kept()
        assert first.document_id == again.document_id == document.id
        assert (document.path, document.content_type, document.confidence, document.revision_count) == (
            "agent/handoffs/2023-11-14-s1.md",
            "handoff",
            0.6,
            2,
        )
        body = world.vault.documents.body(document.id) or ""
        assert "- We'll keep closed ledgers for ten years." in body
        entry = world.vault.sessions.get("s1")
        assert entry is not None
        assert entry.handoff_path == document.display_path
        assert entry.ended_at == iso_utc(world.clock.now_ms())
        assert entry.summary.startswith("We'll use Postgres")

    def test_a_session_that_came_to_nothing_ends_all_the_same(self, world: World) -> None:
        """Its entry is closed if there is one, and no handoff is written."""
        hand_over = HandoffGenerator(world.vault, DiskTranscripts(), world.clock)
        world.vault.sessions.start("s1", iso_utc(world.clock.now_ms()))

        assert hand_over(world.session("s1", *GREETING)).document_id == 0
        assert hand_over(world.session("s2", *GREETING)).document_id == 0

        entry = world.vault.sessions.get("s1")
        assert entry is not None
        assert (entry.ended_at, entry.handoff_path) == (iso_utc(world.clock.now_ms()), None)
        assert world.vault.sessions.get("s2") is None
        assert world.kept() == []

    def test_with_a_model_and_without_its_help(self, world: World) -> None:
        """A model's sections are written down; where it fails the rules' are, with the reason."""
        session = world.session("s1", *LEDGER)
        sections = {
            "request": ["A ledger"],
            "investigated": [],
            "learned": [],
            "done": ["Chosen."],
            "next": [],
        }
        for script, expected in ((json.dumps(sections), "- Chosen."), ("{}", "- We'll use Postgres")):
            generator = ScriptedGenerator(lambda prompt, script=script: script)  # type: ignore[misc]

            handed = HandoffGenerator(world.vault, DiskTranscripts(), world.clock, generator)(session)

            assert expected in (world.vault.documents.body(handed.document_id) or "")
            assert bool(handed.degraded) is (script == "{}")


class TestFeedback:
    def test_each_turn_has_its_own(self, world: World) -> None:
        """A document counts as used where the answer of its own turn names it, in the diary and on the record."""
        used = save(world.vault, "adr/ledger.md", "About it.")
        beside = save(world.vault, "adr/audit.md", "About that.")
        late = save(world.vault, "adr/later.md", "Of the next turn.")
        for turn, ids in ((0, (used, beside, late)), (1, (late,))):
            hits = tuple(RecallHit(number, rank, 0.5) for rank, number in enumerate(ids, start=1))
            asked = iso_utc(world.clock.now_ms() + turn)
            world.vault.telemetry.record(Recall(asked, "s", "0" * 12, 1.0, 5, (), hits, "s1", turn))
        session = world.session(
            "s1",
            ("user", "What about the ledger?"),
            ("assistant", "See adr/ledger.md and audit.md."),
            ("user", "And then?"),
            ("assistant", "That is in later.md."),
        )
        learn = FeedbackLoop(world.vault, DiskTranscripts(), world.clock)

        assert learn(session) == Feedback(4, (used, beside, late))
        assert learn(session) == Feedback()

        marks = [[hit.was_referenced for hit in one.hits] for one in world.vault.telemetry.of_session("s1")]
        assert marks == [[True, True, False], [True]]
        assert world.vault.usage.utility(late) == Utility(2, 1)
        assert world.vault.usage.partners(used) == {beside: 1}
        assert [fetch(world.vault, number).access_count for number in (used, beside, late)] == [1, 1, 1]
        assert len(world.vault.relations.outbound([used], {RelationKind.USAGE}, limit=5)) == 1

    def test_turns_go_on_over_stops(self, world: World) -> None:
        """The second Stop attributes its own turn, although the transcript is read onwards only."""
        late = save(world.vault, "adr/later.md", "Of the third turn.")
        session = world.session("s1", *GREETING, *GREETING)
        learn = FeedbackLoop(world.vault, DiskTranscripts(), world.clock)
        learn(session)
        asked = iso_utc(world.clock.now_ms())
        hits = (RecallHit(late, 1, 0.5),)
        world.vault.telemetry.record(Recall(asked, "s", "0" * 12, 1.0, 5, (), hits, "s1", 2))
        world.session("s1", ("user", "And?"), ("assistant", "later.md"))

        assert learn(session) == Feedback(1, (late,))

    def test_turns_with_names_are_not_counted(self, world: World) -> None:
        """A prompt that was taken back had a row and left no line: the answer still goes to the prompt it was for."""
        asked_for = save(world.vault, "adr/ledger.md", "What the second prompt was about.")
        taken_back = save(world.vault, "adr/audit.md", "What the first one was about.")
        for turn, (prompt, number) in enumerate((("p1", taken_back), ("p2", asked_for))):
            asked, hits = iso_utc(world.clock.now_ms() + turn), (RecallHit(number, 1, 0.5),)
            row = Recall(asked, "s", "0" * 12, 1.0, 5, (), hits, "s1", turn, prompt_id=prompt)
            world.vault.telemetry.record(row)
        session = world.session("s1", ("user", "About the ledger.", "p2"), ("assistant", "Let me see."))
        learn = FeedbackLoop(world.vault, DiskTranscripts(), world.clock)
        assert learn(session) == Feedback(1, ())

        world.session("s1", ("assistant", "See ledger.md, and not audit.md."), ("user", "Thanks.", "p3"))

        assert learn(session) == Feedback(1, (asked_for,))

    def test_an_answer_goes_on_after_a_stop(self, world: World) -> None:
        """What is said after a Stop without a new prompt still answers the named one before it."""
        late = save(world.vault, "adr/later.md", "Of the only turn.")
        session = world.session("s1", *GREETING, ("user", "And?", "p1"), ("assistant", "One moment."))
        hits = (RecallHit(late, 1, 0.5),)
        asked = iso_utc(world.clock.now_ms())
        world.vault.telemetry.record(Recall(asked, "s", "0" * 12, 1.0, 5, (), hits, "s1", 7, prompt_id="p1"))
        learn = FeedbackLoop(world.vault, DiskTranscripts(), world.clock)
        learn(session)
        world.session("s1", ("assistant", "later.md"))

        assert learn(session) == Feedback(1, (late,))


def test_precompact_reads_the_last_200_messages(world: World) -> None:
    """What was decided 200 messages before the end is in the state, what was before that is not."""
    decided = [("user", f"We'll use {name} for the ledger.") for name in ("Redis", "Postgres")]
    session = world.session("s1", *decided, *(("assistant", f"Step {number}.") for number in range(199)))

    state = PrecompactExtract(world.vault.captures, DiskTranscripts())(session)

    assert "Postgres" in state
    assert "Redis" not in state


def test_precompact_extract(world: World) -> None:
    """Before compaction the last request, decisions and open questions are told, without secrets."""
    state = PrecompactExtract(
        world.vault.captures, DiskTranscripts(), redact=lambda text: text.replace("Postgres", "[redacted]")
    )

    text = state(world.session("s1", *LEDGER))

    assert "## Key Decisions This Session\n\n- We'll use [redacted] for the ledger." in text
    assert "- It is still unclear how long closed ledgers are kept." in text
