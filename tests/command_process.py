"""``clawmem`` as a process, forked from one that has imported it: an eighth of the CPU time of a new interpreter."""

from __future__ import annotations

import atexit
import inspect
import json
import os
import re
import select
import shlex
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from process_environ import PYTHON_PATH, process_environ

Run = Callable[..., subprocess.CompletedProcess[str]]
HERE = Path(__file__).parent
COMMAND = [sys.executable, "-P", "-m", "clawmem"]
STATUS = struct.Struct("i")
AT_START = re.compile(
    r"PYTHON(?!PATH$)|LD_|DYLD_|LC_|LANG|MALLOC_|OPENBLAS"
)  # what an interpreter reads when it starts


def start_process(
    *arguments: object,
    environ: Mapping[str, str],
    under: Sequence[str] = (),
    fresh: bool = False,
    **options: Any,
) -> subprocess.Popen[Any]:
    """
    Start ``clawmem`` with *arguments* and the variables *environ*; *options* are those of `subprocess.Popen`.

    A first argument ``-c`` starts the Python program that follows it instead.

    Args:
        under: The command that takes rights from the process before it starts, such as ``setpriv``.
        fresh: Whether to start a new interpreter, for tests of what a process imports, or how it starts.
    """
    if not fresh and _may_fork(environ):
        return ForkedProcess([*under, *COMMAND, *map(str, arguments)], env=dict(environ), **options)
    command = [sys.executable, "-P"] if arguments[:1] == ("-c",) else COMMAND
    return subprocess.Popen([*under, *command, *map(str, arguments)], env=dict(environ), **options)


def run_process(
    *arguments: object,
    environ: Mapping[str, str],
    input: str | bytes | None = None,
    timeout: float = 120,
    check: bool = False,
    text: bool = True,
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    """Run ``clawmem`` to its end, as `subprocess.run` does with captured output; *options* are for `start_process`."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8" if text else None}
    if input is not None:
        pipes["stdin"] = subprocess.PIPE
    with start_process(*arguments, environ=environ, **{**pipes, **options}) as process:
        try:
            output, errors = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(process.args, process.returncode, output, errors)
    assert not check or done.returncode == 0, done
    return done


def surfaced(prompt: str, environ: Mapping[str, str]) -> str:
    """Return the block that a hook adds to *prompt*."""
    done = run_process("surface", "--context", "--stdin", environ=environ, input=prompt, check=True)
    return str(done.stdout)


class ForkedProcess(subprocess.Popen[Any]):
    """A child of the fork server that behaves as a child of this process."""

    def _execute_child(self, *details: Any) -> None:
        """Send command, variables and streams to the fork server; called by the constructor."""
        given = inspect.signature(subprocess.Popen._execute_child).bind(self, *details).arguments  # type: ignore[attr-defined]
        start = given["args"].index(COMMAND[0])
        told = {
            "arguments": given["args"][start + len(COMMAND) :],
            "environ": given["env"],
            "cwd": os.fspath(given["cwd"] or Path.cwd()),
            "umask": _umask(),
        }
        streams = [given[name] for name in ("p2cread", "c2pwrite", "errwrite")]
        self._status, status = os.pipe()
        request, content = os.pipe()
        try:
            ends = [request, status, *(own if own >= 0 else number for number, own in enumerate(streams))]
            socket.send_fds(_fork_server(*given["args"][:start]), [b"."], ends)
        finally:
            os.close(request)
            os.close(status)
        with os.fdopen(content, "w", encoding="utf-8") as file:
            json.dump(told, file)
        self._child_created = True
        self.pid = self._read_status() or 0
        self._close_pipe_fds(*(given[name] for name in _PIPES))  # type: ignore[attr-defined]

    def _read_status(self) -> int | None:
        read = os.read(self._status, STATUS.size)
        return STATUS.unpack(read)[0] if read else None

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        """Return what `os.waitpid` would."""
        if wait_flags and not select.select([self._status], [], [], 0)[0]:
            return 0, 0
        status = self._read_status()
        return self.pid, 1 if status is None else status

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None and self._child_created:
            pid, status = self._try_wait(os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


_PIPES = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")


def write_program(file: Path) -> Path:
    """Write a program ``clawmem`` that other programs can start; its process is a child of the fork server."""
    _fork_server()
    client = [sys.executable, "-I", "-S", str(HERE / "fork_client.py"), str(_listening_at())]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f'#!/bin/sh\nexec {shlex.join(client)} "$@"\n', "utf-8")
    file.chmod(0o755)
    return file


@cache
def _listening_at(*under: str) -> Path:
    folder = tempfile.mkdtemp(prefix="clawmem-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder, "fork")


@cache
def _fork_server(*under: str) -> socket.socket:
    """Start a fork server of this process, which ends with it; return the socket that it reads from."""
    ours, its = socket.socketpair()
    environ = {**process_environ(Path("/nowhere")), "PYTHONPATH": PYTHON_PATH, "OPENBLAS_NUM_THREADS": "1"}
    with its, socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(_listening_at(*under)))
        listening.listen()
        ends = [its.fileno(), listening.fileno()]
        command = [*under, sys.executable, "-P", HERE / "fork_server.py", *map(str, ends)]
        server = subprocess.Popen(command, env=environ, pass_fds=ends, cwd="/")
    atexit.register(lambda: (ours.close(), server.wait(10)))
    return ours


def _may_fork(environ: Mapping[str, str]) -> bool:
    """Whether a fork has what a new interpreter would have: packages, privileges, libraries, locale."""
    if os.geteuid() != os.getuid():
        return False
    return environ.get("PYTHONPATH") == PYTHON_PATH and not any(map(AT_START.match, environ))


def _umask() -> int:
    os.umask(mask := os.umask(0))
    return mask
