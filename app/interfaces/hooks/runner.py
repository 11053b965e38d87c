"""Hooks of one event, run in the process of the call because no server answers, and its error log."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from time import gmtime, strftime
from traceback import format_exception

from clawmem.app.client.autostart import start_server
from clawmem.app.client.hook_registry import ALIASES, EVENTS, HOOKS, call_named
from clawmem.app.client.request import OPTIONAL_HOOKS_VARIABLE
from clawmem.app.environment.places import default_vault
from clawmem.app.environment.private_files import append_to_error_log
from clawmem.app.interfaces.hooks.context import HookContext
from clawmem.app.interfaces.hooks.protocol import HookEvent, event_object, read_event
from clawmem.ports.errors import ClawmemError, InvalidInput

STDERR = 2
MOST_SHOWN = 60  # characters of invalid input in the log
MOST_TOLD = 2000  # characters of an error message, which may quote the client's input

# The hooks of each module; the handler is a function that is called like the hook.
MODULES = {
    "prompt": ("context-surfacing",),
    "briefing": (
        "postcompact-inject", "curator-nudge", "staleness-check", "session-bootstrap", "pretool-inject"
    ),
    "capture": (
        "precompact-extract", "postcompact-capture", "decision-extractor", "handoff-generator", "feedback-loop"
    ),
}  # fmt: skip


def run_hooks(name: str, text: str, offer: Callable[[str, str], None]) -> None:
    """
    Run the hooks that *name* names on the event in *text*, in order, each in a thread until its own deadline.

    The context of each is passed to *offer*, with the name of the hook. Then the jobs are done that hooks stored.

    Raises:
        LookupError: No hook or event has this name.
        JobsFailed: some jobs failed.
    """
    called = call_named(name, os.environ.get(OPTIONAL_HOOKS_VARIABLE, ""))
    if called is None:
        raise LookupError(f"There is no hook {name!r}. Choose: {', '.join((*EVENTS, *HOOKS))}")
    event = read_event(text, os.environ)
    if fault := fault_of_event(text):
        report_error(name, fault)
    has_jobs = threading.Event()
    for hook in called.hooks_for(event.matched_value):
        context = HookContext(os.environ, partial(offer, hook), has_jobs.set)
        thread = threading.Thread(target=_run_hook, args=(hook, event, context), daemon=True)
        thread.start()
        thread.join(HOOKS[hook].deadline_s)
    if has_jobs.is_set():
        HookContext(os.environ).do_jobs()


def _run_hook(name: str, event: HookEvent, context: HookContext) -> None:
    try:
        context.offer(call(name, event, context))
    except BaseException as error:  # noqa: BLE001  a hook that calls sys.exit included
        context.offer("")
        report_error(name, error)


def call(name: str, event: HookEvent, context: HookContext) -> str:
    """Return the context of the registered hook *name* for *event*; raise its errors."""
    output = handler_of(name)(event, context)
    if not isinstance(output, str):
        raise TypeError(f"The hook {name} returned {type(output).__name__} instead of a text.")
    return output


def handler_of(name: str) -> Callable[[HookEvent, HookContext], str]:
    """Return the function that implements the hook *name*."""
    module = next(module for module, hooks in MODULES.items() if name in hooks)
    handlers = import_module(f"clawmem.app.interfaces.hooks.{module}")
    handler: Callable[[HookEvent, HookContext], str] = getattr(handlers, name.replace("-", "_"))
    return handler


def fault_of_event(text: str) -> InvalidInput | None:
    """Return the error of standard input that is no event; its hooks run as if it said nothing."""
    if event_object(text) or text.strip() in ("", "{}"):
        return None
    message = f"The event on standard input must be a JSON object, not {text[:MOST_SHOWN]!r}."
    return InvalidInput("INVALID_INPUT", message)


def prepare_next(name: str, inherited: Mapping[str, str]) -> None:
    """
    Start a server for the next events, if the settings say so; without a vault, report that once a day.

    The current event does not wait for it.

    Args:
        name: The hooks that were called; nothing is done for an unknown name.
        inherited: Environment of the server, apart from its vault.
    """
    if call_named(name) is None:
        return
    vault = default_vault(os.environ)
    try:
        if vault.is_file():
            start_server(os.environ, inherited)
            return
        missing = f"There is no vault at {vault}, so hooks do nothing. Run: clawmem bootstrap PATH"
        usual = default_vault({**os.environ, "INDEX_PATH": ""})  # no other folder is created
        if append_to_error_log(usual, f"{_now()} {name}: {missing}\n", once_a_day=True):
            _write_stderr(f"clawmem hook {name}: {missing}\n")
    except OSError as error:
        report_error(name, error)


def _write_stderr(text: str) -> None:
    os.write(STDERR, text.encode("utf-8", "replace"))


def report_error(name: str, error: BaseException) -> None:
    """Write the error to standard error (the client's debug log) and to the error log; ignore failures of both."""
    with suppress(Exception):  # a full disk may have caused the error
        _write_stderr(f"clawmem hook {name[:MOST_TOLD]}: {str(error)[:MOST_TOLD] or type(error).__name__}\n")
        if name in HOOKS or name in EVENTS or name in ALIASES:
            log_error(default_vault(os.environ), name, error)


def log_error(vault: Path, name: str, error: BaseException) -> None:
    """
    Append an error of hook *name* to the error log next to *vault*: one line, or a traceback if it is unexpected.

    Raises:
        OSError: the log cannot be written.
    """
    if not vault.exists():
        return  # the folder of a deleted vault is not created again
    is_expected = isinstance(error, ClawmemError)
    entry = " ".join(str(error).split()) if is_expected else "".join(format_exception(error)).rstrip()
    append_to_error_log(vault, f"{_now()} {name}: {entry}\n")


def log_daily(vault: Path, name: str, error: Exception) -> None:
    """Append an error of hook *name* to the error log next to *vault*, unless it has it for this day."""
    with suppress(OSError):
        append_to_error_log(vault, f"{_now()} {name}: {error}\n", once_a_day=True)


def _now() -> str:
    return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime())
