"""Questions of the command line, with a running server and without: the same answers, and a tenth of the work."""

from __future__ import annotations

import json
import re
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from command_line import configure, write_notes
from command_process import run_process
from programs import run_program
from rest_world import REDIS, World, world_at
from server_process import ServerProcess, serving
from typer.testing import CliRunner

from clawmem.app.client import request
from clawmem.app.client import request as server_request
from clawmem.app.interfaces.cli import operations
from clawmem.app.interfaces.cli.command_line import cli

QUESTION = ("where", "do", "login", "sessions", "live?")
ANSWERED = (
    ("search", *QUESTION, "-n", "2"),
    ("search", "zebra"),
    ("search", "--tag", "odd", "red", "bell"),
    ("query", "--mode", "vectors", *QUESTION, "--as-of", "2020-01-01"),
    ("query", *QUESTION, "--explain"),
    ("search", "--", "-x"),
    ("links", "--similar", REDIS),
    ("why",),
    ("status",),
    ("maintain", "--journal"),
    ("tags",),
)
ODD = "# Odd\r\nA\t\x1b[31mred\x1b[0m bell \x07 and a line that ends\u2028nowhere #odd"
REFUSED = (
    ("search", "x", "-c", "elsewhere"),
    ("search", "x", "--limit", "0"),
    ("query", "x", "--mode", "slowly"),
    ("links", "--similar", "nowhere.md"),
    ("get", "../../etc/passwd"),
    ("why", "999999"),
)
FOR_THE_COMMAND = (
    ("search", "x", "--alone"),
    ("search", "x", "--backend=sqlite"),
    ("search", "x", "--vault", "nowhere.sqlite"),
)
# A command that asks a server opens no vault and computes no vectors.
NEVER = {*"apsw clawmem.adapters.sqlite numpy sqlite3".split()}


class Heard(NamedTuple):
    """What a person sees of a command."""

    out: str
    err: str
    code: int


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world_at(tmp_path_factory.mktemp("served") / "home") as one:
        (one.home / "notes" / "odd.md").write_bytes(ODD.encode())
        one.cli("update", "--embed")
        configure(one.home, "vaults: {work: ~/work.sqlite}")
        write_notes(one.home / "desk", {"lamp.md": "# The lamp\n\nSessions at the desk need a lamp.\n"})
        one.cli("vault", "sync", "work", str(one.home / "desk"))
        one.cli("maintain", "light", "--now")
        yield one


