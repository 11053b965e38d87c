"""Hooks where no server answers: their execution, and context for a prompt. The other hooks are in `sessions`."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from time import time_ns
from typing import TYPE_CHECKING

from clawmem.app.bootstrap.lazy import lazy
from clawmem.app.client.autostart import start_server
from clawmem.app.client.hook_registry import ALIASES, EVENTS, HOOKS, call_named
from clawmem.app.client.request import OPTIONAL_HOOKS_VARIABLE
from clawmem.app.environment.places import below_home, default_vault, is_there, usual_vault
from clawmem.app.environment.private_files import log_error
from clawmem.app.interfaces.hooks.protocol import PEOPLE, HookEvent, event_object, read_event
from clawmem.domain.surfacing.gate import MOST_PROMPT, Skip, why_skip, without_prefixes
from clawmem.ports.errors import ConfigError, InvalidInput

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services

MOST_SHOWN, MOST_MESSAGE = 60, 2000  # characters of invalid input in the log, and of an error message


class HookContext:
    """
    Dependencies of a hook. This implementation is for a separate process: each access opens and closes the vault.

    Args:
        environ: Environment variables of the client.
        offer: Receives provisional contexts; the last one is sent if the hook misses its deadline.
        later: Called after jobs were stored, to have them done; by default they are done at once.
        services: Returns the open services as `opened` does, which is the default.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        offer: Callable[[str], None] = lambda context: None,
        later: Callable[[], object] | None = None,
        services: Callable[[], AbstractContextManager[Services | None]] | None = None,
    ) -> None:
        self.environ, self.offer, self.services = environ, offer, services or self.opened
        self.vault = default_vault(environ)  # may not exist
        self.later = later or partial(lazy("app.interfaces.hooks.sessions:do_jobs"), self.vault, environ)

    @contextmanager
    def opened(self) -> Iterator[Services | None]:
        """Yield the services over the vault, opened for reading; ``None`` without a vault."""
        from clawmem.app.bootstrap.opening import open_services
        from clawmem.app.settings.model import load_settings

        settings = load_settings(environ=self.environ, lenient=True).model_copy(update={"backend": None})
        if is_there(settings.vault):
            with open_services(settings, read_only=True) as services:
                yield services
        else:
            yield None

    def read(self, event: HookEvent, work: Callable[[Services], str]) -> str:
        """Return the context that *work* makes from the vault, open for reading; silence for a subagent or without it."""
        if event.agent_id:
            return ""
        with self.services() as services:
            return "" if services is None else work(services)

    def writable(self) -> AbstractContextManager[Services]:
        """Return a context manager for the services over the existing vault, opened for writing."""
        from clawmem.app.bootstrap.opening import open_services
        from clawmem.app.settings.model import load_settings

        return open_services(load_settings(vault=self.vault, environ=self.environ), create=False)


def context_surfacing(event: HookEvent, context: HookContext) -> str:
    """
    Return the block for the prompt of *event*, or silence.

    Silent for subagents and timers, without a vault, and for a prompt that needs no search: such a prompt is no turn.
    """
    is_skipped = why_skip(event.prompt) not in (None, Skip.HEARTBEAT)
    if is_skipped or event.agent_id or event.source not in PEOPLE:
        return ""  # before anything is imported that a search needs
    from clawmem.app.environment.session_topics import project_of, topic_of
    from clawmem.app.services.surfacing.steps import Choices, turns_of
    from clawmem.app.settings.model import load_settings
    from clawmem.domain.documents.times import iso_utc
    from clawmem.domain.retrieval.question import Question
    from clawmem.domain.surfacing.profiles import profile_named
    from clawmem.domain.surfacing.turns import gated

    settings = load_settings(environ=context.environ, lenient=True)
    heartbeats = tuple(filter(None, settings.heartbeat_patterns.split(",")))
    if not is_there(settings.vault) or why_skip(
        event.prompt, heartbeats=heartbeats, with_heartbeats=settings.with_heartbeats
    ):
        return ""
    with context.services() as services:
        if services is None:
            return ""
        vault, now_ms = services.vault, time_ns() // 1_000_000
        turns = turns_of(vault.telemetry, event.session_id, event.prompt_id)
        files = services.conversation_files(event.transcript_path, event.session_id)
        compacted_ms = files.compacted_at_ms()
        if turns.seen(event.prompt, now_ms, min(settings.dedupe_seconds, (now_ms - compacted_ms) / 1000)):
            vault.telemetry.record(gated(turns, event.prompt, now_ms))
            return ""
        project, question = project_of(event.cwd), Question(event.prompt, now_ms, services.clock.zone())
        if (topic := question.stopped_topic) is not None:
            handoff = services.briefings.where_stopped(question, project, event.session_id)
            if handoff or not topic:
                from clawmem.app.interfaces.hooks.sessions import inject_text

                return inject_text(handoff, "context-surfacing", event, context, services)
        profile = profile_named(settings.profile, settings.token_budget)
        choices = Choices(
            profile,
            topic=topic_of(settings.topics, event.session_id or "") or settings.topic,
            session_id=event.session_id,
            compacted_at=iso_utc(compacted_ms) if compacted_ms else "",
            loaded=files.loaded_by_client(),
            withheld=services.withheld(project),
            folder=event.cwd,
        )
        surface = services.prompt_surfacing(settings)
        reminder, block = "", surface(event.prompt, turns, choices, context.offer).block
        try:
            prompt, by_meaning = without_prefixes(event.prompt)[:MOST_PROMPT], profile.by_meaning
            reminder = services.reminders(prompt, event.session_id, choices.withheld, by_meaning=by_meaning)
        except Exception as error:  # noqa: BLE001  the block is useful without it
            log_error(context.vault, "context-surfacing", error)
        return "\n".join(filter(None, [reminder, block]))


