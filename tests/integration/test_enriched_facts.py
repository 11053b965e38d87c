"""What a model's answers come to: one entity a name, facts that their sentence proves, and nothing done twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke
from wired import enriching, update_collection

from clawmem.adapters.files.disk import DiskFiles
from clawmem.adapters.files.front_matter import parse_front_matter
from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.models import ScriptedGenerator
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.knowledge.enriching import EnrichReport

NOW_MS = 1_790_000_000_000

NOTES = {
    "a.md": "# Storage\n\nThe Ledger uses Postgres.",
    "b.md": "# Billing\n\nAll bills go through Ledger before noon, and Ledger depends on Standtime.",
    "c.md": "# Owners\n\nWe asked around. In the end Ledger is owned by Mira.",
}
TYPED = {"b.md": [{"name": "Ledger", "type": "service"}]}  # one note shows the model what the name is of
FACTS = {
    "a.md": [("Ledger", "uses", "Postgres")],
    "b.md": [("Ledger", "depends_on", "Standtime")],
    "c.md": [("ledger", "owned_by", "Mira")],
}


class Enriched:
    """Notes in a folder, their vault in the empty home, and a model that answers what it is told to."""

    def __init__(self, home: Path, folder: Path, invoke: Invoke) -> None:
        self.invoke, self.folder, self.asked = invoke, folder, 0
        self.file = home / ".cache/clawmem/index.sqlite"
        self.file.parent.mkdir(parents=True)
        self.typed: dict[str, list[dict[str, str]]] = TYPED
        self.facts: dict[str, list[tuple[str, str, str]]] = FACTS
        folder.mkdir()

    def read(self, *names: str, model: str = "first", **rest: Any) -> EnrichReport:
        """Bring these notes into the vault and enrich what waits."""
        for name in names:
            (self.folder / name).write_text(NOTES[name], "utf-8")
        with closing(open_vault(str(self.file))) as vault:
            clock = ManualClock(NOW_MS)
            update_collection(vault, DiskFiles(), clock, parse_front_matter)(
                Folder("notes", str(self.folder))
            )
            generator = ScriptedGenerator(self._answer)
            generator.fingerprint = model
            return enriching(vault, clock, generator)(**rest)

    def known(self, name: str) -> dict[str, Any]:
        return json.loads(self.invoke("entities", "--facts", name, "--json").stdout)

    def _answer(self, prompt: str) -> str:
        self.asked += 1
        if prompt.startswith("Describe"):
            return json.dumps({"keywords": ["ledger"], "tags": ["infra"], "context": "Of the ledger."})
        if prompt.startswith("List"):
            [name] = [name for name, text in NOTES.items() if text.partition("\n\n")[2].strip() in prompt]
            parts = ("subject", "predicate", "object")
            triples = [dict(zip(parts, fact, strict=True)) for fact in self.facts.get(name, [])]
            return json.dumps({"entities": self.typed.get(name, []), "triples": triples})
        return json.dumps({"links": [], "should_evolve": False})


@pytest.fixture
def enriched(home: Path, tmp_path: Path, invoke: Invoke) -> Iterator[Enriched]:
    yield Enriched(home, tmp_path / "folder", invoke)


@pytest.mark.parametrize("order", sorted(permutations(NOTES)))
def test_a_name_is_one_entity(enriched: Enriched, order: tuple[str, ...]) -> None:
    """However the notes are read, all facts are of the service, and asking by its name is not ambiguous."""
    for name in order:
        enriched.read(name)

    told = enriched.known("ledger")

    assert told["entity"]["id"] == "default:service:ledger"
    said = {(fact["predicate"], fact["object"]) for fact in told["facts"]}
    assert said == {("uses", "Postgres"), ("depends_on", "Standtime"), ("owned_by", "Mira")}


def test_enriching_everything_again_does_nothing(enriched: Enriched) -> None:
    """Unchanged notes and the same model: no call, no work reported; another model and a changed note are work."""
    assert enriched.read(*NOTES).by_model == len(NOTES)
    asked = enriched.asked

    assert enriched.read(anew=True) == EnrichReport()
    assert enriched.asked == asked
    (enriched.folder / "a.md").write_text(NOTES["a.md"] + "\n\nIt is small.\n", "utf-8")
    assert enriched.read(anew=True).by_model == 1
    assert enriched.read(anew=True, model="second").by_model == len(NOTES)
    assert enriched.read(anew=True, model="second") == EnrichReport()
