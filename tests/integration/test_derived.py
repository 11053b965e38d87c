"""Documents that were derived from others, by every record that the vault keeps of a source."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from capture_world import World
from command_line import Invoke
from observed_days import merged
from wired import consolidation, memory_writer, session_cases, synthesis

from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.models import ScriptedGenerator
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.bootstrap.services import Services
from clawmem.app.services.lifecycle.forgetting import ForgetReport, derived_documents
from clawmem.app.services.maintenance.phase_run import PhaseRun
from clawmem.app.settings.model import Settings
from clawmem.contracts.samples import fetch
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.knowledge.entities import entity_id
from clawmem.ports.journal import Act
from clawmem.ports.knowledge import Entity, Relation, RelationKind, Triple
from clawmem.ports.records import Document, InactiveReason

INVOICES = "Hartmann gets invoices from the export zx81quartz."
SLOW = "The export is slow since March."
CONCLUSION = "The slow zx81quartz export hurts Hartmann and its invoices"
FRIDAY = "The export of Hartmann fails on Fridays"


class Memory:
    """A vault of a home with memories in it, closed while a command runs."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.clock, self.noted = settings, ManualClock(), 0

    @contextmanager
    def open(self) -> Iterator[Services]:
        with open_services(self.settings) as services:
            yield services

    def note(self, services: Services, text: str, kind: str) -> int:
        self.clock.advance(60_000)
        self.noted += 1
        path = f"agent/observations/2023-11-14-0f3a{self.noted:04}-{kind}-{self.noted:012x}.md"
        with services.vault.transactions.writing():
            return memory_writer(services.vault, self.clock).write(
                path, text, f"# {text}\n\n> {text}\n", kind, 0.8, iso_utc(self.clock.now_ms())
            )

    def conclude(self, services: Services) -> tuple[list[Document], Document]:
        """Two decisions and what a model concludes from them."""
        ids = [self.note(services, text, "decision") for text in (INVOICES, SLOW)]
        assert synthesis(services.vault, self.clock, ScriptedGenerator(drafting))(PhaseRun()).created == 1
        [made] = [one for one in services.vault.documents.latest() if one.content_type == "deductive"]
        return [fetch(services.vault, one) for one in ids], made

    def merge(self, services: Services, *texts: str) -> tuple[list[int], int]:
        """Observations that say the same, and what stands for them."""
        ids = [self.note(services, text, "observation") for text in texts]
        [made] = self.consolidate(services)
        return ids, made

    def consolidate(self, services: Services) -> list[int]:
        every = services.vault.documents.latest()
        return merged(consolidation(services.vault, self.clock)(every, PhaseRun()))


def drafting(prompt: str) -> str:
    if "What follows" not in prompt:
        return json.dumps({"supported": True})
    draft = {"conclusion": CONCLUSION, "premises": ["it is slow"], "source_indices": [1, 2]}
    return json.dumps({"deductions": [draft]})


@pytest.fixture
def memory(home: Path) -> Memory:
    return Memory(Settings(vault=home / ".cache/clawmem/index.sqlite", config_file=home / "none.yaml"))


