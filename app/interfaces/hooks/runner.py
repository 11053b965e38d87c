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
from typing import TYPE_CHECKING

from clawmem.app.client.autostart import start_server
from clawmem.app.client.hook_registry import ALIASES, EVENTS, HOOKS, HookCall, call_named
from clawmem.app.client.request import OPTIONAL_HOOKS_VARIABLE
from clawmem.app.environment.places import default_vault
from clawmem.app.environment.private_files import append_to_error_log
from clawmem.app.interfaces.hooks.protocol import SILENCE, HookEvent, HookOutput, read_event
from clawmem.ports.errors import ClawmemError, InvalidInput

if TYPE_CHECKING:
    from clawmem.app.interfaces.hooks.context import HookContext

STDERR = 2
MOST_SHOWN = 60  # characters of invalid input in the log
MOST_TOLD = 2000  # characters of an error message, which may quote the client's input

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


def run_hooks(name: str, text: str, offer: Callable[[str, HookOutput], None]) -> None:
    """
    Pass the event in *text* to the hooks that *name* names, and the output of each, with its name, to *offer*.

    Raises:
        LookupError: No hook or event has this name.
        JobsFailed: some jobs that the hooks deferred failed.
    """
    called = call_named(name, os.environ.get(OPTIONAL_HOOKS_VARIABLE, ""))
    if called is None:
        raise LookupError(f"There is no hook {name!r}. Choose: {', '.join((*EVENTS, *HOOKS))}")
    event = read_event(text, os.environ)
    if fault := fault_of_event(text, event):
        report_error(name, fault)
    _run_locally(called, event, offer)


def fault_of_event(text: str, event: HookEvent) -> InvalidInput | None:
    """Return the error of standard input that is no event; its hooks run as if it said nothing."""
    if event.raw or text.strip() in ("", "{}"):
        return None
    message = f"The event on standard input must be a JSON object, not {text[:MOST_SHOWN]!r}."
    return InvalidInput("INVALID_INPUT", message)


def prepare_next(name: str, inherited: Mapping[str, str]) -> None:
    """
    Start a server for the next events, if the settings say so; without a vault, report that.

    The current event does not wait for it.

    Args:
        name: The hooks that were called; nothing is done for an unknown name.
        inherited: Environment of the server, apart from its vault.
    """
    if call_named(name) is None:
        return
    if not os.path.isfile(default_vault(os.environ)):  # noqa: PTH113
        with suppress(OSError):
            _report_missing_vault(name)
        return
    try:
        start_server(os.environ, inherited)
    except OSError as error:
        report_error(name, error)


def _report_missing_vault(name: str) -> None:
    """Tell once a day why hooks do nothing, in the error log next to the usual vault; no other folder is created."""
    missing = (
        f"There is no vault at {default_vault(os.environ)}, so hooks do nothing. Run: clawmem bootstrap PATH"
    )
    usual = default_vault({**os.environ, "INDEX_PATH": ""})
    if append_to_error_log(usual, f"{_now()} {name}: {missing}\n", once_a_day=True):
        _tell(f"clawmem hook {name}: {missing}\n")


def _run_locally(called: HookCall, event: HookEvent, offer: Callable[[str, HookOutput], None]) -> None:
    """Run the hooks in order, each in a thread until its own deadline; then process the jobs that they deferred."""
    from clawmem.app.interfaces.hooks.context import DeferringContext, process_deferred

    contexts = []
    for name in called.hooks_for(event.matched_value):
        contexts.append(DeferringContext(os.environ, partial(offer, name)))
        thread = threading.Thread(target=_run_hook, args=(name, event, contexts[-1]), daemon=True)
        thread.start()
        thread.join(HOOKS[name].deadline_s)
    process_deferred(contexts)


def _run_hook(name: str, event: HookEvent, context: HookContext) -> None:
    try:
        context.offer(call(name, event, context))
    except BaseException as error:  # noqa: BLE001  a hook that calls sys.exit included
        context.offer(SILENCE)
        report_error(name, error)


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


def _tell(text: str) -> None:
    os.write(STDERR, text.encode("utf-8", "replace"))


def report_error(name: str, error: BaseException) -> None:
    """Write the error to standard error (the client's debug log) and to the error log; ignore failures of both."""
    try:
        _tell(f"clawmem hook {name[:MOST_TOLD]}: {str(error)[:MOST_TOLD] or type(error).__name__}\n")
        if name in HOOKS or name in EVENTS or name in ALIASES:
            log_error(default_vault(os.environ), name, error)
    except Exception:  # noqa: BLE001  a full disk may have caused the error
        return


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
