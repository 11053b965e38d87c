"""Facts of conversations become memories with quotes."""

from __future__ import annotations

from pathlib import Path

from command_line import Invoke, ask_json
from mined_talks import BREAD, PLANS, documents, mined, text_of, write_export


def test_facts_are_drawn_by_rules_and_go_with_their_source(invoke: Invoke, tmp_path: Path) -> None:
    """Without a model, decisions, preferences and problems become memories that quote, are not repeated, and are forgotten."""
    export = write_export(tmp_path / "export", "chatgpt", PLANS, BREAD)
    drawn = mined(invoke, export, "--synthesize")["synthesis"]
    again = mined(invoke, export, "--synthesize")["synthesis"]

    assert (drawn["docsScanned"], drawn["llmFailures"], drawn["stopped"]) == (2, 0, "")
    assert drawn["factsSaved"] == drawn["factsExtracted"] >= 1
    assert (again["docsScanned"], again["factsSaved"]) == (0, 0)
    facts = {one["title"]: one for one in documents(invoke).values() if "synthesized/" in one["file"]}
    decision = facts["We decided to sell the old dinghy, because nobody rows any more"]
    assert (decision["content_type"], decision["origin"], decision["authored_at"][:10]) == (
        "decision",
        "imported",
        "2025-06-01",
    )
    assert "conversations/chatgpt/" in text_of(invoke, decision["file"])
    done = ask_json(invoke, "mine", "--forget", "chatgpt", "--yes")
    assert (len(done["also_forgotten"]), documents(invoke)) == (len(facts), {})
