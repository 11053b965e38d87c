"""
Wire format between a client and its hooks: one event as input, one answer as output, both JSON.

A hook is a new process for every prompt, so this module imports little. Its records are named tuples, because importing
``dataclasses`` takes longer than everything else in this file.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.app.client.hook_registry import SESSION_VARIABLES

# Claude Code replaces longer strings than 10 000 characters by a preview.
MOST_CHARACTERS = 9_500

# For other events a client rejects `hookSpecificOutput`, or takes it for a reason to continue the turn.
CARRY_CONTEXT = frozenset({"UserPromptSubmit", "SessionStart", "PreToolUse", "BeforeAgent"})

MOST_NAME = 4096  # characters of a path, an id or another name; longer values are ignored

PEOPLE = frozenset({"", "user", "sdk"})  # sources of prompts that are not timers or the client itself


class HookEvent(NamedTuple):
    """
    Event of a session, as sent by a client; missing fields are empty.

    ``name`` is the event's name, ``UserPromptSubmit`` for one. A session without an id is identified by its
    transcript. ``source`` says who sent a prompt, or why a
    session starts (``startup``, ``resume``, ``clear``, ``compact``, ``fork``). ``trigger`` says why the
    conversation is compacted (``manual``, ``auto``). ``agent_id`` is empty outside of subagents. ``raw`` is
    the unmodified event.
    """

    name: str = ""
    session_id: str = ""
    cwd: str = ""
    transcript_path: str = ""
    prompt: str = ""
    prompt_id: str = ""
    source: str = ""
    trigger: str = ""
    agent_id: str = ""
    agent_type: str = ""
    tool_name: str = ""
    tool_input: Mapping[str, Any] = {}
    last_assistant_message: str = ""
    compact_summary: str = ""
    raw: Mapping[str, Any] = {}

    @property
    def in_subagent(self) -> bool:
        """Whether the event belongs to a subagent, whose turns are not the user's."""
        return bool(self.agent_id)

    @property
    def matched_value(self) -> str:
        """The value that matchers of the event compare: the name of a tool, or the source of a session's start."""
        return self.tool_name or self.source

    @property
    def prompted_by_person(self) -> bool:
        """Whether a user, or a program on their behalf, wrote the prompt, and not a timer or a poll."""
        return self.source in PEOPLE


class HookOutput(NamedTuple):
    """
    Answer of a hook.

    ``context`` is text for the model; it is omitted for events that cannot carry it. ``system_message`` is shown to
    the user. ``suppress`` hides the answer in the client's transcript view. ``answers`` names the event if it differs
    from the event that the hook is registered for.
    """

    context: str = ""
    system_message: str = ""
    suppress: bool = False
    answers: str = ""

    def render(self, event_name: str) -> str:
        """Return the answer to *event_name* as one line of JSON of less than `MOST_CHARACTERS` characters."""
        whole, spare = self._rendered(event_name), MOST_CHARACTERS
        while len(whole) >= MOST_CHARACTERS:  # escapes make the JSON longer than its text
            whole = self._shortened(spare)._rendered(event_name)
            spare -= len(whole) - MOST_CHARACTERS + 1
        return whole

    def _shortened(self, most: int) -> "HookOutput":
        return self._replace(
            context=whole_lines(self.context, most), system_message=self.system_message[: most // 4]
        )

    def _rendered(self, event_name: str) -> str:
        answer: dict[str, Any] = {"continue": True, "suppressOutput": self.suppress}
        if self.system_message:
            answer["systemMessage"] = self.system_message
        name = self.answers or event_name
        if name in CARRY_CONTEXT:
            # Codex makes a message of an empty context, too.
            context = {"additionalContext": self.context} if self.context else {}
            answer["hookSpecificOutput"] = {"hookEventName": name, **context}
        return json.dumps(answer, ensure_ascii=False)


SILENCE = HookOutput()


def joined(outputs: Sequence[HookOutput]) -> HookOutput:
    """Return one output for the *outputs* of several hooks of an event: their texts, in order."""
    return HookOutput(
        context="\n\n".join(filter(None, (output.context for output in outputs))),
        system_message="\n".join(filter(None, (output.system_message for output in outputs))),
        suppress=bool(outputs) and all(output.suppress for output in outputs),
        answers=next(filter(None, (output.answers for output in outputs)), ""),
    )


# Receives a provisional answer, which is sent if the hook misses its deadline. The last one counts.
Offer = Callable[[HookOutput], None]


def read_event(text: str, environ: Mapping[str, str]) -> HookEvent:
    """Return the event in *text*. Values of a wrong type and names that are too long count as missing."""
    raw = _object(text)
    strings = {field: _string(raw, field) for field in _TEXT_FIELDS} | {
        field: _name(raw, field) for field in _NAME_FIELDS
    }
    strings["name"] = _name(raw, "hook_event_name")
    strings["last_assistant_message"] = strings["last_assistant_message"] or _string(raw, "prompt_response")
    strings["session_id"] = strings["session_id"] or _session_in(environ) or strings["transcript_path"]
    given = _value(raw, "tool_input")
    return HookEvent(**strings, tool_input=given if isinstance(given, dict) else {}, raw=raw)


_TEXT_FIELDS = ("prompt", "last_assistant_message", "compact_summary")
_NAME_FIELDS = tuple(
    field for field in HookEvent._fields if field not in ("name", "tool_input", "raw", *_TEXT_FIELDS)
)


def whole_lines(text: str, most: int) -> str:
    """Return the leading lines of *text* that fit into *most* characters, with open elements closed."""
    kept: list[str] = []
    open_elements: list[str] = []
    for line in text.splitlines():
        after = _open_after(open_elements, line)
        if len("\n".join([*kept, line, *_closing(after)])) > most:
            return "\n".join([*kept, *_closing(open_elements)])
        kept.append(line)
        open_elements = after
    return "\n".join(kept)


def _open_after(open_elements: list[str], line: str) -> list[str]:
    name = line.strip().strip("</>")
    if line.strip() == f"<{name}>":
        return [*open_elements, name]
    if open_elements and line.strip() == f"</{open_elements[-1]}>":
        return open_elements[:-1]
    return open_elements


def _closing(open_elements: list[str]) -> list[str]:
    return [f"</{name}>" for name in reversed(open_elements)]


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _string(raw: Mapping[str, Any], field: str) -> str:
    found = _value(raw, field)
    # JSON can escape a lone surrogate, which UTF-8 cannot encode.
    return found.encode("utf-8", "replace").decode("utf-8") if isinstance(found, str) else ""


def _name(raw: Mapping[str, Any], field: str) -> str:
    found = _string(raw, field)
    return found if len(found) <= MOST_NAME else ""


def _value(raw: Mapping[str, Any], field: str) -> Any:
    first, *others = field.split("_")
    return raw.get(field) or raw.get(first + "".join(map(str.title, others)))


def _session_in(environ: Mapping[str, str]) -> str:
    return next(filter(None, map(environ.get, SESSION_VARIABLES)), "") or ""
