"""
One call of one hook, ``clawmem hook NAME``: whatever happens, it ends in time, with 0 and one JSON object.

A client shows its user an error for any other exit code, and for 2 it takes the user's prompt away. So the answer
does not depend on the work: a second thread gives out what there is when the deadline comes.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from importlib import import_module

from clawmem.app.hooks.protocol import PRINTS_STDOUT, SILENCE, HookEvent, HookOutput, read_event
from clawmem.app.hooks.registry import HOOKS, Registered, module_of

TYPE_CHECKING = False  # as `typing` has it, which costs a prompt a millisecond and a half
if TYPE_CHECKING:
    from pathlib import Path
    from typing import NoReturn

    from clawmem.app.hooks.surroundings import Surroundings

MOST_INPUT = 16_000_000  # bytes; an event is some kilobytes, with a pasted log in its prompt some megabytes
MOST_TOLD = 2000  # characters of what went wrong: it may quote what a client sent
STDIN, STDOUT, STDERR = 0, 1, 2

_UNKNOWN = Registered("", 2)


# What may follow the name, and the variable that says the same to everything behind this door.
_OPTIONS = {"--vault": "INDEX_PATH", "--profile": "CLAWMEM_PROFILE"}


def run_process(arguments: Sequence[str]) -> NoReturn:
    """Be the hook that *arguments* name first: read the event, answer, and leave."""
    name = next(iter(arguments), "")
    registered = HOOKS.get(name, _UNKNOWN)
    answer = Answer(_own_output(), registered.event)
    deadline = threading.Timer(registered.deadline_s, answer.give_out_and_leave)
    deadline.daemon = True
    deadline.start()
    os.environ.update(_chosen(arguments[1:]))
    answer.offer(attempted(name, answer.offer))
    answer.give_out_and_leave()


class Answer:
    """What this process will say: the last offer, given out once, by whoever comes first."""

    def __init__(self, output: int, event_name: str) -> None:
        self._output = output
        self._event_name = event_name
        self._best: HookOutput | str = SILENCE
        self._given_out = threading.Lock()

    def offer(self, output: HookOutput | str) -> None:
        """Say this, unless something better comes in time; a string is said as it is."""
        self._best = output

    def give_out_and_leave(self) -> NoReturn:
        """Write the answer and end the process at once, whatever its other threads are waiting for."""
        self._given_out.acquire()  # never released: who comes second waits for the end
        try:
            if self._event_name not in PRINTS_STDOUT:
                _write(self._output, f"{self._rendered()}\n")
        finally:
            os._exit(0)

    def _rendered(self) -> str:
        try:
            best = self._best
            return best if isinstance(best, str) else best.render(self._event_name)
        except Exception:  # noqa: BLE001  an answer that is none
            return SILENCE.render(self._event_name)


def attempted(name: str, offer: Callable[[HookOutput], None]) -> HookOutput | str:
    """
    What the hook *name* says to the event on standard input; silence when anything goes wrong.

    A server's answer comes as the line that it is.
    """
    try:
        text = _standard_input()
        if name not in HOOKS:
            raise LookupError(f"There is no hook {name!r}. Choose: {', '.join(HOOKS)}")
        from clawmem.app.places import complete

        complete(os.environ)
        return _told_by_server(name, text) or _alone(name, text, offer)
    except BaseException as error:  # noqa: BLE001  a hook that calls sys.exit included
        _complain(name, error)
        return SILENCE


def _told_by_server(name: str, text: str) -> str:
    from clawmem.app.cli.main import VERSION
    from clawmem.app.hooks.thin_client import ask

    return ask(name, text, os.environ, VERSION)


def _alone(name: str, text: str, offer: Callable[[HookOutput], None]) -> HookOutput:
    from clawmem.app.hooks.surroundings import Surroundings

    return call(name, read_event(text, os.environ), Surroundings(os.environ, offer))


def call(name: str, event: HookEvent, here: Surroundings) -> HookOutput:
    """What the hook *name*, which there is, says to *event*; raises whatever it raises."""
    output: HookOutput = import_module(module_of(name)).run(event, here)
    return output


def _chosen(options: Sequence[str]) -> dict[str, str]:
    """Options as variables; who runs a hook never learns of one that is not known, the others count."""
    waiting = iter(options)
    return {_OPTIONS[option]: next(waiting, "") for option in waiting if option in _OPTIONS}


def _own_output() -> int:
    """A descriptor for the answer alone; whatever else is printed goes to standard error."""
    try:
        output = os.dup(STDOUT)
        os.dup2(STDERR, STDOUT)
    except OSError:  # a client that closed one of the two
        return STDOUT
    return output


def _standard_input() -> str:
    """All of it, or nothing where a person sits or more comes than any event holds."""
    if os.isatty(STDIN):
        return ""
    parts, size = [], 0
    while part := os.read(STDIN, 1 << 16):
        size += len(part)
        if size <= MOST_INPUT:  # what is too much is still read, or the client would find its pipe broken
            parts.append(part)
    return b"".join(parts).decode("utf-8", "replace") if size <= MOST_INPUT else ""


def _write(output: int, text: str) -> None:
    rest = text.encode("utf-8", "replace")
    while rest:
        rest = rest[os.write(output, rest) :]


def _complain(name: str, error: BaseException) -> None:
    """To the client's debug log, and to our own diary: nobody may fail because of either."""
    try:
        _write(STDERR, f"clawmem hook {name[:MOST_TOLD]}: {str(error)[:MOST_TOLD] or type(error).__name__}\n")
        if name in HOOKS:
            from clawmem.app.places import default_vault

            remember(default_vault(os.environ), name, error)
    except Exception:  # noqa: BLE001  the disk that is full is perhaps what went wrong in the first place
        return


def remember(vault: Path, name: str, error: BaseException) -> None:
    """
    Write down beside *vault* what went wrong in the hook *name*: one line, with a traceback for what nobody expected.

    Raises:
        OSError: it cannot be written.
    """
    from time import gmtime, strftime
    from traceback import format_exception

    from clawmem.app.hooks.state import write_down
    from clawmem.ports.errors import ClawmemError

    is_expected = isinstance(error, ClawmemError)
    told = " ".join(str(error).split()) if is_expected else "".join(format_exception(error)).rstrip()
    write_down(vault, f"{strftime('%Y-%m-%dT%H:%M:%SZ', gmtime())} {name}: {told}\n")
