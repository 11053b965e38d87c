"""Text that a stranger may send, made of repetitions: four times as much takes a small multiple of the time."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest

from clawmem.adapters.files.front_matter import parse_front_matter
from clawmem.adapters.files.transcripts import message_of
from clawmem.app.services.indexing.source import parse_source
from clawmem.domain.capture.handoff import next_steps, summary_part
from clawmem.domain.capture.notes import notes_by_rules
from clawmem.domain.knowledge.entities import names_in
from clawmem.domain.retrieval.expansion import expansion_prompt
from clawmem.domain.retrieval.intent import classify_intent
from clawmem.domain.retrieval.planning import plan, route
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.domain.retrieval.question import newest_question
from clawmem.domain.security.escaping import escape
from clawmem.domain.security.injections import find_injections
from clawmem.domain.security.secrets import find_secrets
from clawmem.domain.surfacing.facts import seeds_of
from clawmem.domain.surfacing.gate import why_skip
from clawmem.domain.text.dates import temporal_range
from clawmem.ports.records import SourceStamp

SHORT, TIMES = 3_000, 4  # characters of the first text, and how much longer the second is
FLOOR_S = 0.06  # whatever takes less for the second text is quick enough
MAX_GROWTH = 12  # linear time grows 4 times, quadratic time 16 times
NOW = 1_790_000_000_000

REPETITIONS = (
    "<system-reminder>", "</system-reminder>", "<vault-context>", "<analysis>", "<summary>", "</analysis>", "<a ",
    "[Request interrupted by user", "System: a\n", "[cron: ", "```\n", "~~~\n", "|-|\n", "| a ", "- [ ] ", "# a\n",
    "> a\n", "](", "[[", "{", "next steps:\n", "next: a. ", "Bob. ", "AB ", "a_", "/a", "/a/b.py ", "...", " ", "\n",
    "a", "1", "3 ", "-", "_", "a1", "a.", "aA", "A", "./", "? ", "?a", "both ", "both x ", "and ", "plus ", "and what ", "about ",
    "x, ", "as well as ", "in ", "the week of ", "between march ", "a couple of ", "2024-", "in early ", "last 9 ", "may\n",
    "in 2024 and ", "between ", "last week of ", "please run ", "why ", "\"", "`", "\u200b", "a: b\n", "---\n", "日",
)  # fmt: skip
PIECES = {  # what begins a pattern of one reader
    "block": (
        "ignore ", "your ", "ignore your ", "send ", "send all ", "|", "you are now ", "![", "![](http://", "act as ",
        "never tell the user", "when the user ", "=",
    ),
    "secrets": (
        "password", "password=", "password: a1", "--password ", "eyJ", "://a:", "-----BEGIN PRIVATE KEY-----", "M.",
        "curl -u ", "<a>", "a=a1b2c3", 'a" value=', "Authorization: a ", "xoxb-",
    ),
}  # fmt: skip


def transcript_line(text: str) -> None:
    """A message of a client: read, and searched for what is worth keeping."""
    line = json.dumps(
        {"type": "assistant", "message": {"content": [{"type": "text", "text": f"a {text} a"}]}}
    )
    message, _ = message_of(line.encode(), 1)
    list(notes_by_rules([message]))
    list(next_steps(message.text))


def report(text: str) -> None:
    """The report of a compaction."""
    summary_part(text)


def prompt(text: str) -> None:
    why_skip(text)
    seeds_of(text)


def posted_note(text: str) -> None:
    """A note that is indexed and enriched."""
    parse_source(
        text.encode(),
        "notes",
        "a.md",
        SourceStamp(len(text), 1),
        now_ms=NOW,
        parse_front_matter=parse_front_matter,
    )
    names_in("A note", text)


def question(text: str) -> None:
    """A question to the REST interface."""
    for read in (route, plan, query_forms, classify_intent, newest_question, expansion_prompt):
        read(text)
    temporal_range(text, now_ms=NOW)


def block(text: str) -> None:
    """Text that is put into a context block."""
    escape(text)
    list(find_injections(text))


def secrets(text: str) -> None:
    """Text that is searched for secrets."""
    find_secrets(text)


def seconds(read: Callable[[str], None], text: str) -> float:
    began = time.thread_time()
    read(text)
    return time.thread_time() - began


def growth(read: Callable[[str], None], piece: str, length: int) -> float:
    """Return how many times longer *read* takes for four times as much of *piece*; 0 if it is always quick."""
    short, long = ((piece * (size // len(piece) + 1))[:size] for size in (length, length * TIMES))
    took = seconds(read, f"{long}b")  # the ends differ, because some answers are cached
    if took < FLOOR_S:
        return 0.0
    for attempt in range(4):  # another process may have disturbed one measurement
        grown = took / max(seconds(read, f"{short}{attempt}"), 1e-6)
        if grown < MAX_GROWTH:
            break
        took = min(took, seconds(read, f"{long}{attempt}"))
    return grown


@pytest.mark.parametrize("read", [transcript_line, report, prompt, posted_note, question, block, secrets])
def test_a_longer_repetition_takes_a_small_multiple_of_the_time(read: Callable[[str], None]) -> None:
    for piece in (*REPETITIONS, *PIECES.get(read.__name__, ())):
        for length in (SHORT // 20, SHORT):  # a short one first, lest cubic time holds the test
            assert growth(read, piece, length) < MAX_GROWTH, repr(piece)


def test_malformed_front_matter_is_read_in_linear_time() -> None:
    def damaged_note(text: str) -> None:
        posted_note(f"---\n{text}\n---\n")

    assert growth(damaged_note, "k: [\n", SHORT) < MAX_GROWTH


def test_quadratic_time_is_noticed() -> None:
    def compare_all(text: str) -> None:
        for start in range(0, len(text), 8):
            text.count("x", start)
            text.count("y", start)
            text[start:].upper()

    # Noise in the short measurement hides growth now and then, never five times.
    assert any(growth(compare_all, "a", 8_000) >= MAX_GROWTH for _ in range(5))
