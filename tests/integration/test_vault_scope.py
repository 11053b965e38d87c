"""Whatever is asked of one vault, by whichever door: nothing of another is said, read or changed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx2
import pytest
from typer.testing import CliRunner

from clawmem.adapters.sqlite.database import Database
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.client.request import ToolSet
from clawmem.app.interfaces.cli.command_line import FAMILIES, cli
from clawmem.app.interfaces.mcp.server import MemoryServer
from clawmem.app.interfaces.rest.application import ROUTES, rest_application
from clawmem.app.operations.dispatch import Dispatcher
from clawmem.app.operations.operation import AnyOperation
from clawmem.app.operations.table import VERBS as OPERATION_VERBS
from clawmem.app.operations.table import all_operations
from clawmem.app.serve.server import ServerRuntime
from clawmem.app.settings.model import Settings, load_settings, of_vault
from clawmem.domain.knowledge.entities import entity_id
from clawmem.ports.knowledge import Entity, Triple
from clawmem.ports.sessions import Session

USUAL, OPEN, CLOSED = "usual", "open", "closed"
OWN = {USUAL: "quokka", OPEN: "numbat", CLOSED: "bilby"}  # a word, and the name of the folder
NOTE, OTHER = "den.md", "burrow.md"
QUESTION = "why does the animal sleep by day?"


class World:
    """
    The vaults *USUAL*, *OPEN* and *CLOSED* below *home*, the last two by name, and what a process of theirs sees.

    Each has a note called ``notes/den.md``, where only the word of its own says which animal is meant.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        self.places = {name: home / name / f"{name}.sqlite" for name in OWN}
        self.environ = {
            "HOME": str(home),
            "INDEX_PATH": str(self.places[USUAL]),
            "CLAWMEM_CONFIG_DIR": str(home / "config"),
            "CLAWMEM_NO_LOCAL_MODELS": "true",
        }
        self._configure()
        self._fill(self.settings(), USUAL)
        for name in (OPEN, CLOSED):
            self._fill(of_vault(self.settings(), name), name)
        self.before = self.closed()

    def settings(self) -> Settings:
        return load_settings(environ=self.environ)

    def folder(self, name: str) -> Path:
        """The notes of a vault, in a folder called by its word."""
        return self.home / OWN[name]

    def closed(self) -> dict[str, tuple[bytes, int]]:
        """Every file of the vault that nobody asks: bytes, and when it was changed."""
        files = sorted(self.places[CLOSED].parent.rglob("*"))
        return {str(one): (one.read_bytes(), one.stat().st_mtime_ns) for one in files if one.is_file()}

    @contextmanager
    def opening(self, *allowed: str) -> Iterator[None]:
        """Fails when a vault is opened that is none of *allowed*, or another than those is changed."""
        opened: list[str] = []
        really = Database.__init__

        def spy(self: Database, path: str, **options: Any) -> None:
            opened.append(path)
            really(self, path, **options)

        with patch.object(Database, "__init__", spy):
            yield
        assert {*opened} - {":memory:"} <= {str(self.places[name]) for name in allowed}
        assert self.closed() == self.before

    def told(self, answer: str, *allowed: str) -> None:
        """Fails when *answer* says anything of a vault that is none of *allowed*."""
        assert [word for name, word in OWN.items() if name not in allowed and word in answer.lower()] == []

    def _configure(self) -> None:
        named = "".join(f"  {name}: {self.places[name]}\n" for name in (OPEN, CLOSED))
        folder = (
            f"collections: {{notes: {{path: {self.folder(USUAL)}}}}}\nsync_folders: [{self.folder(OPEN)}]\n"
        )
        (self.home / "config").mkdir()
        (self.home / "config/config.yaml").write_text(f"{folder}vaults:\n{named}", "utf-8")

    def _fill(self, settings: Settings, name: str) -> None:
        word = OWN[name]
        self.folder(name).mkdir()
        den, burrow = (
            f"# Den\n\nThe {word} sleeps by day.\n",
            f"# Burrow\n\nAn animal, the {word}, digs it.\n",
        )
        (self.folder(name) / NOTE).write_text(den, "utf-8")
        (self.folder(name) / OTHER).write_text(burrow, "utf-8")
        with open_services(settings) as services:
            services.sync(str(self.folder(name)), "notes")
            services.embed()
            animal, box = (Entity(entity_id(one, "concept"), one, "concept") for one in ("Animal", word))
            with services.vault.transactions.writing():
                said = services.lookup.find(f"notes/{NOTE}").id
                services.vault.sessions.save(Session(word, "2026-01-02T09:00:00.000Z", summary=word))
                services.vault.entities.set_mentions(said, [animal, box])
                services.vault.triples.add([Triple(animal, "is", box, said, "2026-01-02", said=word)])


FILE = f"notes/{NOTE}"
PROJECT = Path(__file__).parents[1] / "data" / "beadsproject"

