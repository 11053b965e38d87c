"""The profile page of a damaged vault: it is generated again, and nobody is told to forget it."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Invoke, write_notes
from damaged_home import SOUND

TEXT = b"Redis for sessions because it is quick. (notes/"
NOTES = {
    "decisions/a.md": "# Use Redis\n\nWe decided to use Redis for sessions because it is quick.\n",
    "b.md": "# Boat\n\nThe boat lies in Moss.\n",
}


@pytest.mark.parametrize("has_decisions", [True, False])
@pytest.mark.parametrize("word", [b"\xff\xff\xff\xff\xff", b"Ready"], ids=["lost", "spoilt"])
def test_the_profile_page(invoke: Invoke, tmp_path: Path, word: bytes, has_decisions: bool) -> None:
    """It says what the notes say now, or does not exist."""
    write_notes(tmp_path / "notes", NOTES)
    for command in ("update", "profile"):
        assert invoke(command).exit_code == 0
    if not has_decisions:
        (tmp_path / "notes/decisions/a.md").unlink()
        assert invoke("update").exit_code == 0
    vault = tmp_path / "vault.sqlite"
    content = vault.read_bytes()
    assert TEXT in content
    vault.write_bytes(content.replace(TEXT, word + TEXT[5:]))
    assert "Run: clawmem doctor --repair" in invoke("verify").output

    said = invoke("doctor", "--repair", "--yes").stdout

    assert "profile.md" not in said
    assert "Nothing was lost." in said
    assert invoke("verify").stdout == SOUND
    assert ("Redis" in invoke("profile").stdout) is has_decisions
    assert invoke("verify").stdout == SOUND
