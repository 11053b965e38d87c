"""How a process of the command line ends when it cannot go on: with a sentence, and a code."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

from clawmem.ports.errors import ClawmemError

INTERRUPTED, BROKEN_PIPE = 130, 141  # what a shell expects of a process that a signal ended


@contextmanager
def in_order() -> Iterator[None]:
    """Whatever is raised on purpose ends the process in order; so do Ctrl-C, and a reader that has had enough."""
    try:
        yield
        sys.stdout.flush()
    except ClawmemError as error:
        leave(str(error), error.exit_code)
    except KeyboardInterrupt:
        leave("interrupted; what was finished before is kept.", INTERRUPTED)
    except BrokenPipeError:
        swallow_output()
        sys.exit(BROKEN_PIPE)


def leave(message: str, code: int) -> NoReturn:
    """End with *code*, having said why."""
    with suppress(BrokenPipeError):
        sys.stderr.write(f"clawmem: {message}\n")
    sys.exit(code)


def swallow_output() -> None:
    """So that the interpreter, too, ends without a word about the reader that went away."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
