"""The Model Context Protocol in trouble: wrong lines, input that closes, signals, clients and servers that are gone."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_process import COMMAND, run_process, start_process
from mcp_home import QUESTION, REDIS, Home, bootstrapped_home
from server_process import ServerProcess, serving
from waiting import eventually

WRONG = (
    b'{"jsonrpc":"2.0","id":8,"method":"tools/call","params":"x"}',
    b"what is this",
    b'{"jsonrpc":"2.0","id":9',
    b"\xff\xfe",
    b'[{"jsonrpc":"2.0","id":10,"method":"ping"}]',
    b'{"jsonrpc":"1.0","id":11,"method":"ping"}',
    b'{"id":"five","method":"ping"}',
    b'{"jsonrpc":"2.0","id":12,"method":7}',
    b'{"jsonrpc":"2.0","id":[13],"method":"ping"}',
    b'{"jsonrpc":"2.0","id":14}',
    b'{"jsonrpc":"2.0","id":15,"method":"ping","params":{"half":"\\ud800"}}',
    b'{"jsonrpc":"2.0","method":"notifications/unheard","params":"x"}',
    b'{"jsonrpc":"2.0","id":16,"method":"ping","params":{"deep":' + b"[" * 300 + b"]" * 300 + b"}}",
    b"42",
)

STARTS_AND_STAYS = """
import subprocess, sys, time
started = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
print(started.pid, flush=True)
time.sleep(60)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return bootstrapped_home(tmp_path_factory.mktemp("mcp") / "home")


@pytest.fixture(scope="module")
def server(home: Home) -> Iterator[ServerProcess]:
    with serving(home.environ, home.folder) as one:
        yield one


class TestEnds:
    """Standard input that closes, signals, clients and servers that are gone."""

    @pytest.mark.parametrize("options", [("--alone",), ()])
    def test_everything_is_answered_before_the_end(
        self, home: Home, server: ServerProcess, options: tuple[str, ...]
    ) -> None:
        """Requests of input that has ended are answered, too."""
        words, place = ("mcp", "--tools", "all", *options), {"environ": home.environ, "cwd": home.folder}
        done = run_process(*words, input=_opening(_call(7)), text=False, **place)
        answers = [json.loads(line) for line in done.stdout.splitlines()]

        assert done.returncode == 0, done.stderr
        assert [answer["id"] for answer in answers] == [1, 7]  # and nothing but the protocol
        assert REDIS in answers[1]["result"]["content"][0]["text"]

    @pytest.mark.parametrize("options", [("--alone",), ()])
    def test_told_to_end(self, home: Home, server: ServerProcess, options: tuple[str, ...]) -> None:
        with _started(home, *options) as process:
            assert _ended_after_opening(process) == b""
        with _started(home, *options) as process:
            _ended_after_opening(process, signal.SIGINT, _call(7))

    @pytest.mark.parametrize("options", [("--alone",), ()])
    def test_lines_that_are_no_messages(
        self, home: Home, server: ServerProcess, options: tuple[str, ...]
    ) -> None:
        """Each has an error; a request after them has its result, with a lone surrogate or a byte order mark too."""
        asked = json.dumps(_call(99, "query", query="redis \ud83d")).encode()
        damaged = json.dumps(
            _call(98, "memory_remember", text="The slot is a\ud83db.", collection="notes")
        ).encode()
        with _started(home, *options) as process:
            assert process.stdin and process.stdout
            process.stdin.write(_opening() + b"\n".join([*WRONG, damaged, BOM_UTF8 + asked]) + b"\n")
            process.stdin.flush()
            answers: list[dict[str, Any]] = []
            while not {98, 99} <= {answer.get("id") for answer in answers}:
                answers.append(json.loads(process.stdout.readline()))
            process.stdin.close()
            assert process.wait(20) == 0
        results = {answer["id"]: answer["result"] for answer in answers if "result" in answer}
        assert "structuredContent" in results[99]
        assert "U+FFFD stands for it" in json.dumps(results[98])
        faults = Counter(answer["error"]["code"] for answer in answers if "error" in answer)
        named = {str(answer["id"]) for answer in answers if "error" in answer}
        assert named == {"8", "11", "12", "14", "five", "None"}
        assert b"-32600" in server.ask("POST", "/mcp", []).body
        assert faults == {-32_700: 4, -32_600: len(WRONG) - 5}  # the surrogate is no fault
        accepted = {"Accept": "application/json, text/event-stream"}
        for body in (asked, BOM_UTF8 + asked):
            assert REDIS in server.ask("POST", "/mcp", body, **accepted).body.decode()

    def test_a_session_that_has_not_begun(self, home: Home) -> None:
        """A refused request says what to do first, or what is missing."""
        bare = {"jsonrpc": "2.0", "id": 8, "method": "initialize"}
        lines = b"".join(json.dumps(message).encode() + b"\n" for message in (_call(7), bare))
        done = run_process("mcp", "--alone", input=lines, text=False, environ=home.environ, cwd=home.folder)
        first, second = (json.loads(line)["error"]["message"] for line in done.stdout.splitlines())
        assert first == "The session has not begun. Send initialize first."
        assert second == "params is missing. Correct initialize."

    def test_a_client_that_was_killed(self, home: Home, server: ServerProcess) -> None:
        """What it started ends by itself, and the server goes on."""
        with subprocess.Popen(
            [sys.executable, "-c", STARTS_AND_STAYS, *COMMAND, "mcp"], stdout=subprocess.PIPE, text=True,
            env=home.environ, cwd=home.folder,
        ) as client:  # fmt: skip
            assert client.stdout
            bridge = int(client.stdout.readline())
            client.kill()
        eventually(lambda: not Path(f"/proc/{bridge}").exists() or "Z" in _state(bridge))
        assert server.ask("GET", "/health").status == 200

    def test_a_server_that_ends(self, home: Home, tmp_path: Path) -> None:
        """Whoever asks then is told the next step."""
        other = Home(home.folder, {**home.environ, "INDEX_PATH": str(tmp_path / "other.sqlite")})
        other.run("vault", "init")
        with serving(other.environ, other.folder) as ended, _started(other) as process:
            assert process.stdin and process.stdout
            process.stdin.write(_opening())
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == 1
            assert ended.end() == 0
            process.stdin.write(json.dumps(_call(2)).encode() + b"\n")
            process.stdin.close()
            refused = json.loads(process.stdout.readline())
            assert refused["id"] == 2 and "clawmem serve" in refused["error"]["message"]
            assert process.wait(10) == 0


def _ended_after_opening(
    process: subprocess.Popen[bytes], number: signal.Signals = signal.SIGTERM, *more: dict[str, Any]
) -> bytes:
    """Return the output after the answer to the opening, when the process receives the signal to end."""
    assert process.stdin and process.stdout
    process.stdin.write(_opening(*more))
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 1
    process.send_signal(number)
    assert process.wait(10) in (-number, 130)
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


def _call(number: int, name: str = "search", **arguments: Any) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments or QUESTION}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def _started(home: Home, *options: str) -> subprocess.Popen[bytes]:
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    return start_process("mcp", *options, environ=home.environ, cwd=home.folder, **pipes)


def _state(process: int) -> str:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"
