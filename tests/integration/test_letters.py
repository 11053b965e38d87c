"""Words in other spellings on the command line: accents, vowel signs, local letters, emoji."""

from __future__ import annotations

import pytest
from command_line import Invoke, found_paths

NOTES = {
    "athens.md": "# Αθήνα\n\nΤο ξενοδοχείο έχει θέα στην Ακρόπολη.\n",
    "street.md": "# Straße\n\nGroße Straße 12, am Weißbierkeller.\n",
    "heart.md": "# Ærø\n\nLe cœur de Łódź.\n",
    "tree.md": "# Ёлка\n\nКупить мёд у Семёна.\n",
    "book.md": "# کِتاب\n\nقَرَأْتُ الْكِتَابَ.\n",
    "beach.md": "# Trip\n\nThe beach day: 🏖️ and a soft\u00adhyphen.\n",
    "paper.md": "# A\n\nThe résumé of Zoë.\n",
    "return.md": "# B\n\nThe resume of Zoe.\n",
}


@pytest.mark.parametrize(
    ("question", "name"),
    {
        "ΑΚΡΟΠΟΛΗ ξενοδοχειο": "athens",
        "grosse strasse": "street",
        "WEISSBIERKELLER": "street",
        "coeur lodz": "heart",
        "aero": "heart",
        "елка мед": "tree",
        "كتاب": "book",
        "🏖": "beach",
        "softhyphen": "beach",
        "resume": "return",
        "résumé": "paper",
    }.items(),
)
def test_a_word_is_found_in_another_spelling_and_first_in_its_own(
    indexed: Invoke, question: str, name: str
) -> None:
    assert found_paths(indexed, "search", question)[0] == f"{name}.md"
