"""Front matter as an answer: telling properties are quoted, technical ones are not."""

from __future__ import annotations

import pytest
from command_line import Invoke

NOTES = {
    "decisions/2025-07-01-entry-by-password.md": "---\ndate: 2025-07-01\n---\n# Old entry\n\nEverybody types a phrase.\n",
    "decisions/2025-11-04-entry.md": "---\ndate: 2025-11-04\nsupersedes: [decisions/2025-07-01-entry-by-password.md]\n"
    "cssclasses: [wide-parchment]\nsupplier: Gloria Ironworks\n---\n# Entry\n\n"
    "Members come in by a key fob.\n\nA password is not needed.\n",
}


@pytest.mark.parametrize("question", ["entry by password", "does entry need passwords", "wide parchment"])
@pytest.mark.parametrize("way", ["query", "search"])
def test_technical_properties_are_not_quoted(indexed: Invoke, way: str, question: str) -> None:
    """A match in ``supersedes`` or ``cssclasses`` never is the shown line."""
    shown = indexed(way, "--all", question).output

    assert "supersedes:" not in shown
    assert "cssclasses" not in shown
