"""Facts of conversations become memories with quotes."""

from __future__ import annotations

import json
from pathlib import Path

from command_line import Invoke, ask_json
from mined_talks import BOAT, BREAD, PLANS, documents, mined, text_of, write_export
from wired import mine_conversations, synthesize_facts

from clawmem.adapters.conversations.exports import DiskExports
from clawmem.adapters.files.transcripts import messages_in
from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.models import ScriptedGenerator
from clawmem.app.services.conversations.mining import MiningOptions
from clawmem.ports.vault import Vault


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
    done = ask_json(invoke, "mine", "--forget", "chatgpt", "--yes")["forgotten"]
    assert (done["derived"], documents(invoke)) == (len(facts), {})


def answers(prompt: str) -> str:
    """Answer as a model: a fact of each conversation, with links by title."""
    if "dinghy" in prompt:
        links = [
            {"targetTitle": "shorten the  rise", "relationType": "semantic", "weight": 0.9},
            {"targetTitle": "Sell the dinghy", "relationType": "causal"},
            {"targetTitle": "Nothing of that name", "relationType": "causal"},
        ]
        quote = "We decided to sell the old dinghy, because nobody rows any more."
        return json.dumps(
            [{"title": "Sell the dinghy", "contentType": "decision", "quote": quote, "links": links}]
        )
    if "sourdough" in prompt:
        quote = "It is overproofed: shorten the second rise to three hours."
        fact = {"title": "Shorten the rise", "contentType": "problem", "quote": quote}
        return json.dumps([{**fact, "aliases": ["Shorter second rise"]}])
    return "[]"


def test_facts_are_drawn_by_a_model(vault: Vault, clock: ManualClock, tmp_path: Path) -> None:
    """Two passes count facts and links; a link to itself or to nothing is unresolved, and calls are charged and limited."""
    exports = DiskExports(messages_in, lambda data: data.decode())
    clock.set(int(PLANS.turns[-1].at * 1000))
    write_export(tmp_path, "chatgpt", PLANS, BREAD, BOAT)
    mine_conversations(vault, clock, exports)([str(tmp_path)], MiningOptions("conversations"))
    model = ScriptedGenerator(answers)

    limited = synthesize_facts(vault, clock, model, calls_a_day=1)("conversations")
    report = synthesize_facts(vault, clock, model)("conversations")

    assert (limited.docsScanned, limited.factsSaved) == (1, 1)
    assert "limit of 1 calls" in limited.stopped
    assert (report.docsScanned, report.factsExtracted, report.factsSaved) == (2, 1, 1)
    assert (limited.linksResolved, limited.linksUnresolved) == (0, 0)
    assert (report.linksResolved, report.linksUnresolved) == (1, 2)
    assert (report.docsWithNoFacts, report.llmFailures) == (1, 0)
    assert [(one.purpose, one.calls) for one in vault.ledger.totals()] == [("mine-synthesis", 3)]
    failing = synthesize_facts(vault, clock, ScriptedGenerator(lambda prompt: "no JSON"))
    assert failing("conversations").docsScanned == 0