def forget(invoke: Invoke, document: Document) -> Any:
    """Forget a document on the command line and prove it; what was printed."""
    done = invoke("forget", document.display_path, "--prove", "--yes", "--json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert not any(said["probes"].values())
    return said


def is_forgotten(services: Services, document_id: int) -> bool:
    one = fetch(services.vault, document_id)
    return one.inactive is InactiveReason.FORGOTTEN and not services.vault.documents.body(document_id)


class TestConclusions:
    def test_it_goes_with_one_of_its_notes(self, memory: Memory, invoke: Invoke) -> None:
        """The conclusion is forgotten, and is written down as derived; the other note stays and may be used again."""
        with memory.open() as services:
            (source, other), made = memory.conclude(services)

        said = forget(invoke, source)

        assert "derived" in said["probes"]
        assert said["also_forgotten"] == [made.display_path]
        assert made.path not in invoke("search", "slow zx81quartz export hurts").stdout
        with memory.open() as services:
            assert is_forgotten(services, made.id)
            assert fetch(services.vault, other.id).inactive is None
            [act] = [one for one in services.vault.acts.latest(9) if one.document_id == made.id]
            assert (act.act, act.why) == (Act.FORGET, f"derived from {source.display_path}")
            services.vault.answers.trim("9")
            memory.note(services, INVOICES.replace("zx81quartz", "ledger"), "decision")
            assert (
                synthesis(services.vault, memory.clock, ScriptedGenerator(drafting))(PhaseRun()).selected == 2
            )

    def test_the_proof_finds_what_was_derived(self, memory: Memory) -> None:
        """Of a note whose conclusion is still served the probe says so."""
        with memory.open() as services:
            (source, _), made = memory.conclude(services)

            assert services.prove(ForgetReport((source,)))["derived"] == [made.display_path]


class TestMergedObservations:
    def test_the_others_are_merged_again(self, memory: Memory) -> None:
        """Three observations were merged; without the first one, the others are served, and then merged anew."""
        with memory.open() as services:
            ids, made = memory.merge(services, f"{FRIDAY}!", f"{FRIDAY}!!", FRIDAY)
            vault = services.vault

            done = services.forgetting([fetch(vault, ids[2])], "cli")

            assert [fetch(vault, number).inactive for number in ids[:2]] == [None, None]
            assert [document.id for document in done.documents] == [ids[2], made]
            assert derived_documents(vault, [ids[2]]) == []
            assert not any(services.prove(done).values())
            [again] = memory.consolidate(services)
            assert "It was noted 2 times" in (vault.documents.body(again) or "")

    def test_over_several_steps(self, memory: Memory) -> None:
        """What was merged in turn from a merged document goes as well, and the other observations are served."""
        with memory.open() as services:
            (first, second), once = memory.merge(services, FRIDAY, f"{FRIDAY}!")
            third = memory.note(services, f"{FRIDAY}!!", "observation")
            [twice] = memory.consolidate(services)

            services.forgetting([fetch(services.vault, first)], "cli")

            assert [is_forgotten(services, number) for number in (first, once, twice)] == [True] * 3
            assert [fetch(services.vault, number).inactive for number in (second, third)] == [None, None]
            assert services.verify() == []


class TestConversations:
    def test_the_handoff_goes(self, memory: Memory, invoke: Invoke, tmp_path: Path) -> None:
        """With a decision the handoff that repeats it is forgotten, and the summary of its session."""
        with memory.open() as services:
            said = World(services.vault, memory.clock, tmp_path)
            session = said.session(
                "0f3a2b1c-77",
                ("user", "We'll use the qx77lantern format for the ledger."),
                ("assistant", "Noted. The last import of ledgers failed because the disk was full."),
            )
            said.extract(session)
            session_cases(services.vault, memory.clock).session_capture().hand_over(session)
            [handed] = [one.id for one in said.kept() if one.content_type == "handoff"]
            [decision] = [one for one in said.kept() if one.content_type == "decision"]
            assert "qx77lantern" in (services.vault.documents.body(handed) or "")

        assert len(forget(invoke, decision)["also_forgotten"]) == 1
        with memory.open() as services:
            assert is_forgotten(services, handed)
            assert services.vault.sessions.get("0f3a2b1c-77").summary == ""

    def test_facts_and_links_go(self, memory: Memory, invoke: Invoke) -> None:
        """What the note alone says of things is known no more."""
        with memory.open() as services:
            (source, other), _ = memory.conclude(services)
            company = Entity(entity_id("Hartmann", "service"), "service", "Hartmann")
            services.vault.triples.add([Triple(company, "gets", "invoices", source.id, said=INVOICES)])
            edge = Relation(
                source.id, other.id, RelationKind.CAUSAL, 0.9, "hand", metadata={"reasoning": SLOW}
            )
            services.vault.relations.put([edge])

        forget(invoke, source)

        with memory.open() as services:
            assert services.vault.triples.counts(ended=True) == {}
            assert services.vault.relations.counts() == {}
