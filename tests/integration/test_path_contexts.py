"""Descriptions of folders in the config file stand with every result and above every text."""

from __future__ import annotations

import json
from pathlib import Path

from command_line import Invoke, ask_json, write_file, write_notes

NOTE, OTHER = "notes/decisions/redis.md", "notes/bees.md"
TEXT = "# Sessions in Redis\n\nLogin sessions live in Redis.\n"
EVERYTHING, COLLECTION = "All notes of a rowing club.", "Notes of the board --> and of nobody else."
CONTEXT = f"{EVERYTHING}\n\n{COLLECTION}\n\nDecisions that hold."
MODES = ("hybrid", "vectors", "auto", "intent", "plan")
CONFIG = {
    "global_context": EVERYTHING,
    "collections": {
        "notes": {
            "path": "~/notes",
            "context": {"decisions": "Decisions that hold.", "/": COLLECTION, "dec": "Another folder."},
        }
    },
}


def test_results_have_the_context(invoke: Invoke, home: Path) -> None:
    """The global description comes first, then those of the folders, the outermost first."""
    write_file(home / "notes/decisions/redis.md", TEXT)
    write_file(home / "notes/bees.md", "# Bees\n\nBees fly at ten degrees.\n")
    write_file(home / ".config/clawmem/config.yaml", json.dumps(CONFIG).replace("~", str(home)))
    assert invoke("bootstrap", home / "notes").exit_code == 0

    searches = (
        ("search", "login sessions Redis"),
        *(("query", "--mode", mode, "why do login sessions live in Redis") for mode in MODES),
        ("links", "--similar", OTHER),
    )
    for words in searches:
        results = {result["file"]: result for result in ask_json(invoke, *words)["results"]}
        assert results[NOTE]["context"] == CONTEXT, words


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