# What stands for a parameter that must be said, by its name, at every door.
SAID: dict[str, Any] = {
    "query": QUESTION,
    "words": "animal",
    "file": FILE,
    "docid": FILE,
    "pattern": "**/*.md",
    "entity": "Animal",
    "text": "The animal was fed.",
    "entry": "The animal was seen again.",
    "act": 1,
    "id": "1",
    "name": "context-surfacing",
    "verb": "query",
    "arguments": [QUESTION],
    "command": "view",
    "messages": [],
    "names": ["Animal"],
    "path": FILE,
}
# What is said as well where it is known: else nothing would be meant.
MORE: dict[str, Any] = {"all": True, "path": "/memories"}
# Commands with what they need; those that take away come last.
COMMANDS: list[list[str]] = [
    ["import", "jsonl", "memories.jsonl", "--dry-run"],
    ["vault", "init"],
    ["bootstrap", "."],
    ["collection", "list"],
    ["update"],
    ["doctor", "."],
    ["vault", "path"],
    ["status"],
    ["status", "--full"],
    ["doctor"],
    ["doctor", "--verify"],
    ["embed", "--force"],
    ["rebuild"],
    ["rebuild", "--backend", "sqlite"],
    ["list"],
    ["get", FILE],
    ["get", "**/*.md"],
    ["search", "--explain", QUESTION],
    *(
        ["query", f"--mode={mode}", QUESTION]
        for mode in ("hybrid", "words", "vectors", "intent", "auto", "plan")
    ),
    ["maintain", "graph"],
    ["maintain", "enrich", "--no-model"],
    ["maintain", "consolidate"],
    ["maintain"],
    ["links", FILE],
    ["links", "--similar", FILE],
    ["tags"],
    ["mine", "--sources"],
    ["mine", "--dry-run", "."],
    ["entities"],
    ["timeline", FILE],
    ["sessions"],
    ["why"],
    ["undo"],
    ["report"],
    ["report", "--budget"],
    ["profile"],
    ["diary", "write", "Seen again."],
    ["archive", "--status"],
    ["reflect"],
    ["pin", FILE],
    ["pin", "--off", FILE],
    ["snooze", FILE],
    ["snooze", "--off", FILE],
    ["restore", "--all"],
    ["forget", "--yes", FILE],
    ["beads", str(PROJECT)],
]
# Those that are for the usual vault, because they serve it, or write for the next session, whose vault that is.
REFUSED: list[list[str]] = [
    ["serve", "--port", "0"],
    ["ui", "--print"],
    ["watch"],
    ["install-service"],
    ["maintain", "curate"],
    ["remember", "The animal was fed."],
]
# Those that open no vault, or whose vault the environment alone names; and the other doors.
OF_NO_VAULT = set("models bench conformance focus setup hook surface mcp trust openclaw".split())
COPYING = {"backup", "export"}  # they open copies; test_backup and test_bundle name the vault


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


class TestTools:
    """Over the Model Context Protocol."""

    def test_of_a_named_vault(self, world: World) -> None:
        """Every tool that takes a vault says and changes nothing of another one."""

        more = MORE | {"vault": OPEN, "content_root": str(world.folder(OPEN)), "collection_name": "notes"}

        async def ask() -> list[str]:
            async with server_of(world, ToolSet.ALL) as server:
                answers = []
                for tool in await server.list_tools():
                    if "vault" in tool.input_schema.get("properties", {}):
                        with world.opening(OPEN):
                            answers.append(await answered(server, tool, more))
                        world.told(answers[-1], OPEN)
                return answers

        assert sum(OWN[OPEN] in one.lower() for one in asyncio.run(ask())) > 12  # else nobody had been asked

    def test_of_the_usual_vault(self, world: World) -> None:
        """Without a name it is the usual one; `list_vaults` says what others are called, and opens none."""

        async def ask(chosen: ToolSet) -> None:
            async with server_of(world, chosen) as server:
                for tool in await server.list_tools():
                    if tool.name != "vault_sync":
                        with world.opening(USUAL):
                            world.told(await answered(server, tool, MORE), USUAL)

        for chosen in ToolSet:
            asyncio.run(ask(chosen))

    def test_what_is_no_name_opens_nothing(self, world: World) -> None:
        """Neither a path nor what resembles a name leads into a vault; the answer lists the names."""
        slips = ("nobody", "", CLOSED.upper(), f"{CLOSED} ", f"../{CLOSED}.sqlite", str(world.places[CLOSED]))

        async def ask() -> None:
            async with server_of(world, ToolSet.ALL) as server:
                for tool, name in product(("search", "embed"), slips):
                    said = {"query": QUESTION} if tool == "search" else {}
                    with world.opening():
                        found = await server.call_tool(tool, {**said, "vault": name})
                    assert found.is_error
                    assert f"Did you mean: {CLOSED}, {OPEN}?" in str(found.content)

        asyncio.run(ask())


