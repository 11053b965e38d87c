"""Questions in other words than the note that answers."""

from __future__ import annotations

import pytest
from notes_vault import NotesVault, paths
from vault_stores import retrieval_stores

from clawmem.adapters.models.local import StaticEmbedder, StaticWords
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.pipelines import query
from clawmem.app.services.retrieval.request import Unit, read_request

NOTES = {
    "garage.md": "# Garage\n\nThe Volvo was towed after the crash; the mechanic wants 900 euros for the axle.\n",
    "talk.md": "# Talk\n\nWhat keeps a reader? Keep every paragraph short, put the claim first.\n",
    "cellar.md": "# Cellar\n\nThe shelf for jars came from the market; plums, pears, beans.\n",
    "letter.md": "# Letter\n\nAunt Vera writes that the choir has a new conductor.\n",
}
NOTE = "vectors count"


def ask(notes: NotesVault, text: str, unit: Unit = Unit.DOCUMENT) -> Answer:
    request = read_request(text, now_ms=1_780_000_000_000, unit=unit)
    return query(retrieval_stores(notes.vault), StaticEmbedder(), StaticWords())(request)


def said(answer: Answer) -> list[str]:
    return [note for stage in answer.trace.stages for note in stage.notes if NOTE in note]


@pytest.fixture
def notes(notes_vault: NotesVault) -> NotesVault:
    notes_vault.embedder = StaticEmbedder()
    notes_vault.take_in(NOTES)
    return notes_vault


def test_vectors_decide_against_a_chance_match(notes: NotesVault) -> None:
    """The one common word of another note does not outweigh the meaning, and the trace tells why."""
    answer = ask(notes, "what would it cost to put my automobile right")

    assert paths(answer)[0] == "garage.md"
    assert len(said(answer)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "why keep every paragraph short",
        "what happened to my automobile in May 2024",
        "latest bill for my automobile",
    ],
)
def test_words_and_named_times_stay(notes: NotesVault, text: str) -> None:
    """A question in the words of a note, for a time, or for the newest is ranked as before."""
    assert said(ask(notes, text)) == []
