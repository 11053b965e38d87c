"""What is known beside the words: facts that end, notes that go on, the graph for other programs, names."""

from __future__ import annotations

import json
from contextlib import closing
from itertools import permutations
from pathlib import Path

import pytest
from command_line import Invoke
from file_tree import FileTree
from wired import enriching, publisher, update_collection

from clawmem.adapters.files.front_matter import parse_front_matter
from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.models import ScriptedGenerator
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.knowledge.facts import versions
from clawmem.contracts.samples import save
from clawmem.domain.knowledge.entities import entity_id
from clawmem.domain.knowledge.triples import Statement
from clawmem.ports.knowledge import Direction, Entity, Note, Triple
from clawmem.ports.records import InactiveReason
from clawmem.ports.vault import Vault

DATA = Path(__file__).parents[1] / "data"
NOW_MS = 1_790_000_000_000
LEDGER = "default:concept:ledger"
DAY = "2026-03-01"

# What a note says, and the triples that a model makes of it.
SAID = {
    "2026-01-10-mysql.md": ("ledger uses MySQL", ("ledger", "uses", "MySQL")),
    "2026-03-20-postgres.md": (
        "Postgres replaced MySQL, so ledger uses Postgres",
        ("Postgres", "replaced", "MySQL"),
        ("ledger", "uses", "Postgres"),
    ),
    "2026-02-05-host.md": ("ledger runs on Basil", ("ledger", "runs_on", "Basil")),
    "2026-04-02-move.md": ("ledger migrated to Thyme", ("ledger", "migrated_to", "Thyme")),
    "2026-05-09-move.md": ("ledger migrated to Sage", ("ledger", "migrated_to", "Sage")),
}
MYSQL, POSTGRES, LATER = "2026-01-10-mysql.md", "2026-03-20-postgres.md", "2026-06-01-later.md"
AT_LAST = "At last Postgres replaced MySQL, and ledger uses Postgres"
EVERY = SAID | {LATER: (AT_LAST, ("Postgres", "replaced", "MySQL"), ("ledger", "uses", "Postgres"))}


class Writing:
    """Notes that are written and read by a model, one after the other."""

    def __init__(self, vault: Vault) -> None:
        self.vault, self.clock, self.files = vault, ManualClock(NOW_MS), FileTree()
        self.enrich = enriching(vault, self.clock, ScriptedGenerator(_script))

    def __call__(self, path: str, text: str) -> None:
        self.write(path, text)
        self.update()
        self.enrich()

    def write(self, path: str, text: str) -> None:
        self.files.write(f"/notes/{path}", f"# Note\n\n{text}.\n".encode(), mtime_ns=self.clock.now_ms())

    def update(self) -> None:
        update_collection(self.vault, self.files, self.clock, parse_front_matter)(Folder("notes", "/notes"))

    def id(self, path: str) -> int:
        return self.vault.documents.at("notes", path).id

    def history(self) -> list[tuple[str, str, str, str]]:
        found = self.vault.triples.recorded(LEDGER, 99, Direction.OUTGOING)
        return sorted((one.predicate, one.object_name, one.valid_from, one.valid_to) for one in found)


def _script(prompt: str) -> str:
    if prompt.startswith("Describe"):
        return json.dumps({"keywords": ["ledger"], "tags": ["infra"], "context": "Of the ledger."})
    if prompt.startswith("List"):
        [triples] = [triples for said, *triples in EVERY.values() if said in prompt] or [[]]
        named = [dict(zip(("subject", "predicate", "object"), one, strict=True)) for one in triples]
        return json.dumps({"entities": [], "triples": named})
    return "{}"


class TestWhatEnds:
    """A statement in a note ends what it takes the place of, whoever was read first."""

    ENDED = (
        ("migrated_to", "Sage", "2026-05-09", ""),
        ("migrated_to", "Thyme", "2026-04-02", "2026-05-09"),
        ("runs_on", "Basil", "2026-02-05", "2026-04-02"),
        ("uses", "MySQL", "2026-01-10", "2026-03-20"),
        ("uses", "Postgres", "2026-03-20", ""),
    )

    @pytest.mark.parametrize("order", [tuple(SAID), tuple(reversed(SAID)), *list(permutations(SAID))[7::13]])
    def test_in_any_order(self, vault: Vault, order: tuple[str, ...]) -> None:
        """The days come from the notes, not from when they were read."""
        writing = Writing(vault)
        for path in order:
            writing(path, SAID[path][0])

        assert writing.history() == [*self.ENDED]

    @pytest.mark.parametrize("how", ["changed", "forgotten"])
    def test_it_is_taken_back(self, vault: Vault, how: str) -> None:
        """A note that says it no more, or is forgotten, has ended nothing."""
        writing = Writing(vault)
        for path in (MYSQL, POSTGRES):
            writing(path, SAID[path][0])
        assert ("uses", "MySQL", "2026-01-10", "2026-03-20") in writing.history()

        if how == "changed":
            writing(POSTGRES, "It was only a thought")
        else:
            with vault.transactions.writing():
                publisher(vault).withdraw([writing.id(POSTGRES)], InactiveReason.FORGOTTEN)

        assert writing.history() == [("uses", "MySQL", "2026-01-10", "")]


