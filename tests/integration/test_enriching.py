"""Notes, names and links of documents: two folders of notes by rules, a few by a model that was written down."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from file_tree import FileTree
from vault_stores import retrieval_stores
from wired import embed_pending, enriching, update_collection

from clawmem.adapters.files.disk import DiskFiles
from clawmem.adapters.files.front_matter import parse_front_matter
from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.models import HashingEmbedder, ScriptedGenerator
from clawmem.adapters.models.local import StaticEmbedder
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.retrieval.pipelines import intent_search
from clawmem.app.services.retrieval.request import read_request
from clawmem.ports.knowledge import ATTEMPTS, RelationKind
from clawmem.ports.records import Origin
from clawmem.ports.vault import Vault

EXAMPLES = Path(__file__).parents[2] / "examples" / "notes"
NOW_MS = 1_790_000_000_000
DAY_MS = 86_400_000

# -- by rules, over what people wrote ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def enriched() -> Iterator[Vault]:
    vault, clock = open_vault(":memory:"), ManualClock(NOW_MS)
    update = update_collection(vault, DiskFiles(), clock, parse_front_matter)
    update(Folder("notes", str(EXAMPLES)))
    embed_pending(vault, StaticEmbedder())()
    enriching(vault, clock)()
    yield vault
    vault.close()


def test_the_graph_sees_it(enriched: Vault) -> None:
    """A question by a name reaches documents along what was found, which without the graph are not among the answers."""
    request = read_request("who works on Redis and Postgres", now_ms=NOW_MS, limit=10)
    found = [
        {
            result.document.id
            for result in intent_search(retrieval_stores(enriched), StaticEmbedder(), with_graph=along)(
                request
            ).results
        }
        for along in (True, False)
    ]

    assert found[0] - found[1]


# -- by a model --------------------------------------------------------------------------------------------

NOTES = {
    "queue.md": "# Queue\n\nThe booking queue runs on Redis. Ann Lee keeps it running, says Bo.",
    "move.md": "---\nparticipants: [Ann Lee, Bo Dahl]\n---\n# The move\n\nStandtime migrated to Postgres. "
    "We left Redis, says Ann.",
    "lunch.md": "# Lunch\n\nSoup again, and the bread was late.",
}


def script(prompt: str) -> str:
    """What a model answers to each of the four questions."""
    if prompt.startswith("Describe"):
        return json.dumps(
            {"keywords": ["queue", "redis"], "tags": ["infra"], "context": "What the queue runs on."}
        )
    if prompt.startswith("List"):
        return json.dumps(
            {
                "entities": [
                    {"name": "Postgres", "type": "service"},
                    {"name": "Redis", "type": "service"},
                    {"name": "Oracle", "type": "service"},
                ],
                "triples": [
                    {"subject": "Standtime", "predicate": "migrated to", "object": "Postgres"},
                    {"subject": "Standtime", "predicate": "uses", "object": "Oracle"},
                ],
            }
        )
    if prompt.startswith("Which"):
        first = {"target_idx": 1, "link_type": "contradicts", "confidence": 0.9, "reasoning": "another store"}
        return json.dumps({"links": [first, {**first, "target_idx": 99}, {**first, "link_type": "likes"}]})
    return json.dumps(
        {"should_evolve": True, "new_context": "What the queue ran on until the move.", "reasoning": "moved"}
    )


class World:
    """A vault with three notes, and a model that answers what it is told to."""

    def __init__(self, answer: Callable[[str], str] = script, calls_a_day: int = 100) -> None:
        self.vault, self.clock, self.files = open_vault(":memory:"), ManualClock(NOW_MS), FileTree()
        self.asked: list[str] = []
        self.answer = answer
        self.write(**NOTES)
        generator = ScriptedGenerator(self._answer)
        self.enrich = enriching(self.vault, self.clock, generator, calls_a_day=calls_a_day)

    def write(self, **notes: str) -> None:
        for path, text in notes.items():
            self.files.write(f"/notes/{path}", text.encode(), mtime_ns=self.clock.now_ms() * 1_000_000)
        update_collection(self.vault, self.files, self.clock, parse_front_matter)(Folder("notes", "/notes"))
        embed_pending(self.vault, HashingEmbedder())()

    def id(self, path: str) -> int:
        return self.vault.documents.at("notes", path).id

    def names(self, path: str) -> set[str]:
        return {one.name for one in self.vault.entities.mentions(self.id(path))}

    def _answer(self, prompt: str) -> str:
        self.asked.append(prompt)
        return self.answer(prompt)


def test_what_a_model_says_is_kept_where_the_text_proves_it() -> None:
    """Note, names, statements and links come of it; what no sentence says does not."""
    world = World()
    report = world.enrich()
    vault, move = world.vault, world.id("move.md")

    assert (report.by_rules, report.by_model, report.failed, report.waiting) == (3, 3, 0, 0)
    note = vault.notes.get(move)
    assert (note.tags, note.origin) == (("infra",), ScriptedGenerator.fingerprint)
    assert world.names("move.md") == {"Postgres", "Redis", "Ann Lee", "Bo Dahl"}
    assert world.names("queue.md") >= {"Redis", "Ann Lee"}
    [triple] = vault.triples.recorded("default:concept:standtime", 10)
    assert (triple.predicate, triple.object_name, triple.said) == (
        "migrated_to",
        "Postgres",
        "Standtime migrated to Postgres.",
    )
    [link] = vault.relations.outbound([move], [RelationKind.CONTRADICTS], limit=10)
    assert (link.origin, link.weight, link.metadata) == ("model", 0.9, {"reasoning": "another store"})


def test_the_ledger_knows_each_call() -> None:
    """By its purpose, with its tokens."""
    world = World()
    world.enrich()
    costs = world.vault.ledger.totals()

    assert {cost.purpose for cost in costs} == {"note", "names", "links", "evolution"}
    assert sum(cost.calls for cost in costs) == len(world.asked)
    assert all(cost.prompt_tokens > 50 and cost.answer_tokens and not cost.failed for cost in costs)


def test_a_neighbour_is_described_anew() -> None:
    """What a new document changes about another is a new version of its note, which knows what caused it."""
    world = World()
    world.enrich()
    versions = [note for path in NOTES for note in world.vault.notes.history(world.id(path))]
    evolved = [note for note in versions if note.cause]

    assert evolved
    for note in evolved:
        before = world.vault.notes.history(note.document_id)[note.version - 2]
        assert before.context == "What the queue runs on."
        assert (note.context, note.keywords) == ("What the queue ran on until the move.", before.keywords)
        assert note.reason == "moved"


def test_a_text_of_others_changes_no_description_but_its_own() -> None:
    """It is described and linked itself; the notes about its neighbours stay as they were."""
    world = World()
    world.vault.documents.set_origin([world.id(path) for path in NOTES], Origin.TOOL_OUTSIDE)

    world.enrich()

    versions = [note for path in NOTES for note in world.vault.notes.history(world.id(path))]
    assert versions and not any(note.cause for note in versions)


@pytest.mark.parametrize("answer", ["", "null", "{}", '{"keywords": [], "tags": [], "context": ""}'])
def test_an_empty_answer_blanks_nothing(answer: str) -> None:
    """The note from before stays, the document is tried again, and in the end given up until it is changed."""
    world = World()
    world.enrich()
    queue = world.id("queue.md")
    before = world.vault.notes.get(queue)

    world.answer = lambda prompt: answer
    world.write(**{"queue.md": NOTES["queue.md"] + "\n\nIt was full on Tuesday."})
    for _ in range(ATTEMPTS):
        assert world.enrich().failed == 1

    assert world.enrich().failed == 0
    assert world.vault.notes.get(queue) == before
    assert world.vault.notes.counts().given_up == 1


def test_the_day_has_a_limit() -> None:
    """Beyond it rules do the work and documents wait for the model; the next day it goes on."""
    world = World(calls_a_day=2)
    report = world.enrich()

    assert (report.by_rules, report.by_model, report.waiting) == (3, 0, 3)
    assert "2 calls a day" in report.stopped
    assert len(world.asked) == 2

    for _ in range(10):
        world.clock.advance(DAY_MS)
        world.enrich()
    assert world.vault.notes.counts().by_model == 3


def test_stopping_anywhere_loses_nothing() -> None:
    """One document at a time comes to the same as all at once, and a run that breaks keeps what was done."""
    whole, steps = World(), World()
    whole.enrich()

    def broken(prompt: str) -> str:
        if "Lunch" in prompt and prompt.startswith("Describe"):
            raise KeyboardInterrupt
        return script(prompt)

    steps.answer = broken
    with pytest.raises(KeyboardInterrupt):
        steps.enrich()
    steps.answer = script
    while steps.enrich(1).waiting:
        pass

    for path in NOTES:
        assert steps.names(path) == whole.names(path), path
    assert steps.vault.notes.counts() == whole.vault.notes.counts()
