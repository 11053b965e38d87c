"""
Delays that clawmem adds to the real Claude Code client: milliseconds on the clock, from a mock of the Messages API.

    CLAUDE_FOLDER=FOLDER python tools/bench/claude_code.py [--rounds 5] [--vault FILE]

A round is one session of four prompts in each of three homes in turn: without hooks, with hooks and a server, and with
hooks that find no server. Three intervals are measured: from the start of the client to the first request of a session,
from a prompt to its request, and from the end of the model's answer to the end of the turn. The table shows medians, and
the difference from the home without hooks. Run it on an idle machine with installed packages (not an editable
installation). Without ``--vault``, each home has the example notes.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import mkdtemp
from time import perf_counter
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))  # the mock API is one of the tests' own modules

from messages_api import Block, MessagesApi, Request, listening, text
from server_process import serving

NOTES = Path(__file__).parents[2] / "examples" / "notes"
PROMPTS = (
    "how long is a booking slot held during checkout?",
    "why did we move the login sessions, and where do they live now?",
    "what did we decide on the database of the queue?",
    "who restores the backups, and how long are they kept?",
)
BARE, SERVED, COLD = "no hooks", "hooks, server", "hooks, no server"
INTERVALS = ("start to first request", "prompt to request", "answer to end of turn")
PATIENCE_S = 120


class Delays(NamedTuple):
    """Milliseconds of one turn: from the prompt (in a first turn: from the start) to the request, and to the end."""

    request: float
    end: float


class Client:
    """Claude Code with the home folder *home*; its model is *api*."""

    def __init__(self, home: Path, api: MessagesApi, claude: Path) -> None:
        self.home = home
        self.environ = {
            "PATH": os.pathsep.join(
                [str(claude.parent), str(Path(sys.executable).parent), os.environ["PATH"]]
            ),
            "HOME": str(home),
            "CLAUDE_CONFIG_DIR": str(home / ".claude"),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "ANTHROPIC_BASE_URL": api.url,
            "ANTHROPIC_API_KEY": "none",
            "NO_PROXY": "127.0.0.1",
            "CLAWMEM_NO_SERVER": "1",
        }
        self._asked: list[float] = []
        self._api = api

    def clawmem(self, *arguments: str) -> None:
        """Run a command of clawmem in this home."""
        subprocess.run(
            [sys.executable, "-P", "-m", "clawmem", *arguments],
            env=self.environ, cwd=self.home, check=True, capture_output=True, timeout=PATIENCE_S,
        )  # fmt: skip

    def session(self, prompts: Sequence[str]) -> Iterator[Delays]:
        """Yield the delays of each prompt of one session."""
        self._api.turn = self._answer
        began = perf_counter()
        command = "claude -p --verbose --input-format stream-json --output-format stream-json".split()
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, cwd=self.home, env=self.environ,
        ) as process:  # fmt: skip
            assert process.stdin
            assert process.stdout
            for prompt in prompts:
                self._asked.clear()
                message = {"type": "user", "message": {"role": "user", "content": prompt}}
                print(json.dumps(message), file=process.stdin, flush=True)
                next(one for one in map(json.loads, process.stdout) if one["type"] == "result")
                ended, [asked, *_] = perf_counter(), self._asked
                yield Delays((asked - began) * 1000, (ended - asked) * 1000)
                began = perf_counter()
            process.communicate(timeout=PATIENCE_S)

    def _answer(self, request: Request) -> Sequence[Block]:
        self._asked.append(perf_counter())
        return [text("As you wish.")]


def prepared(name: str, work: Path, api: MessagesApi, claude: Path, vault: Path | None) -> Client:
    """Return a client with a home of its own, whose vault is a copy of *vault*; set up unless it is the bare one."""
    home = work / name.replace(", ", "-").replace(" ", "-")
    home.mkdir()
    client = Client(home, api, claude)
    if name == BARE:
        return client
    if vault is None:
        client.clawmem("bootstrap", str(NOTES))
    else:
        place = home / ".cache" / "clawmem" / "index.sqlite"
        place.parent.mkdir(parents=True)
        for file in vault.parent.glob(f"{vault.name}*"):
            copy = shutil.copytree if file.is_dir() else shutil.copy
            copy(file, place.with_name(file.name.replace(vault.name, place.name)))
    client.clawmem("setup", "hooks")
    return client


def measured(clients: dict[str, Client], rounds: int) -> dict[str, list[list[float]]]:
    """Return the delays of each client for each of `INTERVALS`; a first round warms caches and does not count."""
    found: dict[str, list[list[float]]] = {name: [[], [], []] for name in clients}
    for number in range(rounds + 1):
        for name, client in clients.items():
            turns = list(client.session(PROMPTS))
            if number:
                first, later, end = found[name]
                first.append(turns[0].request)
                later.extend(turn.request for turn in turns[1:])
                end.extend(turn.end for turn in turns)
    return found


def table(found: dict[str, list[list[float]]]) -> str:
    """Return the medians as Markdown, with the difference from `BARE`."""
    lines = [f"| interval, ms | {' | '.join(found)} |", f"|---|{'---|' * len(found)}"]
    for place, interval in enumerate(INTERVALS):
        base = median(found[BARE][place])
        cells = [
            f"{median(every[place]):.0f} ({median(every[place]) - base:+.0f}, n = {len(every[place])})"
            for every in found.values()
        ]
        lines.append(f"| {interval} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--vault", type=Path, help="a vault to copy into each home")
    chosen = parser.parse_args()
    claude = shutil.which(
        "claude", path=os.pathsep.join((os.environ.get("CLAUDE_FOLDER", ""), os.environ["PATH"]))
    )
    if not claude:
        raise SystemExit("There is no claude command on the PATH or in CLAUDE_FOLDER. Run: make clients")
    work = Path(mkdtemp(prefix="claude-code-"))
    try:
        with listening() as api, ExitStack() as stack:
            clients = {
                name: prepared(name, work, api, Path(claude), chosen.vault) for name in (BARE, SERVED, COLD)
            }
            stack.enter_context(serving(clients[SERVED].environ, work, "--port", "0", fresh=True))
            sys.stdout.write(f"{table(measured(clients, chosen.rounds))}\n")
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
