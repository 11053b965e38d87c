"""Secrets in sentences: "the password for the NAS is …", "log in with nora / …", "use … as the password"."""

from __future__ import annotations

from collections.abc import Iterator

from clawmem.domain.security import secret_values
from clawmem.domain.security.patterns import Pattern
from clawmem.domain.security.secret_labels import SecretLabel, regions
from clawmem.domain.security.secret_talk import is_word_password
from clawmem.domain.security.secret_values import Span

# Words that may follow "password" before its value. A noun there ("password policy", "token limit") makes another
# thing of it.
_ABOUT = Pattern(
    r"[*_`\"]{0,3}(?:,? ?\(|,? ?(?:for|of|on|in|at|to|there|here|from|with|now|fur|vom|von|zum|zur|zu|im|am|auf|bei|der|des|beim|mit"
    r"|du|de|d['’]|pour|sur|del|para|dell[ao]|(?:d|dell|all|nell|sull)['’]|di|da|do|voor|van|till|i|au|la|le|el|al|a|by|used|needed|we|you)\b"
    r"|['’]s |[ \t]{0,3}(?:[:*;,→—–]|->|=>|- )|[ \t]{1,3}(?:is|was|are|were|be|remains|becomes?|became|reads|equals|still|now|again|provisoire|temporaire|actuel|nouveau|temporal|provisional|nueva|lautet|lauten|lautete|ist|war|sind|est"
    r"|etait|sont|sera|es|era|son|e|er|ar|jest|foi|en|por|par|c['’]est)\b)"
)
_JOINT = Pattern(
    r"(?:[*_`\"]{0,3}(?P<colon>:)[*_]{0,2}(?:\s{1,3}|(?=[\"'`„“«]))|\s(?P<be>turn(?:s|ed) out to be|(?:is|was|got|has been) (?:changed|set|reset|switched) to|geandert (?:auf|in|zu)|wurde zu"
    r"|is|was|are|were|be|remains|becomes?|became|reads|equals|lautet|lauten|lautete|ist|war"
    r"|sind|est|etait|sont|sera|es|era|son|e|er|ar|jest|foi|c['’]est)\s{1,3}(?:(?:le|el|il|la|the|still|now|currently|today|again|simply|just|probably|called|noch|jetzt|immer"
    r"|aktuell|derzeit|weiterhin|toujours|encore|maintenant|ahora|todavia|aun)\s{1,3}){0,2}|\s(?P<to>to|from|auf|von|zu|a|por|en|par|de)\s{1,3}"
    r"|(?P<dash>['’]s\s{1,3}|\s{0,3}(?:->|=>|→|—|–)\s{1,3}|\s-\s|,\s|[,;]\s(?:type|enter|use|try|gib|tippe|tape[rz]?|saisi\w{1,4}|escribe|usa)\s))"
    r"(?=[^\s])"
)
_COMPOUND = Pattern(
    r"[ \t-](?!(?:for|of|on|in|at|to|from|when|if|and|or|until|while|because|where|there|here|with|by|now|fur|vom|von|zum|zur|im|am|auf|bei|der|des"
    r"|und|ein|eintragen|du|de|pour|sur|et|del|para|en|y)\b)[a-z]{2,20}"
)
_DIRECT = Pattern(r"[ \t]{1,3}(?=[^\s])")
_SENTENCE_END = Pattern(r"[.!?](?=\s|$)|\n")
_REACH = 110  # characters from a label to what introduces its value
_CHANGES = Pattern(
    r"\b(?:set|reset|chang|rotat|updat|switch|mov|geandert|gesetzt|setz|ander|cambi|puse|pon|chang|modifi|mis|mettre)\w{0,8}\b"
)
_GIVEN_BEFORE = Pattern(
    r"(?:^|[\s(\"'`«„“])(?P<value>[^\s\"'`«»„“]{5,100})[\"'`»“]{0,2}\s{1,3}(?:is|was|are|as|als|ist|war|sind|est|etait|es|era|comme|como|<-|←)\s{1,3}"
    r"(?:(?:the|a|an|our|my|your|his|her|its|this|new|old|current|das|ein|dein|mein|unser|neues|aktuelles|le|un|la|una|su|mi|mon|votre|nouveau|nueva)\s{1,3}){0,3}"
    r"(?:[A-Za-z-]{2,20}[ -])?\Z"
)
_LOGIN = Pattern(
    r"\b(?:log(?:ged)? ?-?in|sign(?:ed)? ?in|login|logins|credentials?|creds|zugangsdaten|anmeldedaten|logindaten|zugang|zugriff|melde|anmeld\w{0,5}"
    r"|einlogg\w{0,3}|logge|wi-?fi|wlan|ssid|(?=(?:root|admin|administrator|postgres) ?/ )|connect\w{0,6}|connexion|identifiants?|credenziali|access (?=with|as|for)|accedi|accesso|cuenta|compte|inicia|entra|entrar|accede|acceso|credenciales|ssh|account|konto)\b"
)
_LOGIN_PIECES = (
    "log", "sign", "cred", "zugang", "zugriff", "meld", "connex", "connect", "identifiant", "inicia", "entra", "acce", "ssh", "account", "konto", "wifi", "wi-fi", "wlan", "ssid", "root", "admin", "postgres",
)  # fmt: skip
_PAIR = Pattern(
    r"(?:^|(?<=[\s:(\"'`]))(?=(?P<user>[\w.@+-]{2,60})[\"'`]?(?:\s{0,2}[/|]\s{0,2}|:|(?<!fails)\s{1,2}(?:and|und|et|y|(?:with|mit|avec|con)(?: (?:the )?(?:password|passwort))?)\s{1,2})[\"'`]?"
    r"(?P<value>[^\s\"'`/|]{5,100}))"
)
# "login on the NAS: nora, and then …": the colon shows that an account follows.
_THEN = Pattern(
    r":[ \t]{1,3}[\"'`]?(?P<user>[\w.@+-]{2,60})[\"'`]?,?[ \t]{1,2}(?:(?:and|und|et|y|e)[ \t]{1,2})?(?:then|dann|danach|puis|ensuite|luego|despues|poi)[ \t]{1,2}"
    r"[\"'`]?(?P<value>[^\s\"'`/|]{5,100})"
)
_LINE = 120  # characters after a word of logging in
_LONGEST_VALUE = 300
_LEAST_HYPHENS = 3  # of a passphrase
_SPEAKS_OF_HASHES = ("commit", "sha", "hash", "digest", "checksum", "fingerprint", "cache")
_VERBS = ("pass",)
_OPENING = "\"'`*_„“«([<"
_TRAILING = ".,;:)]}*_\"'`»“”"