HANDLERS: dict[str, Callable[[HookEvent, HookContext], str]] = {
    "context-surfacing": context_surfacing,
    **{
        name: lazy(f"app.interfaces.hooks.sessions:{name.replace('-', '_')}")
        for name in HOOKS
        if name != "context-surfacing"
    },
}


def run_hooks(name: str, text: str, offer: Callable[[str, str], None]) -> None:
    """
    Run the hooks that *name* names on the event in *text*, in order, each in a thread until its own deadline.

    The context of each is passed to *offer*. Then the jobs are done that hooks stored. Raises `LookupError` for an
    unknown name, and `JobsFailed`.
    """
    called = call_named(name, os.environ.get(OPTIONAL_HOOKS_VARIABLE, ""))
    if called is None:
        raise LookupError(f"There is no hook {name!r}. Choose: {', '.join((*EVENTS, *HOOKS))}")
    event = read_event(text, os.environ)
    if fault := fault_of_event(text):
        report_error(name, fault)
    has_jobs = threading.Event()
    for hook in called.hooks_for(event.tool_name or event.source):
        context = HookContext(os.environ, partial(offer, hook), has_jobs.set)
        thread = threading.Thread(target=_run_hook, args=(hook, event, context), daemon=True)
        thread.start()
        thread.join(HOOKS[hook].deadline_s)
    if has_jobs.is_set():
        HookContext(os.environ).later()


def _run_hook(name: str, event: HookEvent, context: HookContext) -> None:
    try:
        context.offer(HANDLERS[name](event, context))
    except BaseException as error:  # noqa: BLE001  a hook that calls sys.exit included
        context.offer("")
        report_error(name, error)


def fault_of_event(text: str) -> InvalidInput | None:
    """Return the error of standard input that is no event; its hooks run as if it said nothing."""
    if event_object(text) or text.strip() in ("", "{}"):
        return None
    message = f"The event on standard input must be a JSON object, not {text[:MOST_SHOWN]!r}."
    return InvalidInput("INVALID_INPUT", message)


def prepare_next(name: str, inherited: Mapping[str, str]) -> None:
    """
    Start a server for the next events, if the settings say so; without a vault, report that once a day.

    The current event does not wait for it. *inherited* is the environment of the server, apart from its vault.
    """
    if call_named(name) is None:
        return
    vault = default_vault(os.environ)
    if os.path.isfile(vault):  # noqa: PTH113  false where it cannot be examined
        try:
            start_server(os.environ, inherited)
        except OSError as error:
            report_error(name, error)
        return
    from clawmem.app.bootstrap.opening import missing_vault

    missing = f"Hooks do nothing. {missing_vault(vault)}"
    if not is_there(below_home("~")) or log_error(usual_vault(os.environ), name, missing):  # creates no home
        sys.stderr.write(f"clawmem hook {name}: {missing}\n")


def report_error(name: str, error: BaseException) -> None:
    """Write the error to standard error (the client's debug log) and to the error log; ignore failures of both."""
    with suppress(Exception):  # a full disk may have caused the error
        message = str(error)[:MOST_MESSAGE] or type(error).__name__
        sys.stderr.write(f"clawmem hook {name[:MOST_MESSAGE]}: {message}\n")
        sys.stderr.flush()
        if name in HOOKS or name in EVENTS or name in ALIASES:
            vault = usual_vault(os.environ)
            with suppress(ConfigError):
                vault = default_vault(os.environ)
            log_error(vault, name, error)
