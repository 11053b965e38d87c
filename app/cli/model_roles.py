"""Who plays the models' roles, in rows for a person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clawmem.app.services.models.roles import WITHOUT
from clawmem.app.services.models.selection import Provider
from clawmem.domain.documents.times import parse_iso
from clawmem.ports.model_failures import ModelFailure

_UNITS = (("day", 86_400), ("hour", 3600), ("minute", 60))


def role_rows(roles: Sequence[Provider], now_ms: int) -> Iterator[tuple[str, str]]:
    """A row for each role: who plays it and why; below it who was passed over, and the last failure."""
    for provider in roles:
        yield str(provider.role), f"{provider.chosen}, because {provider.reason}"
        for reason in provider.passed_over:
            yield "  passed over", reason
        if provider.last_failure:
            yield "  last failure", failure_line(provider.last_failure, now_ms)


def failure_line(failure: ModelFailure, now_ms: int) -> str:
    """When a model failed, why, and what the answers lacked."""
    line = f"{failure.model}, {ago(failure.failed_at, now_ms)}: {failure.reason}; {WITHOUT[failure.role]}"
    return f"{line}. It has answered since." if failure.answered_at else f"{line}."


def ago(moment: str, now_ms: int) -> str:
    """How long ago an ISO time was, in its largest unit; of a time that is still to come, that it was now."""
    then_ms = parse_iso(moment)
    seconds = 0 if then_ms is None else max(0, now_ms - then_ms) // 1000
    for unit, length in _UNITS:
        if seconds >= length:
            count = seconds // length
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"
