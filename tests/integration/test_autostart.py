"""By default the first hook that finds no server starts one in the background, and does not wait for it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke
from command_process import run_process, start_process
from hook_process import Answered, answered, ask, transcript
from server_process import serving
from waiting import eventually

from clawmem.app.client.autostart import RETRY_S, is_running
from clawmem.app.client.request import Announcement, announced, server_file
from clawmem.app.version import VERSION

QUESTION = "where do login sessions live, and for how many days?"
PATIENCE_S = 60.0


class Home:
    """A home with a vault, whose hooks may start a server."""

    def __init__(self, home: Path, environ: dict[str, str]) -> None:
        self.home = home
        self.environ = {name: value for name, value in environ.items() if name != "CLAWMEM_NO_SERVER"}
        self.vault = home / ".cache" / "clawmem" / "index.sqlite"
        self.log, self.note = (
            Path(server_file(self.vault, "server-log")),
            Path(server_file(self.vault, "server-start")),
        )
        self.config = home / ".config" / "clawmem" / "config.yaml"

    def prompt(self, name: str = "UserPromptSubmit", **variables: str) -> Answered:
        told = {"hook_event_name": "UserPromptSubmit", "session_id": os.urandom(4).hex(), "prompt": QUESTION}
        return ask({**self.environ, **variables}, self.home, name, told)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run_process(*arguments, environ=self.environ, cwd=self.home)

    def server(self) -> Announcement:
        """The server that answers; fails if none comes up."""
        eventually(lambda: is_running(self.vault) and announced(self.vault) and not self.note.exists())
        found = announced(self.vault)
        assert found
        return found

    def starts(self) -> int:
        """How many servers have begun to answer."""
        return self.log.read_text().count("is served at") if self.log.exists() else 0

    def end(self) -> None:
        """End the server, also one that is still starting."""
        if self.note.exists() and self.log.exists() and "Error" not in self.log.read_text():
            eventually(lambda: not self.note.exists() or "Error" in self.log.read_text())
        self.run("serve", "--stop")


@pytest.fixture
def here(remembered: Invoke, home: Path, environ: dict[str, str]) -> Iterator[Home]:
    found = Home(home, environ)
    yield found
    found.end()


def test_alone_a_hook_asks_and_starts_none(here: Home) -> None:
    """It answers itself, and leaves no server behind."""
    told = {"hook_event_name": "UserPromptSubmit", "session_id": "5f0c", "prompt": QUESTION}
    answered = ask(here.environ, here.home, "UserPromptSubmit", told, "--alone")

    assert "Redis for 14 days" in answered.context
    assert not here.note.exists() and here.starts() == 0


def test_the_first_prompt_starts_a_server(here: Home) -> None:
    """It is answered cold; the server shares nothing with it, and answers the next one."""
    cold = (
        here.prompt()
    )  # returns when the pipes are closed, which a server that inherited them would prevent
    server = here.server()
    warm = here.prompt()

    assert "Redis for 14 days" in cold.context and cold.context == warm.context
    assert (cold.log, warm.log) == ("", "")
    assert os.getsid(server.pid) == server.pid
    if (environ := Path(f"/proc/{server.pid}/environ")).exists():
        assert b"MALLOC_ARENA_MAX=1" in environ.read_bytes().split(b"\0")
    eventually(lambda: here.starts() == 1)
    assert {
        file.stat().st_mode & 0o777 for file in (here.log, here.vault.with_name("index.sqlite.token"))
    } == {0o600}
    if sys.platform == "linux":
        process = Path(f"/proc/{server.pid}")
        files = [str((process / "fd" / str(number)).readlink()) for number in (0, 1, 2)]
        assert files == ["/dev/null", str(here.log), str(here.log)]
        assert (process / "cwd").resolve() == here.vault.parent
        assert b"--idle-exit\x0030\x00" in (process / "cmdline").read_bytes()
    told = json.loads(here.run("serve", "--status", "--json").stdout)
    assert (told["running"], told["answers"], told["automatic"]) == (True, True, True)

    os.kill(server.pid, signal.SIGKILL)  # it is replaced, by a hook of any event and name
    eventually(lambda: not is_running(here.vault))
    assert "Redis for 14 days" in here.prompt("context-surfacing").context
    assert here.server().pid != server.pid
    eventually(lambda: here.starts() == 2)


def test_two_prompts_at_once_start_one_server(here: Home) -> None:
    """Whoever comes second finds that a start has been made."""
    pipes: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    running = [
        start_process("hook", "UserPromptSubmit", environ=here.environ, cwd=here.home, **pipes)
        for _ in range(2)
    ]
    for number, process in enumerate(running):
        event = {"hook_event_name": "UserPromptSubmit", "session_id": f"{number}", "prompt": QUESTION}
        assert process.stdin
        process.stdin.write(json.dumps(event).encode())
        process.stdin.close()
        process.stdin = None
    for process in running:
        output, log = process.communicate(timeout=PATIENCE_S)
        assert "Redis for 14 days" in answered("UserPromptSubmit", process.returncode, output, log).context

    here.server()
    eventually(lambda: here.starts() == 1)
    assert "runs already" not in here.log.read_text()


@pytest.mark.parametrize(
    ("variables", "setting"),
    [({"CI": "true"}, "auto"), ({"CLAWMEM_NO_SERVER": "1"}, "auto"), ({}, "manual"),
     ({"INDEX_PATH": "none.sqlite"}, "auto")],
)  # fmt: skip
def test_who_starts_none(here: Home, variables: dict[str, str], setting: str) -> None:
    """CI, a variable, a setting, or a vault that does not exist."""
    here.config.write_text(f"{here.config.read_text()}server: {setting}\n")

    here.prompt(**variables)

    assert not here.note.exists() and not here.log.exists()
    assert not list(here.home.glob("none.sqlite*"))


def test_a_start_that_fails_is_noted_and_not_repeated_at_once(here: Home) -> None:
    """The log has the reason, and `serve --status` names the log; some minutes later it is tried again."""
    broken = {"CLAWMEM_VAULTS": "{"}
    first = here.prompt(**broken)
    eventually(lambda: "CLAWMEM_VAULTS must be JSON" in here.log.read_text())
    size = here.log.stat().st_size

    again = here.prompt(**broken)

    assert "Redis for 14 days" in first.context and "Redis for 14 days" in again.context
    status = here.run("serve", "--status")
    assert (status.returncode, str(here.log) in status.stderr) == (1, True)
    assert "Hooks start a server" in status.stdout
    assert here.log.stat().st_size == size

    os.utime(here.note, (0, time.time() - RETRY_S - 1))
    here.prompt()
    assert here.server()


def test_a_server_of_another_version_is_left_alone(here: Home) -> None:
    """It ends when it is idle; until then no second one is tried, and commands say how to restart it."""
    fault = f"The server runs 0.0.9, this is {VERSION}; restart it: clawmem serve --stop, then clawmem serve"
    with serving(here.environ, here.home):
        file = here.vault.with_name("index.sqlite.server")
        file.write_text(file.read_text().replace(f'"version": "{VERSION}"', '"version": "0.0.9"'))

        assert "Redis for 14 days" in here.prompt().context
        assert not here.note.exists()
        assert fault in here.run("serve", "--status").stderr
        assert fault in here.run("serve", "--background").stderr
        assert "FAIL  server: The server runs 0.0.9" in here.run("doctor").stdout


def test_an_idle_server_exits(here: Home) -> None:
    """Requests keep it, the watcher and the lanes do not; nothing is left but its token and its lock file."""
    with serving(here.environ, here.home, "--port", "0", "--idle-exit", "0.03") as server:
        began = time.monotonic()
        while time.monotonic() - began < 2.5:
            assert server.ask("GET", "/health").status == 200
            time.sleep(0.3)
        assert server.process.wait(PATIENCE_S) == 0
    assert announced(here.vault) is None


def test_tools_start_a_server_whenever_there_is_none(here: Home) -> None:
    """`clawmem mcp` starts it, and again; the call is answered, on a busy machine after the one that started it."""
    assert run_process("mcp", environ=here.environ, cwd=here.home, input="").returncode == 0
    assert not here.note.exists() and here.starts() == 0  # no session needs none
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with start_process("mcp", environ=here.environ, cwd=here.home, **pipes) as process:

        def call(method: str, **params: Any) -> dict[str, Any]:
            assert process.stdin and process.stdout
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            answer: dict[str, Any] = json.loads(process.stdout.readline())
            return answer.get("result", {})

        client = {"name": "test", "version": "1"}
        said = call("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        first = here.server()
        assert said["serverInfo"]["name"] == "clawmem" and here.starts() == 1
        os.kill(first.pid, signal.SIGTERM)
        eventually(lambda: not is_running(here.vault))

        eventually(lambda: call("tools/list").get("tools"))
        os.kill(
            here.server().pid, signal.SIGKILL
        )  # it was started by `clawmem mcp`, which does not wait for its end
        eventually(lambda: not is_running(here.vault))
        eventually(lambda: call("tools/list").get("tools"))
        server_file(here.vault, "token").write_text("another")
        assert call("tools/list") == {}  # an error, and no silence
        process.stdin.close()

    assert here.server().pid != first.pid


def test_a_user_starts_one_in_the_background(here: Home, tmp_path: Path) -> None:
    """Whatever hooks may do; the command returns when it answers, or says why it ended. A second one is not needed."""
    here.config.write_text(f"{here.config.read_text()}server: manual\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refused = here.run("serve", "--background", "--port", port)
    absent = here.run("serve", "--background", "--vault", str(tmp_path / "no" / "none.sqlite"))

    words = ("serve", "--background", "--json", "--idle-exit", "20", "--port", "0", "--name", "memory.local")
    started, found = (json.loads(here.run(*options).stdout) for options in (words, words[:3]))

    assert refused.returncode == 4 and f"port {port}" in refused.stderr and str(here.log) in refused.stderr
    assert absent.returncode == 5 and "There is no vault" in absent.stderr
    assert not (tmp_path / "no").exists()
    assert (started.pop("started"), found.pop("started")) == (True, False)
    # A client reads the state of a conversation as soon as the hook has answered.
    turns = ("user", "We'll use Postgres."), ("user", "And the tests?")
    file = transcript(here.home / "projects" / "a.jsonl", *turns)
    said = {"hook_event_name": "PreCompact", "session_id": "5f0c", "transcript_path": str(file)}
    ask(here.environ, here.home, "PreCompact", {**said, "trigger": "auto"})
    [state] = (file.parent / "memory").iterdir()
    assert "And the tests?" in state.read_text("utf-8")
    assert started == found and started["pid"] == here.server().pid and started["log"] == str(here.log)
    if sys.platform == "linux":
        line = Path(f"/proc/{started['pid']}/cmdline").read_bytes()
        assert b"--idle-exit=20" in line and b"--name=memory.local" in line and b"--background" not in line
