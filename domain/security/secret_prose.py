"""Secrets in sentences: "the password for the NAS is …", "log in with nora / …", "use … as the password"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clawmem.domain.security.patterns import Pattern
from clawmem.domain.security.secret_labels import SecretLabel
from clawmem.domain.security.secret_values import (
    is_key,
    is_passphrase,
    is_password,
    is_placeholder,
    is_uuid,
    is_word_password,
)

Span = tuple[int, int]

# What may stand between "password" and the word that introduces its value. A noun there ("password policy",
# "token limit") makes another thing of it, so these words begin the rest of the label.
_ABOUT = (
    r"(?P<about>[*_`\"]{0,3}(?:,? ?\([^()\n]{0,60}\)|,? ?(?:for|of|on|in|at|to|there|here|from|now|fur|vom|von|zum|zur|zu|im|am|auf|bei|der|des|beim"
    r"|du|de|d['’]|des|pour|sur|del|para|dell[ao]|di|da|do|voor|van|till|i|au|la|le|el|al|a|by|used|needed|we|you)\b"
    r"[^\n:=;!?|<>{}\"`]{0,60}?)?)"
)
_BE = (
    r"(?:is|was|are|were|be|remains|became|becomes|reads|equals|lautet|lauten|lautete|ist|war|sind|est|etait|sont|sera|es|era|son|sera|e|er|ar|jest|foi|=)"
)
_ADVERB = r"(?:(?:still|now|currently|today|again|simply|just|probably|called|noch|jetzt|immer|aktuell|derzeit|weiterhin|toujours|encore|maintenant|ahora|todavia|aun)\s+){0,2}"
_CHANGED_TO = r"(?:to|from|auf|von|zu|a|por|en|par|de)"
JOINED = Pattern(
    rf"{_ABOUT}(?:\s{{0,3}}[*_]{{0,2}}(?P<colon>:)[*_]{{0,2}}\s{{0,3}}|\s{{1,3}}(?P<be>{_BE})\s{{1,3}}{_ADVERB}|\s{{1,3}}(?P<to>{_CHANGED_TO})\s{{1,3}}|[ \t]{{1,3}}(?P<direct>))"
    r"(?P<value>[\"'`*_„“«]{0,3}[^\s].{0,200})"
)
_CHANGES = Pattern(
    r"\b(?:set|reset|chang|rotat|updat|switch|mov|geandert|gesetzt|setz|ander|cambi|puse|pon|chang|modifi|mis|mettre)\w{0,8}\b"
)
_GIVEN_BEFORE = Pattern(
    r"(?:^|[\s(\"'`«„“])(?P<value>[^\s\"'`«»„“]{5,100})[\"'`»“]{0,2}\s{1,3}(?:is|was|are|as|als|ist|war|sind|est|etait|es|era|comme|como)\s{1,3}"
    r"(?:(?:the|a|an|our|my|your|his|her|its|this|new|old|current|das|ein|dein|mein|unser|neues|aktuelles|le|un|la|una|su|mi|mon|votre|nouveau|nueva)\s{1,3}){0,3}"
    r"(?:[A-Za-z-]{2,20}[ -])?\Z"
)
_LOGIN = Pattern(
    r"\b(?:log(?:ged)? ?-?in|sign(?:ed)? ?in|login|logins|credentials?|creds|zugangsdaten|anmeldedaten|logindaten|zugang|melde|anmeld\w{0,5}"
    r"|einlogg\w{0,3}|connect\w{0,6}|connexion|identifiants?|inicia|entra|entrar|accede|acceso|credenciales|ssh|account|konto)\b"
)
_PAIR = Pattern(
    r"(?:^|[\s:(\"'`])(?P<user>[\w.@+-]{2,60})[\"'`]?(?:\s{0,2}[/|]\s{0,2}|:|\s{1,2}(?:and|und|et|y|with|mit|avec|con)\s{1,2})[\"'`]?"
    r"(?P<value>[^\s\"'`/|]{5,100})"
)
_LINE = 120  # characters after a word of logging in
_LONGEST_VALUE = 300
_TRAILING = ".,;:)]}*_\"'`»“”"


def in_prose(text: str, lower: str, label: SecretLabel) -> Iterator[Span]:
    """Find the value that a sentence gives for *label*."""
    match = JOINED.compiled.match(lower, label.end)
    if match:
        span = _value(text, match.start("value"))
        if span and _is_given(text, lower, label, match, span):
            yield span
            return
    line = text.rfind("\n", max(0, label.start - _LINE), label.start) + 1 or max(0, label.start - _LINE)
    before = _GIVEN_BEFORE.compiled.search(text[line : label.start])
    if before:
        start, end = _trimmed(text, line + before.start("value"), line + before.end("value"))
        value = text[start:end]
        if is_key(value, 16) if label.kind == "secret" else is_password(value):
            yield start, end


def logins(text: str, lower: str) -> Iterator[Span]:
    """Find the second half of ``user / password`` behind words of logging in."""
    for match in _LOGIN.compiled.finditer(lower):
        stop = lower.find("\n", match.end(), match.end() + _LINE)
        stop = min(len(lower), match.end() + _LINE) if stop < 0 else stop
        for pair in _PAIR.compiled.finditer(text, match.end(), stop):
            start, end = _trimmed(text, *pair.span("value"))
            value = text[start:end]
            if any(c.isdigit() for c in value) and is_password(value) and not is_placeholder(pair["user"]):
                yield start, end
                break


def _value(text: str, start: int) -> Span | None:
    """The word, or what is quoted, that begins at *start*."""
    at = start
    while at < len(text) and text[at] in "\"'`*_„“«":
        at += 1
    opening = text[start:at].strip("*_")
    stop = text.find("\n", at, at + _LONGEST_VALUE)
    stop = min(len(text), at + _LONGEST_VALUE) if stop < 0 else stop
    if opening:
        ends = [end for quote in "\"'`»“”" if (end := text.find(quote, at, stop)) > at]
        return (at, min(ends)) if ends else None
    end = at
    while end < stop and not text[end].isspace():
        end += 1
    start, end = _trimmed(text, at, end)
    return (start, end) if end > start else None


def _trimmed(text: str, start: int, end: int) -> Span:
    while end > start and text[end - 1] in _TRAILING:
        end -= 1
    return start, end


def _is_given(text: str, lower: str, label: SecretLabel, match: re.Match[str], span: Span) -> bool:
    value = text[slice(*span)]
    if is_placeholder(value) or not label.is_bare:
        return False
    is_said = match["colon"] or match["be"]
    if label.kind == "pin":
        return bool(is_said) and value.isdigit() and len(value) in range(4, 9)
    if match["to"] and not match["about"] and not _is_change(lower, label, span):
        return False
    if label.kind == "secret":
        return _is_given_key(lower, label, match, value)
    is_quoted = text[span[0] - 1] in "\"'`„“«"
    if is_quoted and is_said and (is_passphrase(value) if " " in value else is_word_password(value)):
        return True
    return is_password(value) or _is_spoken_word(text, match, span, value)


def _is_given_key(lower: str, label: SecretLabel, match: re.Match[str], value: str) -> bool:
    if is_uuid(value):
        return "api" in label.name.lower() or "api" in match["about"]
    if _speaks_of_hashes(lower, label, match.end("about")):
        return False
    return is_key(value, 16) and not value.startswith("/") and "://" not in value


def _speaks_of_hashes(lower: str, label: SecretLabel, end: int) -> bool:
    around = lower[max(0, label.start - 60) : end]
    return any(word in around for word in ("commit", "sha", "hash", "digest", "checksum", "fingerprint", "cache"))


def _is_change(lower: str, label: SecretLabel, span: Span) -> bool:
    around = lower[max(0, label.start - 50) : label.start] + " " + lower[span[1] : span[1] + 30]
    return _CHANGES.compiled.search(around) is not None


def _is_spoken_word(text: str, match: re.Match[str], span: Span, value: str) -> bool:
    """Whether a password of letters alone ends the sentence that gives it: "the password is tulipgarden"."""
    after = text[span[1] : span[1] + 2].rstrip("\n ")
    return bool(match["be"]) and after in ("", ".", ",", ";") and is_word_password(value)
