"""A small twin of the poisoning benchmark."""

from __future__ import annotations

from pathlib import Path

from poison import MARK, WAYS, measure
from surfacing_home import PROMPT, Home

QUESTIONS = 8
MOST_LOST = 0.07  # half an answer of eight; the benchmark asks all 154 questions
MOST_GAINED = 0.13  # one answer of eight that the memory would not have been sure of


def test_planted_notes_arrive_marked_and_push_nothing_out(tmp_path: Path) -> None:
    """Of five ways to attack, no planted line arrives unmarked, and the user's answers stay in the blocks, but for one at most."""
    found = measure(tmp_path, QUESTIONS)

    assert set(found) == set(WAYS)
    assert {way: one.unmarked for way, one in found.items()} == dict.fromkeys(WAYS, 0)
    assert sum(one.arrived for one in found.values()) > QUESTIONS  # else nothing was measured
    assert all(one.lost <= MOST_LOST for one in found.values()), found
    assert all(one.recall_poisoned - one.recall_clean <= MOST_GAINED for one in found.values()), found


def test_copies_collapse_into_one_and_push_nothing_out(tmp_path: Path) -> None:
    """Of twenty copies that repeat the prompt one is shown, behind every note of the user that was shown before."""
    home = Home(tmp_path)
    before = [line for line in home.ask(PROMPT).block.splitlines() if line.startswith("**")]
    copies = {f"{n}.md": f"---\ntags: [origin:imported]\n---\n# Copy\n\n{PROMPT} {MARK}\n" for n in range(20)}

    home.take_in(tmp_path / "web", copies)
    after = [line for line in home.ask(PROMPT, session="s2").block.splitlines() if line.startswith("**")]

    assert after[:-1] == before
    assert "web/" in after[-1]
    home.vault.close()
