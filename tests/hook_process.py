"""A hook as a client runs it: a process of its own, its event on standard input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple


class Answered(NamedTuple):
    """What a client gets: the exit code, the one object on standard output, and what its debug log shows."""

    code: int
    answer: dict[str, Any]
    log: str

    @property
    def context(self) -> str:
        """What the model would read."""
        context: str = self.answer.get("hookSpecificOutput", {}).get("additionalContext", "")
        return context


def command(name: str, *options: str) -> list[str]:
    """The command of a hook."""
    return [sys.executable, "-P", "-m", "clawmem", "hook", name, *options]


def answered(code: int, output: bytes, log: bytes) -> Answered:
    """A process that ended; fails unless it said exactly one JSON object on one line."""
    (line,) = output.decode("utf-8").splitlines()
    return Answered(code, json.loads(line), log.decode("utf-8", "replace"))


def ask(
    environ: dict[str, str], home: Path, name: str, event: dict[str, Any] | bytes, *options: str
) -> Answered:
    """Run the hook *name* on *event* and wait for it."""
    content = event if isinstance(event, bytes) else json.dumps(event).encode()
    done = subprocess.run(
        command(name, *options),
        check=False,
        input=content,
        capture_output=True,
        cwd=home,
        env=environ,
        timeout=60,
    )
    return answered(done.returncode, done.stdout, done.stderr)


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
