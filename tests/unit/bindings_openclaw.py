"""How the vectors of OpenClaw's memory call this implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clawmem.domain.openclaw import (
    Message,
    PruningSettings,
    SessionSize,
    chunk_fragments,
    flush_threshold,
    is_flush_due,
    is_session_due,
    prune,
    ranked,
    session_path,
    session_text,
    topic_slug,
)
from clawmem.ports.imports import AgentMessage


def _chunks(given: dict[str, Any]) -> list[list[Any]]:
    sizes = {name: given[name] for name in ("tokens", "overlap") if name in given}
    return [
        [part.start_line, part.end_line, part.text] for part in chunk_fragments(given["text"], **sizes)[1:]
    ]


def _due(given: dict[str, Any]) -> bool:
    state = dict(given["state"])
    threshold = flush_threshold(state.pop("context_window"), **given.get("settings", {}))
    return is_flush_due(threshold=threshold, **state)


def _pruning(given: dict[str, Any]) -> dict[str, str]:
    messages = [Message(*one) for one in given["messages"]]
    found = prune(messages, given["context_window"], PruningSettings(**given.get("settings", {})))
    return {str(at): text for at, text in found.texts.items()}


def _session_due(given: dict[str, Any]) -> bool:
    indexed = SessionSize(*given["indexed"]) if "indexed" in given else None
    return is_session_due(indexed, SessionSize(*given["current"]))


BINDINGS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "openclaw_chunks": _chunks,
    "openclaw_flush_due": _due,
    "openclaw_flush_threshold": lambda given: flush_threshold(
        given["context_window"], **given.get("settings", {})
    ),
    "openclaw_pruning": _pruning,
    "openclaw_ranking": lambda given: [[chunk.key, chunk.score] for chunk in ranked(**given)],
    "openclaw_session_path": lambda given: session_path(**given),
    "openclaw_session_due": _session_due,
    "openclaw_session_text": lambda given: session_text([AgentMessage(*one) for one in given["messages"]]),
    "openclaw_topic": lambda given: topic_slug([AgentMessage(*one) for one in given["messages"]]),
}