@pytest.mark.parametrize(
    ("kinds", "meant"),
    [((), "concept"), (("person",), "person"), (("service",), "service"), (("person", "project"), "concept")],
    ids=["new", "one", "another", "two"],
)
def test_a_name_that_two_have_is_neither(vault: Vault, kinds: tuple[str, ...], meant: str) -> None:
    """A statement speaks of the one thing that is called so; of several it speaks of none of them."""
    known = [Entity(entity_id("ledger", kind), "ledger", kind) for kind in kinds]
    vault.entities.set_mentions(save(vault, "known.md"), known)

    Writing(vault)(MYSQL, SAID[MYSQL][0])

    assert [one.subject.id for one in vault.triples.recorded(f"default:{meant}:ledger", 9)] == [
        f"default:{meant}:ledger"
    ]


def test_what_ended_it_is_told(remembered: Invoke, home: Path) -> None:
    """A fact names its sentence, and the note that says that it is over; a day asks for what held then."""
    with closing(open_vault(str(home / ".cache/clawmem/index.sqlite"))) as vault:
        old, new = save(vault, "old.md", "Old."), save(vault, "new.md", "New.")
        ledger, mysql = (Entity(entity_id(name, "concept"), name, "concept") for name in ("ledger", "MySQL"))
        uses = Triple(ledger, "uses", mysql, old, "2026-01-10", said="It uses MySQL.")
        vault.triples.add([uses])
        vault.triples.end(uses, DAY, new)

    told = json.loads(remembered("entities", "--facts", "MySQL", "--json").stdout)

    [fact] = told["facts"]
    assert (fact["direction"], fact["current"], fact["valid_to"]) == ("incoming", False, DAY)
    assert (fact["file"], fact["ended_by"], fact["said"]) == (
        "notes/old.md",
        "notes/new.md",
        "It uses MySQL.",
    )
    assert fact["id"] == Statement(ledger.id, "uses", mysql.id).id
    [other] = json.loads(remembered("entities", "--facts", "ledger", "--json").stdout)["facts"]
    assert (other["direction"], other["id"]) == ("outgoing", fact["id"])
    assert told["stats"] == {"total_triples": 1, "current_facts": 0, "expired_facts": 1, "predicates": {}}
    assert "[ended 2026-03-01, 100%]" in remembered("entities", "--facts", "ledger", "--as-of", DAY).stdout
    assert (
        "No facts about ledger are known."
        in remembered("entities", "--facts", "ledger", "--as-of", "2026-03-02").stdout
    )
    assert remembered("entities", "--facts", "ledger", "--as-of", "2026-02-30").exit_code == 2


class TestEvolution:
    """The versions of a note, the newest first."""

    def test_versions(self, vault: Vault) -> None:
        """Each beside the one before, with what let it; a document that is not served is not named."""
        one, other, gone = (save(vault, f"{name}.md", name) for name in "abc")
        for cause in (None, other, gone):
            context = f"Since {cause}."
            vault.notes.put(Note(one, ("hive",), (), context, cause=cause, reason="Bees." if cause else ""))
        vault.documents.deactivate([gone], InactiveReason.ARCHIVED)

        about, archived = (vault.documents.many([number])[number] for number in (one, gone))
        third, second, first = versions(vault.documents, vault.notes, about, 9)

        assert [version.version for version in (third, second, first)] == [3, 2, 1]
        assert (first.previous_keywords, first.triggered_by) == ([], None)
        assert second.previous_context == first.new_context
        assert second.triggered_by and second.triggered_by.file == "notes/b.md"
        assert (second.reasoning, third.triggered_by) == ("Bees.", None)
        assert versions(vault.documents, vault.notes, about, 1) == [third]
        assert versions(vault.documents, vault.notes, about, 0) == []
        assert versions(vault.documents, vault.notes, archived, 9) == []


def test_names_of_documents_that_nobody_tuned_on() -> None:
    """Twenty notes, labelled before the extractor ever saw them: what is found is mostly right, and mostly found."""
    held_out = [json.loads(line) for line in (DATA / "names_heldout.jsonl").read_text("utf-8").splitlines()]
    files, clock = FileTree(), ManualClock(NOW_MS)
    for one in held_out:
        files.write(f"/held/{one['path']}", one["text"].encode(), mtime_ns=1)
    with closing(open_vault(":memory:")) as vault:
        update_collection(vault, files, clock, parse_front_matter)(Folder("held", "/held"))
        enriching(vault, clock)()
        found = {
            document.path: [entity.name for entity in vault.entities.mentions(document.id)]
            for document in vault.documents.latest()
        }
    given = [(name, one["names"]) for one in held_out for name in found[one["path"]]]
    right = sum(any(_is_meant(name, label) for label in labels) for name, labels in given)
    labels = sum(len(one["names"]) for one in held_out)

    assert right / len(given) >= 0.9
    assert right / labels >= 0.65  # .93 and .68 were measured, once


def _is_meant(name: str, label: str) -> bool:
    """Whether the label is that name, or a part that a person is called by."""
    return set(label.split()) <= set(name.split()) and (label == name or name.split()[0] == label)
