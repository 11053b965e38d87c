"""Models by role as rows of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clawmem.app.services.models.roles import WITHOUT
from clawmem.app.services.models.selection import Provider
from clawmem.domain.documents.times import parse_iso
from clawmem.ports.model_failures import ModelFailure

_UNITS = (("day", 86_400), ("hour", 3600), ("minute", 60))


def role_rows(roles: Sequence[Provider], now_ms: int) -> Iterator[tuple[str, str]]:
    """Yield a row for each role with its model and the reason, then the models passed over and the last failure."""
    for provider in roles:
        yield str(provider.role), f"{provider.chosen}, because {provider.reason}"
        for reason in provider.passed_over:
            yield "  passed over", reason
        if provider.last_failure:
            yield "  last failure", failure_line(provider.last_failure, now_ms)


def failure_line(failure: ModelFailure, now_ms: int) -> str:
    """Return a line with the time and reason of a failure of a model, and what answers lacked because of it."""
    line = f"{failure.model}, {ago(failure.failed_at, now_ms)}: {failure.reason}; {WITHOUT[failure.role]}"
    return f"{line}. It has answered since." if failure.answered_at else f"{line}."


def ago(moment: str, now_ms: int) -> str:
    """Return the time since *moment*, an ISO time, in its largest unit; ``just now`` for a time in the future."""
    then_ms = parse_iso(moment)
    seconds = 0 if then_ms is None else max(0, now_ms - then_ms) // 1000
    for unit, length in _UNITS:
        if seconds >= length:
            count = seconds // length
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"
