"""
Wire format between a client and its hooks: one event as input, one answer as output, both JSON.

A hook is a new process for every prompt, so this module imports little. Its record is a named tuple, because importing
``dataclasses`` takes longer than everything else in this file.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from clawmem.app.client.hook_registry import SESSION_VARIABLES
from clawmem.ports.json_text import read_json

# Claude Code replaces longer strings than 10 000 characters by a preview.
MOST_CHARACTERS = 9_500

# For other events a client rejects `hookSpecificOutput`, or takes it for a reason to continue the turn.
CARRY_CONTEXT = frozenset(
    {"UserPromptSubmit", "SessionStart", "PreToolUse", "BeforeAgent"}
    | {"PostToolUse", "PostToolUseFailure", "SubagentStart"}
)

MOST_NAME = 4096  # characters of a path, an id or another name; longer values are ignored

_EXIT_CODE = re.compile(r"\bexit(?:ed with)?[ _](?:code|status):? [1-9]", re.IGNORECASE)
PEOPLE = frozenset({"", "user", "sdk"})  # sources of prompts that are not timers or the client itself


class HookEvent(NamedTuple):
    """
    Event of a session, as sent by a client; missing fields are empty.

    ``name`` is the event's name, ``UserPromptSubmit`` for one. A session without an id is identified by its
    transcript. ``source`` says who sent a prompt, or why a session starts (``startup``, ``resume``, ``clear``,
    ``compact``, ``fork``). ``agent_id`` is empty outside of subagents, whose turns are not the user's. ``error`` is the
    output of a tool that failed.
    """

    name: str = ""
    session_id: str = ""
    cwd: str = ""
    transcript_path: str = ""
    prompt: str = ""
    prompt_id: str = ""
    source: str = ""
    agent_id: str = ""
    agent_type: str = ""
    tool_name: str = ""
    tool_input: Mapping[str, Any] = {}
    last_assistant_message: str = ""
    compact_summary: str = ""
    error: str = ""


_TEXTS = ("prompt", "last_assistant_message", "compact_summary", "error")


def read_event(text: str, environ: Mapping[str, str]) -> HookEvent:
    """Return the event in *text*. Values of a wrong type and names that are too long count as missing."""
    values = event_object(text)

    def value(field: str) -> Any:
        first, *others = field.split("_")
        return values.get(field) or values.get(first + "".join(map(str.title, others)))

    def string(field: str) -> str:
        found = value(field)
        text = found if isinstance(found, str) else ""
        return text if field in _TEXTS or len(text) <= MOST_NAME else ""

    strings = {field: string(field) for field in HookEvent._fields if field not in ("name", "tool_input")}
    strings["name"] = string("hook_event_name")
    strings["last_assistant_message"] = strings["last_assistant_message"] or string("prompt_response")
    of_environment = next(filter(None, map(environ.get, SESSION_VARIABLES)), "") or ""
    strings["session_id"] = strings["session_id"] or of_environment or strings["transcript_path"]
    failure = strings["error"] or failure_in(value("tool_response"))
    strings["error"] = "" if values.get("is_interrupt") else failure
    tool_input = value("tool_input")
    return HookEvent(**strings, tool_input=tool_input if isinstance(tool_input, dict) else {})


def failure_in(response: Any) -> str:
    """Return the output of a tool if its *response* says that it failed, by a field or an exit code; else nothing."""
    if isinstance(response, str):
        return response if _EXIT_CODE.search(response) else ""
    if not isinstance(response, dict):
        return ""
    codes = [response.get(name) for name in ("exit_code", "exitCode", "exit_status")]
    output = "\n".join(text for text in response.values() if isinstance(text, str))
    has_failed = any(code not in (None, 0, "0") for code in codes) or bool(_EXIT_CODE.search(output))
    return output if has_failed or response.get("is_error") or response.get("success") is False else ""


def event_object(text: str) -> dict[str, Any]:
    """Return the JSON object in *text*; an empty one for any other text."""
    try:
        value = read_json(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def answer(event_name: str, context: str = "") -> str:
    """Return the answer as one line of JSON of less than `MOST_CHARACTERS`; *context* is cut at the end of a line."""
    line, spare = _line(event_name, context), MOST_CHARACTERS
    while len(line) >= MOST_CHARACTERS:  # escapes make the JSON longer than its text
        line = _line(event_name, whole_lines(context, spare))
        spare -= len(line) - MOST_CHARACTERS + 1
    return line


def _line(event_name: str, context: str) -> str:
    line: dict[str, Any] = {"continue": True, "suppressOutput": False}
    if event_name in CARRY_CONTEXT:
        # Codex makes a message of an empty context, too.
        added = {"additionalContext": context} if context else {}
        line["hookSpecificOutput"] = {"hookEventName": event_name, **added}
    return json.dumps(line, ensure_ascii=False)


def whole_lines(text: str, most: int) -> str:
    """Return the leading lines of *text* that fit into *most* characters, with open elements closed."""
    lines: list[str] = []
    closing: list[str] = []  # of the elements that are open, the innermost first
    for line in text.splitlines():
        name, after = line.strip().strip("</>"), closing
        if line.strip() == f"<{name}>":
            after = [f"</{name}>", *closing]
        elif closing and line.strip() == closing[0]:
            after = closing[1:]
        if len("\n".join([*lines, line, *after])) > most:
            return "\n".join([*lines, *closing])
        lines.append(line)
        closing = after
    return "\n".join(lines)
