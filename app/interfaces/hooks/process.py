"""
Process of one hook call, ``clawmem hook EVENT`` or ``clawmem hook NAME``: one JSON object in time, with exit code 0.

A client shows an error for any other exit code, and for 2 it erases the user's prompt. Therefore a second thread sends
the provisional answer when the deadline has come, even if the work is not done. Every prompt waits for this process:
what needs the vault or the settings is imported only if no server answers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Lock, Thread
from time import sleep
from typing import NoReturn

from clawmem.app.client.hook_registry import HOOKS, HookCall, call_named
from clawmem.app.client.request import MOST_INPUT, OPTIONAL_HOOKS_VARIABLE, PLACES, ask
from clawmem.app.environment.places import complete
from clawmem.app.interfaces.hooks.protocol import answer

STDIN, STDOUT, STDERR = 0, 1, 2
LEAST_DEADLINE_S = 1.0  # no deadline is shorter, so it is looked up after this time

# For these events a client discards the answer, but prints it in the user's terminal.
PRINTS_STDOUT = frozenset({"PreCompact", "PostCompact"})

# Options of the command, and the environment variables that they set.
OPTIONS = {"--vault": "INDEX_PATH", "--profile": "CLAWMEM_PROFILE", "--with": OPTIONAL_HOOKS_VARIABLE}
ALONE = "--alone"  # ask no server, and start none
ENV = "--env"  # NAME=VALUE, for a client that does not pass the variables of `PLACES` on


def run_process(arguments: Sequence[str]) -> NoReturn:
    """Run the hooks that the first of *arguments* names: read the event, write the answer, and exit."""
    name, inherited, options = next(iter(arguments), ""), {**os.environ}, iter(arguments[1:])
    for option in options:  # an unknown one is ignored
        if option in OPTIONS:
            os.environ[OPTIONS[option]] = next(options, "")
        elif option == ENV:
            variable, _, value = next(options, "").partition("=")
            os.environ.update({variable: value} if variable in PLACES else {})
    with suppress(Exception):  # without the .env file the event is answered all the same
        complete(os.environ)
    output = STDOUT
    with suppress(OSError):  # the client closed one of the two
        output = os.dup(STDOUT)
        os.dup2(STDERR, STDOUT)  # nothing else may be printed there
    hook_answer = HookAnswer(output, name)
    Thread(target=hook_answer.end_in_time, daemon=True).start()
    try:
        parts, size, is_typed = [], 0, os.isatty(STDIN)
        while not is_typed and (part := os.read(STDIN, 1 << 16)):
            size += len(part)
            if size <= MOST_INPUT:  # the rest is read and dropped, or the client would get a broken pipe
                parts.append(part)
        event = b"".join(parts) if size <= MOST_INPUT else b""
        if ALONE not in arguments and call_named(name):  # an unknown one is reported here
            hook_answer.line = ask(name, event, os.environ)
        if not hook_answer.line:
            # Not imported if a server answers.
            from clawmem.app.interfaces.hooks.handlers import prepare_next, run_hooks

            if ALONE not in arguments:
                hook_answer.afterwards = lambda: prepare_next(name, inherited)
            run_hooks(name, event.decode("utf-8", "replace"), hook_answer.offer)
    except BaseException as error:  # noqa: BLE001  a client always gets an answer
        from clawmem.app.interfaces.hooks.handlers import report_error

        report_error(name, error)
    hook_answer.write_and_exit()


class HookAnswer:
    """
    Answer of the process: the last offer of each hook, written exactly once, by the worker or by the timer.

    Attributes:
        line: The answer of a server, which is written unchanged.
        afterwards: Called between the answer and the end of the process.
    """

    def __init__(self, output: int, name: str) -> None:
        self.line = ""
        self.afterwards: Callable[[], None] = lambda: None
        self._output, self._name = output, name
        self._contexts: dict[str, str] = {}
        self._written = Lock()

    def offer(self, name: str, context: str) -> None:
        """Set the context of the hook *name*, to be replaced by a later offer."""
        self._contexts[name] = context

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
            name = self._name  # as the client calls it, if it is an event
            event = name if name[:1].isupper() else HOOKS[name].event if name in HOOKS else ""
            if event not in PRINTS_STDOUT:
                line = self.line or answer(event, "\n\n".join(filter(None, [*self._contexts.values()])))
                rest = f"{line}\n".encode("utf-8", "replace")
                while rest:
                    rest = rest[os.write(self._output, rest) :]
            self.afterwards()
        finally:
            os._exit(0)
