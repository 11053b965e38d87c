"""The end of a failed command: a message on stderr, an exit code, and with ``--json`` an error record."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from clawmem.app.interfaces.cli.advice import with_vault
from clawmem.app.operations.refusals import error_record
from clawmem.ports.errors import ClawmemError

INTERRUPTED, BROKEN_PIPE = 130, 141  # the exit codes that shells expect of a process ended by a signal


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_REFUSED = (errno.EROFS, errno.EACCES, errno.EPERM)
_ABOUT_DISKS = (*_FULL, *_REFUSED, errno.EIO)


def file_trouble(error: OSError) -> str:
    """Return the system's message about a file, with the remedy."""
    name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes | os.PathLike) else "A file"
    if error.errno in _FULL:
        return f"The disk is full: {name} could not be written. Free some space and repeat."
    if error.errno in _REFUSED:
        return f"{name} cannot be used: {error.strerror}. Check its permissions, and those of its folder."
    return f"{name} cannot be used: {error.strerror}. Look at it, then repeat."


@contextmanager
def in_order(as_json: bool = False, vault: Path | None = None) -> Iterator[None]:
    """
    End the process with a message and an exit code on a clawmem error, Ctrl-C or a closed pipe inside the block.

    Args:
        as_json: Whether the caller asked for JSON: then stdout gets an error record, see `error_record`.
        vault: The vault of the command line, for the commands that messages recommend.
    """
    try:
        yield
        sys.stdout.flush()
    except ClawmemError as error:
        message = with_vault(str(error), vault)
        leave(message, error.exit_code, {**error_record(error), "error": message} if as_json else None)
    except KeyboardInterrupt:
        interrupted = "interrupted; what was finished before is kept."
        leave(interrupted, INTERRUPTED, _record(interrupted, "INTERRUPTED") if as_json else None)
    except BrokenPipeError:
        swallow_output()
        sys.exit(BROKEN_PIPE)
    except OSError as error:
        if error.filename is None and error.errno not in _ABOUT_DISKS:
            raise  # a bug of clawmem, which a traceback locates
        message = file_trouble(error)
        leave(message, 1, _record(message, "FILE") if as_json else None)


def leave(message: str, code: int, record: Mapping[str, Any] | None = None) -> NoReturn:
    """End the process with *code* after writing *message* to stderr and *record*, if any, to stdout as JSON."""
    with suppress(BrokenPipeError):
        if record is not None:
            sys.stdout.write(f"{json.dumps(record)}\n")
            sys.stdout.flush()
        sys.stderr.write(f"clawmem: {message}\n")
    sys.exit(code)


def usage_record(message: str) -> dict[str, Any]:
    """Return the record of a command line that cannot be parsed."""
    return _record(message, "INVALID_INPUT")


def _record(message: str, code: str) -> dict[str, Any]:
    return {"error": message, "code": code}


def swallow_output() -> None:
    """Redirect stdout to the null device, so that the interpreter does not report the closed pipe at its end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
