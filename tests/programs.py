"""Python programs that tests run in interpreters of their own, let go when they are ready, and kill."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from command_process import start_process

# `main` as a hook calls it, with the modules on standard error that are loaded when it answers.
LOADING = """
import os, sys
leave, already = os._exit, {*sys.modules}  # what finds an editable installation is not ours
os._exit = lambda code: (os.write(2, ' '.join({*sys.modules} - already).encode()), leave(code))
sys.argv = ['clawmem', 'hook', *sys.argv[1:]]
from clawmem.app.main import main
main()
"""


def write_command(file: Path) -> None:
    """Write the program ``clawmem`` of this run, as a client finds it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m clawmem "$@"\n', "utf-8")
    file.chmod(0o755)


def run_program(
    program: str, *arguments: object, check: bool = True, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run *program* to its end; *options* are those of `subprocess.run`."""
    command = [sys.executable, "-P", "-c", program, *map(str, arguments)]
    return subprocess.run(command, check=check, capture_output=True, text=True, **options)


def modules_of_hook(name: str, event: Mapping[str, Any], **options: Any) -> tuple[str, set[str]]:
    """Return the context that a hook adds for *event*, and the modules that its process has loaded by then."""
    done = run_program(LOADING, name, input=json.dumps(event), **options)
    context = json.loads(done.stdout or "{}").get("hookSpecificOutput", {}).get("additionalContext", "")
    return context, set(done.stderr.split())


def start_program(
    program: str, *arguments: object, environ: Mapping[str, str] | None
) -> subprocess.Popen[str]:
    """
    Start *program*, which has to say ``ready`` first, and wait for `wait_until_ready` and `let_go`.

    Its process is forked from one that has imported ``clawmem``; with no *environ* it is a new interpreter.
    """
    options: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | {"encoding": "utf-8"}
    if environ is not None:
        return start_process("-c", program, *arguments, environ=environ, **options)
    return subprocess.Popen([sys.executable, "-c", program, *map(str, arguments)], **options)


def wait_until_ready(*processes: subprocess.Popen[str]) -> None:
    """Wait until each of *processes* has imported what it needs."""
    for process in processes:
        assert process.stdout.readline() == "ready\n", process.communicate(timeout=60)[1]


def let_go(*processes: subprocess.Popen[str]) -> None:
    """Let *processes* begin, at the same moment."""
    wait_until_ready(*processes)
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()


def finish(process: subprocess.Popen[str], timeout_s: float = 180) -> str:
    """Return what *process* printed until its end, which comes in order and without a complaint."""
    said, errors = process.communicate(timeout=timeout_s)
    assert (process.returncode, errors) == (0, "")
    return said


def kill(process: subprocess.Popen[str]) -> str:
    """Kill *process*, which may have come to its end; return what it had printed."""
    process.kill()
    said, errors = process.communicate(timeout=60)
    assert not errors or "Made the vault" in errors, errors
    return said
