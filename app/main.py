"""The ``clawmem`` command."""

from __future__ import annotations

import os
import signal
import sys
import threading

from clawmem.app.environment.places import complete

# In the order of their numbers.
STREAMS = {"stdin": os.O_RDONLY, "stdout": os.O_RDONLY, "stderr": os.O_WRONLY}


def main() -> None:
    """
    Run the command line of this process.

    Hooks are answered without importing the command line: every prompt waits for them.
    """
    # Or pydantic would read the metadata of every installed package to find plug-ins.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    _open_closed_streams()
    sys.unraisablehook = _repeat_interrupt
    if sys.argv[1:2] == ["hook"] and sys.argv[2:3] not in (["--help"], ["-h"]):
        from clawmem.app.interfaces.hooks.process import run_process

        run_process(sys.argv[2:])
    from clawmem.app.interfaces.cli.command_line import cli, in_order

    with in_order(sys.argv[1:]):
        complete(os.environ)
    cli()


def _repeat_interrupt(ignored: sys.UnraisableHookArgs) -> None:
    """Send a Ctrl-C again that came while an object was deleted: Python ignores exceptions there."""
    if issubclass(ignored.exc_type, KeyboardInterrupt):
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(ignored)


def _open_closed_streams() -> None:
    """
    Open the null device for each standard stream that the caller has closed, before another file gets its number.

    Standard output is open for reading alone, so that writing fails: the caller learns that the output is lost.
    """
    for number, (name, access) in enumerate(STREAMS.items()):
        if getattr(sys, name) is None:
            while (opened := os.open(os.devnull, access)) < number:
                pass
            os.set_inheritable(opened, True)
            setattr(sys, name, open(opened, "w" if number else "r", encoding="utf-8"))  # noqa: SIM115, PTH123
