"""Generated-looking values near a label, or after a verb such as "enter", whatever the grammar between them."""

from __future__ import annotations

from collections.abc import Iterator

from clawmem.domain.security.patterns import Pattern
from clawmem.domain.security.secret_labels import SecretLabel
from clawmem.domain.security.secret_values import (
    Span,
    is_code_group,
    is_generated,
    is_key,
    is_named,
    is_password,
    is_pin,
    is_uuid,
    mixes_kinds,
)

_BEFORE, _AFTER = 70, 110  # characters around a label that belong to it
_NEXT_LINE = 60
_MOST_WORDS_BELOW = 6
_LONG_KEY = 20
_TOKEN = Pattern(r"[^\s\"'`<>|,;:()\[\]{}«»„“”]{4,300}")
_GROUPS = Pattern(r"(?<![\w-])\d{3,8}(?:[- ]\d{3,8}){1,9}(?![\w-])")
_TRAILING = ".,:*_…"
_SENTENCE_END = Pattern(
    r"[.!]\s{1,3}(?!(?:It|This|Er|Es|Sie|Das|Il|Elle|Ahora|Ora|Adesso|Maintenant|Jetzt|Now)\b)(?=[A-Z])|(?=\n)"
)
_SENTENCE_START = Pattern(r"[.!?]\s{1,3}(?=[A-Z])|\n")
# The word before a value that says what else it is.
_OTHER_NAME = Pattern(
    r"(?:\b(?:user(?:name)?|benutzer|utilisateur|usuario|utente|login|account|konto|item|ticket|issue|bug|order|invoice|ref|id|uuid|public[_ -]?key|commit"
    r"|sha\d{0,3}|hash|checksum|digest|etag|version|release|branch|tag|port|host(?:name)?|server|from|file|model|serial|room|flight"
    r"|isbn|device|node|cluster|database|table|column|field|function|class|import|package|module|trace|request|build|image|ssid)[\"']?\s{0,2}[:=#]?\s{0,2}[\"'`]?"
    r"|[@#/\\$.])\Z"
)
_SPEAKS_OF_HASHES = (
    "commit",
    "sha1",
    "sha2",
    "sha5",
    "hash",
    "digest ",
    "checksum",
    "fingerprint",
    "public key",
    "etag",
    "enc[",
)
_SAME_LINE = 110
_STATED = Pattern(r"(?:[:=→]|->|\b(?:is|['’]s|ist|lautet|est|es|e))[ \t]{0,3}[\"'`*]{0,3}\Z")
_ENDS = Pattern(r"[\"'`*]{0,3}(?:[.,;)!?]?(?:\s|$))")


def near(text: str, lower: str, label: SecretLabel) -> Iterator[Span]:
    """Find a value that looks generated in the sentence of *label*, or alone in the next line."""
    if not label.is_bare or label.name.lower().startswith("no"):
        return
    first, last = _sentence(text, label)
    if any(word in lower[first:last] for word in _SPEAKS_OF_HASHES):
        return
    if "code" in lower[label.start : label.end] or "recovery" in lower[label.start : label.end]:
        for group in _GROUPS.compiled.finditer(text, label.end, last):
            yield group.span()
    after = _first(text, lower, label, label.end, last)
    span = (
        after
        or _first(text, lower, label, first, label.start, backwards=True)
        or _below(text, lower, label, last)
    )
    if span:
        yield span


def _sentence(text: str, label: SecretLabel) -> Span:
    earliest, latest = max(0, label.start - _BEFORE), min(len(text), label.end + _AFTER)
    starts = [match.end() for match in _SENTENCE_START.compiled.finditer(text, earliest, label.start)]
    end = _SENTENCE_END.compiled.search(text, label.end, latest)
    return (starts[-1] if starts else earliest), (end.start() if end else latest)


def _first(
    text: str, lower: str, label: SecretLabel, start: int, end: int, *, backwards: bool = False
) -> Span | None:
    spans = [
        span
        for span in tokens(text, start, end)
        if _is_secret(label, text[slice(*span)], is_stated=_is_stated(text, span))
        and not _OTHER_NAME.compiled.search(lower, max(0, span[0] - 24), span[0])
    ]
    return spans[-1 if backwards else 0] if spans else None


def tokens(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the words of *text* from *start* to *end*; a word that the borders cut is left out."""
    for match in _TOKEN.compiled.finditer(text, start, min(len(text), end + 300)):
        first, last = match.span()
        if first >= end:
            return
        if first == start and first and (text[first - 1].isalnum() or text[first - 1] in "_-"):
            continue
        while last > first and text[last - 1] in _TRAILING:
            last -= 1
        while first < last and text[first] in "*_:":
            first += 1
        if last - first >= 4:
            yield first, last


def _is_stated(text: str, span: Span) -> bool:
    """Whether a colon or "is" stands before the value, and nothing but punctuation after it."""
    return bool(
        _STATED.compiled.search(text, max(0, span[0] - 12), span[0]) and _ENDS.compiled.match(text, span[1])
    )


def _is_secret(label: SecretLabel, value: str, *, is_stated: bool) -> bool:
    if label.kind == "pin":
        return is_stated and is_pin(value)
    if is_stated and label.kind == "password":
        return mixes_kinds(value) and is_password(value) and not is_named(value) and "/" not in value
    if label.kind == "secret":
        return (
            is_key(value, _LONG_KEY) and not is_uuid(value) and "/" not in value[:8] and is_generated(value)
        )
    return is_generated(value)


def _below(text: str, lower: str, label: SecretLabel, end: int) -> Span | None:
    """Return the only value in the short line below, where the line of *label* ends soon after it."""
    start = end
    while start < len(text) and text[start] in "\n\r \t>-*:\\":
        start += 1
    if start == end or start == len(text) or end - label.end > _NEXT_LINE or "\n" not in text[end:start]:
        return None
    stop = text.find("\n", start, start + _SAME_LINE)
    stop = min(len(text), start + _SAME_LINE) if stop < 0 else stop
    if len(text[start:stop].split()) > _MOST_WORDS_BELOW:
        return None
    if label.kind != "secret" or "code" in label.name.lower():
        groups = [span for span in tokens(text, start, stop) if is_code_group(text[slice(*span)])]
        if len(groups) == 1 and "code" in lower[label.start : label.end]:
            return groups[0]
    return _first(text, lower, label, start, stop)


def speaks_of_hashes(lower: str) -> bool:
    """Whether a text is about commits and checksums, which look generated and are no secrets."""
    return any(word in lower for word in _SPEAKS_OF_HASHES)


def names_another_thing(lower: str, start: int) -> bool:
    """Whether the word before *start* says that what stands there is a user, a commit, a model …"""
    return bool(_OTHER_NAME.compiled.search(lower, max(0, start - 24), start))
