"""The routes of a server: they say what the command line says, and what their description promises."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from itertools import cycle, product
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from rest_world import REDIS, Described, World, plain, world_at

QUESTION = "where do login sessions live?"

# One good request for each operation, those that change little first.
SAMPLES: dict[str, tuple[str, dict[str, Any]]] = {
    "GET /health": ("/health", {}),
    "GET /status": ("/status", {}),
    "GET /stats": ("/stats", {}),
    "GET /collections": ("/collections", {}),
    "POST /hooks/{name}": ("/hooks/context-surfacing", {"prompt": QUESTION, "session_id": "s"}),
    "POST /operations/{name}": ("/operations/query", {"request": {"query": QUESTION}}),
    "POST /search": ("/search", {"query": QUESTION}),
    "POST /vsearch": ("/vsearch", {"query": QUESTION, "compact": False}),
    "POST /query": ("/query", {"query": QUESTION, "purpose": "operations", "explain": True}),
    "POST /intent-search": ("/intent-search", {"query": "why Postgres?"}),
    "POST /plan": ("/plan", {"query": "what of Redis and also what of tickets?"}),
    "POST /retrieve": ("/retrieve", {"query": "what did we do yesterday"}),
    "GET /documents": ("/documents", {"pattern": f"{REDIS}, nowhere.md"}),
    "GET /documents/{file:path}": (f"/documents/{REDIS}", {"max_lines": 1}),
    "GET /list": ("/list", {"collection": "notes"}),
    "GET /tasks": ("/tasks", {"until": "2026-12-31"}),
    "GET /timeline/{docid:path}": (f"/timeline/{REDIS}", {"before": 2}),
    "GET /sessions": ("/sessions", {}),
    "GET /export": ("/export", {}),
    "GET /graph/similar/{file:path}": (f"/graph/similar/{REDIS}", {}),
    "GET /links": ("/links", {"file": REDIS}),
    "GET /tags": ("/tags", {}),
    "GET /sources": ("/sources", {}),
    "GET /graph/causal/{docid:path}": (f"/graph/causal/{REDIS}", {}),
    "GET /graph/entities": ("/graph/entities", {"query": "post"}),
    "GET /graph/facts": ("/graph/facts", {"entity": "postgres"}),
    "GET /graph/evolution/{docid:path}": (f"/graph/evolution/{REDIS}", {}),
    "GET /receipts": ("/receipts", {}),
    "GET /receipts/{id}": ("/receipts/1", {}),
    "GET /profile": ("/profile", {}),
    "POST /diary": ("/diary", {"entry": "The ferry leaves at nine.", "topic": "boats"}),
    "GET /diary": ("/diary", {}),
    "GET /openclaw/flush-plan": ("/openclaw/flush-plan", {"total_tokens": 180_000}),
    "POST /context/prune": ("/context/prune", {"messages": [{"role": "user", "text": "Hello?"}]}),
    "POST /remember": ("/remember", {"text": "The ferry to Moss takes bicycles.", "tag": "boats"}),
    "GET /lifecycle/status": ("/lifecycle/status", {}),
    "POST /lifecycle/sweep": ("/lifecycle/sweep", {"purge": True}),
    "POST /documents/{query:path}/pin": (f"/documents/{REDIS}/pin", {"why": "often asked"}),
    "POST /lifecycle/undo": ("/lifecycle/undo", {"act": 0}),  # the last one
    "POST /documents/{query:path}/snooze": ("/documents/notes/markup.md/snooze", {}),
    "POST /documents/{query:path}/archive": (f"/documents/{REDIS}/archive", {}),
    "POST /lifecycle/restore": ("/lifecycle/restore", {"all": True}),
    "POST /documents/{query:path}/forget": ("/documents/notes/people/haruka.md/forget", {"confirm": True}),
    "POST /reindex": ("/reindex", {"force": True, "embed": True}),
    "POST /embed": ("/embed", {}),
    "POST /enrich": ("/enrich", {"no_model": True}),
    "POST /beads/sync": (
        "/beads/sync",
        {"project_path": str(Path(__file__).parents[1] / "data" / "beadsproject")},
    ),
    "POST /graphs/build": ("/graphs/build", {}),
    "GET /index-stats": ("/index-stats", {}),
    "POST /doctor": ("/doctor", {}),
    "POST /verify": ("/verify", {}),
}
JUNK: tuple[Any, ...] = (
    None, True, -1, 0, 10**30, 1.5, "", " ", "0", "\x00", "../../etc/passwd", "<script>", "#", "*" * 5000,
    "2026-02-30", "\U0001f9e0 \u202e", [], ["a", 1], {}, {"$ne": None},
)  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world_at(tmp_path_factory.mktemp("rest") / "home") as one:
        yield one


@pytest.fixture(scope="module")
def described(world: World) -> Described:
    """What the server says of itself."""
    return Described(world)


class TestWhatIsRefused:
    """Nothing is guessed, and nothing is done before it is refused."""

    @pytest.mark.parametrize(
        ("method", "path", "body", "status", "code"),
        [
            ("POST", "/query", {}, 400, "INVALID_INPUT"),
            ("POST", "/query", {"query": "a" * 10_001}, 400, "INPUT_TOO_LONG"),
            ("POST", "/query", {"query": "a", "limit": 0}, 400, "OUT_OF_BOUNDS"),
            ("POST", "/query", {"query": "a", "<b>": 1}, 400, "INVALID_INPUT"),
            ("POST", "/query", {"query": "a", "limit": "5"}, 400, "INVALID_INPUT"),
            ("POST", "/embed", {"force": "yes"}, 400, "INVALID_INPUT"),
            ("POST", f"/documents/{REDIS}/forget", {"confirm": 1}, 400, "INVALID_INPUT"),
            ("POST", "/query", {"query": "a", "collection": "none"}, 404, "NOT_FOUND"),
            ("POST", "/query?query=a", {"query": "a"}, 400, "INVALID_INPUT"),
            ("POST", "/query", ["a"], 400, "INVALID_INPUT"),
            ("POST", "/query", b'{"query": ', 400, "INVALID_INPUT"),
            ("POST", "/query", b'{"query": "\\ud800"}', 400, "INVALID_INPUT"),
            ("POST", "/query", b'{"query": "\xff"}', 400, "BAD_REQUEST"),
            ("GET", "/query", None, 405, "METHOD_NOT_ALLOWED"),
            ("GET", "/none", None, 404, "NOT_FOUND"),
            ("POST", "/hooks/%3Cb%3E", {}, 404, "NOT_FOUND"),
            ("GET", "/list?many=1", None, 400, "INVALID_INPUT"),
            ("GET", f"/timeline/{REDIS}?docid=x", None, 400, "INVALID_INPUT"),
            ("POST", "/diary?many=1", {"entry": "x"}, 400, "INVALID_INPUT"),
            ("POST", f"/documents/{REDIS}/pin", {"query": "x"}, 400, "INVALID_INPUT"),
            ("GET", "/tasks?since=2026-01-01&since=2026-02-01", None, 400, "INVALID_INPUT"),
            ("GET", "/documents/notes/nowhere.md", None, 404, "NOT_FOUND"),
            ("GET", "/documents/%2e%2e/%2e%2e/etc/passwd", None, 400, "PATH_TRAVERSAL"),
            ("POST", "/reindex", {"collection": ["none"]}, 404, "NOT_FOUND"),
            ("POST", "/lifecycle/undo", {"act": 999}, 404, "NOT_FOUND"),
            ("POST", "/beads/sync", {"project_path": "*" * 5_000}, 400, "FILE"),
        ],
    )  # fmt: skip
    def test_by_name(self, world: World, method: str, path: str, body: Any, status: int, code: str) -> None:
        """With a code for programs and a sentence for people."""
        heard = world.server.ask(method, path, body)
        told = json.loads(heard.body)

        assert (heard.status, told["code"]) == (status, code), told
        assert {"error", "code"} <= set(told) <= {"error", "code", "candidates"}
        assert told["error"].endswith((".", "?", ")")) or ": clawmem " in told["error"] or status == 405
        assert b"<" not in heard.body

    def test_nothing_brings_it_down(self, world: World, described: Described) -> None:
        """Whatever stands in the place of a parameter, the answer is one of those that are described."""
        # One for each, the next one every time; the slow test gives them all.
        for (line, name), value in zip(_places(described), cycle(JUNK), strict=False):
            _ask_with_junk(world, described, line, name, value)

        assert world.get("/health")[1]["pid"] == world.server.process.pid

    @pytest.mark.slow
    def test_nothing_at_all_brings_it_down(self, world: World, described: Described) -> None:
        """The same with everything in every place, then with what a fuzzer makes of the description."""
        for (line, name), value in product(_places(described), JUNK):
            _ask_with_junk(world, described, line, name, value)
        _fuzz(world, described)

        assert world.get("/health")[1]["pid"] == world.server.process.pid


class TestTheDescription:
    """What a server says of itself is so."""

    def test_every_route_is_described_and_tried(self, described: Described) -> None:
        """None is left out, and none made up."""
        assert set(described.operations()) == {plain(line) for line in SAMPLES}
        assert described.document["openapi"] == "3.1.0"

    def test_every_answer_is_as_described(self, world: World, described: Described) -> None:
        """One good request to each operation, in an order in which they can all succeed."""
        world.post(f"/documents/{REDIS}/pin", unpin=True)
        world.post("/lifecycle/restore", all=True)
        for line, (path, asked) in SAMPLES.items():
            if "act" in asked:
                asked = {"act": world.post("/lifecycle/undo")[1]["acts"][0]["id"]}
            if line.endswith("/forget"):  # which takes a docid alone
                path = f"/documents/{world.get(path.removesuffix('/forget'))[1]['docid']}/forget"
            status, told = world.get(path, **asked) if line.startswith("GET") else world.post(path, **asked)

            assert status == 200, (line, told)
            described.validator(plain(line), status).validate(told)


class TestChanges:
    """What changes the vault waits in line, and is seen by who asks next."""

    def test_a_new_note_is_found(self, world: World) -> None:
        """Read, embedded, served; several at a time do each other no harm."""
        (world.home / "notes" / "lathe.md").write_text("# The lathe\n\nThe lathe needs oil.\n", "utf-8")
        with ThreadPoolExecutor(4) as several:
            told = list(several.map(lambda _: world.post("/reindex", embed=True), range(4)))

        assert [status for status, _ in told] == [200] * 4
        assert sum(one["added"] for _, one in told) == 1
        assert world.post("/vsearch", query="what needs oil?")[1]["results"][0]["file"] == "notes/lathe.md"


def _places(described: Described) -> Iterator[tuple[str, str]]:
    """Every operation with every parameter that is not in its path; but nothing is forgotten by chance."""
    for line in SAMPLES:
        names = described.parameters(plain(line))
        yield from ((line, name) for name in names if not line.endswith("/forget"))


def _ask_with_junk(world: World, described: Described, line: str, name: str, junk: Any) -> None:
    path, asked = SAMPLES[line]
    if line.startswith("GET"):
        several = {**asked, name: str(junk) if isinstance(junk, dict) else junk}
        heard = world.server.ask("GET", f"{quote(path)}?{urlencode(several, doseq=True)}")
    else:
        heard = world.server.ask("POST", quote(path), {**asked, name: junk})
    assert heard.status in {200, 400, 404, 409}, (line, name, junk, heard)
    assert b"Traceback" not in heard.body and b'File "' not in heard.body
    described.validator(plain(line), heard.status).validate(json.loads(heard.body))


def _fuzz(world: World, described: Described) -> None:
    schemathesis = pytest.importorskip("schemathesis")
    checks = import_module("schemathesis.specs.openapi.checks")
    wanted = [
        schemathesis.checks.not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_schema_conformance,
    ]
    schema = schemathesis.openapi.from_dict(described.document)
    schema.config.base_url = f"http://127.0.0.1:{world.server.port}"
    token = {"Authorization": f"Bearer {world.server.token}"}
    for found in schema.get_all_operations():
        for mode in schemathesis.GenerationMode:

            @settings(
                max_examples=15,
                deadline=None,
                database=None,
                derandomize=True,
                suppress_health_check=HealthCheck,
            )
            @given(case=found.ok().as_strategy(generation_mode=mode))
            def ask(case: Any) -> None:
                case.call_and_validate(headers=token, checks=wanted)

            ask()
