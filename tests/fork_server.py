"""
Fork server: a process that has imported ``clawmem`` and forks once for every command.

It reads from the socket whose number is its first argument, and from connections to the socket whose number is its
second: one byte a command, with five descriptors: the request as JSON, a pipe for the number of the child and for its
status, and the three standard streams of the child.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import pkgutil
import select
import signal
import socket
import struct
import sys
import threading
from contextlib import suppress
from importlib import import_module
from pathlib import Path

STATUS = struct.Struct("i")
PACKAGES = ("clawmem.app", "clawmem.adapters", "clawmem.domain")
# Packages of an extra are imported by the commands that use them; some start threads, which no fork would have.
NOT_IMPORTED = ("bench", "conformance", "duckdb", "lancedb", "tantivy", "llama", "onnx", "telemetry")


def main() -> None:
    """Serve until the socket closes; in a child, run the command."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _import_everything()
    if _serve(*(socket.socket(fileno=int(number)) for number in sys.argv[1:])):
        _run_command()


def _run_command() -> None:
    """Run the command, or a program after ``-c``, and end without the time that freeing all modules takes."""
    from clawmem.app.main import main

    try:
        if sys.argv[1:2] == ["-c"]:
            _, _, program, *arguments = sys.argv
            sys.argv = ["-c", *arguments]
            exec(program, {"__name__": "__main__"})  # noqa: S102
        else:
            main()
        code: object = 0
    except SystemExit as end:
        code = end.code or 0
    if not isinstance(code, int):
        return sys.exit(str(code))
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code & 0xFF)


def _import_everything() -> None:
    for name in PACKAGES:
        for found in pkgutil.walk_packages(import_module(name).__path__, f"{name}."):
            if not any(word in found.name for word in NOT_IMPORTED):
                with suppress(ImportError):
                    import_module(found.name)
    assert threading.active_count() == 1
    gc.collect()
    gc.freeze()


def _serve(commands: socket.socket, listening: socket.socket) -> bool:
    """Fork for every command; return ``True`` in a child, ``False`` at the end."""
    running: dict[int, int] = {}
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(woken, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    while True:
        ready, _, _ = select.select([commands, listening, woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            _report_ends(running)
        if commands in ready:
            sent, ends, _, _ = socket.recv_fds(commands, 1, 5)
        elif listening in ready:
            with listening.accept()[0] as program:
                sent, ends, _, _ = socket.recv_fds(program, 1, 5)
        else:
            continue
        if not sent:
            return False
        request, status, *streams = ends
        if child := os.fork():
            running[child] = status
            os.write(status, STATUS.pack(child))
            for end in (request, *streams):
                os.close(end)
            continue
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for end in (woken, wake, commands.detach(), listening.detach(), status, *running.values()):
            os.close(end)
        _become(request, streams)
        return True


def _report_ends(running: dict[int, int]) -> None:
    with suppress(ChildProcessError):
        while True:
            child, status = os.waitpid(-1, os.WNOHANG)
            if not child:
                return
            with suppress(BrokenPipeError):
                os.write(running[child], STATUS.pack(status))
            os.close(running.pop(child))


def _become(request: int, streams: list[int]) -> None:
    """Take over the streams, the variables and the command of the request."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        old = getattr(sys, name)  # it remembers whether it could seek in the stream that it had
        new = open(  # noqa: SIM115
            number, mode, -(number != 2) or 1, old.encoding, old.errors, closefd=False
        )
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)
    with os.fdopen(request, encoding="utf-8") as file:
        told = json.load(file)
    os.chdir(told["cwd"])
    os.umask(told["umask"])
    os.environ.clear()
    os.environ.update(told["environ"])
    import clawmem

    sys.argv = [str(Path(clawmem.__path__[0]) / "__main__.py"), *told["arguments"]]


if __name__ == "__main__":
    main()
