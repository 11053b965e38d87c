"""Snippets of handoffs that show their next steps."""

from __future__ import annotations

from clawmem.app.services.retrieval.answer import Result
from clawmem.domain.security.patterns import AnyCase
from clawmem.ports.records import Fragment, FragmentKey, FragmentKind, Span
from clawmem.ports.vault import Vault

_NEXT = r"(?:next|to-?do|still\s+open|open|left|remaining|pending|follow-?ups?|offen|nächste\w*|siguientes?|pendientes?)"
_ABOUT_NEXT = AnyCase(rf"\b{_NEXT}\b")
_SAYS_NEXT = AnyCase(rf"\A[\W_]*{_NEXT}\b[^.\n:]{{0,20}}:")


def with_next_steps(vault: Vault, result: Result) -> Result:
    """Return *result* with its span set to the lines that name next steps; unchanged if there are none."""
    parts = vault.documents.fragments(result.document.id)
    steps = _steps([one for one in parts if one.kind is FragmentKind.LINE])
    if not steps:
        return result
    first, last = steps[0], steps[-1]
    span = Span(
        FragmentKey(result.document.id, first.seq),
        first.kind,
        first.start_line,
        last.end_line,
        first.start,
        last.end,
        first.label,
        first.heading,
    )
    return result._replace(span=span, words=(), purpose=())


def _steps(lines: list[Fragment]) -> list[Fragment]:
    """Return the lines under the first heading about next steps, or else the first line that starts with one."""
    under = [one for one in lines if _ABOUT_NEXT.search(one.heading.rpartition(" › ")[2])]
    under = [one for one in under if not one.text.lstrip().startswith("#")]
    if under:
        return [one for one in under if one.heading == under[0].heading]
    return [one for one in lines if _SAYS_NEXT.search(one.text)][:1]
