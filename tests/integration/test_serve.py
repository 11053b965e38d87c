"""``clawmem serve``: real processes, a real vault, hooks that ask it and hooks that cannot."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hook_process import transcript
from serve_world import QUESTION, World, prompted
from server_process import ServerProcess, serving
from waiting import eventually

from clawmem.app.client.hook_registry import EVENTS, HOOKS, OPTIONAL_HOOKS, call_named
from clawmem.app.environment.private_files import state_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")

TURNS = (
    ("Where should the queue live?", "We could use Redis or Postgres."),
    ("Postgres, please.", "We decided to use Postgres for the queue because one database is enough."),
    ("And the tests?", "I will run them against a real server."),
)

ALONE = {"CLAWMEM_API_TOKEN": "not the token of any server"}  # a hook that shows it is sent away


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """One home for the tests that leave it as it was."""
    return World(tmp_path_factory.mktemp("served") / "home")


@pytest.fixture(scope="module")
def server(world: World) -> Iterator[ServerProcess]:
    """One server for them."""
    with serving(world.environ, world.home) as one:
        yield one


class TestTheDoor:
    """Who comes in, and what they hear."""

    def test_health(self, world: World, server: ServerProcess) -> None:
        """That it answers, from what, and how much there is."""
        told = json.loads(server.ask("GET", "/health").body)
        stats = json.loads(server.ask("GET", "/stats").body)

        assert (told["status"], told["service"], told["pid"]) == ("ok", "clawmem", server.process.pid)
        assert (told["database"], told["hasVectors"]) == (str(world.vault), True)
        assert (told["documents"], told["needsEmbedding"]) == (1, 0)
        assert told.items() <= stats.items()

    @pytest.mark.parametrize(
        ("status", "headers"),
        [
            (401, {"Authorization": None}),
            (401, {"Authorization": "Bearer "}),
            (401, {"Authorization": "Bearer of good news"}),
            (421, {"Host": "evil.example"}),
            (421, {"Host": "localhost:1"}),
            (403, {"Origin": "http://evil.example"}),
            (403, {"Origin": "null"}),
            (415, {"Content-Type": "text/plain"}),
            (415, {"Content-Type": None}),
            (413, {"Content-Length": "16000001"}),
            (400, {"Clawmem-Options": '["CLAWMEM_PROFILE"]'}),
            (400, {"Clawmem-Options": "{"}),
        ],
    )
    def test_who_is_sent_away(
        self, server: ServerProcess, status: int, headers: dict[str, str | None]
    ) -> None:
        """Before anything is done, in JSON, and never with leave for a page of another place."""
        answer = server.ask("POST", "/hooks/context-surfacing", prompted(QUESTION, ""), **headers)

        assert answer.status == status
        assert "access-control-allow-origin" not in answer.headers
        assert set(json.loads(answer.body)) == {"error", "code"}

    def test_our_own_pages(self, server: ServerProcess) -> None:
        """A page that this server gave out may ask it."""
        assert server.ask("GET", "/health", Origin=f"http://localhost:{server.port}").status == 200

    def test_pages_of_this_machine(self, server: ServerProcess) -> None:
        """A page of another local program may ask with the token, after a preflight without one."""
        page = "http://localhost:5173"
        preflight = {"Origin": page, "Access-Control-Request-Method": "POST", "Authorization": None}
        allowed = server.ask("OPTIONS", "/query", **preflight)
        asked = server.ask("GET", "/health", Origin=page)
        assert (allowed.status, asked.status) == (200, 200)
        for answer in (allowed, asked):
            assert answer.headers["access-control-allow-origin"] == page
        assert allowed.headers["access-control-max-age"] == "86400"
        assert server.ask("GET", "/health", Origin=page, Authorization=None).status == 401

    @pytest.mark.parametrize(
        ("method", "path", "status"),
        [
            ("GET", "/hooks/context-surfacing", 405),
            ("DELETE", "/list", 405),
            ("GET", "/none", 404),
            ("POST", "/hooks/%3Cb%3E", 404),
        ],
    )
    def test_what_is_not_there(self, server: ServerProcess, method: str, path: str, status: int) -> None:
        """An error says what; of a request it repeats nothing that a browser could take for a page."""
        answer = server.ask(method, path, {} if method == "POST" else None)

        assert answer.status == status
        assert answer.headers["content-type"] == "application/json"
        assert json.loads(answer.body)["code"] in {"NOT_FOUND", "METHOD_NOT_ALLOWED"}
        assert b"<" not in answer.body

    def test_a_body_that_is_no_event(self, server: ServerProcess) -> None:
        """An answer all the same, as the command gives it."""
        for body in (b"", b"{", b"\xff\xfe", b"[" * 100_000):
            answer = server.ask("POST", "/hooks/pretool-inject", body)

            assert "additionalContext" not in json.loads(answer.body)["hookSpecificOutput"]


class TestHooks:
    """They say the same, whoever does the work."""

    @pytest.mark.parametrize(
        "name",
        [
            *(name for name, hook in HOOKS.items() if hook.event != "Stop"),
            *(event for event in EVENTS if event != "Stop"),
        ],
    )
    def test_the_same_answer_both_ways(self, world: World, server: ServerProcess, name: str) -> None:
        """Through the server and alone."""
        called = call_named(name)
        assert called
        source = "startup" if called.event == "SessionStart" else ""
        told = {"hook_event_name": called.event, "source": source, "prompt": QUESTION}
        told |= {"tool_name": "Edit", "tool_input": {"file_path": "/app/redis.md"}}
        every = {"CLAWMEM_HOOKS": ",".join(OPTIONAL_HOOKS)}

        served = world.hook(name, {**told, "session_id": f"{name} served"}, **every)
        assert served == world.hook(name, {**told, "session_id": f"{name} alone"}, **every, **ALONE)
        if called.event == "UserPromptSubmit":
            assert "Redis for 14 days" in served["hookSpecificOutput"]["additionalContext"]

    def test_what_a_client_chose_counts(self, world: World, server: ServerProcess) -> None:
        """As it would in a process of its own."""
        told = prompted(QUESTION, "chosen")
        silent = world.hook("context-surfacing", told, CLAWMEM_HEARTBEAT_PATTERNS="where do")

        assert "additionalContext" not in silent["hookSpecificOutput"]
        assert world.hook("context-surfacing", told)["hookSpecificOutput"]["additionalContext"]

    def test_a_client_cannot_choose_another_vault(
        self, world: World, server: ServerProcess, tmp_path: Path
    ) -> None:
        """The server has one, whatever it is told."""
        other = json.dumps({"INDEX_PATH": str(tmp_path / "other.sqlite"), "CLAWMEM_FOCUS_ROOT": "/"})

        told = server.ask(
            "POST", "/hooks/context-surfacing", prompted(QUESTION, "else"), Clawmem_Options=other
        )

        assert b"Redis for 14 days" in told.body
        assert list(tmp_path.iterdir()) == []

    def test_one_request_for_an_event(self, world: World, server: ServerProcess) -> None:
        """The server runs the hooks of the event that the caller's options enable, in order."""
        told = {"hook_event_name": "SessionStart", "session_id": "new", "source": "startup"}
        options = json.dumps({"CLAWMEM_HOOKS": "session-bootstrap"})

        def sessions() -> set[str]:
            return {one["id"] for one in json.loads(world.run("sessions", "--json").stdout)["sessions"]}

        default = json.loads(server.ask("POST", "/hooks/SessionStart", told).body)
        before = sessions()
        server.ask("POST", "/hooks/SessionStart", told, Clawmem_Options=options)

        assert default["hookSpecificOutput"] == {"hookEventName": "SessionStart"}
        assert sessions() - before == {"new"}  # the optional hook notes the start

    def test_the_end_of_a_turn(self, world: World, tmp_path: Path) -> None:
        """Answered at once, worked off behind, kept once however often it is told."""
        here = World(tmp_path / "home", world)
        file = transcript(here.home / "projects" / "5f0c.jsonl", *TURNS)
        told = {"hook_event_name": "Stop", "session_id": "5f0c", "transcript_path": str(file)}
        with serving(here.environ, here.home) as server:
            for name in ("Stop", "decision-extractor"):
                assert here.hook(name, told) == {"continue": True, "suppressOutput": False}
            eventually(lambda: not _spooled(here.vault))
            assert server.end() == 0
        once = here.documents()
        for name in ("decision-extractor", "handoff-generator"):
            here.hook(name, told)

        assert [path for path in once if "/observations/" in path], once
        assert [path for path in once if "handoffs/" in path], once
        assert sorted(here.documents()) == sorted(once)
        assert not (state_folder(here.vault) / "errors.log").exists()


def _spooled(vault: Path) -> list[Path]:
    return list((state_folder(vault) / "spool").iterdir())
