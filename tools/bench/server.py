"""
What a question costs a server that has the vault open, how many it answers a second, and how much memory it takes.

    python tools/bench/server.py [--work FOLDER] [--questions 100] [--seconds 10]

The vault is that of ``hook_cost.py``: the beginnings of 10 000 notes. One client asks one thing after another: the same
few questions again and again, or each question once, of words that one note holds; then 16 ask at once for some seconds,
and at last every tool that only reads is asked for once, which loads the library of the tools. CPU time is the server's
alone, from the system's count of it: it stays what it is where other programs are busy as well, which the time on the clock
does not. The load of the machine is kept beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from itertools import count, cycle
from multiprocessing import get_context
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))  # a server is started as its own tests do

import hook_cost
from artefacts import FOLDER, write_facts
from benchmark_tables import server
from judged import surroundings
from latency import asked
from server_process import ServerProcess, serving

from clawmem.app.bench.retrieval import percentile
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.client.autostart import ONE_HEAP
from clawmem.app.settings.model import load_settings

FACTS = FOLDER / "server.json"
CLIENTS, WARM_UP = 16, 12
TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")
QUESTIONS = (
    "retention of backups, deploy of the billing service, moving the sessions to Postgres, "
    "login sessions, ticket machines, restore drill"
).split(", ")


class Endpoint(NamedTuple):
    """What is asked: a path, and the body of a POST for each question."""

    name: str
    path: str
    body: Callable[[str], dict[str, Any]] | None = None
    target_ms: float = 0.0
    is_new: bool = False  # whether each question is asked once


WAYS = (
    Endpoint("GET /health", "/health"),
    Endpoint("GET /list", "/list"),
    Endpoint("POST /search, keyword", "/search", lambda text: {"query": text, "mode": "keyword"}, 8),
    Endpoint("POST /search, hybrid", "/search", lambda text: {"query": text, "mode": "hybrid"}, 20),
    Endpoint("keyword, each once", "/search", lambda text: {"query": text, "mode": "keyword"}, is_new=True),
    Endpoint("hybrid, each once", "/search", lambda text: {"query": text, "mode": "hybrid"}, is_new=True),
    Endpoint("POST /retrieve", "/retrieve", lambda text: {"query": text}),
    Endpoint(
        "POST /hooks/context-surfacing",
        "/hooks/context-surfacing",
        lambda text: {"prompt": f"what do we know of {text}?", "session_id": os.urandom(4).hex()},
    ),
)
TOGETHER = WAYS[2]


class Client:
    """One connection that is kept."""

    def __init__(self, server: ServerProcess) -> None:
        self._connection = HTTPConnection("127.0.0.1", server.port)
        self._said = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}

    def ask(self, way: Endpoint, text: str) -> tuple[int, float]:
        """The status of an answer, and the milliseconds that it took."""
        began = perf_counter()
        body = json.dumps(way.body(text)) if way.body else None
        self._connection.request("POST" if way.body else "GET", way.path, body, self._said)
        answer = self._connection.getresponse()
        answer.read()
        return answer.status, (perf_counter() - began) * 1000

    def tool(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a message to the tools."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        accept = {"Accept": "application/json, text/event-stream"}
        self._connection.request("POST", "/mcp/all", json.dumps(message), {**self._said, **accept})
        told = self._connection.getresponse().read().splitlines()
        [line] = [one for one in told if one.startswith((b"data: {", b"{"))]
        return json.loads(line.removeprefix(b"data: "))["result"]

    def close(self) -> None:
        """Hang up."""
        self._connection.close()


def one_by_one(server: ServerProcess, way: Endpoint, texts: Iterator[str], number: int) -> dict[str, Any]:
    """What one client pays for a way of asking; ends the run when anything is refused."""
    with closing(Client(server)) as client:
        for _ in range(WARM_UP):
            client.ask(way, next(texts))
        before = cpu_ms(server)
        heard = [client.ask(way, next(texts)) for _ in range(number)]
        cpu = (cpu_ms(server) - before) / number
    if {status for status, _ in heard} != {200}:
        raise SystemExit(f"{way.name}: {heard}")
    wall = [ms for _, ms in heard]
    return {
        "way": way.name,
        "target_ms": way.target_ms,
        "n": number,
        "cpu_mean_ms": round(cpu, 1),
        "wall_p50_ms": round(percentile(wall, 0.5), 1),
        "wall_p95_ms": round(percentile(wall, 0.95), 1),
        "memory_mb": memory_mb(server),
    }


def together(server: ServerProcess, seconds: float) -> dict[str, Any]:
    """What several clients get that ask at once."""
    before, began = cpu_ms(server), monotonic()
    with ThreadPoolExecutor(CLIENTS) as threads:
        several = threads.map(lambda n: list(_asking(server, n, began + seconds)), range(CLIENTS))
        heard = [one for client in several for one in client]
    took = monotonic() - began
    wall = [ms for status, ms in heard if status == 200]
    return {
        "way": TOGETHER.name,
        "clients": CLIENTS,
        "answers_per_s": round(len(wall) / took, 1),
        "refused": len(heard) - len(wall),
        "wall_p50_ms": round(percentile(wall, 0.5), 1),
        "wall_p99_ms": round(percentile(wall, 0.99), 1),
        "cores": round((cpu_ms(server) - before) / 1000 / took, 2),
        "memory_mb": memory_mb(server),
    }


def _asking(server: ServerProcess, number: int, until: float) -> Iterator[tuple[int, float]]:
    with closing(Client(server)) as client:
        for place in count(number):
            if monotonic() > until:
                return
            yield client.ask(TOGETHER, QUESTIONS[place % len(QUESTIONS)])


def with_tools(server: ServerProcess) -> dict[str, Any]:
    """What it takes once every tool that only reads was asked, whether that has an answer or not."""
    with closing(Client(server)) as client:
        tools = [one for one in client.tool("tools/list")["tools"] if one["annotations"].get("readOnlyHint")]
        for one in tools:
            needed = one["inputSchema"].get("required", ())
            client.tool("tools/call", name=one["name"], arguments=dict.fromkeys(needed, QUESTIONS[0]))
    return {"tools": len(tools), "memory_mb": memory_mb(server)}


def cpu_ms(server: ServerProcess) -> float:
    """What the server's threads have spent, user and system."""
    told = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(told[11]) + int(told[12])) * TICK_MS


