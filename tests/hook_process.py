"""A hook as a client runs it: a process of its own, its event on standard input."""

from __future__ import annotations

import json
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from command_process import COMMAND, run_process, start_process

from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.client.hook_registry import HookCall, call_named
from clawmem.app.environment.private_files import state_folder
from clawmem.app.interfaces.hooks.handlers import HANDLERS, HookContext
from clawmem.app.interfaces.hooks.process import PRINTS_STDOUT
from clawmem.app.interfaces.hooks.protocol import CARRY_CONTEXT, answer, read_event
from clawmem.ports.telemetry import Recall

SLACK_S = 10.0  # beyond a client's patience, where the machine has other things to do
AT_STOP = ("decision-extractor", "handoff-generator", "feedback-loop")
TURNS = (
    ("Where should the queue live?", "We could use Redis or Postgres."),
    ("Postgres, please.", "We decided to use Postgres for the queue because one database is enough."),
    ("And the tests?", "I will run them against a real server."),
)
ONCE = Counter(decision=1, handoff=1)  # what a Stop stores of them

QUESTION = "Where do login sessions live, and for how many days?"
NOTES = {
    "redis.md": "# Keep sessions in Redis\n\nLogin sessions live in Redis for 14 days.\n",
    "postgres.md": "# Move sessions to Postgres\n\nOne database is enough for us.\n",
    "haruka.md": "# Haruka Mori\n\nDesigns ticket machines.\n\nCounts seconds.\n",
}
KNOWN = "Login sessions live in Redis for 14 days."  # what the notes answer


def _call(name: str) -> HookCall:
    called = call_named(name)
    assert called, name
    return called


class Answered(NamedTuple):
    """What a client gets: the exit code, the one object on standard output, and what its debug log shows."""

    code: int
    answer: dict[str, Any]
    log: str

    @property
    def context(self) -> str:
        """What the model would read."""
        return self.answer.get("hookSpecificOutput", {}).get("additionalContext", "")


Hook = Callable[..., Answered]


def command(name: str, *options: str) -> list[str]:
    return [*COMMAND, "hook", name, *options]


def answered(name: str, code: int, output: bytes, log: bytes) -> Answered:
    """
    Read what the hook *name* answered when its process ended.

    Fails unless the output is one JSON object on one line, or empty where a client would print it to the terminal.
    """
    called = call_named(name)
    event = called.event if called else ""
    (line,) = output.decode("utf-8").splitlines() if event not in PRINTS_STDOUT else ["{}"]
    assert event not in PRINTS_STDOUT or output == b"", (name, output)
    return Answered(code, json.loads(line), log.decode("utf-8", "replace"))


def ask(
    environ: dict[str, str], home: Path, name: str, event: dict[str, Any] | bytes, *options: str
) -> Answered:
    """Run the hook *name* on *event* and wait for it."""
    content = event if isinstance(event, bytes) else json.dumps(event).encode()
    done = run_process("hook", name, *options, environ=environ, cwd=home, input=content, text=False)
    return answered(name, done.returncode, done.stdout, done.stderr)


def ask_inside(environ: Mapping[str, str], name: str, event: Mapping[str, Any]) -> Answered:
    """Run the hooks that *name* names inside of this process; quicker, where process and deadlines are no matter."""
    called, happening, context = _call(name), read_event(json.dumps(event), environ), HookContext(environ)
    contexts = [
        HANDLERS[hook](happening, context)
        for hook in called.hooks_for(happening.tool_name or happening.source)
    ]
    return Answered(0, json.loads(answer(called.event, "\n\n".join(filter(None, contexts)))), "")


def transcript(file: Path, *turns: tuple[str, str]) -> Path:
    """A transcript in the client's format: pairs of what the user and what the assistant said."""
    lines, parent = [], None
    for number, (asked, said) in enumerate(turns):
        for kind, text in (("user", asked), ("assistant", said)):
            content: Any = text if kind == "user" else [{"type": "text", "text": text}]
            message = {"role": kind, "content": content, "id": f"msg_{number}_{kind}"}
            uuid = f"{number}-{kind}"
            lines.append(
                {
                    "type": kind,
                    "uuid": uuid,
                    "parentUuid": parent,
                    "isSidechain": False,
                    "sessionId": file.stem,
                    "timestamp": f"2026-03-01T10:{number:02}:{0 if kind == 'user' else 30:02}.000Z",
                    "message": message,
                }
            )
            parent = uuid
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return file


