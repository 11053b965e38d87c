"""Facts of conversations become memories with quotes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Invoke, ask_json
from mined_talks import BREAD, PLANS, documents, mined, text_of, write_export
from scripted_server import ReceivedRequest, ScriptedReply, ScriptedServer, said


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


def test_links_to_memories_of_later_runs(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link is resolved when a memory with its title appears; one that has no form is dropped alone."""

    def answer(asked: ReceivedRequest) -> ScriptedReply:
        if asked.body is None:
            return said({"data": [{"id": "small"}]})
        title, quote = "The loaf", "My sourdough loaf collapses in the oven, what is going wrong?"
        if "dinghy" in str(asked.body):
            title, quote = "The boat", "We decided to sell the old dinghy, because nobody rows any more."
        links = [{"targetTitle": "The boat", "relationType": "causal"}, {"targetTitle": 3}]
        entry = {"type": "decision", "title": title, "quote": quote, "links": links}
        content = json.dumps({"observations": [entry]})
        return said({"choices": [{"message": {"content": content}, "finish_reason": "stop"}]})

    server = ScriptedServer(answer)
    monkeypatch.setenv("CLAWMEM_LLM_URL", server.url)
    export = write_export(tmp_path / "export", "chatgpt", PLANS, BREAD)
    words = ("mine", "--no-embed", "--json", export, "--synthesize", "--synthesis-max-docs", "1")
    runs = [json.loads(invoke(*words).stdout)["synthesis"] for _ in range(2)]
    server.close()

    assert [(run["linksResolved"], run["linksUnresolved"]) for run in runs] == [(0, 1), (1, 1)]
    loaf = next(one["file"] for one in documents(invoke).values() if one["title"] == "The loaf")
    assert [one["title"] for one in ask_json(invoke, "links", loaf, "--causes")["links"]] == ["The boat"]


def test_a_conversation_that_fails_three_times_is_skipped(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds up no other one, and is counted; a long one is refused by the model, another answered without JSON."""

    def answer(asked: ReceivedRequest) -> ScriptedReply:
        if asked.body is None:
            return said({"data": [{"id": "small"}]})
        if "dinghy" in str(asked.body):
            return said({"error": {"message": "the context is too small"}}, 400)
        text = "no idea" if "sourdough" in str(asked.body) else '{"observations": []}'
        return said({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]})

    server = ScriptedServer(answer)
    monkeypatch.setenv("CLAWMEM_LLM_URL", server.url)
    export = write_export(tmp_path / "export", "chatgpt", PLANS, BREAD)
    words = ("mine", "--no-embed", "--json", str(export), "--synthesize")
    runs = [json.loads(invoke(*words).stdout)["synthesis"] for _ in range(4)]
    server.close()

    assert [(run["docsScanned"], run["llmFailures"], run["docsSkipped"]) for run in runs] == [
        *[(2, 2, 0)] * 3,
        (0, 0, 2),
    ]
    assert {run["stopped"] for run in runs} == {""}