@pytest.fixture
def at_home(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """This process in that home, patient however busy the machine is."""
    for name in ("INDEX_PATH", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in world.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(server_request, "PATIENCE_S", 20.0)
    return world


class CommandRunner(NamedTuple):
    """Commands in the process of the test, and whether a server answered each of them."""

    answers: list[bool]

    def __call__(self, *arguments: str) -> Heard:
        """Run a command that a server has to answer."""
        heard = self.run(*arguments)
        assert self.answers == [True]
        return heard

    def run(self, *arguments: str) -> Heard:
        self.answers.clear()
        done = CliRunner().invoke(cli, [*arguments])
        return Heard(done.stdout, done.stderr, done.exit_code)


@pytest.fixture
def served(at_home: World, monkeypatch: pytest.MonkeyPatch) -> CommandRunner:
    """Commands that may ask the server."""
    answers: list[bool] = []
    ask = request.result_from_server

    def recorded(*given: Any) -> Any:
        try:
            result = ask(*given)
        except request.Refused:
            answers.append(True)
            raise
        answers.append(result is not None)
        return result

    monkeypatch.setattr(operations, "result_from_server", recorded)
    return CommandRunner(answers)


def alone(*arguments: str) -> Heard:
    """The same as its own process answers it."""
    done = CliRunner().invoke(cli, ["--alone", *arguments])
    return Heard(done.stdout, done.stderr, done.exit_code)


def steady(heard: Heard) -> Heard:
    """Without how long each stage took, how long until a lane is due, which receipt it is, and the time now."""
    lines = re.sub(
        r' +\d+\.\d+\b *| +$|(?<=ms": )[\d.]+|(?<="receipt": )\d+|^receipt: .*|^asked .*|(?<="asked_at": ).*',
        "",
        heard.out,
        flags=re.MULTILINE,
    )
    return heard._replace(
        out=re.sub(r'"due_in_seconds": \{[^}]*\}|"at": "[^"]*"', "", re.sub(" +", " ", lines))
    )


class TestBothWays:
    @pytest.mark.parametrize("form", [(), ("--json",)], ids=["plain", "json"])
    @pytest.mark.parametrize("arguments", ANSWERED, ids=" ".join)
    def test_answers(self, served: CommandRunner, arguments: tuple[str, ...], form: tuple[str, ...]) -> None:
        """To the letter, what is said on stderr included."""
        verb, *rest = arguments

        told = served(verb, *form, *rest)

        assert steady(told) == steady(alone(verb, *form, *rest))
        assert (told.out.strip() != "", told.code) == (True, 0)

    @pytest.mark.parametrize("form", [(), ("--json",)], ids=["plain", "json"])
    @pytest.mark.parametrize("arguments", REFUSED, ids=" ".join)
    def test_refusals(self, served: CommandRunner, arguments: tuple[str, ...], form: tuple[str, ...]) -> None:
        """The same sentence, error record and exit code."""
        verb, *rest = arguments
        told = served.run(verb, *form, *rest)

        assert told == alone(verb, *form, *rest)
        assert told.err.startswith("clawmem: ")
        assert told.code in (2, 3)

    def test_receipts(self, served: CommandRunner, at_home: World) -> None:
        """Both ways leave one, that says the same."""
        served("search", *QUESTION)
        alone("search", *QUESTION)

        receipts = [at_home.cli("why", str(one["id"])) for one in at_home.cli("why")["receipts"][:2]]

        apart = {"id", "asked_at", "took_ms", "stages"}
        one, other = (
            {name: value for name, value in found.items() if name not in apart} for found in receipts
        )
        assert one == other
        assert one["question"] == " ".join(QUESTION)

    @pytest.mark.parametrize("form", [(), ("--json",)], ids=["plain", "json"])
    @pytest.mark.parametrize(
        "arguments", [("search", "sessions"), ("list",), ("collection", "list")], ids=" ".join
    )
    def test_a_vault_with_a_name(
        self, served: CommandRunner, arguments: tuple[str, ...], form: tuple[str, ...]
    ) -> None:
        """The server of the usual vault opens it, and says of it what the command would."""
        told = served(*form, "--vault", "work", *arguments)

        assert told == alone(*form, "--vault", "work", *arguments)
        assert "work" in told.out
        assert "redis" not in told.out

    def test_a_vault_by_its_file(
        self, served: CommandRunner, at_home: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Whichever way it is written; of a file that it does not have open the server says nothing."""
        vault = at_home.home / ".cache" / "clawmem" / "index.sqlite"
        other = at_home.home / "work.sqlite"
        monkeypatch.chdir(vault.parent)
        expected = alone("list", "--vault", str(vault))

        for said in (str(vault), "~/.cache/clawmem/index.sqlite", "./index.sqlite", "index.sqlite"):
            assert served("list", f"--vault={said}") == expected
        assert REDIS in expected.out
        assert served.run("list", "--vault", str(other)).code == 0
        assert served.answers == [False]

    @pytest.mark.parametrize("arguments", FOR_THE_COMMAND, ids=ascii)
    def test_what_is_for_the_command_itself(self, served: CommandRunner, arguments: tuple[str, ...]) -> None:
        """Options of the process, and vaults that no server has open."""
        served.run(*arguments)

        assert not any(served.answers)


@pytest.mark.parametrize(
    ("name", "parameters", "status"),
    [
        ("search", {"query": "x"}, 200),
        ("search", {"query": "x", "limit": 0}, 400),
        ("search", {"query": "x", "vault": "work"}, 400),
        ("search", {}, 400),
        ("no_such_operation", {}, 404),
        ("memory_forget", {"file": "x"}, 400),
        ("repair", {}, 400),
        ("backup", {"file": "x"}, 400),
        ("restore", {"bundle": "x"}, 400),
    ],
)
def test_the_route(world: World, name: str, parameters: dict[str, Any], status: int) -> None:
    """The request of an operation is validated, and an unknown operation or parameter is refused."""
    found, told = world.post(f"/operations/{name}", request=parameters)

    assert found == status
    assert (told.keys() == {"error", "code"}) == (status != 200)


def test_what_a_question_loads(world: World) -> None:
    """A process that asks the server opens no vault, and writes what it would write alone."""
    code = (
        "import sys; already = {*sys.modules}\n"
        "from clawmem.app.client import request; request.PATIENCE_S = 20.0\n"
        "from clawmem.app.main import main\n"
        "try: main()\n"
        "finally: print(*({*sys.modules} - already), file=sys.stderr)\n"
    )

    asked = run_program(code, "query", *QUESTION, check=False, cwd=world.home, env=world.environ)
    answered = _ran(world, "query", *QUESTION, "--alone")

    modules = asked.stderr.split()
    assert {never for never in NEVER if any(f"{one}.".startswith(f"{never}.") for one in modules)} == set()
    assert "clawmem.app.client.request" in modules
    assert (asked.stdout, answered.stderr) == (answered.stdout, "")


def test_without_vectors(
    invoke: Callable[..., object], notes: Path, home: Path, environ: dict[str, str]
) -> None:
    """What is wrong with the vault is found once, and the log is silent about it, and about who hung up."""
    invoke("collection", "add", notes)
    invoke("update", "--no-embed")
    world = World(home, environ, None)  # type: ignore[arg-type]

    def ask() -> list[subprocess.CompletedProcess[str]]:
        return [_ran(world, "query", "--mode", "vectors", "x"), _ran(world, "query", "Redis")]

    with serving(environ, home, "--port", "0", "--no-watch") as server:
        told = ask()
        refusal = json.loads(server.ask("POST", "/operations/vsearch", {"request": {"query": "x"}}).body)
        _hang_up(server)
        assert server.end() == 0
        log = server.log.read_text()
    afterwards = ask()

    shown = [Heard(done.stdout, done.stderr, done.returncode) for done in (*told, *afterwards)]
    assert shown[:2] == shown[2:]
    assert [done.returncode for done in told] == [6, 0]
    assert (f"clawmem: {refusal['refused']['error']}\n", refusal["exit_code"]) == (told[0].stderr, 6)
    assert "degraded: vector" in told[1].stderr
    assert log == ""


def _hang_up(server: ServerProcess) -> None:
    """Begin a question, and do not wait until it may be asked."""
    with socket.create_connection(("127.0.0.1", server.port), 20) as connection:
        head = f"Host: 127.0.0.1:{server.port}\nAuthorization: Bearer {server.token}\nExpect: 100-continue\n"
        body = "Content-Type: application/json\nContent-Length: 20\n\n"
        request = f"POST /operations/search HTTP/1.1\n{head}{body}"
        connection.sendall(request.replace("\n", "\r\n").encode())
        assert connection.recv(12) == b"HTTP/1.1 100"


def _ran(world: World, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_process(*arguments, environ=world.environ, cwd=world.home)