def memory_mb(server: ServerProcess) -> int:
    """What of it lies in memory."""
    lines = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    [kilobytes] = (line.split()[1] for line in lines if line.startswith("VmRSS"))
    return int(kilobytes) // 1024


def new_questions(vault: Path, number: int) -> list[str]:
    """Of three to eight words, each from one note."""
    if not number:
        return []
    with open_services(load_settings(environ={"INDEX_PATH": str(vault)}), read_only=True) as services:
        return asked(services, number)


def measured(vault: Path, questions: int, seconds: float, ways: Sequence[Endpoint] = WAYS) -> dict[str, Any]:
    """Everything, of one server."""
    home = vault.parent / "home"
    packages = os.environ.get("PYTHONPATH", "")
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "INDEX_PATH": str(vault),
        "PYTHONPATH": packages,
        **ONE_HEAP,  # as of a server that a hook or the service manager starts
    }
    new = iter(new_questions(vault, sum(way.is_new for way in ways) * (WARM_UP + questions)))
    began = monotonic()
    with serving(environ, home, "--port", "0", "--no-watch", fresh=True) as server:
        with closing(Client(server)) as client:
            client.ask(TOGETHER, QUESTIONS[0])
        start = {
            "cpu_ms": round(cpu_ms(server)),
            "wall_ms": round((monotonic() - began) * 1000),
            "memory_mb": memory_mb(server),
        }
        each = [one_by_one(server, way, new if way.is_new else cycle(QUESTIONS), questions) for way in ways]
        at_once = together(server, seconds)
        tools = with_tools(server)
    load = [round(one, 1) for one in os.getloadavg()]
    return {
        "made with": surroundings(),
        "load": load,
        "start": start,
        "each": each,
        "together": at_once,
        "tools": tools,
    }


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, default=Path("build/bench"), help="where the vault is kept")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=10.0)
    chosen = parser.parse_args()
    (chosen.work / "home").mkdir(parents=True, exist_ok=True)
    vault = (chosen.work / "hook-cost.sqlite").resolve()
    maker = get_context("spawn").Process(target=hook_cost.make, args=(vault,))
    maker.start()
    maker.join()
    if maker.exitcode:
        raise SystemExit("The vault could not be made.")
    write_facts(FACTS, measured(vault, chosen.questions, chosen.seconds))
    print("\n".join(server(FOLDER)))  # noqa: T201


if __name__ == "__main__":
    main()
