"""
Process of one hook call, ``clawmem hook NAME``: always ends in time, with exit code 0 and one JSON object.

A client shows an error for any other exit code, and for 2 it erases the user's prompt. Therefore a second thread sends
the provisional answer when the deadline has come, even if the work is not done.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from clawmem.app.interfaces.hooks.protocol import PRINTS_STDOUT, SILENCE, HookEvent, HookOutput, read_event
from clawmem.app.interfaces.hooks.registry import HOOKS, HookRegistration, module_of

if TYPE_CHECKING:
    from pathlib import Path
    from typing import NoReturn

    from clawmem.app.interfaces.hooks.context import HookContext

MOST_INPUT = 16_000_000  # bytes; an event is some kilobytes, with a pasted log in its prompt some megabytes
MOST_TOLD = 2000  # characters of an error message, which may quote the client's input
STDIN, STDOUT, STDERR = 0, 1, 2

_UNKNOWN = HookRegistration("", 2)


# Options of the command, and the environment variables that they set.
_OPTIONS = {"--vault": "INDEX_PATH", "--profile": "CLAWMEM_PROFILE"}


def run_process(arguments: Sequence[str]) -> NoReturn:
    """Run the hook that the first of *arguments* names: read the event, write the answer, and exit."""
    name = next(iter(arguments), "")
    registered = HOOKS.get(name, _UNKNOWN)
    answer = HookAnswer(_own_output(), registered.event)
    deadline = threading.Timer(registered.deadline_s, answer.write_and_exit)
    deadline.daemon = True
    deadline.start()
    os.environ.update(_variables_of(arguments[1:]))
    answer.offer(run_hook(name, answer.offer))
    answer.write_and_exit()


class HookAnswer:
    """Answer of the process: the last offer, written exactly once, by the worker or by the deadline timer."""

    def __init__(self, output: int, event_name: str) -> None:
        self._output = output
        self._event_name = event_name
        self._best: HookOutput | str = SILENCE
        self._written = threading.Lock()

    def offer(self, output: HookOutput | str) -> None:
        """Set the answer, to be replaced by a later offer; a string is written unchanged."""
        self._best = output

    def write_and_exit(self) -> NoReturn:
        """Write the answer and end the process at once, without waiting for other threads."""
        self._written.acquire()  # never released: a second caller blocks until the process ends
        try:
            if self._event_name not in PRINTS_STDOUT:
                _write(self._output, f"{self._rendered()}\n")
        finally:
            os._exit(0)

    def _rendered(self) -> str:
        try:
            best = self._best
            return best if isinstance(best, str) else best.render(self._event_name)
        except Exception:  # noqa: BLE001  an answer that cannot be rendered
            return SILENCE.render(self._event_name)


def run_hook(name: str, offer: Callable[[HookOutput], None]) -> HookOutput | str:
    """
    Return the answer of hook *name* to the event on standard input; silence after any error.

    The answer of a server is returned as a string, already rendered.
    """
    try:
        text = _standard_input()
        if name not in HOOKS:
            raise LookupError(f"There is no hook {name!r}. Choose: {', '.join(HOOKS)}")
        from clawmem.app.places import complete

        complete(os.environ)
        return _answer_of_server(name, text) or _run_locally(name, text, offer)
    except BaseException as error:  # noqa: BLE001  a hook that calls sys.exit included
        _report_error(name, error)
        return SILENCE


def _answer_of_server(name: str, text: str) -> str:
    from clawmem.app.client.request import ask
    from clawmem.app.version import VERSION

    return ask(name, text, os.environ, VERSION)


def _run_locally(name: str, text: str, offer: Callable[[HookOutput], None]) -> HookOutput:
    from clawmem.app.interfaces.hooks.context import HookContext

    return call(name, read_event(text, os.environ), HookContext(os.environ, offer))


def call(name: str, event: HookEvent, context: HookContext) -> HookOutput:
    """Return the answer of the registered hook *name* to *event*; raise its errors."""
    output: HookOutput = import_module(module_of(name)).run(event, context)
    return output


def _variables_of(options: Sequence[str]) -> dict[str, str]:
    """Return the environment variables of *options*. Unknown options are ignored silently."""
    waiting = iter(options)
    return {_OPTIONS[option]: next(waiting, "") for option in waiting if option in _OPTIONS}


def _own_output() -> int:
    """Return a descriptor for the answer, and redirect all other output to standard error."""
    try:
        output = os.dup(STDOUT)
        os.dup2(STDERR, STDOUT)
    except OSError:  # the client closed one of the two
        return STDOUT
    return output


def _standard_input() -> str:
    """Return standard input as text; empty for a terminal or for more than `MOST_INPUT` bytes."""
    if os.isatty(STDIN):
        return ""
    parts, size = [], 0
    while part := os.read(STDIN, 1 << 16):
        size += len(part)
        if size <= MOST_INPUT:  # the rest is read and dropped, or the client would get a broken pipe
            parts.append(part)
    return b"".join(parts).decode("utf-8", "replace") if size <= MOST_INPUT else ""


def _write(output: int, text: str) -> None:
    rest = text.encode("utf-8", "replace")
    while rest:
        rest = rest[os.write(output, rest) :]


def _report_error(name: str, error: BaseException) -> None:
    """Write the error to standard error (the client's debug log) and to the error log; ignore failures of both."""
    try:
        _write(STDERR, f"clawmem hook {name[:MOST_TOLD]}: {str(error)[:MOST_TOLD] or type(error).__name__}\n")
        if name in HOOKS:
            from clawmem.app.places import default_vault

            log_error(default_vault(os.environ), name, error)
    except Exception:  # noqa: BLE001  a full disk may have caused the error
        return


def log_error(vault: Path, name: str, error: BaseException) -> None:
    """
    Append an error of hook *name* to the error log next to *vault*: one line, or a traceback if it is unexpected.

    Raises:
        OSError: the log cannot be written.
    """
    from time import gmtime, strftime
    from traceback import format_exception

    from clawmem.app.interfaces.hooks.state import append_to_error_log
    from clawmem.ports.errors import ClawmemError

    is_expected = isinstance(error, ClawmemError)
    entry = " ".join(str(error).split()) if is_expected else "".join(format_exception(error)).rstrip()
    append_to_error_log(vault, f"{strftime('%Y-%m-%dT%H:%M:%SZ', gmtime())} {name}: {entry}\n")
