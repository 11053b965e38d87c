"""``clawmem serve``: real processes, a real vault, hooks that ask it and hooks that cannot; and its life."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from command_process import run_process, start_process
from hook_process import TURNS, ask, transcript
from process_environ import process_environ
from server_process import ServerProcess, serving
from waiting import eventually

from clawmem.app.client import request as server_request
from clawmem.app.client.hook_registry import EVENTS, HOOKS, OPTIONAL_HOOKS, call_named
from clawmem.app.client.request import announced, posted, token_of
from clawmem.app.environment.private_files import state_folder

ALONE = {"CLAWMEM_API_TOKEN": "not the token of any server"}  # a hook that shows it is sent away

QUESTION = "where do login sessions live?"
LEFT_BY_SERVERS = {f"index.sqlite.{what}" for what in ("server", "token", "server-lock", "hooks")}


class World:
    """A home with a vault, and a server of it."""

    def __init__(self, home: Path, like: World | None = None) -> None:
        self.home = home
        self.environ = process_environ(home)
        self.vault = home / ".cache" / "clawmem" / "index.sqlite"
        if like:  # quicker than making another
            shutil.copytree(like.home / ".config", home / ".config")
            shutil.copytree(like.home / ".cache", home / ".cache", ignore=lambda *_: LEFT_BY_SERVERS)
            return
        (home / "notes").mkdir(parents=True)
        note = "# Keep sessions in Redis\n\nLogin sessions live in Redis for 14 days.\n"
        (home / "notes" / "redis.md").write_text(note, "utf-8")
        self.run("bootstrap", "notes")

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run_process(*arguments, environ=self.environ, cwd=self.home)

    def hook(self, name: str, told: dict[str, Any], **variables: str) -> dict[str, Any]:
        done = ask({**self.environ, **variables}, self.home, name, told)
        assert done.code == 0
        return done.answer

    def context(self, prompt: str, session: str) -> str:
        said = self.hook("context-surfacing", prompted(prompt, session))
        return str(said.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def documents(self) -> list[str]:
        return [one["file"] for one in json.loads(self.run("list", "--json").stdout)["documents"]]


def prompted(prompt: str, session: str) -> dict[str, Any]:
    return {"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": prompt}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("served") / "home")


@pytest.fixture(scope="module")
def server(world: World) -> Iterator[ServerProcess]:
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
            (401, {"Authorization": "Bearer of good news"}),
            (401, {"Authorization": "Bearer s\u00e9same"}),
            (401, {"Authorization": "Basic c2VzYW1l"}),
            (421, {"Host": "evil.example"}),
            (403, {"Origin": "http://evil.example"}),
            (415, {"Content-Type": "text/plain"}),
            (415, {"Content-Type": None}),
            (415, {"Content-Type": "application/json; charset=utf-16"}),
            (415, {"Content-Encoding": "gzip"}),
            (413, {"Content-Length": "16000001"}),
            (400, {"Clawmem-Options": '["CLAWMEM_PROFILE"]'}),
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


class TestLife:
    """How it begins and ends, and what hooks do meanwhile."""

    def test_from_beginning_to_end(self, world: World, tmp_path: Path) -> None:
        """One server a vault, which says where it is, and leaves nothing behind but its token."""
        here = World(tmp_path / "home", world)
        beside = here.vault.with_name
        assert here.run("serve", "--status").returncode == 1
        with serving(here.environ, here.home) as server:
            status = json.loads(here.run("serve", "--status", "--json").stdout)
            second, other = here.run("serve"), here.run("serve", "--background", "--port", "0")
            same = here.run("serve", "--background", "--port", str(server.port))
            kept = [beside("index.sqlite.token"), beside("index.sqlite.server")]
            announcement = kept[1].read_text()

            assert (status["running"], status["pid"]) == (True, server.process.pid)
            assert (second.returncode, second.stderr) == (same.returncode, same.stderr) == (0, "")
            assert "is already served at http" in second.stdout
            assert "There is no hook 'Stopp'" in here.run("hook", "Stopp").stderr
            assert (other.returncode, "so --port would change nothing" in other.stderr) == (2, True)
            kept[1].write_text("torn")
            assert "fuser -k" in here.run("serve", "--stop").stderr
            kept[1].write_text(announcement)
            assert {file.stat().st_mode & 0o777 for file in kept} == {0o600}
            assert here.run("serve", "--stop").returncode == 0
            assert server.process.wait(5) == 0
        left = {file.name for file in here.vault.parent.iterdir()}
        assert left == {"index.sqlite", "index.sqlite.token", "index.sqlite.server-lock"}
        assert here.run("serve", "--stop").returncode == 1

    def test_a_server_that_was_killed(self, world: World, tmp_path: Path) -> None:
        """What it left misleads nobody: hooks work alone, and the next server takes over with the same token."""
        here = World(tmp_path / "home", world)
        with serving(here.environ, here.home) as first:
            first.process.kill()
            first.process.wait()
        assert here.vault.with_name("index.sqlite.server").exists()

        alone = here.hook("context-surfacing", prompted(QUESTION, "s1"))
        assert "Redis for 14 days" in alone["hookSpecificOutput"]["additionalContext"]
        assert here.run("serve", "--status").returncode == 1
        with serving(here.environ, here.home) as second:
            assert second.token == first.token
            assert second.ask("GET", "/health").status == 200
            assert second.end() == 0

    def test_a_server_that_hangs(self, world: World, server: ServerProcess) -> None:
        """Hooks do not wait for it: nothing was sent to who did not answer. Who asks how it is hears it."""
        event = json.dumps(prompted(QUESTION, "hangs")).encode()
        os.kill(server.process.pid, signal.SIGSTOP)
        try:
            began = time.monotonic()
            heard = server_request.ask("context-surfacing", event, world.environ)
            took_s = time.monotonic() - began
            # On a machine that has much to do, the hook may pass its own deadline; the server answers none of them.
            eventually(lambda: "Redis for 14 days" in world.context(QUESTION, secrets.token_hex(4)))
            status = world.run("serve", "--status", "--json")
        finally:
            os.kill(server.process.pid, signal.SIGCONT)

        assert heard == ""
        assert server_request.PATIENCE_S <= took_s < HOOKS["context-surfacing"].deadline_s / 2
        assert (status.returncode, "clawmem serve --stop" in status.stderr) == (1, True)
        told = json.loads(status.stdout)
        assert (told["running"], told["answers"], told["pid"]) == (True, False, server.process.pid)
        eventually(lambda: json.loads(world.run("serve", "--status", "--json").stdout)["answers"])

    def test_who_is_served_by_nobody_else(self, world: World, server: ServerProcess, tmp_path: Path) -> None:
        """A vault in a copied folder, with the announcement beside it; another clawmem; another configuration."""
        copy = tmp_path / "copy"
        shutil.copytree(world.vault.parent, copy)
        assert (copy / "index.sqlite.server").exists()

        def answer(vault: Path, **variables: str) -> str:
            environ = {**world.environ, "INDEX_PATH": str(vault), **variables}
            return server_request.ask("pretool-inject", b"{}", environ)

        eventually(lambda: bool(answer(world.vault)))  # a machine that has much to do may be late once
        assert not answer(copy / "index.sqlite")
        with patch.object(server_request, "VERSION", "0.0.9"):
            assert not answer(world.vault)
        assert not answer(world.vault, XDG_CONFIG_HOME="/elsewhere")
        assert not answer(
            world.vault, CLAWMEM_EMBED_URL="http://127.0.0.1:1"
        )  # models of the caller hold for hooks
        assert answer(world.vault, CLAWMEM_PROFILE="deep")  # which the request has

    def test_what_is_under_way_is_answered(self, world: World, tmp_path: Path) -> None:
        """A server that is told to end still says what it was asked before, and is found no more."""
        here = World(tmp_path / "home", world)
        body = json.dumps(prompted(QUESTION, "late")).encode()
        with (
            serving(here.environ, here.home) as server,
            socket.create_connection(("127.0.0.1", server.port)) as line,
        ):
            line.sendall(
                f"POST /hooks/context-surfacing HTTP/1.1\r\nHost: localhost:{server.port}\r\n"
                f"Authorization: Bearer {server.token}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n".encode()
            )
            assert line.recv(100).startswith(b"HTTP/1.1 100 ")
            server.process.send_signal(signal.SIGTERM)
            eventually(lambda: not here.vault.with_name("index.sqlite.server").exists())

            line.sendall(body)

            line.settimeout(10)
            assert b"Redis for 14 days" in b"".join(iter(lambda: line.recv(1 << 16), b""))
            assert server.process.wait(15) == 0

    def test_ports(self, world: World, server: ServerProcess, tmp_path: Path) -> None:
        """One that was named has to be free; of the usual one nobody depends."""
        here = World(tmp_path / "home", world)
        taken = here.run("serve", "--port", str(server.port))
        assert taken.returncode == 4
        assert f"port {server.port}" in taken.stderr and "Traceback" not in taken.stderr

        with socket.socket() as usual:
            usual.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                usual.bind(("127.0.0.1", 7438))
                usual.listen()
            except OSError:
                pass  # somebody else has it: as good
            with serving(here.environ, here.home, "--no-token") as other:
                assert other.port != 7438
                assert other.ask("GET", "/health", Authorization=None).status == 200
                served = here.hook("context-surfacing", prompted(QUESTION, "s1"))
                assert served["hookSpecificOutput"]["additionalContext"]

    def test_a_vault_that_is_replaced(self, tmp_path: Path) -> None:
        """The server ends, and takes its write-ahead log with it, which the other file would read as its own."""
        here = World(tmp_path / "home")
        backup = tmp_path / "backup.sqlite"
        assert here.run("backup", str(backup)).returncode == 0
        with serving(here.environ, here.home) as server:
            assert here.run("remember", "The roof was repaired in May.").returncode == 0
            backup.replace(here.vault)

            assert server.process.wait(30) == 0
        assert not list(here.vault.parent.glob("index.sqlite-*"))
        assert "integrity check passed" in here.run("doctor").stdout

    def test_a_call_of_a_tool_at_the_end(self, tmp_path: Path) -> None:
        """It gets its result before the server ends."""
        here = World(tmp_path / "home")
        call = {"name": "query", "arguments": {"query": QUESTION}}
        message = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call}
        with serving(here.environ, here.home), ThreadPoolExecutor() as pool:
            result = pool.submit(self._posted, here, "/mcp", message)
            time.sleep(0.5)
            here.run("serve", "--stop")
            assert "Redis" in result.result()

    @pytest.mark.parametrize("signals", [(signal.SIGTERM,), (signal.SIGINT, signal.SIGINT)])
    def test_a_request_that_takes_too_long_at_the_end(
        self, tmp_path: Path, signals: Sequence[signal.Signals]
    ) -> None:
        """It is cancelled, at once by a second Ctrl-C, and the log has no traceback of it."""
        here, log = World(tmp_path / "home"), tmp_path / "log"
        code = (
            "import clawmem.app.serve.server as s; s.DRAIN_S = 1; from clawmem.app.main import main; main()"
        )
        with socket.create_server(("127.0.0.1", 0)) as silent, ThreadPoolExecutor() as pool:
            here.environ["CLAWMEM_LLM_URL"] = f"http://127.0.0.1:{silent.getsockname()[1]}"
            words = ("-c", code, "serve", "--port", "0")
            with (
                log.open("w") as file,
                start_process(*words, environ=here.environ, cwd=here.home, stderr=file) as process,
            ):
                eventually(lambda: announced(here.vault))
                pool.submit(self._posted, here, "/query", {"query": "x " * 2000})
                silent.settimeout(30)
                with silent.accept()[0]:
                    for number in signals:
                        process.send_signal(number)
                        time.sleep(0.3)
                    assert process.wait(30) == 0
        assert ("Cancel 1 running task" in log.read_text()) is (len(signals) == 1)
        assert "Traceback" not in log.read_text()

    @staticmethod
    def _posted(here: World, path: str, body: object) -> str:
        server, headers = announced(here.vault), {"Accept": "application/json, text/event-stream"}
        assert server
        content, token = json.dumps(body).encode(), token_of(here.vault, here.environ)
        return posted(server, path, token, content, headers=headers)

    def test_faults_in_the_status(self, tmp_path: Path) -> None:
        """It names a folder that is gone, as the log does, a vault that was cut off, and an address open to others."""
        here = World(tmp_path / "home")
        with serving(here.environ, here.home, "--host", "0.0.0.0", "--port", "0") as server:
            others = f"at 0.0.0.0:{server.port}, which others in the network can reach with the token"
            assert others in here.run("serve", "--status").stdout
            shutil.rmtree(here.home / "notes")
            eventually(lambda: "its documents are kept" in here.run("serve", "--status").stdout)
            os.truncate(here.vault, 5000)
            status = here.run("serve", "--status")
            assert "its documents are kept" in server.log.read_text()
        assert (status.returncode, "doctor --repair" in status.stderr) == (1, True)

    def test_what_it_will_not_do(self, world: World, tmp_path: Path) -> None:
        """In a sentence, before anything listens."""
        here = World(tmp_path / "home", world)
        for options, code, says in (
            (("--host", "0.0.0.0", "--no-token"), 4, "--no-token"),
            (("--host", "203.0.113.7", "--port", "0"), 4, "203.0.113.7"),
            (("--vault", "none.sqlite"), 5, "There is no vault"),
        ):
            done = here.run("serve", *options)

            assert done.returncode == code
            assert says in done.stderr and "Traceback" not in done.stderr
