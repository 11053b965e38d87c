"""A vault that holds no vectors yet: every door says so in the same words, and of the same questions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke
from mcp import Client
from server_process import ServerProcess, serving

from clawmem.app.client.tool_sets import ToolSet
from clawmem.app.interfaces.mcp.server import make_server
from clawmem.app.serve.runtime import Dispatcher
from clawmem.app.services.retrieval.retrievers import NO_VECTORS
from clawmem.app.settings.model import load_settings

REDIS = "notes/decisions/2026-02-11-redis.md"
# By command, route and tool, with what each is told beside the question.
QUESTIONS: tuple[tuple[str, str, str, dict[str, Any], bool], ...] = (
    ("search", "/search", "search", {"mode": "keyword"}, False),
    ("query", "/query", "query", {}, True),
    ("intent-search", "/intent-search", "intent_search", {}, True),
    ("plan", "/plan", "query_plan", {}, True),
    ("retrieve", "/retrieve", "memory_retrieve", {}, True),
)
QUESTION = "how do login sessions of Redis work"


@pytest.fixture
def server(invoke: Invoke, notes: Path, environ: dict[str, str], home: Path) -> Iterator[ServerProcess]:
    """Of a vault that was filled, and not embedded; a watcher would do it."""
    invoke("bootstrap", notes, "--skip-embed")
    with serving(environ, home, "--port", "0", "--no-watch") as one:
        yield one


def test_what_is_degraded(invoke: Invoke, server: ServerProcess) -> None:
    """Not one door keeps silent about what another says; what is found by words alone lacks nothing."""
    for verb, route, tool, more, is_lacking in QUESTIONS:
        said = invoke(verb, QUESTION).stderr
        told = json.loads(server.ask("POST", route, {"query": QUESTION, **more}).body)["degraded"]
        answered = _called(tool, query=QUESTION)["degraded"]

        expected = {"vector": NO_VECTORS} if is_lacking else {}
        assert (verb, told, answered) == (verb, expected, expected)
        assert (f"degraded: vector: {NO_VECTORS}\n" in said) == is_lacking
    by_words = server.ask("POST", "/retrieve", {"query": QUESTION, "mode": "keyword"})
    assert json.loads(by_words.body)["degraded"] == {}


def test_what_is_refused(invoke: Invoke, server: ServerProcess) -> None:
    """What only vectors could answer."""
    for verb, route, tool, asked in (
        ("vsearch", "/vsearch", "vsearch", {"query": QUESTION}),
        ("similar", f"/graph/similar/{REDIS}", "find_similar", {"file": REDIS}),
    ):
        done = invoke(verb, *asked.values())
        heard = server.ask(*(("POST", route, asked) if verb == "vsearch" else ("GET", route)))
        sentence = done.stderr.removeprefix("clawmem: ").strip()

        assert (done.exit_code, heard.status) == (6, 409)
        assert sentence.endswith(NO_VECTORS)
        assert json.loads(heard.body)["error"] == _called(tool, **asked) == sentence


def _called(tool: str, **arguments: Any) -> Any:
    """What a tool says: in parts, or the sentence of its refusal."""

    async def session() -> Any:
        async with Client(make_server(Dispatcher(load_settings), ToolSet.ALL)) as client:
            result = await client.call_tool(tool, arguments)
            return result.content[0].text if result.is_error else result.structured_content

    return asyncio.run(session())
