"""Secrets found in a text and taken out of it, with the rest of every line left as it was."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from math import log2

from clawmem.domain.security.patterns import Pattern
from clawmem.domain.security.secret_rules import IN_CONTEXT, STRUCTURED, SecretRule
from clawmem.ports.named_tuple import NamedTuple

_LEAST_ENTROPY = (
    2.8  # bits a character; random hexadecimal of 32 characters has 3.2 or more, words 2.9 or less
)
_KEY_ENTROPY = 3.0
_CARD_LENGTHS = range(13, 20)


class Finding(NamedTuple):
    """A secret of *kind* at the offsets from ``start`` to ``end`` (exclusive)."""

    start: int
    end: int
    kind: str


class Redacted(NamedTuple):
    """A text without its secrets, and where they stood in the original, in order and apart from each other."""

    text: str
    findings: list[Finding]


def redact(text: str) -> Redacted:
    """
    *text* with every secret replaced by ``[redacted: kind]``.

    What is redacted has the shape of a known credential, or stands where one is assigned. Placeholders,
    expressions, commit hashes, checksums and identifiers stay. Redacting twice changes nothing more.
    """
    findings = find_secrets(text)
    if not findings:
        return Redacted(text, [])
    parts: list[str] = []
    done = 0
    for start, end, kind in findings:
        parts += (text[done:start], f"[redacted: {kind}]")
        done = end
    return Redacted("".join([*parts, text[done:]]), findings)


def find_secrets(text: str) -> list[Finding]:
    """The secrets in *text*, in order; where two overlap, the one that begins first, then the longer one."""
    found = sorted(_all_findings(text), key=lambda finding: (finding.start, -finding.end))
    apart: list[Finding] = []
    for finding in found:
        if not apart or finding.start >= apart[-1].end:
            apart.append(finding)
    return apart


def _all_findings(text: str) -> Iterator[Finding]:
    for rule in STRUCTURED:
        if rule.may_match(text):
            yield from _by_rule(rule, text)
    for rule in IN_CONTEXT:
        if rule.may_match(text):
            yield from (
                finding for finding in _by_rule(rule, text) if not is_placeholder(_cut(text, finding))
            )
    yield from _assigned(text)
    yield from _cards(text)


def _cut(text: str, finding: Finding) -> str:
    return text[finding.start : finding.end]


def _by_rule(rule: SecretRule, text: str) -> Iterator[Finding]:
    for match in rule.compiled.finditer(text):
        group = "secret" if "secret" in match.groupdict() else 0
        if not rule.random or _looks_random(match[group]):
            yield Finding(*match.span(group), rule.kind)


def _looks_random(token: str) -> bool:
    return entropy(token) >= _LEAST_ENTROPY and not _EXAMPLE.compiled.search(token)


def entropy(token: str) -> float:
    """Bits a character by the frequencies inside *token* itself (Shannon 1948); 0 for an empty one."""
    total = len(token)
    return -sum(count / total * log2(count / total) for count in Counter(token).values())


_KEY = (
    r"(?P<key>(?:password|passwd|passphrase|passcode|pwd|passwort|kennwort|contrase(?:ñ|n)a|mot[ _]de[ _]passe"
    r"|secret(?:[_-]?key)?|token|api[ _-]?key|access[_-]?key|auth[_-]?key|private[_-]?key|signing[_-]?key"
    r"|encryption[_-]?key|account[_-]?key|license[_-]?key|master[_-]?key|credentials?|salt)"
    r"(?P<more>[A-Za-z0-9_-]{0,40}))"
)
_ASSIGNED = Pattern(
    rf"{_KEY}(?P<quoted_key>[\"'`]?)(?P<joint>\s{{0,3}}(?::=|=>|[:=]|\bis\b|\bist\b|\bes\b)\s{{0,3}})"
    r"(?:(?P<prefix>[rbf]?)(?P<quote>[\"'`])(?P<quoted>[^\"'`\n]{4,}?)(?P=quote)|(?P<bare>[^\s\"'`,;<>(){}\[\]]{4,})(?P<after>[(\[{]?))",
    flags=re.IGNORECASE,
)
_NAME_BEFORE = Pattern(r"[A-Za-z0-9_.-]+\Z")
_LONGEST_NAME = 60
_KEY_PIECES = (
    "passw", "passphrase", "passcode", "pwd", "kennwort", "contrase", "mot de passe", "mot_de_passe", "secret", "token",
    "key", "credential", "salt",
)  # fmt: skip
_NAMES_NO_SECRET = Pattern(
    r"^[_-]?(?:s?$)?(?:(?:id|ids|name|type|length|len|count|size|limit|budget|expir\w*|ttl|field|file|path|url|uri|policy|hash"
    r"|header|prefix|hint|min|max|version|rotation|ring|s?_?used|kind|regex|pattern|env|ref|arn|required|enabled|reset|manager)"
    r"(?:$|[_-]))|^s$",
    flags=re.IGNORECASE,
)
_OF_PASSWORD = Pattern(r"pass|pwd|kennwort|contrase", flags=re.IGNORECASE)
_EXAMPLE = Pattern(
    r"example|placeholder|changeme|change[_-]me|dummy|sample|your[_-]|[_-]here\b|x{4,}|\*{3,}|\.{3,}|…|redacted|<|1234567890abcdef"
    r"|0{8,}|replace[_-]?(?:me|with|this)|insert[_-]",
    flags=re.IGNORECASE,
)
_EXPRESSION = Pattern(
    r"^\$|\$\{|\{\{|^%|^@|^&|^\*|^/|^~|^\.|^-|^(?:os|process|env|settings|config|self|this|request|req|args|secrets?|vars|local|data|var)\b[.\[(]"
    r"|^(?:str|string|int|bool|bytes|none|null|nil|undefined|true|false|optional|required|number|any|object|secretstr"
    r"|text|varchar|password|passwd|secret|token|hidden|masked|unknown|empty|missing|todo|tbd|n/a)$"
    r"|^[a-z_]\w*(?:\.[a-z_]\w*)+$|^(?:password|token|secret|key)s?\b",
    flags=re.IGNORECASE,
)
_UUID = Pattern(r"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$", flags=re.IGNORECASE)
_UUID_KEYS = ("api", "access", "secret", "pass")


def is_placeholder(value: str) -> bool:
    """Whether *value* stands for a secret without being one: ``YOUR_API_KEY``, ``${TOKEN}``, ``xxxx``, ``None``."""
    if len(set(value)) <= 2 or _EXAMPLE.compiled.search(value) or _EXPRESSION.compiled.search(value):
        return True
    return value.isupper() and "_" in value and not any(character.isdigit() for character in value)


def _assigned(text: str) -> Iterator[Finding]:
    lower = text.lower()
    if not any(piece in lower for piece in _KEY_PIECES):
        return
    for match in _ASSIGNED.compiled.finditer(text):
        group = "quoted" if match["quoted"] else "bare"
        start = match.start(group)
        value = match[group] if group == "quoted" else match[group].rstrip(".:?")
        key = _whole_key(match)
        if _is_secret_value(match, key, value):
            yield Finding(start, start + len(value), _kind_of(key))


def _whole_key(match: re.Match[str]) -> str:
    """The name that the found word is the end or the middle of. Looking for whole names would be slow."""
    start = match.start()
    before = _NAME_BEFORE.compiled.search(match.string, max(0, start - _LONGEST_NAME), start)
    return (before[0] if before else "") + match["key"]


def _kind_of(key: str) -> str:
    return "password" if _OF_PASSWORD.compiled.search(key) else "secret"


def _is_secret_value(match: re.Match[str], key: str, value: str) -> bool:
    if _NAMES_NO_SECRET.compiled.search(match["more"]) or match["after"] or is_placeholder(value):
        return False
    if match["joint"].strip().isalpha() and not _mixes_kinds(value):
        return False
    if _UUID.compiled.search(value):
        return any(part in key.lower() for part in _UUID_KEYS)
    if _kind_of(key) == "password":
        return _is_password(match, key, value)
    return _is_key(value)


def _is_password(match: re.Match[str], key: str, value: str) -> bool:
    """A quoted value has no spaces; a bare one mixes kinds of characters, or is set as in a shell."""
    if " " in value or len(value) < 4:
        return False
    if match["quoted"] or _mixes_kinds(value):
        return True
    return key.isupper() and match["joint"] == "=" and len(value) >= 6


def _mixes_kinds(value: str) -> bool:
    has_digit = any(character.isdigit() for character in value)
    has_letter = any(character.isalpha() for character in value)
    has_symbol = any(not character.isalnum() and character not in "_-./:" for character in value)
    return has_letter and (has_digit or has_symbol)


def _is_key(value: str) -> bool:
    if len(value) < 12 or " " in value or value.isdigit():
        return False
    has_digit = any(character.isdigit() for character in value)
    return (
        has_digit
        and any(c.isalpha() for c in value)
        and entropy(value) >= _KEY_ENTROPY - 0.2 * (len(value) < 20)
    )


_CARD = Pattern(
    r"(?<![\w.-])(?:\d{4}([ -]?)\d{4}\1\d{4}\1\d{1,7}|3[47]\d{2}([ -]?)\d{6}\2\d{5}|3[068]\d{2}([ -]?)\d{6}\3\d{4})(?![\w-]|\.\d)"
)
_IN_FOURS = Pattern(r"\d{4}[ -]?\d{4}")
_CARD_BEGINNING = Pattern(r"4|5[1-5]|2[2-7]|6(?:011|4|5)|3[47]|3[068]")
_CARD_WORDS = ("card", "visa", "amex", "mastercard", "karte", "tarjeta", "carte", "cc", "pan")


def _cards(text: str) -> Iterator[Finding]:
    if not _IN_FOURS.compiled.search(text):
        return
    for match in _CARD.compiled.finditer(text):
        if _is_card(match, text):
            yield Finding(*match.span(), "card number")


def _is_card(match: re.Match[str], text: str) -> bool:
    digits = re.sub(r"\D", "", match[0])
    spoken_of = set(re.findall(r"[a-z]+", text[max(0, match.start() - 40) : match.end() + 20].lower()))
    if digits == match[0] and not spoken_of.intersection(_CARD_WORDS):
        return False
    known = len(digits) in _CARD_LENGTHS and _CARD_BEGINNING.compiled.match(digits)
    return bool(known) and len(set(digits)) > 2 and luhn(digits)


def luhn(digits: str) -> bool:
    """Whether the last of *digits* is the check digit of the others (ISO/IEC 7812-1, annex B)."""
    doubled = [sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2]]
    return (sum(doubled) + sum(map(int, digits[-1::-2]))) % 10 == 0
