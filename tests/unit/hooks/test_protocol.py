"""Events as clients write them, answers as clients read them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.app.interfaces.hooks.protocol import (
    CARRY_CONTEXT,
    MOST_CHARACTERS,
    PEOPLE,
    HookEvent,
    answer,
    read_event,
    whole_lines,
)

PROMPT = {
    "session_id": "5f0c",
    "transcript_path": "/home/u/.claude/projects/-home-u-app/5f0c.jsonl",
    "cwd": "/home/u/app",
    "hook_event_name": "UserPromptSubmit",
    "prompt_id": "a1b2",
    "permission_mode": "default",
    "prompt": "why did we drop Redis?",
    "source": "user",
}
ODD_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=300)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ODD_TEXT,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*PROMPT, "tool_input"]), inner)
    ),
    max_leaves=12,
)


def read(event: dict[str, Any], **environ: str) -> HookEvent:
    return read_event(json.dumps(event), environ)


def test_a_prompt_as_the_client_tells_it() -> None:
    """Every field of the client's own event arrives under its own name."""
    event = read(PROMPT)

    assert read_event(f"\ufeff{json.dumps(PROMPT)}", {}) == event  # as PowerShell pipes it
    assert event[:9] == (
        "UserPromptSubmit",
        "5f0c",
        "/home/u/app",
        "/home/u/.claude/projects/-home-u-app/5f0c.jsonl",
        "why did we drop Redis?",
        "a1b2",
        "user",
        "",
        "",
    )
    assert event.source in PEOPLE
    assert not event.agent_id


@pytest.mark.parametrize(
    "source", ["system", "loop_wakeup", "schedule_wakeup", "poll_event", "something new"]
)
def test_timers_are_no_people(source: str) -> None:
    """A prompt that nobody wrote is told apart, a source nobody knows yet included."""
    assert read({**PROMPT, "source": source}).source not in PEOPLE


def test_the_session_comes_from_the_environment_when_the_event_has_none() -> None:
    """The client's present variable wins over the older names, the event over all of them."""
    older = {"CLAUDE_SESSION_ID": "older", "CLAWMEM_SESSION_ID": "ours"}

    assert read({}, **older).session_id == "older"
    assert read({}, CLAUDE_CODE_SESSION_ID="now", **older).session_id == "now"
    assert read(PROMPT, CLAUDE_CODE_SESSION_ID="now").session_id == "5f0c"


@given(st.dictionaries(st.sampled_from([*PROMPT, "tool_input", "agent_id"]), JSON))
def test_no_event_is_too_odd(event: dict[str, Any]) -> None:
    """Whatever a field holds, strings come out as storable strings and the tool's input as a mapping."""
    found = read_event(json.dumps(event), {})

    assert isinstance(found.tool_input, dict)
    for text in (found.prompt, found.session_id, found.source, found.transcript_path):
        text.encode()


@pytest.mark.parametrize("name", sorted(CARRY_CONTEXT))
def test_context_goes_where_it_can(name: str) -> None:
    """Prompts, session starts and tools carry context under their own name."""
    assert json.loads(answer(name, "what is known")) == {
        "continue": True,
        "suppressOutput": False,
        "hookSpecificOutput": {"hookEventName": name, "additionalContext": "what is known"},
    }


@pytest.mark.parametrize("name", ["Stop", "SubagentStop", "PreCompact", "PostCompact", "SessionEnd", ""])
def test_no_context_goes_where_the_client_refuses_it(name: str) -> None:
    """At Stop it would even make the model go on."""
    assert json.loads(answer(name, "what is known")) == {"continue": True, "suppressOutput": False}


@given(ODD_TEXT, st.integers(1, 200), st.sampled_from(["UserPromptSubmit", "Stop"]))
def test_every_answer_is_one_short_line_of_json(context: str, times: int, name: str) -> None:
    """However long and odd the text is."""
    line = answer(name, context * times)

    assert json.loads(line)["continue"] is True
    assert len(line) < MOST_CHARACTERS
    assert "\n" not in line


def test_a_short_answer_arrives_whole() -> None:
    """Nothing is cut that need not be."""
    context = f"{'word ' * 19}\n" * 94

    line = json.loads(answer("SessionStart", context))

    assert line["hookSpecificOutput"]["additionalContext"] == context


def test_what_is_cut_is_closed_again() -> None:
    """Whole lines stay, and every element that is open when the room ends is closed."""
    block = "\n".join(["<vault-context>", "<facts>", *["- one fact"] * 50, "</facts>", "</vault-context>"])

    cut = whole_lines(block, 120)

    assert len(cut) <= 120
    assert cut.startswith("<vault-context>\n<facts>\n- one fact\n")
    assert cut.endswith("- one fact\n</facts>\n</vault-context>")
