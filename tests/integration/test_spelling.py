"""Misspelt questions on the command line."""

from __future__ import annotations

import json

import pytest
from command_line import Invoke, ask_json, found_paths

NOTES = {
    "choir.md": "# Choir\n\nThe schedule of the choir: Thursdays at eight in the old mill.\n",
    "plumber.md": "# Plumber\n\nInvoice of the plumber for the bath: 1 150.\n",
    "todo.md": "# To do\n\nPrint the schedule for the choir, file the invoice, thank the plumber.\n",
    "garden.md": "# Garden\n\nThe beans stand behind the mill. What grows, grows.\n",
    "rudern.md": "# Rudern\n\nDas Training ist donnerstags um sieben am Bootshaus, das Ruder liegt im Keller, wo man klopft.\n",
    "soup.md": "# Soupe de montage\n\nLe montage dure deux jours; on mange la soupe.\n",
    "tent.md": "# Tent\n\nFor the montage bring stakes; it is in the shed.\n",
    "maria.md": "# Maria\n\nMaria is the one who keeps the spare key, and a man has it in her shed.\n",
}


@pytest.mark.parametrize("verb", ["search", "query", "query --mode vectors"])
def test_misspelt_words_find_their_note(indexed: Invoke, verb: str) -> None:
    """The answer and its trace say how the words were read."""
    found = ask_json(indexed, *verb.split(), "shedule of the chior", "--explain")

    assert found["results"][0]["path"] == "choir.md"
    assert "'chior' read as 'choir'" in json.dumps(found)
    assert "No note has 'chior': read as 'choir'." in indexed(*verb.split(), "shedule of the chior").stdout
    assert found_paths(indexed, *verb.split(), "invioce of the plumer for the bath")[0] == "plumber.md"


def test_a_compound_is_read_as_its_words(indexed: Invoke) -> None:
    found = ask_json(indexed, "query", "wann ist Rudertraining", "--explain")
    assert found["results"][0]["path"] == "rudern.md"
    assert "'rudertraining' read as 'ruder training'" in json.dumps(found)


@pytest.mark.parametrize(
    "question",
    [
        "the choir",
        "who sells wheat",
        "does Marta keep a key",
        "which mortgage",
        "geht Maria ins Kino",
        "their meaning",
    ],
)
def test_other_words_are_left_alone(indexed: Invoke, question: str) -> None:
    """Known words are not corrected, nor those that differ from a word of the vault by another letter or more."""
    assert "read as" not in indexed("query", question, "--json", "--explain").stdout
