"""Descriptions of folders in the config file stand with every result and above every text."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke, ask_json, write_file, write_notes
from interface_world import InterfaceWorld, interface_world

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")

NOTE, OTHER = "notes/decisions/redis.md", "notes/bees.md"
TEXT = "# Sessions in Redis\n\nLogin sessions live in Redis.\n"
EVERYTHING, COLLECTION = "All notes of a rowing club.", "Notes of the board --> and of nobody else."
CONTEXT = f"{EVERYTHING}\n\n{COLLECTION}\n\nDecisions that hold."
CONFIG = {
    "global_context": EVERYTHING,
    "collections": {
        "notes": {
            "path": "~/notes",
            "context": {"decisions": "Decisions that hold.", "/": COLLECTION, "dec": "Another folder."},
        }
    },
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InterfaceWorld]:
    home = tmp_path_factory.mktemp("contexts")
    write_file(home / "notes" / "decisions" / "redis.md", TEXT)
    (home / "notes" / "bees.md").write_text("# Bees\n\nBees fly at ten degrees.\n", "utf-8")
    (home / ".config" / "clawmem").mkdir(parents=True)
    config = json.dumps(CONFIG).replace("~", str(home))
    (home / ".config" / "clawmem" / "config.yaml").write_text(config, "utf-8")
    with interface_world(home) as made:
        yield made


SEARCHES: dict[str, Callable[[InterfaceWorld], Any]] = {
    "search": lambda one: one.json("search", "login sessions Redis"),
    "query": lambda one: one.json("query", "where do login sessions live"),
    "vsearch": lambda one: one.json("query", "--mode", "vectors", "login sessions in Redis"),
    "retrieve": lambda one: one.json("query", "--mode", "auto", "where do login sessions live"),
    "intent-search": lambda one: one.json("query", "--mode", "intent", "why do login sessions live in Redis"),
    "plan": lambda one: one.json("query", "--mode", "plan", "where do login sessions live"),
    "similar": lambda one: one.json("links", "--similar", OTHER),
}


@pytest.mark.parametrize("way", SEARCHES)
def test_results_have_the_context(world: InterfaceWorld, way: str) -> None:
    """The global description comes first, then those of the folders, the outermost first."""
    assert {one["file"]: one for one in SEARCHES[way](world)["results"]}[NOTE]["context"] == CONTEXT


def test_a_description_is_embedded_with_the_notes_below(invoke: Invoke, notes: Path, home: Path) -> None:
    """After a reindex, a question by its words finds notes without them; verify takes no description for damage."""
    write_notes(notes, {"a/x.md": "# Monday\n\nIt rained.\n", "b/y.md": "# Tuesday\n\nThe sun shone.\n"})
    invoke("bootstrap", notes)
    config = home / ".config/clawmem/config.yaml"
    before = config.read_text("utf-8")
    config.write_text(f"{before}    context: {{b: Trips of the sailing boat.}}\n", "utf-8")
    assert invoke("doctor", "--verify").exit_code == 0

    for command in (("update", "--all"), ("embed",)):
        invoke(*command)

    assert [
        one["file"]
        for one in ask_json(invoke, "query", "--mode", "vectors", "sailing boat", "-n", 1)["results"]
    ] == ["notes/b/y.md"]
    assert invoke("doctor", "--verify").exit_code == 0
    config.write_text(before, "utf-8")
    assert invoke("doctor", "--verify").exit_code == 0
    invoke("update", "--all")
    invoke("embed")
    assert invoke("doctor", "--verify").exit_code == 0
