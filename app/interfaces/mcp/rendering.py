"""Answers as records, and as the few lines that an assistant reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from clawmem.app.interfaces.cli.rendering import (
    NO_CONFIDENT_ANSWER,
    age,
    answer_record,
    confidence_text,
    hidden_text,
    is_unlikely,
    result_record,
)
from clawmem.app.interfaces.mcp.schemas import COMPACT_SNIPPET, Found, Session
from clawmem.app.records.succession import marked, successor_of
from clawmem.domain.briefing.packing import shortened
from clawmem.domain.security.quoting import lines_to_read, title_to_read

if TYPE_CHECKING:
    from clawmem.app.services.retrieval.answer import Answer, Result
    from clawmem.ports.sessions import Session as Sitting

COMPACT = frozenset(
    {
        *("docid", "file", "title", "origin", "trusted", "score", "confidence", "likelihood"),
        *("start_line", "end_line", "superseded_by"),
    }
)


def answer_fields(found: Answer, *, compact: bool) -> dict[str, Any]:
    """The fields of a `clawmem.app.interfaces.mcp.schemas.Answer`."""
    record = answer_record(found)
    results = [found_record(result, compact=compact) for result in found.results]
    return {**record, "results": results}


def found_record(result: Result, *, compact: bool) -> Found:
    """One result; a compact one says where to read on, and the beginning of what stands there."""
    record: dict[str, Any] = result_record(result)
    if compact:
        short = " ".join(str(record["snippet"]).split())[:COMPACT_SNIPPET]
        record = {name: value for name, value in record.items() if name in COMPACT} | {"snippet": short}
    return Found(**record)


def answer_text(found: Answer, *, compact: bool) -> str:
    """Results one below the other, each with its place and the lines that answer."""
    lines = [_verdict(found)] if not found.results or is_unlikely(found) else []
    lines += [_result_text(result, compact=compact) for result in found.results]
    lines += [hidden] if (hidden := hidden_text(found, "show_all")) else []
    return "\n".join([*lines, *degraded_lines(found.trace.degraded)])


def degraded_lines(degraded: Mapping[str, str]) -> list[str]:
    """What an answer could not take into account."""
    return [f"degraded: {leg}: {reason}" for leg, reason in degraded.items()]


def session_record(session: Sitting) -> Session:
    """A session, as the store has it."""
    kept = {name: value for name, value in asdict(session).items() if name in Session.model_fields}
    return Session(**{**kept, "files_changed": list(session.files_changed)})


def session_lines(sessions: Iterable[Session]) -> list[str]:
    """Sessions, a line each."""
    return [
        f"{one.id[:8]}  {one.started_at[:16]}  {'active' if one.ended_at is None else 'to ' + one.ended_at[:16]}"
        f"  {one.handoff_path or ''}  {shortened(' '.join(one.summary.split()), 100)}  {', '.join(one.files_changed[:5])}".rstrip()
        for one in sessions
    ]


def _verdict(found: Answer) -> str:
    if not found.results:
        return f"Nothing found for: {found.query}"
    return NO_CONFIDENT_ANSWER


def _result_text(result: Result, *, compact: bool) -> str:
    record = found_record(result, compact=compact)
    facts = ", ".join(filter(None, (record.docid, confidence_text(result.confidence), age(result.age_days))))
    last = "" if record.end_line == record.start_line else f"-{record.end_line}"
    head = f"{record.file}:{record.start_line}{last} ({facts})"
    title = marked(title_to_read(record.title, record.origin), successor_of(result.superseded_by))
    if record.trusted:
        return f"{head} {title}\n  {record.snippet}"
    return "\n  ".join([f"{head} {title}", *lines_to_read(record.snippet, record.origin)])
