"""The Model Context Protocol with the official client: a process of its own, a bridge to a server, HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import httpx2
import pytest
from command_line import write_notes
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS
from server_process import COMMAND, ServerProcess, serving

import clawmem
from clawmem.app.interfaces.mcp.calling import CODE, UNEXPECTED
from clawmem.domain.documents.identity import body_hash

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")

REDIS, POSTGRES = "notes/decisions/2026-02-11-redis.md", "notes/decisions/2026-06-09-postgres.md"
NOTES = {
    REDIS: "# Keep sessions in Redis\n\nLogin sessions live in Redis for 14 days.\n",
    POSTGRES: "# Move sessions to Postgres\n\nOne database is enough, so login sessions move to Postgres.\n",
    "memories/readme.md": "# Read me\n\nThe lighthouse is painted green.\n",
}
FERRY = f"#{body_hash('The ferry to Moss leaves at nine.')}"
QUESTION = {"query": "where do login sessions live?"}

# Every tool of clawmem, and something that stands in its answer.
CALLS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("__IMPORTANT", {}, "Begin with memory_retrieve"),
    ("memory_retrieve", QUESTION, "[routed: hybrid]"),
    ("memory_retrieve", {"query": "where were we last session", "mode": "timeline"}, "[routed: timeline]"),
    ("query", {**QUESTION, "intent": "hosting", "minScore": 0.1, "candidateLimit": 2}, "redis.md"),
    ("search", {**QUESTION, "compact": False, "collection": "notes"}, "14 days"),
    ("vsearch", QUESTION, "sessions"),
    ("intent_search", {"query": "why Postgres", "force_intent": "WHY"}, "asks for: WHY"),
    ("query_plan", {"query": "where do sessions live and also what is green", "limit": 3}, "1. "),
    ("get", {"file": REDIS, "fromLine": 3, "maxLines": 1, "lineNumbers": True}, "from line 3"),
    ("multi_get", {"pattern": "notes/**/*.md"}, "redis.md"),
    ("find_similar", {"file": REDIS}, "postgres.md"),
    ("timeline", {"docid": POSTGRES, "same_collection": True}, "> "),
    ("session_log", {}, "No sessions"),
    ("kg_query", {"entity": "Ann", "direction": "outgoing"}, "Ann → keeps → box (since 2"),
    ("find_entities", {"query": "ann"}, "Ann (person"),
    ("memory_evolution_status", {"docid": REDIS, "limit": 1}, "There is no note about"),
    ("build_graphs", {"graph_types": ["temporal"]}, "temporal: "),
    ("find_causal_links", {"docid": REDIS}, "No causes or effects"),
    ("status", {}, "documents"),
    ("index_stats", {}, "total_documents"),
    ("list_vaults", {}, "spare"),
    ("list", {"limit": 2}, ".md"),
    ("profile", {}, ""),
    ("reindex", {}, "0 added, 0 updated"),
    ("reindex", {"enrich": True}, "nriched"),
    ("embed", {}, "Vectors: "),
    ("diary_write", {"entry": "The ferry to Moss leaves at nine.", "topic": "boats"}, "-boats.md"),
    ("diary_read", {"last_n": 1}, "agent: The ferry"),
    ("memory_pin", {"query": POSTGRES}, "pinned"),
    ("memory_pin", {"query": POSTGRES, "unpin": True}, "unpinned"),
    ("memory_snooze", {"query": POSTGRES, "until": "2999-01-01"}, "until 2999-01-01"),
    ("memory_snooze", {"query": POSTGRES}, "unsnoozed"),
    ("memory_forget", {"query": FERRY, "confirm": True}, "forgotten"),
    ("lifecycle_status", {}, "1 forgotten"),
    ("lifecycle_sweep", {}, "0 notes would be archived"),
    ("lifecycle_restore", {"all": True}, "Nothing of that is archived"),
)
# What cannot be meant, and the code and the words of the refusal.
REFUSED: tuple[tuple[str, dict[str, Any], str, str], ...] = (
    ("serach", QUESTION, "NOT_FOUND", "Did you mean: search"),
    ("search", {**QUESTION, "colection": "x"}, "INVALID_INPUT", "Did you mean: collection?"),
    ("search", {}, "INVALID_INPUT", "query is missing"),
    ("search", {**QUESTION, "limit": 0}, "OUT_OF_BOUNDS", "limit must be at least 1"),
    ("search", {"query": "  "}, "INVALID_INPUT", "empty"),
    ("search", {"query": "x" * 20_000}, "INPUT_TOO_LONG", "query must have at most 10000"),
    ("search", {**QUESTION, "since": "yesterday"}, "INVALID_INPUT", "2026-03-31"),
    ("search", {**QUESTION, "collection": "nope"}, "NOT_FOUND", "Did you mean"),
    ("search", {**QUESTION, "vault": "work"}, "NOT_FOUND", "There is: spare."),
    ("memory_retrieve", {**QUESTION, "mode": "psychic"}, "INVALID_INPUT", "mode must be "),
    ("get", {"file": "notes/decisions/2026-02-11-redi.md"}, "NOT_FOUND", "redis.md (Keep sessions"),
    ("get", {"file": "../../etc/passwd"}, "PATH_TRAVERSAL", ".."),
    ("multi_get", {"pattern": "nothing/*.md"}, "NOT_FOUND", "nothing/*.md"),
    ("timeline", {"docid": REDIS, "before": 21}, "OUT_OF_BOUNDS", "before"),
    ("lifecycle_restore", {}, "INVALID_INPUT", "Name one note"),
    ("memory_forget", {"query": REDIS, "confirm": True}, "CONFIRMATION_REQUIRED", "This would forget notes/"),
    ("memory_pin", {"query": "sessions"}, "NOT_FOUND", "Did you mean: #"),
    ("memory_snooze", {"query": REDIS, "until": "2020-01-01"}, "OUT_OF_BOUNDS", "still to come"),
    ("kg_query", {"entity": "nobody"}, "NOT_FOUND", "nobody"),
    ("kg_query", {"entity": "Ann", "as_of": "soon"}, "INVALID_INPUT", "YYYY-MM-DD"),
)


STARTS_AND_STAYS = """
import subprocess, sys, time
started = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
print(started.pid, flush=True)
time.sleep(60)
"""


class Home(NamedTuple):
    """A home with a vault over the notes."""

    folder: Path
    environ: dict[str, str]

    def run(self, *arguments: str) -> str:
        """What a command says."""
        done = subprocess.run(
            [*COMMAND, *arguments], check=True, capture_output=True, text=True, cwd=self.folder,
            env=self.environ, timeout=60,
        )  # fmt: skip
        return done.stdout

    def process(self, *options: str) -> StdioServerParameters:
        """What an assistant starts."""
        return StdioServerParameters(
            command=COMMAND[0], args=[*COMMAND[1:], "mcp", *options], env=self.environ, cwd=self.folder
        )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    folder = tmp_path_factory.mktemp("mcp") / "home"
    write_notes(folder, NOTES)
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    packages = [str(Path(str(clawmem.__file__)).parent.parent), os.environ.get("PYTHONPATH", "")]
    environ = {**kept, "HOME": str(folder), "PYTHONPATH": os.pathsep.join(filter(None, packages))}
    environ["CLAWMEM_VAULTS"] = json.dumps({"spare": str(folder / "spare.sqlite")})
    made = Home(folder, environ)
    made.run("bootstrap", "notes")
    made.run("bootstrap", "memories")
    config = folder / ".config" / "clawmem" / "config.yaml"
    config.write_text(
        config.read_text("utf-8")
        + f"\nlifecycle: {{archive_after_days: 90}}\nsync_folders: [{folder / 'other'}]\n",
        "utf-8",
    )
    return made


@pytest.fixture(scope="module")
def server(home: Home) -> Iterator[ServerProcess]:
    with serving(home.environ, home.folder) as one:
        yield one


@asynccontextmanager
async def over_http(server: ServerProcess, tools: str = "", mode: str = "auto") -> AsyncIterator[Client]:
    """A client of the server, with its token."""
    headers = {"Authorization": f"Bearer {server.token}"}
    url = f"http://127.0.0.1:{server.port}/mcp{tools}"
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


@asynccontextmanager
async def over_stdio(home: Home, *options: str, mode: str = "auto") -> AsyncIterator[Client]:
    """A client that starts a process."""
    async with Client(stdio_client(home.process(*options)), mode=mode) as client:
        yield client


def text_of(result: Any) -> str:
    return "\n".join(one.text for one in result.content if one.type == "text")


class TestOneSession:
    """From the first word to every tool, over HTTP, with the client's own check of every answer's schema."""

    def test_every_tool_once(self, home: Home, server: ServerProcess) -> None:
        folder = {"vault": "spare", "content_root": str(home.folder / "memories")}
        calls = (*CALLS, ("vault_sync", folder, "1 added"))

        async def session() -> None:
            async with over_http(server, "/memory") as memory:
                ann = {"name": "Ann", "entityType": "person", "observations": ["keeps the key"]}
                box = {"name": "box", "entityType": "thing", "observations": []}
                await memory.call_tool("create_entities", {"entities": [ann, box]})
                relation = {"from": "Ann", "to": "box", "relationType": "keeps"}
                await memory.call_tool("create_relations", {"relations": [relation]})
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

    def test_addresses_and_prompts(self, server: ServerProcess) -> None:
        async def session() -> None:
            async with over_http(server) as client:
                read = await client.read_resource(f"clawmem://{REDIS}")
                assert getattr(read.contents[0], "text", "").startswith("# Keep sessions")
                with pytest.raises(Exception, match="No document matches"):
                    await client.read_resource("clawmem://notes/none.md")
                names = [one.name for one in (await client.list_prompts()).prompts]
                assert names == ["recall", "why", "dossier", "resume"]
                said = await client.get_prompt("why", {"decision": "do we use Postgres"})
                assert "do we use Postgres" in getattr(said.messages[0].content, "text", "")

        asyncio.run(session())

    @pytest.mark.parametrize(
        ("prompt", "arguments", "code", "words"),
        [
            ("whyy", {"decision": "x"}, "NOT_FOUND", "Did you mean: why"),
            ("why", {}, "INVALID_INPUT", "needs: decision"),
            ("why", {"decision": " "}, "INVALID_INPUT", "needs: decision"),
            ("why", {"decision": "x", "topic": "y"}, "INVALID_INPUT", "no argument 'topic'"),
        ],
    )
    def test_a_wrong_prompt_is_refused_with_the_remedy(
        self, server: ServerProcess, prompt: str, arguments: dict[str, str], code: str, words: str
    ) -> None:
        async def session() -> None:
            async with over_http(server) as client:
                with pytest.raises(MCPError, match=words) as refused:
                    await client.get_prompt(prompt, arguments)
                assert (refused.value.code, refused.value.data) == (INVALID_PARAMS, {CODE: code})

        asyncio.run(session())

    def test_the_same_as_on_the_command_line(self, home: Home, server: ServerProcess) -> None:
        async def asked() -> Any:
            async with over_http(server) as client:
                return await client.call_tool("search", {**QUESTION, "compact": False})

        told = asyncio.run(asked()).structured_content
        printed = json.loads(home.run("search", QUESTION["query"], "--json"))

        def said(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
            return [{name: value for name, value in one.items() if value is not None} for one in results]

        assert said(told["results"]) == said(printed["results"])


class TestWays:
    """The same server object, however it is talked to, in the old and in the new protocol."""

    def test_alone(self, home: Home) -> None:
        self._talk(lambda: over_stdio(home, "--alone"))

    @pytest.mark.parametrize("mode", ["auto", "legacy"])
    def test_over_the_bridge(self, home: Home, server: ServerProcess, mode: str) -> None:
        self._talk(lambda: over_stdio(home, mode=mode))

    def test_a_program_syncs_only_listed_folders(self, home: Home, server: ServerProcess) -> None:
        """Neither credentials nor notes that nobody listed, and no vault comes into being."""
        (home.folder / "diary").mkdir(exist_ok=True)
        (home.folder / "diary" / "day.md").write_text("# Monday\n\nRain.\n", "utf-8")
        (home.folder / ".config" / "gcloud").mkdir(exist_ok=True)
        refused = {
            "diary": "sync_folders",
            ".config/gcloud": "keys and passwords",
            ".config": "sync_folders",
            ".cache/clawmem": "belongs to clawmem itself",
        }

        async def session() -> None:
            async with over_http(server) as client:
                for name, words in refused.items():
                    folder = {"vault": "spare", "content_root": str(home.folder / name)}
                    answer = await client.call_tool("vault_sync", folder)
                    assert answer.is_error
                    assert words in text_of(answer)

        asyncio.run(session())

    def test_a_server_with_other_named_vaults_is_not_asked(self, home: Home, server: ServerProcess) -> None:
        """The client's own CLAWMEM_VAULTS decide which vault a name means."""
        other = home.folder / "other.sqlite"
        named = {"CLAWMEM_VAULTS": json.dumps({"spare": str(other)})}
        mine = home._replace(environ={**home.environ, **named})
        (home.folder / "other").mkdir(exist_ok=True)
        (home.folder / "other" / "tide.md").write_text(
            "# Tides\n\nThe ferry waits for high water.\n", "utf-8"
        )
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
                asked = (client.call_tool("search", {**QUESTION, "limit": n}) for n in range(1, 11))
                results = await asyncio.gather(*asked)
                assert all("redis.md" in text_of(one) and not one.is_error for one in results)
                refused = await client.call_tool("get", {"file": "nothing.md"})
                assert refused.is_error and (refused.meta or {})[CODE] == "NOT_FOUND"

        asyncio.run(session())

    @pytest.mark.parametrize(
        ("tool", "arguments", "steps"),
        [
            ("build_graphs", {}, {"Ordering by time", "Finding neighbours"}),
            ("reindex", {"enrich": True}, {"Reading notes", "Reading memories", "Enriching"}),
        ],
    )
    def test_progress_of_what_takes_long(
        self, server: ServerProcess, tool: str, arguments: dict[str, Any], steps: set[str]
    ) -> None:
        """Progress names the phase; the report of the last phase may be overtaken by the result."""
        told: list[str | None] = []

        async def session() -> None:
            async def progress(done: float, total: float | None, message: str | None) -> None:
                told.append(message)

            async with over_http(server) as client:
                await client.call_tool(tool, arguments, progress_callback=progress)

        asyncio.run(session())
        assert told and {*told} <= steps

    def test_the_bridge_imports_nothing_heavy(self, home: Home, server: ServerProcess) -> None:
        code = "import sys; sys.argv = ['clawmem', 'mcp']; from clawmem.app.main import main; main(); print(*sys.modules)"
        done = subprocess.run(
            [COMMAND[0], "-P", "-c", code], check=True, capture_output=True, text=True,
            env=home.environ, cwd=home.folder, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        loaded = {name.split(".")[0] for name in done.stderr.split()}

        assert "clawmem" in loaded and done.stdout == ""
        assert not loaded & {*"anyio apsw asyncio fastapi mcp numpy pydantic starlette typer".split()}


class TestEnds:
    """Standard input that closes, signals, clients and servers that are gone."""

    @pytest.mark.parametrize("options", [("--alone",), ()])
    def test_everything_is_answered_before_the_end(
        self, home: Home, server: ServerProcess, options: tuple[str, ...]
    ) -> None:
        done = subprocess.run(
            [*COMMAND, "mcp", *options], check=False, capture_output=True, input=_opening(_call(7)),
            env=home.environ, cwd=home.folder, timeout=60,
        )  # fmt: skip
        heard = [json.loads(line) for line in done.stdout.splitlines()]

        assert done.returncode == 0, done.stderr
        assert [one["id"] for one in heard] == [1, 7]  # and nothing but the protocol
        assert REDIS in heard[1]["result"]["content"][0]["text"]

    @pytest.mark.parametrize("options", [("--alone",), ()])
    def test_told_to_end(self, home: Home, server: ServerProcess, options: tuple[str, ...]) -> None:
        with _started(home, *options) as process:
            assert _ended_after_opening(process) == b""

    def test_a_server_that_hangs(self, home: Home, server: ServerProcess) -> None:
        """Nobody waits for its first word: the work is done here."""
        os.kill(server.process.pid, signal.SIGSTOP)
        try:
            with _started(home) as process:
                assert _ended_after_opening(process) == b""
        finally:
            os.kill(server.process.pid, signal.SIGCONT)

    def test_a_client_that_was_killed(self, home: Home, server: ServerProcess) -> None:
        """What it started ends by itself, and the server goes on."""
        with subprocess.Popen(
            [sys.executable, "-c", STARTS_AND_STAYS, *COMMAND, "mcp"], stdout=subprocess.PIPE, text=True,
            env=home.environ, cwd=home.folder,
        ) as client:  # fmt: skip
            assert client.stdout
            bridge = int(client.stdout.readline())
            client.kill()
        _eventually(lambda: not Path(f"/proc/{bridge}").exists() or "Z" in _state(bridge))
        assert server.ask("GET", "/health").status == 200

    @pytest.mark.slow
    def test_another_server_later(self, home: Home, tmp_path: Path) -> None:
        """It is found without a new start of the client."""
        other = Home(home.folder, {**home.environ, "INDEX_PATH": str(tmp_path / "other.sqlite")})
        other.run("init")

        async def session() -> None:
            async with over_stdio(other, mode="legacy") as client:
                assert not (await client.call_tool("status", {})).is_error
                first.end()
                with pytest.raises(Exception, match="clawmem serve"):
                    await client.call_tool("status", {})
                with serving(other.environ, other.folder):
                    assert not (await client.call_tool("status", {})).is_error

        with serving(other.environ, other.folder) as first:
            asyncio.run(session())

    def test_a_server_that_ends_while_somebody_listens(self, home: Home, tmp_path: Path) -> None:
        """It ends at once and in order; whoever asks then is told the way out."""
        other = Home(home.folder, {**home.environ, "INDEX_PATH": str(tmp_path / "other.sqlite")})
        other.run("init")
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        params = {"notifications": {"toolsListChanged": True}, "_meta": meta}
        listen = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}
        with serving(other.environ, other.folder) as one, _started(other) as process:
            assert process.stdin and process.stdout
            process.stdin.write(json.dumps(listen).encode() + b"\n")
            process.stdin.flush()
            assert b"acknowledged" in process.stdout.readline()
            began = monotonic()
            assert one.end() == 0
            assert monotonic() - began < 8
            assert json.loads(process.stdout.readline())["id"] == 1
            process.stdin.write(json.dumps(_call(2)).encode() + b"\n")
            process.stdin.close()
            refused = json.loads(process.stdout.readline())
            assert refused["id"] == 2 and "clawmem serve" in refused["error"]["message"]
            assert process.wait(10) == 0

    def test_a_vault_that_is_not_there(self, home: Home, tmp_path: Path) -> None:
        other = Home(home.folder, {**home.environ, "INDEX_PATH": str(tmp_path / "none.sqlite")})

        async def session() -> None:
            async with over_stdio(other, mode="legacy") as client:
                result = await client.call_tool("status", {})
                assert result.is_error and "clawmem bootstrap" in text_of(result)
                assert text_of(result) != UNEXPECTED

        asyncio.run(session())


