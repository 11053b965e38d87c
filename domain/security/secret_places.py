"""Places after a label where its secret stands: assignments, attributes, calls, blocks of Terraform, pairs of lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clawmem.domain.security import secret_values
from clawmem.domain.security.patterns import Pattern
from clawmem.domain.security.secret_labels import SecretLabel
from clawmem.domain.security.secret_talk import is_word_password
from clawmem.domain.security.secret_values import Span

_QUOTED = r"(?:(?P<prefix>[rbfu]?)(?P<quote>[\"'`])(?P<quoted>[^\n]{4,2000}?)(?P=quote)(?![\w]))"
_BARE = r"(?P<bare>[^\s\"'`,;<>(){}\[\]]{4,2000})(?P<after>[(\[{]?)"
_CLOSED = r"(?P<closed>[\"'`]?\]?)"
_MADE_BY = (
    r"(?:(?:String::from|SecretStr|Secret|SecureString|b64decode|Buffer\.from|new String|ConvertTo-SecureString)[( ]\s{0,3}"
    r"(?:-String )?)?"
)
ASSIGNED = Pattern(
    rf"{_CLOSED}(?P<joint>[ \t]{{0,20}}(?::=|=>|\?=|[:=])[ \t]{{0,3}}|\s{{0,3}}:\s{{0,3}}){_MADE_BY}(?:{_QUOTED}|{_BARE})"
)
# Quoted values that follow the name in another way than by ``=`` or ``:``.
_ATTRIBUTE = r"[\"']\s{0,3}(?:[\w:-]{1,30}=[\"'][^\"'\n]{0,80}[\"']\s{0,3}){0,3}value\s{0,3}=\s{0,3}[\"'](?P<value>[^\"'\n]{4,2000})[\"']"
_ELEMENT = r"(?:[\"'][^<>\n]{0,80})?>\s{0,80}(?:<value>\s{0,20})?(?P<value>[^<>\n]{4,2000}?)\s{0,80}</"
_NEXT_ELEMENT = (
    r"[^<>\n]{0,40}</(?:key|t[dh]|dt|b|strong|name)>\s{0,40}:?\s{0,40}(?:<(?:string|t[dh]|dd|value|code)\b[^<>\n]{0,80}>\s{0,20}){1,2}"
    r"(?P<value>[^<>\n]{4,2000}?)\s{0,40}</"
)
_PAIR = r"[\"']?\s{0,40}(?:,\s{0,40})?[\"']?(?:[Vv]alue|VALUE)[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?P<value>[^\s\"',{}]{4,2000})"
_DEFAULT = r"[\"']\s{0,3}\{[^{}]{0,600}?\bdefault\s{0,20}=\s{0,3}\"(?P<value>[^\"\n]{4,2000})\""
_CALL = r"\(\s{0,3}[\"'](?P<value>[^\"'\n]{4,2000})[\"']\s{0,3}[,)]"
_SECOND = r"[\"']\s{0,3},\s{0,20}[\"'](?P<value>[^\"'\n]{4,2000})[\"']"
_SPACED = r"[\"']?[ \t]{1,4}(?P<quote>[\"']?)(?P<value>[^\s\"'=:;|,]{5,2000}=?)(?P=quote)(?=\s|$|;)"
_STRUCTURES = tuple(Pattern(source) for source in (_ATTRIBUTE, _ELEMENT, _NEXT_ELEMENT, _PAIR, _DEFAULT))
_CALLED, _IN_CALL, _AFTER_SPACE = Pattern(_CALL), Pattern(_SECOND), Pattern(_SPACED)
_CALLS = Pattern(
    r"\b(?:(?:\w{1,20}_)?pref|setItem|define|put|add|append|set|setenv|setx|config|property|header|with|set[A-Z]\w{0,20})\s?\(\s?[\"']?[\w.:-]{0,60}\Z"
)
_SETTING = Pattern(r"(?:\b(?:ENV|ARG|setx|SetEnv|set -g?x|setenv)|password_command)[ \t]+[\w.-]{0,60}\Z")
_DIRECTIVE = Pattern(
    r"(?:requirepass|masterauth|[a-z]{2,8}pw|preshared-key|private-key|[ _\"']pass(?:word)?|PASSWORD)\Z"
)
_UUID_NAMES = ("api", "access", "secret", "pass", "auth", "npm")
_SHORT_KEY = 8


def assigned(text: str, label: SecretLabel) -> Iterator[Span]:
    """Find the value that is assigned to *label*: ``NAME=value``, ``"name": "value"``, ``<name>value</name>``."""
    match = ASSIGNED.compiled.match(text, label.end)
    if match:
        yield from _assignment(text, label, match)
        return
    for pattern in _STRUCTURES:
        found = pattern.compiled.match(text, label.end)
        if found:
            if _is_quoted_secret(label, found["value"]):
                yield found.span("value")
            return
    yield from _in_call(text, label)


def _assignment(text: str, label: SecretLabel, match: re.Match[str]) -> Iterator[Span]:
    group = "quoted" if match["quoted"] else "bare"
    start, value = match.start(group), match[group]
    if group == "bare":
        value = value.rstrip(".:?")
        if label.start and text[max(0, label.start - len(label.name) - 1)] in "?&":
            value = re.split("[&#]", value, maxsplit=1)[0]
        if match["after"]:
            return
    if _is_assigned(text, label, match, value):
        yield start, start + len(value)


def _is_assigned(text: str, label: SecretLabel, match: re.Match[str], value: str) -> bool:
    if match["quoted"]:
        return _is_quoted_secret(label, value)
    if secret_values.is_placeholder(value):
        return False
    if secret_values.is_uuid(value):
        return _may_be_uuid(label)
    if label.kind == "pin":
        return secret_values.is_pin(value)
    if label.kind == "secret":
        return secret_values.is_key(
            value, _SHORT_KEY if "secret" in label.name.lower() else 12
        ) and not _is_address(value)
    if secret_values.mixes_kinds(value):
        return not _is_address(value) and (secret_values.is_password(value) or "=" in match["joint"])
    if "phrase" in label.name.lower() and secret_values.is_passphrase(value.replace("-", " ")):
        return True
    return _is_plain_password(text, label, match, value)


def _is_plain_password(text: str, label: SecretLabel, match: re.Match[str], value: str) -> bool:
    """Whether letters alone are a password: set as in a shell or a file of settings, not as in a program."""
    if (
        len(value) < 6
        or _is_address(value)
        or secret_values.is_placeholder(value.replace("-", "").replace("_", ""))
    ):
        return False
    if label.name.isupper() and match["joint"] == "=":
        return True
    after = text[match.end("bare") : match.end("bare") + 1]
    if after not in ("", "\n", " ", ";") or "_" in value or not value.isalpha():
        return secret_values.is_password(value)
    if match["joint"] == "=" or (match["joint"] == ": " and after in ("", "\n")):
        return is_word_password(value)
    return False


def _is_address(value: str) -> bool:
    return (
        "://" in value or value.startswith(("/", "~", "./", "unix:")) or value.endswith((".", ".key", ".pem"))
    )


def _is_quoted_secret(label: SecretLabel, value: str) -> bool:
    if label.kind == "pin":
        return secret_values.is_pin(value)
    if secret_values.is_placeholder(value) or _is_address(value):
        return False
    if secret_values.is_uuid(value):
        return _may_be_uuid(label)
    if label.kind == "secret":
        return secret_values.is_key(value, _SHORT_KEY if "secret" in label.name.lower() else 12)
    if " " in value:
        return secret_values.is_passphrase(value)
    if "phrase" in label.name.lower() and secret_values.is_passphrase(value.replace("-", " ")):
        return True
    return len(value) >= 4 and (
        secret_values.mixes_kinds(value) or is_word_password(value) or secret_values.is_password(value)
    )


def _may_be_uuid(label: SecretLabel) -> bool:
    return any(part in label.name.lower() for part in _UUID_NAMES) or label.name.isupper()


def _in_call(text: str, label: SecretLabel) -> Iterator[Span]:
    called = _CALLED.compiled.match(text, label.end)
    if called and label.is_bare and _is_quoted_secret(label, called["value"]):
        yield called.span("value")
        return
    before = text[max(0, label.end - 100) : label.start]
    second = _IN_CALL.compiled.match(text, label.end)
    if second and _CALLS.compiled.search(before) and _is_quoted_secret(label, second["value"]):
        yield second.span("value")
        return
    spaced = _AFTER_SPACE.compiled.match(text, label.end)
    if not spaced:
        return
    value = spaced["value"]
    is_named = _DIRECTIVE.compiled.search(text, max(0, label.start - 8), label.end)
    if _SETTING.compiled.search(before):
        is_secret = (
            secret_values.is_uuid(value) or secret_values.is_password(value) or secret_values.is_key(value)
        )
    elif is_named:
        is_secret = secret_values.is_password(value) or (
            bool(spaced["quote"]) and _is_quoted_secret(label, value)
        )
    else:
        return
    if is_secret:
        yield spaced.span("value")