def in_prose(text: str, lower: str, label: SecretLabel) -> Iterator[Span]:
    """Find the value that a sentence gives for *label*."""
    span = _said_after(text, lower, label) or _said_before(text, label)
    if span:
        yield span


def _said_after(text: str, lower: str, label: SecretLabel) -> Span | None:
    if not label.is_bare:
        return None
    is_verb = lower[label.start : label.end] in _VERBS
    direct = _DIRECT.compiled.match(text, label.end)
    if direct and not is_verb:
        span = _value(text, direct.end())
        if span and _is_given(text, lower, label, "direct", span):
            return span
    if not _ABOUT.compiled.match(lower, label.end):
        return None
    stop = _SENTENCE_END.compiled.search(lower, label.end, label.end + _REACH)
    reach = stop.end() if stop else label.end + _REACH
    for joint in _JOINT.compiled.finditer(lower, label.end, reach):
        span = _value(text, joint.end())
        if is_verb and not joint["colon"]:
            return None
        if span and _is_given(text, lower, label, str(joint.lastgroup), span):
            return span
    return None


def _said_before(text: str, label: SecretLabel) -> Span | None:
    if _COMPOUND.compiled.match(text, label.end):
        return None
    line = text.rfind("\n", max(0, label.start - _LINE), label.start) + 1 or max(0, label.start - _LINE)
    match = _GIVEN_BEFORE.compiled.search(text[line : label.start])
    if match is None:
        return None
    start, end = _trimmed(text, line + match.start("value"), line + match.end("value"))
    is_secret = (
        secret_values.is_key(text[start:end], 16)
        if label.kind == "secret"
        else secret_values.is_password(text[start:end])
    )
    return (start, end) if is_secret else None


