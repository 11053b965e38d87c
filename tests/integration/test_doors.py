"""Routes and tools of one server: they say the same, they stand whatever is asked, and they take no more and more."""

from __future__ import annotations

import json
import random
import string
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from http.client import HTTPConnection
from itertools import cycle, islice
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import pytest
from rest_world import REDIS, World, world_at

from clawmem.app.operations.operation import AnyOperation, Command
from clawmem.app.operations.table import TOOLS, all_operations

QUESTION = "where do login sessions live?"
ACCEPT = "application/json, text/event-stream"
SOAKED, MORE_MB, MORE_FILES, MORE_THREADS = 60, 8, 4, 2


class Client:
    """One connection that is kept, for both doors."""

    def __init__(self, world: World) -> None:
        self._connection = HTTPConnection("127.0.0.1", world.server.port, timeout=60)
        self._said = {"Authorization": f"Bearer {world.server.token}", "Content-Type": "application/json"}

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        content = None if body is None else json.dumps(body)
        self._connection.request(method, path, content, {**self._said, "Accept": ACCEPT})
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def get(self, path: str, **asked: Any) -> Any:
        status, told = self.ask("GET", f"{quote(path)}?{urlencode(asked)}")
        assert status == 200, told
        return json.loads(told)

    def post(self, path: str, **asked: Any) -> Any:
        """The same, of a route with a body."""
        status, told = self.ask("POST", path, asked)
        assert status == 200, told
        return json.loads(told)

    def rpc(self, method: str, **params: Any) -> dict[str, Any]:
        status, told = self.ask(
            "POST", "/mcp/all", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        )
        assert status == 200, told
        [line] = [one for one in told.splitlines() if one.startswith((b"data: {", b"{"))]
        message = json.loads(line.removeprefix(b"data: "))
        assert "result" in message, message
        return message["result"]

    def close(self) -> None:
        self._connection.close()

    def tool(self, name: str, **arguments: Any) -> Any:
        found = self.rpc("tools/call", name=name, arguments=arguments)
        assert not found.get("isError"), found
        return found["structuredContent"]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world_at(tmp_path_factory.mktemp("doors") / "home", fresh=True) as one:
        yield one


@pytest.fixture
def client(world: World) -> Iterator[Client]:
    with closing(Client(world)) as one:
        yield one


# Values of required parameters, by name.
VALUES = {
    "docid": REDIS, "entity": "post", "file": REDIS, "id": "1", "messages": [], "path": REDIS, "pattern": "notes/**/*.md",
    "query": "post", "words": "sessions",
}  # fmt: skip
NOW = {"at": None}  # the time of a report
READING = [one for one in all_operations() if one.reads and (one.route or one.name in TOOLS)]


@pytest.mark.parametrize("operation", READING, ids=[one.name for one in READING])
def test_an_operation_has_one_result(world: World, client: Client, operation: AnyOperation) -> None:
    """The route, the tool and the commands of an operation return the same keys and values; a tool leaves out nulls."""
    client.post("/search", query=QUESTION)  # so that there is a receipt
    fields = operation.request.model_fields
    given = {name: VALUES[name] for name, field in fields.items() if field.is_required()}
    path = operation.route.replace(":path", "")
    asked = {name: value for name, value in given.items() if f"{{{name}}}" not in path}
    ask = client.get if operation.method == "GET" else client.post
    results = [
        *([ask(path.format(**given), **asked)] if path else []),
        *([client.tool(operation.name, **given)] if operation.name in TOOLS else []),
        *(
            world.cli(*_typed(command), *given.values())
            for command in operation.commands
            if not command.fixed
        ),
    ]

    alike = [_said({**one, **NOW}) for one in results]
    assert alike == alike[:1] * len(alike)


def _typed(command: Command) -> list[str]:
    form = command.form if command.form.startswith("-") else command.form.partition("=")[2]
    return [*command.words.split(), *([form] if form else [])]


def _said(value: Any) -> Any:
    """Without what is null or in memory only."""
    if isinstance(value, Mapping):
        return {name: _said(one) for name, one in value.items() if one is not None}
    return [_said(one) for one in value] if isinstance(value, list | tuple) else value


