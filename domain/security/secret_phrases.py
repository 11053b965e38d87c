"""Secrets that are no single word: passphrases, combinations of a dial, and answers to security questions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clawmem.domain.security.patterns import Pattern
from clawmem.domain.security.secret_labels import SecretLabel, regions
from clawmem.domain.security.secret_talk import is_talk
from clawmem.domain.security.secret_values import Span, is_common_word, is_placeholder

_WORDS = r"(?P<value>[^\W\d_]{2,15}(?: [^\W\d_]{1,15}){2,9}?)"
_ENDS = r"(?=[\"'`”»)]{0,2}(?:[.,;!?)|]|\s{0,3}(?:$|\n)|\s(?:for|to|on|in|at|and|exactly|before|until|as|is|or|fur|und|bis|pour|et|para|y)\b))"
_DIRECT = Pattern(rf"(?:\s|\s?[:=]\s{{1,3}}|\sas an? [\w ]{{2,20}}:\s)[\"'`“«]?{_WORDS}{_ENDS}")
_TYPED = Pattern(
    rf"\b(?:typing|type|enter|entering|tippe|tippen|taper|tapez?|saisir|escribir|escribe)\s[\"'`“«]?{_WORDS}(?=[\"'`”»)]{{0,2}}(?:[.;!]|\s{{0,3}}(?:$|\n)))"
)
_NETWORK = Pattern(r"\b(?:wi-?fi|wlan|hotspot|network|connect|join|log ?in|unlock|netzwerk|reseau|red)\b")
_TYPED_CUES = ("typ", "enter", "tipp", "tape", "saisir", "escrib")
_REPLY = Pattern(
    r"[^.!?\n]{0,70}[?.:]\s{0,3}\n[ \t>*-]{0,6}[^\W\d_]{1,20}(?: \(\d\d?[:.]\d\d\))?:\s[\"'`“«]?(?P<value>[^\n,.;!?\"”»]{4,80})"
)
_WANTED = Pattern(
    r"\b(?:tell|send|give|need|what|which|want|know|remind|share|lost|forgot|was|wie|sag|schick|brauche|quel|donne|besoin|cual|dime|necesito)\b|\?"
)
_LEAST_WORDS = 3

_NUMBER = r"(?:(?:then|and|to|dann|und|auf|puis|et|luego|y)\s)?(?:(?:left|right|links|rechts|a gauche|a droite|gauche|droite|izquierda|derecha)\s(?:to |auf |a )?)?\d{1,2}(?:\s(?:left|right|links|rechts|gauche|droite|izquierda|derecha))?"
_DIALLED = Pattern(rf"(?<![\w.,:/-]){_NUMBER}(?:(?:\s?[,–-]\s?|\s){_NUMBER}){{1,4}}(?![\w:/]|[.,]\d)")
_DIAL = Pattern(
    r"\b(?:dial|safe|combination|padlock|bike lock|tresor|zahlenschloss|kombination|coffre|cadenas|combinaison|caja fuerte|candado|combinacion)\b"
)
_DIRECTION = Pattern(r"\b(?:left|right|links|rechts|gauche|droite|izquierda|derecha)\b")
_TWO_DIGITS = Pattern(r"\d{1,2}")
_LEAST_NUMBERS = 3
_DIAL_CUES = ("dial", "safe", "combination", "padlock", "bike lock", "tresor", "schloss", "kombination", "coffre", "cadenas", "combinaison", "caja", "candado", "combinacion")  # fmt: skip

_ANSWERED = Pattern(
    r"\b(?:(?:security|secret|safety|recovery|challenge) (?:question|word|answer)s?|maiden name|to the question|question de securite|question secrete|sicherheitsfrage|pregunta (?:de seguridad|secreta))\b"
    r"(?:[^.!?\n]|[?.](?=[\"”»'])){0,110}?(?:\b(?:say|says|said|answer|answered|answers|enter|entered|put|typed|gave|give|wrote|chose|expects?|reply|replied|is|was|ist|war|est|es)(?: with| is)?(?: always| just| simply)?|[?\"”»]|:)\s"
    r"[\"'`“«]?(?P<value>[^\W\d_][\w-]{3,30})(?=[\"'`”»)]{0,2}(?:[.,;!)]|\s{0,3}(?:$|\n)))"
)
_ANSWER_CUES = ("security question", "security word", "security answer", "secret question", "safety question", "safety word", "recovery question", "challenge question", "maiden name", "to the question", "question de securite", "question secrete", "sicherheitsfrage", "pregunta")  # fmt: skip
_REACH = 220  # characters around a cue that are read


def phrases(lower: str, label: SecretLabel) -> Iterator[Span]:
    """Find the words that follow *label*, a name such as "passphrase", or that the next speaker answers."""
    if not label.is_bare or label.kind != "password":
        return
    line = lower[max(0, label.start - 80) : label.start].rpartition("\n")[2]
    is_phrase = "phrase" in label.name.lower() or "words" in label.name.lower()
    match = _DIRECT.compiled.match(lower, label.end)
    if match and is_phrase and are_words(match["value"]):
        yield match.span("value")
        return
    match = _REPLY.compiled.match(lower, label.end)
    if match and _WANTED.compiled.search(line + match[0].partition("\n")[0]):
        value = match["value"].rstrip()
        if are_words(value) if is_phrase and " " in value else _is_answer(value):
            yield match.start("value"), match.start("value") + len(value)


def typed_phrases(lower: str) -> Iterator[Span]:
    """Find the words that a sentence says to type for a network or a login."""
    for first, last in regions(lower, _TYPED_CUES, _REACH, _REACH):
        for match in _TYPED.compiled.finditer(lower, first, last):
            sentence = lower[
                max(first, lower.rfind(".", first, match.start()) + 1) : match.start()
            ].rpartition("\n")[2]
            if _NETWORK.compiled.search(sentence) and are_words(match["value"]):
                yield match.span("value")


def dials(lower: str) -> Iterator[Span]:
    """Find the numbers of a combination, three or more or with directions, near a word for a dial or lock."""
    for first, last in regions(lower, _DIAL_CUES, _REACH, _REACH):
        if not _DIAL.compiled.search(lower, first, last):
            continue
        for match in _DIALLED.compiled.finditer(lower, first, last):
            numbers = list(_TWO_DIGITS.compiled.finditer(lower, *match.span()))
            if len(numbers) >= _LEAST_NUMBERS or _DIRECTION.compiled.search(match[0]):
                yield from (number.span() for number in numbers)


def answers(text: str, lower: str) -> Iterator[Span]:
    """Find what a sentence says that somebody answers to a security question."""
    for first, last in regions(lower, _ANSWER_CUES, 0, _REACH):
        for match in _ANSWERED.compiled.finditer(lower, first, last):
            value = text[slice(*match.span("value"))]
            if not is_talk(value):
                yield match.span("value")


def are_words(value: str) -> bool:
    """Whether *value* is a row of three words or more with few small ones, and begins with none that is said of secrets."""
    words = value.split()
    return (
        len(words) >= _LEAST_WORDS
        and not is_placeholder(value)
        and not is_talk(words[0])
        and sum(map(is_common_word, words)) * 3 <= len(words)
    )


def _is_answer(value: str) -> bool:
    """Whether one word with digits is what somebody was asked for; a word alone is an ordinary answer."""
    return re.fullmatch(r"[^\s\d/:]{2,}\d{2,}\S{0,20}", value) is not None and not is_placeholder(value)
