"""
Process of one hook call, ``clawmem hook EVENT`` or ``clawmem hook NAME``: one JSON object in time, with exit code 0.

A client shows an error for any other exit code, and for 2 it erases the user's prompt. Therefore a second thread sends
the provisional answer when the deadline has come, even if the work is not done.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from clawmem.app.client.hook_registry import (
    ALIASES,
    EVENTS,
    HOOKS,
    MOST_INPUT,
    OPTIONAL_HOOKS_VARIABLE,
    HookCall,
    call_named,
)
from clawmem.app.environment.places import complete, vault_place
from clawmem.app.interfaces.hooks.protocol import (
    PRINTS_STDOUT,
    SILENCE,
    HookEvent,
    HookOutput,
    joined,
    read_event,
)

if TYPE_CHECKING:
    from pathlib import Path
    from typing import NoReturn

    from clawmem.app.interfaces.hooks.context import HookContext

MOST_TOLD = 2000  # characters of an error message, which may quote the client's input
STDIN, STDOUT, STDERR = 0, 1, 2

_UNKNOWN = HookCall("", ())

# The module of each hook's handler, a function that is called like the hook.
_MODULES = {
    "context-surfacing": "prompt",
    "postcompact-inject": "briefing",
    "curator-nudge": "briefing",
    "staleness-check": "briefing",
    "session-bootstrap": "briefing",
    "pretool-inject": "briefing",
    "precompact-extract": "capture",
    "postcompact-capture": "capture",
    "decision-extractor": "capture",
    "handoff-generator": "capture",
    "feedback-loop": "capture",
}

# Options of the command, and the environment variables that they set.
_OPTIONS = {"--vault": "INDEX_PATH", "--profile": "CLAWMEM_PROFILE", "--with": OPTIONAL_HOOKS_VARIABLE}

_ENV = "--env"  # NAME=VALUE, for a client that does not pass the variables of `PLACES` on


def run_process(arguments: Sequence[str]) -> NoReturn:
    """Run the hooks that the first of *arguments* names: read the event, write the answer, and exit."""
    name, inherited = next(iter(arguments), ""), {**os.environ}
    os.environ.update(_variables_of(arguments[1:]))
    with suppress(Exception):  # without the .env file the event is answered all the same
        complete(os.environ)
    called = call_named(name, os.environ.get(OPTIONAL_HOOKS_VARIABLE, ""))
    answer = HookAnswer(_own_output(), (called or _UNKNOWN).event)
    deadline = threading.Timer((called or _UNKNOWN).deadline_s, answer.write_and_exit)
    deadline.daemon = True
    deadline.start()
    run_hooks(name, called, answer, partial(_prepare_next, name, inherited))
    answer.write_and_exit()


class HookAnswer:
    """Answer of the process: the last offer of each hook, written exactly once, by the worker or by the timer."""

    def __init__(self, output: int, event_name: str) -> None:
        self.afterwards: Callable[[], None] | None = None
        """Called between the answer and the end of the process."""
        self._output = output
        self._event_name = event_name
        self._offers: dict[str, HookOutput] = {}
        self._line = ""
        self._written = threading.Lock()

    def offer(self, name: str, output: HookOutput) -> None:
        """Set the output of the hook *name*, to be replaced by a later offer."""
        self._offers[name] = output

    def set_line(self, line: str) -> None:
        """Set the rendered answer of a server, to be written unchanged."""
        self._line = line

    def write_and_exit(self) -> NoReturn:
        """Write the answer and end the process at once, without waiting for other threads."""
        self._written.acquire()  # never released: a second caller blocks until the process ends
        try:
            if self._event_name not in PRINTS_STDOUT:
                _write(self._output, f"{self._line or self._rendered()}\n")
            if self.afterwards:
                self.afterwards()
        finally:
            os._exit(0)

    def _rendered(self) -> str:
        try:
            return joined([*self._offers.values()]).render(self._event_name)
        except Exception:  # noqa: BLE001  an answer that cannot be rendered
            return SILENCE.render(self._event_name)


def run_hooks(
    name: str, called: HookCall | None, answer: HookAnswer, prepare_next: Callable[[], None]
) -> None:
    """Pass the event on standard input to the hooks of *called*; report errors, and answer with silence then."""
    try:
        text = _standard_input()
        if called is None:
            raise LookupError(f"There is no hook {name!r}. Choose: {', '.join((*EVENTS, *HOOKS))}")
        if called.hooks and (line := _answer_of_server(name, text)):
            answer.set_line(line)
        else:
            answer.afterwards = prepare_next
            _run_locally(called, read_event(text, os.environ), answer)
    except BaseException as error:  # noqa: BLE001  a client always gets an answer
        _report_error(name, error)


def _prepare_next(name: str, inherited: Mapping[str, str]) -> None:
    """
    Start a server for the next events, if the settings say so; without a vault, report that.

    The current event does not wait for it.
    """
    if not os.path.isfile(vault_place(os.environ)):  # noqa: PTH113
        with suppress(OSError):
            _report_missing_vault(name)
        return
    from clawmem.app.client.autostart import start_server

    try:
        start_server(os.environ, inherited)
    except OSError as error:
        _report_error(name, error)


def _report_missing_vault(name: str) -> None:
    """Tell once a day why hooks do nothing, in the error log next to the usual vault; no other folder is created."""
    from clawmem.app.environment.places import default_vault
    from clawmem.app.environment.private_files import append_daily

    missing = (
        f"There is no vault at {vault_place(os.environ)}, so hooks do nothing. Run: clawmem bootstrap PATH"
    )
    if append_daily(default_vault({**os.environ, "INDEX_PATH": ""}), _now(), name, missing):
        _write(STDERR, f"clawmem hook {name}: {missing}\n")


def _answer_of_server(name: str, text: str) -> str:
    from clawmem.app.client.request import ask
    from clawmem.app.version import VERSION

    return ask(name, text, os.environ, VERSION)


def _run_locally(called: HookCall, event: HookEvent, answer: HookAnswer) -> None:
    """Run the hooks in order, each in a thread until its own deadline; then process the jobs that they deferred."""
    from clawmem.app.interfaces.hooks.context import DeferringContext, process_deferred

    contexts = []
    for name in called.hooks_for(event.matched_value):
        contexts.append(DeferringContext(os.environ, partial(answer.offer, name)))
        thread = threading.Thread(target=_run_hook, args=(name, event, contexts[-1]), daemon=True)
        thread.start()
        thread.join(HOOKS[name].deadline_s)
    process_deferred(contexts)


def _run_hook(name: str, event: HookEvent, context: HookContext) -> None:
    try:
        context.offer(call(name, event, context))
    except BaseException as error:  # noqa: BLE001  a hook that calls sys.exit included
        context.offer(SILENCE)
        _report_error(name, error)


def call(name: str, event: HookEvent, context: HookContext) -> HookOutput:
    """Return the answer of the registered hook *name* to *event*; raise its errors."""
    output = handler_of(name)(event, context)
    if not isinstance(output, HookOutput):
        raise TypeError(f"The hook {name} returned {type(output).__name__} instead of HookOutput.")
    return output


def handler_of(name: str) -> Callable[[HookEvent, HookContext], HookOutput]:
    """Return the function that implements the hook *name*."""
    module = import_module(f"clawmem.app.interfaces.hooks.{_MODULES[name]}")
    handler: Callable[[HookEvent, HookContext], HookOutput] = getattr(module, name.replace("-", "_"))
    return handler


def _variables_of(options: Sequence[str]) -> dict[str, str]:
    """Return the environment variables of *options*. Unknown options are ignored silently."""
    waiting, variables = iter(options), dict[str, str]()
    for option in waiting:
        if option in _OPTIONS:
            variables[_OPTIONS[option]] = next(waiting, "")
        elif option == _ENV:
            from clawmem.app.client.announcement import PLACES

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
        if name in HOOKS or name in EVENTS or name in ALIASES:
            from clawmem.app.environment.places import default_vault

            log_error(default_vault(os.environ), name, error)
    except Exception:  # noqa: BLE001  a full disk may have caused the error
        return


def log_error(vault: Path, name: str, error: BaseException) -> None:
    """
    Append an error of hook *name* to the error log next to *vault*: one line, or a traceback if it is unexpected.

    Raises:
        OSError: the log cannot be written.
    """
    from traceback import format_exception

    from clawmem.app.environment.private_files import append_to_error_log
    from clawmem.ports.errors import ClawmemError

    is_expected = isinstance(error, ClawmemError)
    entry = " ".join(str(error).split()) if is_expected else "".join(format_exception(error)).rstrip()
    append_to_error_log(vault, f"{_now()} {name}: {entry}\n")


def _now() -> str:
    from time import gmtime, strftime

    return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime())
