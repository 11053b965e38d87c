"""What of an answer stands in a block, by the script that measures it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Invoke
from surfacing import Gold, Prompts, gold_of, judged

from clawmem.app.bench.collection import JudgedCollection, JudgedQuery

TURN = "Ann: The boat lies in Moss & waits for spring, because its mast is at the joiner's until the ice is gone."
SPELT = TURN.replace("&", "&amp;")
GOLD = Gold(("chat/may.md",), (SPELT, "Bob: In June we sail to Arendal and stay there for a week or two."))
QUERY = JudgedQuery("q1", "where is the boat?", "places", "chat")


@pytest.mark.parametrize(
    ("block", "found"),
    [
        ("", (0, 0, 0)),
        ("**May** chat/may.md:5, 2026-05-01\nsomething else of the same note", (1, 0, 0)),
        (f"**May** chat/may.md:5, 2026-05-01\n{SPELT}", (1, 1, 1)),
        (f"**May** chat/may.md:5, 2026-05-01\n{SPELT[:60]}…", (1, 1, 0)),
        (f"**May** other/may.md:5, 2026-05-01\n{SPELT[:12]}...", (0, 0, 0)),
    ],
)
def test_what_stands_in_a_block(block: str, found: tuple[int, int, int]) -> None:
    """Nothing, the file, the whole turn, a part of it, and what is too short to be more than coincidence."""
    assert judged(block, GOLD)[1:] == found
    assert bool(judged(block, GOLD).tokens) == bool(block)


def test_gold_is_spelt_as_blocks_spell_it(tmp_path: Path) -> None:
    """From the lines of the files that the judgements name, each file once."""
    (tmp_path / "chat").mkdir()
    (tmp_path / "chat" / "may.md").write_text(f"# May\n\n**Ann:** {TURN[5:]}\n\nBob: Yes.\n", "utf-8")
    lines = {"chat/may": [(3, "a1"), (5, "b1")]}
    collection = JudgedCollection(tmp_path, (QUERY,), {"q1": {"a1": 1, "b1": 1}}, lines)

    assert gold_of(QUERY, collection) == Gold(("chat/may.md",), (SPELT, "Bob: Yes."))


def test_the_hook_is_asked(tmp_path: Path, invoke: Invoke, bootstrapped: Path) -> None:
    """Over the vault that is named, in the profile that is named, and it writes nothing down."""
    prompts = Prompts(tmp_path / "home" / ".cache" / "clawmem" / "index.sqlite")

    block = prompts.block("Where do login sessions live, and for how many days?", "s1", "balanced")

    assert "Login sessions live in Redis for 14 days." in block
    assert not prompts.block("who won the football world cup?", "s2", "speed")
    assert json.loads(invoke("why", "--json").stdout)["receipts"] == []
