"""Notes that say what they supersede, pin and trust: from their files to the order of the answers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from notes_vault import NotesVault, paths

from clawmem.ports.records import Document

ASKED = "where does the honey go"

OLD = "---\ndate: 2021-03-01\n---\n# Honey\n\nThe honey goes to the market hall, where the honey sells.\n"
NEW = "---\ndate: 2022-03-01\nsupersedes: old.md\n---\n# Jars\n\nHoney is sold at the door.\n"
NEWEST = "---\ndate: 2023-03-01\nsupersedes: [new.md]\n---\n# Mail\n\nWe send honey by post.\n"
OTHER = "---\ndate: 2020-03-01\n---\n# Bees\n\nWhere does the honey come from? From bees.\n"


class Notes(NotesVault):
    """A folder of notes, the vault that it is read into, and questions to it."""

    def add(self, texts: dict[str, str]) -> Notes:
        """Write files two hours old; each in a pass of its own, in this order."""
        for path, text in texts.items():
            self.write(path, text)
            self.update()
        return self

    def ask(self, question: str = ASKED, verb: str = "query", **options: Any) -> Any:
        return super().ask(question, verb, **options)


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Notes]:
    found = Notes(tmp_path)
    yield found
    found.vault.close()


class TestOrder:
    def test_without_a_word_about_it(self, notes: Notes) -> None:
        """The better match is first, however old: what follows changes that, not the text."""
        plain = {path: text.replace("supersedes", "mentions") for path, text in texts().items()}

        assert paths(notes.add(plain).ask())[0] == "old.md"

    @pytest.mark.parametrize("order", list(permutations(("old.md", "new.md", "newest.md"))))
    def test_what_holds_is_first_in_whatever_order_notes_come(
        self, notes: Notes, order: tuple[str, ...]
    ) -> None:
        """The last of three is above the second, the second above the first, the unrelated note where it was."""
        answer = notes.add({path: texts()[path] for path in ("other.md", *order)}).ask()

        found = paths(answer)
        assert [path for path in found if path != "other.md"] == ["newest.md", "new.md", "old.md"]
        by_relevance = sorted(answer.results, key=lambda result: -result.relevance)
        assert found.index("other.md") == [r.document.path for r in by_relevance].index("other.md")
        assert [r.score for r in answer.results] == sorted((r.score for r in answer.results), reverse=True)

    def test_a_successor_that_shares_no_word_is_brought_in(self, notes: Notes) -> None:
        """It stands right above what it supersedes, whatever the limit, and says why it is there."""
        notes.add(
            {"old.md": OLD, "new.md": NEW.replace("Honey is sold at the door.", "Closed."), "other.md": OTHER}
        )
        fillers = {f"filler/{n}.md": f"Where the honey goes, note {n}.\n" for n in range(120)}
        for path, text in fillers.items():
            (notes.root / path).parent.mkdir(exist_ok=True)
            (notes.root / path).write_text(text, "utf-8")
        notes.update()

        answer = notes.ask(limit=100)
        found = paths(answer)

        place = found.index("old.md")
        assert found[place - 1] == "new.md"
        assert answer.results[place - 1].terms == {
            "succession": pytest.approx(answer.results[place].score, abs=0.001)
        }
        assert answer.results[place - 1].snippet().text


class TestPins:
    @pytest.mark.parametrize(("head", "pinned"), [("true", True), ("false", False), ("maybe", False)])
    def test_by_the_note(self, notes: Notes, head: str, pinned: bool) -> None:
        """A note pins itself by saying so, and no longer when it stops."""
        notes.add({"a.md": f"---\npinned: {head}\n---\nA.\n"})
        assert fetched(notes, "a.md").is_pinned is pinned

        notes.add({"a.md": "A, without a head.\n"})
        assert not fetched(notes, "a.md").is_pinned

    @pytest.mark.parametrize("head", ["", "---\npinned: true\n---\n"])
    def test_by_command(self, notes: Notes, head: str) -> None:
        """A pin that was set by command outlives every reading of the file, whatever the file says."""
        notes.add({"a.md": f"{head}A.\n"})
        notes.vault.storage.db.write("update documents set pinned = 1")

        notes.update(force=True)
        notes.add({"a.md": "A, changed.\n"})

        assert fetched(notes, "a.md").is_pinned
        assert not fetched(notes, "a.md").pinned_in_note


@pytest.mark.parametrize(
    ("head", "confidence"), [("confidence: 0.3", 0.3), ("confidence: 7", 0.5), ("tags: [a]", 0.5)]
)
def test_how_sure_a_note_is(notes: Notes, head: str, confidence: float) -> None:
    """A note may say how far it is to be trusted; what is no share counts as unsaid."""
    notes.add({"a.md": f"---\n{head}\n---\nA.\n"})

    assert fetched(notes, "a.md").confidence == confidence


def texts() -> dict[str, str]:
    return {"old.md": OLD, "new.md": NEW, "newest.md": NEWEST, "other.md": OTHER}


def fetched(notes: Notes, path: str) -> Document:
    document = notes.vault.documents.at("notes", path)
    assert document is not None
    return document
