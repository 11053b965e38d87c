"""The ``clawmem`` command."""

from __future__ import annotations

import atexit
import gc
import os
import sys

from clawmem.app.version import VERSION

STREAMS = 3  # standard input, output and error


def main() -> None:
    """Run the command line of this process; Ctrl-C also ends it without a traceback while modules are imported."""
    try:
        _run()
    except KeyboardInterrupt:
        sys.stderr.write("clawmem: interrupted.\n")
        sys.exit(130)


def _run() -> None:
    # ``--version`` and hooks avoid most imports.
    if sys.argv[1:] in (["--version"], ["-V"]):
        sys.stdout.write(f"clawmem {VERSION}\n")
        return
    _start_light()
    _fill_standard_streams()
    if sys.argv[1:2] == ["hook"] and sys.argv[2:3] not in (["drain"], ["--help"], ["-h"]):
        from clawmem.app.interfaces.hooks.process import run_process

        run_process(sys.argv[2:])  # separate, because a hook never fails and every prompt waits for it
    from clawmem.app.environment.places import complete

    complete(os.environ)
    if sys.argv[1:2] == ["mcp"]:
        from clawmem.app.interfaces.mcp.bridge import forwarded_at_once

        if forwarded_at_once(sys.argv[2:]):  # an assistant waits for this at every start
            return
    if sys.argv[1:2] == ["mine"]:
        from clawmem.app.interfaces.cli.unchanged import mined_at_once

        if mined_at_once(sys.argv[2:]):  # a scheduled import finds nothing new most times
            return
    from clawmem.app.interfaces.cli.command_line import cli

    cli()


def _fill_standard_streams() -> None:
    """Open the null device for each standard stream that the caller has closed, before another file gets its number."""
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    while (number := os.open(os.devnull, os.O_RDWR)) < STREAMS:
        os.set_inheritable(number, True)
    os.close(number)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123


def _start_light() -> None:
    # Imports leave few reference cycles, and a cold question allocates 100 000 objects: searching them takes 10 to 20 ms.
    gc.set_threshold(200_000, 20, 20)
    # At its end the interpreter searches all objects again, for a fifth of the time of a question: leave it none.
    atexit.register(gc.freeze)
    # Or pydantic would read the metadata of every installed package to find plug-ins.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # The matrix products are small: synchronising numpy's threads would take longer than one thread takes.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
