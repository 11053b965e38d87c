"""Misspelt questions on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Invoke, write_notes

NOTES = {
    "choir.md": "# Choir\n\nThe schedule of the choir: Thursdays at eight in the old mill.\n",
    "plumber.md": "# Plumber\n\nInvoice of the plumber for the bath: 1 150.\n",
    "garden.md": "# Garden\n\nThe beans stand behind the mill. What grows, grows.\n",
    "maria.md": "# Maria\n\nMaria keeps the spare key.\n",
}
Ask = Callable[..., dict[str, object]]


@pytest.fixture
def asked(invoke: Invoke, tmp_path: Path) -> Ask:
    """The answer to a question as JSON."""
    write_notes(tmp_path / "vault", NOTES)
    assert invoke("bootstrap", tmp_path / "vault").exit_code == 0

    def ask(verb: str, *words: str) -> dict[str, object]:
        shown = invoke(verb, *words, "--json", "--explain")
        assert shown.exit_code == 0, shown.output
        found: dict[str, object] = json.loads(shown.stdout)
        return found

    return ask


def _first(found: dict[str, object]) -> str:
    results = found["results"]
    assert isinstance(results, list)
    return str(results[0]["path"]) if results else ""


@pytest.mark.parametrize("verb", ["search", "query", "vsearch"])
def test_misspelt_words_find_their_note(asked: Ask, verb: str) -> None:
    """The trace says how the words were read."""
    found = asked(verb, "shedule of the chior")

    assert _first(found) == "choir.md"
    assert "'chior' read as 'choir'" in json.dumps(found)
    assert _first(asked(verb, "invioce of the plummer")) == "plumber.md"


@pytest.mark.parametrize(
    "question", ["where is the schedule of the choir", "who sells wheat", "does Marta keep a key"]
)
def test_other_words_are_left_alone(asked: Ask, question: str) -> None:
    """Known words, English words and short names are not corrected."""
    assert "read as" not in json.dumps(asked("query", question))
