"""The Model Context Protocol with the official client: a process of its own, a bridge to a server, HTTP."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import write_file
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS
from mcp_home import POSTGRES, QUESTION, REDIS, Home, bootstrapped_home, over_http, over_stdio, text_of
from programs import run_program
from server_process import ServerProcess, serving

from clawmem.app.bootstrap.opening import open_services
from clawmem.app.interfaces.mcp.server import CODE
from clawmem.app.settings.model import load_settings
from clawmem.contracts.entities import entity
from clawmem.domain.documents.identity import body_hash
from clawmem.ports.knowledge import Triple

FERRY = f"#{body_hash('The ferry to Moss leaves at nine.')}"

# Every tool of clawmem, and something that stands in its answer.
CALLS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("__IMPORTANT", {}, "Begin with memory_retrieve"),
    ("memory_retrieve", QUESTION, "[routed: hybrid]"),
    ("memory_retrieve", {"query": "where were we last session", "mode": "timeline"}, "[routed: timeline]"),
    ("query", {**QUESTION, "intent": "hosting", "min_score": 0.1, "candidate_limit": 2}, "redis.md"),
    ("search", {**QUESTION, "compact": False, "collection": "notes"}, "14 days"),
    ("vsearch", QUESTION, "sessions"),
    ("intent_search", {"query": "why Postgres", "force_intent": "WHY"}, "asks for: WHY"),
    ("query_plan", {"query": "where do sessions live and also what is green", "limit": 3}, "priority"),
    ("get", {"file": REDIS, "from_line": 3, "max_lines": 1, "line_numbers": True}, "from line 3"),
    ("multi_get", {"pattern": "notes/**/*.md"}, "redis.md"),
    ("find_similar", {"file": REDIS}, "postgres.md"),
    ("list_tasks", {"until": "tomorrow"}, "No open task"),
    ("links", {"file": REDIS}, "No link, or"),
    ("list_tags", {}, "No note has a tag"),
    ("timeline", {"docid": POSTGRES, "same_collection": True}, "written"),
    ("session_log", {}, "No session is recorded."),
    ("kg_query", {"entity": "Ann", "direction": "outgoing"}, "Ann → keeps → box (since 2"),
    ("find_entities", {"query": "ann"}, "Ann  "),
    ("memory_evolution_status", {"docid": REDIS, "limit": 1}, "There is no note about"),
    ("beads_sync", {"project_path": str(Path(__file__).parents[1] / "data" / "beadsproject")}, "created: 2"),
    ("build_graphs", {"graph_types": ["temporal"]}, "temporal: "),
    ("find_causal_links", {"docid": REDIS}, "No causes or effects"),
    ("status", {}, "documents"),
    ("index_stats", {}, "past review"),
    ("list_vaults", {}, "spare"),
    ("list", {"limit": 2}, ".md"),
    ("profile", {}, ""),
    ("reindex", {}, "0 added, 0 updated"),
    ("embed", {}, "Vectors: "),
    ("diary_write", {"entry": "The ferry to Moss leaves at nine.", "topic": "boats"}, "-boats.md"),
    (
        "memory_remember",
        {"text": "The ferry takes bicycles.", "collection": "notes"},
        "Saved: notes/_clawmem/",
    ),
    ("diary_read", {"last_n": 1}, "The ferry"),
    ("diary_read", {"agent": "new"}, "no such entry"),
    ("memory_pin", {"query": POSTGRES}, "pinned"),
    ("memory_pin", {"query": POSTGRES, "unpin": True}, "not pinned"),
    ("memory_snooze", {"query": POSTGRES, "until": "2999-01-01"}, "until 2999-01-01"),
    ("memory_snooze", {"query": POSTGRES}, "not snoozed"),
    ("memory_forget", {"query": FERRY, "confirm": True}, "forgotten"),
    ("lifecycle_status", {}, "forgotten: 1"),
    ("lifecycle_sweep", {}, "dry run: yes"),
    ("lifecycle_restore", {"all": True}, "No document was restored"),
)

# What cannot be meant, and the code and the words of the refusal.
REFUSED: tuple[tuple[str, dict[str, Any], str, str], ...] = (
    ("serach", QUESTION, "NOT_FOUND", "Did you mean: search"),
    ("search", {**QUESTION, "colection": "x"}, "INVALID_INPUT", "Did you mean: collection?"),
    ("search", {}, "INVALID_INPUT", "query is missing"),
    ("search", {**QUESTION, "tag": 4}, "INVALID_INPUT", "tag must be a valid string."),
    ("search", {**QUESTION, "tag": "x" * 90_000}, "NOT_FOUND", "xxx … xxx"),
    ("search", {**QUESTION, "limit": 0}, "OUT_OF_BOUNDS", "limit must be greater than or equal to 1"),
    ("search", {"query": "x" * 20_000}, "INPUT_TOO_LONG", "query must have at most 10000"),
    ("search", {**QUESTION, "vault": "work"}, "NOT_FOUND", "Did you mean: spare?"),
    ("get", {"file": "notes/decisions/2026-02-11-redi.md"}, "NOT_FOUND", "redis.md (Keep sessions"),
    ("get", {"file": "../../etc/passwd"}, "PATH_TRAVERSAL", ".."),
    ("memory_forget", {"query": REDIS, "confirm": True}, "CONFIRMATION_REQUIRED", "This would forget notes/"),
    ("memory_pin", {"query": "sessions"}, "NOT_FOUND", "Did you mean: #"),
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    home = bootstrapped_home(tmp_path_factory.mktemp("mcp") / "home")
    with open_services(load_settings(environ=home.environ), create=False) as services:
        note = services.vault.documents.latest()[0].id
        ann, box = entity("Ann", "person"), entity("box", "thing")
        services.vault.entities.set_mentions(note, [ann, box])
        services.vault.triples.add([Triple(ann, "keeps", box, note, "2026-02-11")])
    return home


@pytest.fixture(scope="module")
def server(home: Home) -> Iterator[ServerProcess]:
    with serving(home.environ, home.folder) as one:
        yield one


class TestOneSession:
    """From the first word to every tool, over HTTP, with the client's own check of every answer's schema."""

    def test_every_tool_once(self, home: Home, server: ServerProcess) -> None:
        folder = {"vault": "spare", "content_root": str(home.folder / "memories")}
        calls = (*CALLS, ("vault_sync", folder, "1 added"))

        async def session() -> None:
            async with over_http(server) as client:
                known = {tool.name for tool in (await client.list_tools()).tools}
                assert known == {name for name, _, _ in calls}
                for name, arguments, expected in calls:
                    result = await client.call_tool(name, arguments)
                    assert not result.is_error, (name, text_of(result))
                    assert expected in text_of(result), (name, text_of(result))
                    assert result.structured_content is not None, name

        asyncio.run(session())

    def test_what_cannot_be_meant(self, server: ServerProcess) -> None:
        async def session() -> None:
            async with over_http(server) as client:
                for name, arguments, code, words in REFUSED:
                    result = await client.call_tool(name, arguments)
                    assert result.is_error, name
                    assert (result.meta or {})[CODE] == code, text_of(result)
                    assert words in text_of(result)
                    assert "Traceback" not in text_of(result) and "pydantic" not in text_of(result)

        asyncio.run(session())

    def test_addresses(self, server: ServerProcess) -> None:
        async def session() -> None:
            async with over_http(server) as client:
                read = await client.read_resource(f"clawmem://{REDIS}")
                assert getattr(read.contents[0], "text", "").startswith("# Keep sessions")
                with pytest.raises(Exception, match="No document matches"):
                    await client.read_resource("clawmem://notes/none.md")
                with pytest.raises(MCPError, match="There is no prompt 'briefing'") as refused:
                    await client.get_prompt("briefing")
                assert refused.value.error.code == INVALID_PARAMS

        asyncio.run(session())


class TestWays:
    """The same server object, however it is talked to, in the old and in the new protocol."""

    def test_alone(self, home: Home) -> None:
        self._talk(lambda: over_stdio(home, "--alone", "--tools", "clawmem"))  # the daily tools

    @pytest.mark.parametrize("mode", ["auto", "legacy"])
    def test_over_the_bridge(self, home: Home, server: ServerProcess, mode: str) -> None:
        self._talk(lambda: over_stdio(home, mode=mode))

    def test_a_program_syncs_only_listed_folders(self, home: Home, server: ServerProcess) -> None:
        """Not notes that nobody listed."""
        write_file(home.folder / "diary" / "day.md", "# Monday\n\nRain.\n")

        async def session() -> None:
            async with over_http(server) as client:
                folder = {"vault": "spare", "content_root": str(home.folder / "diary")}
                answer = await client.call_tool("vault_sync", folder)
                assert answer.is_error
                assert "sync_folders" in text_of(answer)

        asyncio.run(session())

    def test_a_server_with_other_named_vaults_is_not_asked(self, home: Home, server: ServerProcess) -> None:
        """The client's own CLAWMEM_VAULTS decide which vault a name means."""
        other = home.folder / "other.sqlite"
        named = {"CLAWMEM_VAULTS": json.dumps({"spare": str(other)})}
        mine = home._replace(environ={**home.environ, **named})
        write_file(home.folder / "other" / "tide.md", "# Tides\n\nThe ferry waits for high water.\n")
        folder = {"vault": "spare", "content_root": str(home.folder / "other")}

        async def session() -> None:
            async with over_stdio(mine) as client:
                await client.call_tool("vault_sync", folder)
                found = await client.call_tool("search", {"query": "high water", "vault": "spare"})
                assert "tide.md" in text_of(found)
            async with over_stdio(home) as client:
                found = await client.call_tool("search", {"query": "high water", "vault": "spare"})
                assert "tide.md" not in text_of(found)

        asyncio.run(session())
        assert other.exists()

    def test_in_the_old_protocol_over_http(self, server: ServerProcess) -> None:
        self._talk(lambda: over_http(server, mode="legacy"))

    def _talk(self, opened: Callable[[], Any]) -> None:
        async def session() -> None:
            async with opened() as client:
                assert client.instructions.startswith("clawmem is the memory")
                asked = (
                    client.call_tool("query", {**QUESTION, "limit": n, "show_all": True}) for n in range(1, 5)
                )
                results = await asyncio.gather(*asked)
                assert all("redis.md" in text_of(one) and not one.is_error for one in results)
                refused = await client.call_tool("get", {"file": "nothing.md"})
                assert refused.is_error and (refused.meta or {})[CODE] == "NOT_FOUND"

        asyncio.run(session())

    def test_the_proxy_imports_nothing_heavy(self, home: Home, server: ServerProcess) -> None:
        code = (
            "import sys; sys.argv = ['clawmem', 'mcp']\nfrom clawmem.app.main import main\n"
            "try: main()\nfinally: print(*sys.modules, file=sys.stderr)"
        )
        done = run_program(code, env=home.environ, cwd=home.folder, stdin=subprocess.DEVNULL)
        loaded = {name.split(".")[0] for name in done.stderr.split()}

        assert "clawmem" in loaded and done.stdout == ""
        assert not loaded & {*"apsw dependency_injector fastapi mcp numpy starlette uvicorn".split()}