class TestOtherSets:
    """The tools of others: their names, their shapes, their words."""

    def test_the_knowledge_graph(self, server: ServerProcess) -> None:
        eve = {"name": "Eve", "entityType": "person", "observations": ["sails", "sails", "a\n## b"]}
        acme = {"name": "Acme", "entityType": "company", "observations": []}
        works = {"from": "Eve", "to": "Acme", "relationType": "works_at"}

        async def session(call: Callable[..., Awaitable[Any]]) -> None:
            made = await call("create_entities", entities=[eve, acme])
            kept = {**eve, "observations": ["sails", "a\n## b"]}
            assert made == {"entities": [kept, acme]}
            assert await call("create_entities", entities=[{**eve, "observations": ["x"]}]) == {
                "entities": []
            }
            assert await call("create_relations", relations=[works, works]) == {"relations": [works]}
            added = await call(
                "add_observations", observations=[{"entityName": "Eve", "contents": ["sails", "ü"]}]
            )
            assert added == {"results": [{"entityName": "Eve", "addedObservations": ["ü"]}]}
            grown = {**kept, "observations": ["sails", "a\n## b", "ü"]}
            assert await call("open_nodes", names=["Eve"]) == {"entities": [grown], "relations": [works]}
            assert await call("search_nodes", query="COMPANY") == {"entities": [acme], "relations": [works]}
            gone = await call("delete_observations", deletions=[{"entityName": "Eve", "observations": ["ü"]}])
            assert gone == {"success": True, "message": "Observations deleted successfully"}
            await call("delete_relations", relations=[works])
            assert await call("open_nodes", names=["Eve"]) == {"entities": [kept], "relations": []}
            await call("create_relations", relations=[works])
            await call("delete_entities", entityNames=["Acme", "nobody"])
            everything = await call("read_graph")
            assert kept in everything["entities"] and acme not in everything["entities"]
            assert works not in everything["relations"]
            await call("create_entities", entities=[acme])  # and back
            assert acme in (await call("read_graph"))["entities"]

        async def talk() -> None:
            async with over_http(server, "/memory") as client:

                async def call(name: str, **arguments: Any) -> Any:
                    result = await client.call_tool(name, arguments)
                    assert not result.is_error, text_of(result)
                    assert json.loads(text_of(result)) == result.structured_content
                    return result.structured_content

                await session(call)
                lost = await client.call_tool(
                    "add_observations", {"observations": [{"entityName": "Zoe", "contents": ["x"]}]}
                )
                assert lost.is_error and "Zoe" in text_of(lost)
            async with over_http(server) as client:
                assert "Eve" in text_of(await client.call_tool("search", {"query": "who sails"}))

        asyncio.run(talk())

    def test_the_folder(self, home: Home) -> None:
        async def session() -> None:
            async with over_stdio(home, "--tools", "files", mode="legacy") as client:

                async def call(command: str, **arguments: Any) -> Any:
                    return await client.call_tool("memory", {"command": command, **arguments})

                assert "/memories/readme.md" in text_of(await call("view", path="/memories"))
                made = await call(
                    "create", path="/memories/boat.md", file_text="# Boat\n\nIt lies in Moss.\n"
                )
                assert text_of(made) == "File created successfully at: /memories/boat.md"
                twice = await call("create", path="/memories/boat.md", file_text="")
                assert twice.is_error and text_of(twice) == "Error: File /memories/boat.md already exists"
                lost = await call("str_replace", path="/memories/boat.md")
                assert lost.is_error and "old_str is missing" in text_of(lost)
                out = await call("view", path="/memories/../notes/x.md")
                assert out.is_error and "escape" in text_of(out)

        asyncio.run(session())
        assert "boat.md" in home.run("search", "where does the boat lie?")


def _ended_after_opening(process: subprocess.Popen[bytes]) -> bytes:
    """What it says once it has answered the opening and is told to end, which it does in order."""
    assert process.stdin and process.stdout
    process.stdin.write(_opening())
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 1
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0
    return process.stdout.read()


def _opening(*more: dict[str, Any]) -> bytes:
    client = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    said = (
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    )
    return b"".join(json.dumps(one).encode() + b"\n" for one in (*said, *more))


def _call(number: int) -> dict[str, Any]:
    params = {"name": "search", "arguments": QUESTION}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def _started(home: Home, *options: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, "mcp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, env=home.environ, cwd=home.folder,
    )  # fmt: skip


def _state(process: int) -> str:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def _eventually(holds: Callable[[], bool], seconds: float = 15.0) -> None:
    from time import sleep

    end = monotonic() + seconds
    while not holds():
        assert monotonic() < end
        sleep(0.05)
