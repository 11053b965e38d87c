"""Redaction of secrets in whole texts and in parts of them."""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from clawmem.domain.security.secrets import SecretSpan, find_secrets

_SEPARATOR = "\n\n"
_CONTEXT = 1_000  # characters around a part, in which an assignment or a token may begin or end
_LONGEST_KEY = 60_000  # characters of a private key before the part
_secrets_around = lru_cache(16)(find_secrets)  # passages of a short note share the same context


def redact(text: str) -> str:
    """Return *text* with every secret replaced by ``[redacted: kind]``. Idempotent."""
    return _replaced(text, 0, len(text), find_secrets(text))


def redact_part(text: str, start: int, end: int) -> str:
    """Return *text* from *start* to *end* without secrets, which may begin before the part or end after it."""
    first = max(0, start - _CONTEXT)
    key = text.rfind("-----BEGIN", max(0, start - _LONGEST_KEY), start)
    if key >= 0 and text.find("-----END", key, start) < 0:
        first = min(first, key)
    line = text.rfind("\n", max(0, first - _CONTEXT), first) + 1
    first = line or (first if first > _CONTEXT else 0)
    around = text[first : end + _CONTEXT]
    return _replaced(around, start - first, end - first, _secrets_around(around))


def redact_parts(parts: Sequence[str]) -> list[str]:
    """Return *parts* of one text, such as the messages of a conversation, without the secrets of the whole text."""
    whole = _SEPARATOR.join(parts)
    findings = find_secrets(whole)
    redacted, at = [], 0
    for part in parts:
        redacted.append(_replaced(whole, at, at + len(part), findings))
        at += len(part) + len(_SEPARATOR)
    return redacted


def _replaced(text: str, start: int, end: int, findings: Iterable[SecretSpan]) -> str:
    parts: list[str] = []
    done = start
    for span in findings:
        if span.end > start and span.start < end:
            parts += (text[done : max(done, span.start)], f"[redacted: {span.kind}]")
            done = min(end, span.end)
    return "".join([*parts, text[done:end]])