class Dice:
    """Arguments that fit a schema, or nearly, or not at all."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def arguments(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        needed, known = schema.get("required", ()), schema.get("properties", {})
        chosen = [name for name in known if self.random.random() < (0.95 if name in needed else 0.3)]
        extra = {self.text(): 1} if self.random.random() < 0.05 else {}
        return {name: self.value(known[name]) for name in chosen} | extra

    def value(self, schema: Mapping[str, Any]) -> Any:
        if self.random.random() < 0.25:
            return self.junk()
        if several := schema.get("anyOf"):
            return self.value(self.random.choice(several))
        if several := schema.get("enum"):
            return self.random.choice(several)
        made: dict[str, Callable[[], Any]] = {
            "integer": lambda: self.random.choice((1, 2, 5, schema.get("maximum", 9))),
            "number": lambda: self.random.choice((0, 0.5, 1)),
            "boolean": lambda: self.random.random() < 0.5,
            "array": lambda: [self.value(schema.get("items", {})) for _ in range(self.random.randrange(3))],
            "null": lambda: None,
        }
        return made.get(schema.get("type", ""), self.text)()

    def text(self) -> str:
        """Something that a person, a program or an enemy would write."""
        random_signs = "".join(self.random.choices(string.printable + "äß日\U0001f600\u202e", k=9))
        texts = (REDIS, QUESTION, "redis", "2026-01-01", "#0", "%", "_", "*", "[a-", "../../etc/passwd", "notes/*",
                 "clawmem://notes/%2e%2e/x", "\0", "' OR 1=1 --", "\ufeff", "a" * 2000, random_signs)  # fmt: skip
        return self.random.choice(texts)

    def junk(self) -> Any:
        """Of a kind that nobody asked for."""
        return self.random.choice(
            (None, -1, 0, 2**70, 1e308, "", " ", [], {}, [[]], {"a": {}}, True, self.text())
        )


SLOW_TOOLS = "reindex embed build_graphs vault_sync profile lifecycle_sweep lifecycle_restore".split()


class TestAnything:
    """No argument brings it down, shows how it is made, or changes something and says that it did not."""

    @pytest.mark.parametrize("number", [60, pytest.param(5000, marks=pytest.mark.slow)])
    def test_tools(self, client: Client, number: int) -> None:
        """Of tools; `test_rest.py` asks the routes."""
        dice = Dice(number)
        tools = [tool for tool in client.rpc("tools/list")["tools"] if tool["name"] not in SLOW_TOOLS]
        assert len(tools) > 20
        for tool in islice(cycle(tools), number):
            arguments = dice.arguments(tool["inputSchema"])
            arguments.pop("confirm", None)
            reads = tool["annotations"]["readOnlyHint"]
            before = None if reads else self._state(client)
            found = client.rpc("tools/call", name=tool["name"], arguments=arguments)

            text = " ".join(one.get("text", "") for one in found["content"])
            if found.get("isError"):
                assert "Traceback" not in text and "went wrong in clawmem" not in text, (
                    tool["name"],
                    arguments,
                )
                assert before in (None, self._state(client)), (tool["name"], arguments)

    def _state(self, client: Client) -> Any:
        return (
            client.post("/lifecycle/undo", limit=1),
            client.get("/list", limit=100),
            client.get("/collections"),
        )


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts as Linux does")
class TestForLong:
    """A server lives for weeks."""

    def test_it_takes_no_more_and_more(self, world: World, client: Client) -> None:
        """Neither memory nor descriptors nor threads, once everything was asked for the first time."""
        self._soaked(world, client, SOAKED)

    @pytest.mark.slow
    @pytest.mark.parametrize("number", [10_000, 100_000])
    def test_it_takes_no_more_and_more_for_long(self, world: World, client: Client, number: int) -> None:
        """The same for ten thousand and a hundred thousand questions."""
        self._soaked(world, client, number)

    def _soaked(self, world: World, client: Client, number: int) -> None:
        asked: tuple[Callable[[], Any], ...] = (
            lambda: client.post("/search", query=QUESTION, mode="keyword"),
            lambda: client.post("/query", query=QUESTION),
            lambda: client.post("/retrieve", query="why did sessions leave Redis"),
            lambda: client.get("/list"),
            lambda: client.get(f"/documents/{REDIS}"),
            lambda: client.get("/health"),
            lambda: client.tool("search", query="sessions"),
            lambda: client.post("/hooks/context-surfacing", prompt=QUESTION, session_id="soaked"),
            lambda: client.post(f"/documents/{REDIS}/pin"),
        )
        client.post("/lifecycle/restore", all=True)  # other tests archive by chance
        self._warmed(world, asked)
        self._ask(asked, number // 10)  # a thousand calls of tools take 5 MB, and no more after that
        before = _taken(world)
        self._ask(asked, number)
        after = _taken(world)

        sys.stdout.write(f"\n{number} requests: {before} before, {after} after\n")
        assert after.files <= before.files + MORE_FILES
        assert after.threads <= before.threads + MORE_THREADS
        assert after.memory_mb <= before.memory_mb + MORE_MB

    def _ask(self, asked: tuple[Callable[[], Any], ...], number: int) -> None:
        for ask in islice(cycle(asked), number):
            ask()

    def _warmed(self, world: World, asked: tuple[Callable[[], Any], ...]) -> None:
        """Every thread has opened what it keeps open, whichever of them is given which question."""
        known: list[int] = []
        while known[-3:].count(_files(world)) < 3:
            assert len(known) < 60
            known.append(_files(world))
            for ask in asked * 4:
                ask()


class Taken(NamedTuple):
    """What the server takes from the system."""

    files: int
    threads: int
    memory_mb: float


def _taken(world: World) -> Taken:
    return Taken(_files(world), int(_status(world, "Threads")), int(_status(world, "VmRSS")) / 1024)


def _files(world: World) -> int:
    return len(list(Path(f"/proc/{world.server.process.pid}/fd").iterdir()))


def _status(world: World, name: str) -> str:
    lines = Path(f"/proc/{world.server.process.pid}/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith(f"{name}:"))
