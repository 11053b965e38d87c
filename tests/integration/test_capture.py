from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from capture_world import GREETING, LEDGER, World

from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.models import ScriptedGenerator
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.services.capture.decisions import CaptureReport
from clawmem.app.services.documents.succession import current_successors
from clawmem.contracts.samples import fetch
from clawmem.ports.knowledge import RelationKind
from clawmem.ports.records import Grain, LexicalQuery, Term
from clawmem.ports.vault import Vault


@pytest.fixture
def world(vault: Vault, clock: ManualClock, tmp_path: Path) -> World:
    return World(vault, clock, tmp_path)


class TestDecisionExtractor:
    def test_what_was_said_is_kept_with_its_source(self, world: World) -> None:
        """A decision becomes a document that can be found, quotes its sentence, and says who said it where."""
        captured = world.extract(world.session("s1", *LEDGER))

        decision, failure = world.kept()
        assert captured.stored == (decision.id, failure.id)
        assert (decision.content_type, decision.confidence, decision.tags) == (
            "decision",
            0.85,
            ("origin:user",),
        )
        assert (failure.content_type, failure.confidence) == ("antipattern", 0.75)
        assert decision.authored_at == "2023-11-14T22:00:00.000Z"
        body = world.vault.documents.body(decision.id) or ""
        assert "> We'll use Postgres for the ledger." in body
        assert "Said by the user in session s1, transcript line 3" in body
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

    @pytest.mark.parametrize(
        "change",
        [
            "We use MySQL instead of Postgres for the ledger.",
            "We no longer use Postgres.",
        ],
    )
    def test_a_session_changes_its_mind(self, world: World, change: str) -> None:
        """A later decision of the session supersedes the earlier one, which keeps its confidence."""
        session = world.session("s1", *LEDGER)
        world.extract(session)
        world.session("s1", ("user", change))

        assert world.extract(session).lowered == ()
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
            "session_cases(vault, ManualClock()).decision_extractor()(Session('s1', sys.argv[2]))\n"
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
            assert len(world.extract(session).stored) == 2
            assert world.extract(session) == CaptureReport()
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

        assert len(captured.stored) == 2