def logins(text: str, lower: str) -> Iterator[Span]:
    """Find the second half of ``user / password`` behind words of logging in."""
    for first, last in regions(lower, _LOGIN_PIECES, 2, 24):
        for match in _LOGIN.compiled.finditer(lower, first, last):
            stop = lower.find("\n", match.end(), match.end() + _LINE)
            stop = min(len(lower), match.end() + _LINE) if stop < 0 else stop
            yield from _second_halves(text, match.end(), stop)


def _second_halves(text: str, at: int, stop: int) -> Iterator[Span]:
    for pair in _PAIR.compiled.finditer(text, at, stop):
        start, end = _trimmed(text, *pair.span("value"))
        value = text[start:end]
        if any(c.isdigit() for c in value) and secret_values.is_password(value):
            yield start, end
            return
    for pair in _THEN.compiled.finditer(text, at, stop):
        start, end = _trimmed(text, *pair.span("value"))
        if secret_values.is_password(text[start:end]):
            yield start, end


def _value(text: str, start: int) -> Span | None:
    """Return the offsets of the word or quotation that begins at *start*."""
    at = start
    while at < len(text) and text[at] in _OPENING:
        at += 1
    opening = text[start:at].strip("*_([<")
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


def _is_given(text: str, lower: str, label: SecretLabel, joint: str, span: Span) -> bool:
    value = text[slice(*span)]
    if secret_values.is_placeholder(value):
        return False
    is_said = joint in ("colon", "be")
    if label.kind == "pin":
        return is_said and (
            secret_values.is_pin(value)
            or secret_values.is_password(value)
            or secret_values.is_code_group(value)
        )
    if label.kind == "password" and is_said and secret_values.is_pin(value):
        return lower[label.start : label.end].endswith("code") or (
            joint == "be" and _ends_sentence(text, span)
        )
    if label.kind == "secret":
        return _is_given_key(lower, label, value, span)
    if is_said and "phrase" in label.name.lower() and value.count("-") >= _LEAST_HYPHENS:
        return secret_values.is_passphrase(value.replace("-", " "))
    if joint == "dash" and not (_ends_sentence(text, span) or text[span[1] : span[1] + 4] == " and"):
        return False
    if joint == "to" and not _is_change(lower, label, span):
        return False
    is_quoted = text[span[0] - 1] in "\"'`„“«"
    if (
        is_quoted
        and is_said
        and (secret_values.is_passphrase(value) if " " in value else is_word_password(value))
    ):
        return True
    return secret_values.is_password(value) or (
        joint == "be" and _ends_sentence(text, span) and is_word_password(value)
    )


def _is_given_key(lower: str, label: SecretLabel, value: str, span: Span) -> bool:
    around = lower[max(0, label.start - 60) : span[0]]
    if any(word in around for word in _SPEAKS_OF_HASHES):
        return False
    if secret_values.is_uuid(value):
        return "api" in around
    return secret_values.is_key(value, 16) and not value.startswith("/") and "://" not in value


def _is_change(lower: str, label: SecretLabel, span: Span) -> bool:
    around = lower[max(0, label.start - 50) : label.start] + " " + lower[span[1] : span[1] + 30]
    return _CHANGES.compiled.search(around) is not None


def _ends_sentence(text: str, span: Span) -> bool:
    return text[span[1] : span[1] + 2].rstrip() in ("", ".", ",", ";")
