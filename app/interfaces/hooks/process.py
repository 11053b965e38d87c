"""
Process of one hook call, ``clawmem hook EVENT`` or ``clawmem hook NAME``: one JSON object in time, with exit code 0.

A client shows an error for any other exit code, and for 2 it erases the user's prompt. Therefore a second thread sends
the provisional answer when the deadline has come, even if the work is not done. Every prompt waits for this process:
what needs the vault or the settings is imported only if no server answers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from threading import Lock, Thread
from time import sleep
from typing import NoReturn

from clawmem.app.client.announcement import PLACES
from clawmem.app.client.hook_registry import HOOKS, HookCall, call_named
from clawmem.app.client.request import MOST_INPUT, OPTIONAL_HOOKS_VARIABLE, ask
from clawmem.app.environment.places import complete
from clawmem.app.interfaces.hooks.protocol import SILENCE, HookOutput, joined

STDIN, STDOUT, STDERR = 0, 1, 2
LEAST_DEADLINE_S = 1.0  # no deadline is shorter, so it is looked up after this time

# For these events a client discards the answer, but prints it in the user's terminal.
PRINTS_STDOUT = frozenset({"PreCompact", "PostCompact"})

# Options of the command, and the environment variables that they set.
_OPTIONS = {"--vault": "INDEX_PATH", "--profile": "CLAWMEM_PROFILE", "--with": OPTIONAL_HOOKS_VARIABLE}

_ENV = "--env"  # NAME=VALUE, for a client that does not pass the variables of `PLACES` on


def run_process(arguments: Sequence[str]) -> NoReturn:
    """Run the hooks that the first of *arguments* names: read the event, write the answer, and exit."""
    name, inherited = next(iter(arguments), ""), {**os.environ}
    os.environ.update(_variables_of(arguments[1:]))
    try:  # noqa: SIM105
        complete(os.environ)
    except Exception:  # noqa: BLE001, S110  without the .env file the event is answered all the same
        pass
    answer = HookAnswer(_own_output(), name)
    Thread(target=answer.end_in_time, daemon=True).start()
    try:
        event = _standard_input()
        if name.isascii() and name.replace("-", "").isalnum() and (line := ask(name, event, os.environ)):
            answer.set_line(line)
        else:
            from clawmem.app.interfaces.hooks.runner import prepare_next, run_hooks  # not if a server answers

            answer.afterwards = lambda: prepare_next(name, inherited)
            run_hooks(name, event.decode("utf-8", "replace"), answer.offer)
    except BaseException as error:  # noqa: BLE001  a client always gets an answer
        answer.report(error)
    answer.write_and_exit()


class HookAnswer:
    """Answer of the process: the last offer of each hook, written exactly once, by the worker or by the timer."""

    def __init__(self, output: int, name: str) -> None:
        self.afterwards: Callable[[], None] | None = None
        """Called between the answer and the end of the process."""
        self._output = output
        self._name = name
        self._offers: dict[str, HookOutput] = {}
        self._line = ""
        self._written = Lock()

    def offer(self, name: str, output: HookOutput) -> None:
        """Set the output of the hook *name*, to be replaced by a later offer."""
        self._offers[name] = output

    def set_line(self, line: str) -> None:
        """Set the rendered answer of a server, to be written unchanged."""
        self._line = line

    def end_in_time(self) -> None:
        """Wait for the deadline of the call, and end the process."""
        try:
            sleep(LEAST_DEADLINE_S)
            called = call_named(self._name, os.environ.get(OPTIONAL_HOOKS_VARIABLE, "")) or HookCall("", ())
            sleep(called.deadline_s - LEAST_DEADLINE_S)
        finally:
            self.write_and_exit()

    def write_and_exit(self) -> NoReturn:
        """Write the answer and end the process at once, without waiting for other threads."""
        self._written.acquire()  # never released: a second caller blocks until the process ends
        try:
            if self._event_name() not in PRINTS_STDOUT:
                _write(self._output, f"{self._line or self._rendered()}\n")
            if self.afterwards:
                self.afterwards()
        finally:
            os._exit(0)

    def report(self, error: BaseException) -> None:
        """Write *error* to standard error and to the error log."""
        from clawmem.app.interfaces.hooks.runner import report_error

        report_error(self._name, error)

    def _event_name(self) -> str:
        if self._name[:1].isupper():
            return self._name  # as the client calls it
        return HOOKS[self._name].event if self._name in HOOKS else ""

    def _rendered(self) -> str:
        try:
            return joined([*self._offers.values()]).render(self._event_name())
        except Exception:  # noqa: BLE001  an answer that cannot be rendered
            return SILENCE.render(self._event_name())


def _write(output: int, text: str) -> None:
    rest = text.encode("utf-8", "replace")
    while rest:
        rest = rest[os.write(output, rest) :]


def _variables_of(options: Sequence[str]) -> dict[str, str]:
    """Return the environment variables of *options*. Unknown options are ignored silently."""
    waiting, variables = iter(options), dict[str, str]()
    for option in waiting:
        if option in _OPTIONS:
            variables[_OPTIONS[option]] = next(waiting, "")
        elif option == _ENV:
            name, _, value = next(waiting, "").partition("=")
            variables |= {name: value} if name in PLACES else {}
    return variables


def _own_output() -> int:
    """Return a descriptor for the answer, and redirect all other output to standard error."""
    try:
        output = os.dup(STDOUT)
        os.dup2(STDERR, STDOUT)
    except OSError:  # the client closed one of the two
        return STDOUT
    return output


def _standard_input() -> bytes:
    """Return standard input; nothing of a terminal or of more than `MOST_INPUT` bytes."""
    if os.isatty(STDIN):
        return b""
    parts, size = [], 0
    while part := os.read(STDIN, 1 << 16):
        size += len(part)
        if size <= MOST_INPUT:  # the rest is read and dropped, or the client would get a broken pipe
            parts.append(part)
    return b"".join(parts) if size <= MOST_INPUT else b""