class TestRoutes:
    """Over HTTP: a server has one vault, and answers for a command line that names another."""

    def test_of_a_server(self, world: World) -> None:
        """Every route answers from its vault alone, and none of them can be sent to another one."""

        async def ask() -> None:
            async with client_of(world) as client:
                for route in (one for one in ROUTES if "vault" not in one.request.model_fields):
                    with world.opening(USUAL):
                        found = await sent(client, route, {})
                        astray = await sent(client, route, {"vault": CLOSED})
                    assert found.status_code < 500, (route.route, found.text)
                    world.told(found.text, USUAL)
                    world.told(astray.text, USUAL)

        asyncio.run(ask())

    def test_of_an_operation(self, world: World) -> None:
        """A request of a command with ``--vault NAME`` is answered from that vault alone."""

        async def ask() -> list[str]:
            async with client_of(world) as client:
                answers = []
                for operation in (
                    one for one in all_operations() if one.reads and one.any_vault and not one.in_own_process
                ):
                    fields = operation.request.model_fields.items()
                    request = {name: SAID[name] for name, field in fields if field.is_required()}
                    with world.opening(OPEN, USUAL):  # its own: threads of the server may still be warming up
                        body = {"request": request, "vault": OPEN}
                        found = await client.post(f"/operations/{operation.name}", json=body)
                    assert found.status_code == 200, (operation.name, found.text)
                    world.told(found.text, OPEN)
                    answers.append(found.text.lower())
                return answers

        assert sum(OWN[OPEN] in one for one in asyncio.run(ask())) > 8

    def test_what_is_no_name_opens_nothing(self, world: World) -> None:
        """Neither a slip nor the file of another vault."""

        async def ask() -> None:
            async with client_of(world) as client:
                for name in ("nobody", "", f"{CLOSED} ", f"../{CLOSED}.sqlite", str(world.places[CLOSED])):
                    with world.opening(USUAL):
                        found = await client.post("/operations/list", json={"vault": name})
                    assert found.json()["refused"]["code"] == "NOT_FOUND"

        asyncio.run(ask())


class TestVerbs:
    """On the command line, ``--vault`` with a name."""

    def test_every_verb_is_looked_at(self) -> None:
        """A new one has to be put into a table here."""
        verbs = {verb for several in (*FAMILIES.values(), *OPERATION_VERBS.values()) for verb in several}

        assert verbs == {*(words[0] for words in (*COMMANDS, *REFUSED)), *OF_NO_VAULT, *COPYING}

    def test_of_a_named_vault(
        self, world: World, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Every verb says and changes nothing of another vault."""
        monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
        Path("memories.jsonl").write_text('{"id": "nobody", "text": "Nobody sails."}\n', "utf-8")
        Path("nobody.md").write_text("Nobody sails.\n", "utf-8")
        for words in COMMANDS:
            with world.opening(OPEN):
                done = told(world, "--vault", OPEN, *words)
            assert done.exit_code in (0, 1), (words, done.output)
            world.told(done.output, OPEN)

    def test_of_the_usual_vault_alone(self, world: World) -> None:
        """What serves the usual vault, or writes for the next session, is refused for any other."""
        config = (world.home / "config/config.yaml").read_bytes()
        for words in REFUSED:
            with world.opening():
                done = told(world, "--vault", OPEN, *words)
            assert done.exit_code == 2, (words, done.output)
            assert f"clawmem vault sync {OPEN} FOLDER" in done.output
        assert (world.home / "config/config.yaml").read_bytes() == config


@asynccontextmanager
async def server_of(world: World, chosen: ToolSet) -> AsyncIterator[Any]:
    desk = Dispatcher(world.settings)
    try:
        yield MemoryServer(desk, chosen)
    finally:
        desk.close()


async def answered(server: Any, tool: Any, more: Mapping[str, Any]) -> str:
    """What a tool says to as little as it must be told, and to *more* as far as it knows it."""
    known, needed = tool.input_schema.get("properties", {}), tool.input_schema.get("required", ())
    said = {name: SAID[name] for name in needed if name not in more}
    found = await server.call_tool(
        tool.name, {**said, **{name: more[name] for name in more if name in known}}
    )
    text = json.dumps(found.model_dump(mode="json"))
    assert "INVALID_INPUT" not in text, (tool.name, text)
    return "" if tool.name == "list_vaults" else text


@asynccontextmanager
async def client_of(world: World) -> AsyncIterator[httpx2.AsyncClient]:
    """The routes of a server of the usual vault, without the door before them."""
    inside = ServerRuntime(world.places[USUAL], world.environ)
    with inside.at_work():
        app: Any = rest_application(inside.dispatcher, inside.answer_event)
        transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            yield client


async def sent(client: httpx2.AsyncClient, route: AnyOperation, more: Mapping[str, Any]) -> httpx2.Response:
    """The answer to as little as an operation must be told."""
    needed = {name for name, field in route.request.model_fields.items() if field.is_required()}
    path, inside = filled(route.route)
    told = {name: SAID[name] for name in needed - inside} | dict(more)
    if route.method == "GET":
        return await client.get(path, params=told)
    return await client.post(path, json=told)


def filled(path: str) -> tuple[str, set[str]]:
    """A path with something in its places, and what these are called."""
    inside = {part.strip("{}").partition(":")[0]: part for part in path.split("/") if part.startswith("{")}
    for name, part in inside.items():
        path = path.replace(part, str(SAID[name]))
    return path, {*inside}


def told(world: World, *arguments: str) -> Any:
    return CliRunner().invoke(cli, list(arguments), env={**world.environ, "NO_COLOR": "1"})