class Running(NamedTuple):
    """A hook that a client waits for."""

    name: str
    process: subprocess.Popen[bytes]
    began: float

    def answer(self) -> Answered:
        """What it said; fails unless that is what a client may see, in time."""
        output, log = self.process.communicate(timeout=60)
        took, event = time.monotonic() - self.began, _call(self.name).event
        done = answered(self.name, self.process.returncode, output, log)
        assert done.code == 0, done.log
        assert took < _call(self.name).patience_s + SLACK_S, (self.name, took)
        assert done.answer.get("continue", event in PRINTS_STDOUT) is True
        assert ("hookSpecificOutput" in done.answer) == (event in CARRY_CONTEXT)
        return done

    def kill(self) -> None:
        """End it as the system would, without a chance to clean up."""
        self.process.kill()
        self.process.communicate()


class Client:
    """
    A client in a home folder with a vault, and a conversation in which one thing was decided.

    Every answer is checked for what holds whatever happens: exit code 0, one object of the event's shape, in time.
    """

    def __init__(self, home: Path, environ: Mapping[str, str]) -> None:
        self.home = home
        self.environ = dict(environ)
        self.vault = home / ".cache" / "clawmem" / "index.sqlite"
        self.session = "5f0c"
        self.conversation = transcript(home / "projects" / f"{self.session}.jsonl", *TURNS)
        self._started: list[Running] = []

    def event(self, name: str, **fields: Any) -> dict[str, Any]:
        """What the client tells the hook *name*, with the fields that matter."""
        told = {"session_id": self.session, "cwd": str(self.home), "transcript_path": str(self.conversation)}
        return {**told, "hook_event_name": _call(name).event, **fields}

    def start(
        self,
        name: str,
        told: bytes | None = None,
        *,
        under: Sequence[str] = (),
        environ: Mapping[str, str] | None = None,
        **fields: Any,
    ) -> Running:
        """A hook, its event told, still running. *under* is a command that is given its command, and becomes it."""
        began = time.monotonic()
        pipes: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | {"cwd": self.home}
        variables = {**self.environ, **(environ or {})}
        process = start_process("hook", name, environ=variables, under=under, **pipes)
        assert process.stdin
        process.stdin.write(json.dumps(self.event(name, **fields)).encode() if told is None else told)
        process.stdin.close()
        process.stdin = None
        self._started.append(Running(name, process, began))
        return self._started[-1]

    def close(self) -> None:
        """Let nothing run on that a failing test left behind."""
        for running in self._started:
            if running.process.returncode is None:
                running.kill()

    def ask(self, name: str, told: bytes | None = None, **more: Any) -> Answered:
        return self.start(name, told, **more).answer()

    def stop(self, **environ: str) -> list[Answered]:
        """The end of a turn: the client runs everything for it at once."""
        return [running.answer() for running in [self.start(name, environ=environ) for name in AT_STOP]]

    def run(self, *arguments: str, environ: Mapping[str, str]) -> None:
        """Any other command of clawmem, in the home folder."""
        run_process(*arguments, environ={**self.environ, **environ}, cwd=self.home, check=True)

    def memories(self) -> Counter[str]:
        """How many decisions and handoffs are stored."""
        with closing(open_vault(str(self.vault), read_only=True)) as vault:
            return Counter(one.content_type for one in vault.documents.latest() if one.content_type in ONCE)

    def texts(self, content_type: str) -> str:
        with closing(open_vault(str(self.vault), read_only=True)) as vault:
            found = [one.id for one in vault.documents.latest() if one.content_type == content_type]
            return "\n".join(vault.documents.body(document_id) or "" for document_id in found)

    def turns(self) -> list[Recall]:
        """What is written down of prompts, the oldest first."""
        with closing(open_vault(str(self.vault), read_only=True)) as vault:
            return [recall for recall in vault.telemetry.recalls() if recall.verb == "context-surfacing"]

    def waiting(self) -> list[str]:
        folder = state_folder(self.vault) / "spool"
        return sorted(file.name for file in folder.glob("[!.]*"))
