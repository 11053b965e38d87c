"""Pruning of old tool results in the messages of a request; the stored history does not change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

CHARS_PER_TOKEN = 4
CLEARED = "[Old tool result content cleared]"
CACHE_TTL_MS = 300_000  # five minutes, the life of a provider's prompt cache


class PruningSettings(NamedTuple):
    """
    Settings of pruning; sizes in characters, ratios of the context window.

    Results after the ``kept_assistants``-th last message of the assistant are never touched.
    """

    kept_assistants: int = 3
    soft_ratio: float = 0.3
    hard_ratio: float = 0.5
    least_prunable: int = 50_000
    trimmed_above: int = 4_000
    head: int = 1_500
    tail: int = 1_500
    clears: bool = True
    placeholder: str = CLEARED


DEFAULTS = PruningSettings()


@dataclass(frozen=True)
class Message:
    """
    A message of the request: its role and its text.

    ``role`` is ``user``, ``assistant``, ``tool`` or ``system``. ``is_fixed`` marks a result that contains more than
    text, such as an image, or belongs to a tool that is exempt; it counts but does not change.
    """

    role: str
    text: str
    is_fixed: bool = False


@dataclass(frozen=True)
class Pruned:
    """New texts by position of the message, and the characters of all messages before and after."""

    texts: Mapping[int, str]
    before: int
    after: int


def is_cache_expired(last_request_ms: int | None, now_ms: int, ttl_ms: int = CACHE_TTL_MS) -> bool:
    """Return whether the provider's prompt cache has expired; before that, a changed prefix would cost more."""
    return last_request_ms is not None and ttl_ms > 0 and now_ms - last_request_ms >= ttl_ms


def prune(messages: Sequence[Message], context_window: int, settings: PruningSettings = DEFAULTS) -> Pruned:
    """
    Return shorter texts for old tool results of *messages*.

    From ``soft_ratio`` of the window on, long results keep their head and tail. If ``hard_ratio`` is still reached,
    and the results have ``least_prunable`` characters or more, the oldest are replaced by the placeholder until the
    ratio is below it. Results before the first message of the user, which initialise the agent, stay as they are.

    Args:
        messages: The messages of the request, oldest first.
        context_window: Size of the context window, in tokens.
    """
    before = sum(len(message.text) for message in messages)
    window = context_window * CHARS_PER_TOKEN
    users = [at for at, message in enumerate(messages) if message.role == "user"]
    ends = [*(at for at, message in enumerate(messages) if message.role == "assistant"), len(messages)]
    end = ends[-settings.kept_assistants - 1] if len(ends) > settings.kept_assistants else 0
    old = [
        at
        for at in range(users[0] if users else end, end)
        if messages[at].role == "tool" and not messages[at].is_fixed
    ]
    if window <= 0 or not old or before < settings.soft_ratio * window:
        return Pruned({}, before, before)
    texts = {
        at: shorter for at in old if (shorter := trimmed(messages[at].text, settings)) != messages[at].text
    }
    size = before - sum(len(messages[at].text) - len(text) for at, text in texts.items())
    prunable = sum(len(texts.get(at, messages[at].text)) for at in old)
    if settings.clears and prunable >= settings.least_prunable:
        for at in old:
            if size < settings.hard_ratio * window:
                break
            current = texts.get(at, messages[at].text)
            if len(current) > len(settings.placeholder):
                texts[at] = settings.placeholder
                size -= len(current) - len(settings.placeholder)
    return Pruned(texts, before, size)


def trimmed(text: str, settings: PruningSettings = DEFAULTS) -> str:
    """Return the head and the tail of a long *text* with a note between them; a short one unchanged."""
    if len(text) <= settings.trimmed_above or settings.head + settings.tail >= len(text):
        return text
    head, tail = text[: settings.head], text[len(text) - settings.tail :]
    note = f"[Tool result trimmed: first {settings.head} and last {settings.tail} of {len(text)} characters kept.]"
    return f"{head}\n...\n{tail}\n\n{note}"
