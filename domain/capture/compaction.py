"""Compaction of a conversation: the state to preserve before it, and the summary in the report of the client."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clawmem.domain.capture.extraction import CaptureFinding, files_written
from clawmem.domain.capture.kinds import Kind
from clawmem.ports.sessions import Speaker, TranscriptMessage

MESSAGES = 200  # the latest messages
QUESTION_MESSAGES = 20  # the latest of those; older questions are assumed answered or dropped
DECISIONS = 15
DECISION_CHARS = 150
QUESTIONS = 10
REQUEST_CHARS = 500
FILES = 30
SHORTEST_PATH, LONGEST_PATH = 10, 300

_WORD = re.compile(r"\w{4,}")
# A tag within backticks is a quotation, not markup.
_OPENING = re.compile(r"(?<!`)<analysis\b[^<>]*>", re.IGNORECASE)
_CLOSING = re.compile(r"</analysis\s*>", re.IGNORECASE)
_OPEN_SCRATCHPAD = re.compile(
    r"(?<!`)<analysis\b[^<>]*>.*?(?=(?<!`)<summary\b|\Z)", re.DOTALL | re.IGNORECASE
)
_SUMMARY = re.compile(r"(?<!`)<summary\b[^<>]*>", re.IGNORECASE)
_SUMMARY_END = re.compile(r"</summary\s*>", re.IGNORECASE)


def state_of(recent: Sequence[TranscriptMessage], found: Sequence[CaptureFinding]) -> str:
    """
    Return the Markdown of the current state: last request, decisions, open questions and changed files.

    Decisions are sorted by the number of words of more than three letters that they share with the last request,
    then latest first. The result is empty if there is nothing to save.

    Args:
        recent: The latest messages, no more than `MESSAGES`.
        found: The findings in *recent*.
    """
    request = _last_request(recent)
    sections = {
        "Last User Request": [request] if request else [],
        "Key Decisions This Session": _items(_decisions(found, request)),
        "Open Questions / Unresolved": _items(_questions(found, recent)),
        "Files Modified This Session": _items(_paths(recent)),
    }
    if not any(sections.values()):
        return ""
    parts = [f"## {heading}\n\n" + ("\n".join(lines) or "None.") for heading, lines in sections.items()]
    return "\n\n".join(["# State before compaction", *parts]) + "\n"


def _last_request(messages: Sequence[TranscriptMessage]) -> str:
    prompts = (one.text for one in reversed(messages) if one.speaker is Speaker.USER and one.text)
    return next(prompts, "")[:REQUEST_CHARS]


def _decisions(found: Sequence[CaptureFinding], request: str) -> list[str]:
    wanted = _words(request)
    latest_first = [one.sentence for one in reversed(found) if one.kind is Kind.DECISION]
    ranked = sorted(latest_first, key=lambda sentence: -len(wanted & _words(sentence)))
    return [sentence[:DECISION_CHARS] for sentence in ranked[:DECISIONS]]


def _questions(found: Sequence[CaptureFinding], messages: Sequence[TranscriptMessage]) -> list[str]:
    recent = {message.line for message in messages[-QUESTION_MESSAGES:]}
    asked = [one.sentence for one in found if one.kind is Kind.QUESTION and one.message.line in recent]
    return asked[-QUESTIONS:]


def _paths(messages: Sequence[TranscriptMessage]) -> list[str]:
    fitting = (path for path in files_written(messages) if SHORTEST_PATH <= len(path) <= LONGEST_PATH)
    return list(fitting)[-FILES:]


def _items(texts: Sequence[str]) -> list[str]:
    return [f"- {' '.join(text.split())}" for text in texts]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def summary_part(reported: str) -> str:
    """
    Return the summary in *reported*, without the scratchpad of its author.

    The scratchpad is the content of ``<analysis>`` elements; an unclosed one ends at a ``<summary>`` or at the end of
    the text. If the text has a ``<summary>`` element, only its content is returned. The result is empty if the text
    is nothing but a scratchpad.
    """
    told = _OPEN_SCRATCHPAD.sub("", _without_scratchpads(reported))
    if found := _SUMMARY.search(told):
        told = told[found.end() :]
    ends = [found.start() for found in _SUMMARY_END.finditer(told)]
    if ends and told[max(0, ends[-1] - 1)] != "`":
        told = told[: ends[-1]]
    return told.strip()


def _without_scratchpads(text: str) -> str:
    """Return *text* without its closed scratchpads, in one pass that stops at the first scratchpad without an end."""
    kept: list[str] = []
    at = 0
    while (opening := _OPENING.search(text, at)) and (closing := _CLOSING.search(text, opening.end())):
        kept.append(text[at : opening.start()])
        at = closing.end()
    kept.append(text[at:])
    return "".join(kept)
