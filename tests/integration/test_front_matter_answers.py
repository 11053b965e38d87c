"""Front matter as an answer: telling properties are quoted, technical ones are not."""

from __future__ import annotations

import pytest
from command_line import Invoke, ask_json

NOTES = {
    "decisions/2025-07-01-entry-by-password.md": "---\ndate: 2025-07-01\n---\n# Old entry\n\nEverybody types a phrase.\n",
    "decisions/2025-11-04-entry.md": "---\ndate: 2025-11-04\nsupersedes: [decisions/2025-07-01-entry-by-password.md]\n"
    "cssclasses: [wide-parchment]\nsupplier: Gloria Ironworks\n---\n# Entry\n\n"
    "Members come in by a key fob.\n\nA password is not needed.\n",
    "books/The Living Mountain.md": "---\nauthor: Nan Shepherd\ntype: book\n---\nA plateau in all weathers.\n",
    "books/Orlando.md": "author:: [[Virginia Woolf]]\ntype:: book\n\n- Lives four hundred years.\n",
    "people/Nan.md": "# Nan\n\nMy neighbour likes books about birds.\n",
    "people/Virginia Woolf.md": "# Virginia Woolf\n\nWrote books and letters.\n",
    "market/Kayak.md": "---\nstatus: for-sale\n---\nFibreglass, one hatch leaks.\n",
    "market/Sale.md": "# Sale\n\nThe yard sale was fun.\n",
}


@pytest.mark.parametrize("question", ["entry by password", "does entry need passwords", "wide parchment"])
@pytest.mark.parametrize("way", ["query", "search"])
def test_technical_properties_are_not_quoted(indexed: Invoke, way: str, question: str) -> None:
    """A match in ``supersedes`` or ``cssclasses`` never is the shown line."""
    shown = indexed(way, "--all", question).output

    assert "supersedes:" not in shown
    assert "cssclasses" not in shown


@pytest.mark.parametrize(
    ("question", "path", "line"),
    [
        ("book by Nan Shepherd", "books/The Living Mountain.md", "author: Nan Shepherd"),
        ("which books are by Virginia Woolf", "books/Orlando.md", "author:: [[Virginia Woolf]]"),
        ("who is Virginia Woolf", "people/Virginia Woolf.md", "Wrote books and letters."),
        ("what is for sale?", "market/Kayak.md", "status: for-sale"),
        ("the yard sale", "market/Sale.md", "The yard sale was fun."),
    ],
)
def test_properties_in_plain_words(indexed: Invoke, question: str, path: str, line: str) -> None:
    """A note comes first whose properties describe all of the question; the name of another note alone does not."""
    first = ask_json(indexed, "query", question)["results"][0]

    assert (first["path"], line in first["snippet"]) == (path, True)
