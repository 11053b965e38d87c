"""Prompt-injection guard: scores how much a text reads like an instruction to its reader."""

import re
from functools import lru_cache
from math import prod
from typing import NamedTuple

from clawmem.domain.security.disguise import CYRILLIC_LOOKALIKES, SELECTORS, TAGS, Unmasked, unmask
from clawmem.domain.security.patterns import Pattern
from clawmem.domain.security.promptguard_forms import Form, Rule
from clawmem.domain.security.promptguard_rules import DECISIVE

DROP_AT = 0.6
DISGUISE = 0.7
INSPECTED = 2000  # characters; callers that surface more of a text pass a higher limit
PLACEHOLDER = "[content filtered for security]"

_LEAST_MIXED_WORD = 3  # letters
_MOST_COMPATIBILITY = 0.05  # of all characters
_LEAST_COMPATIBILITY = 8  # characters; a single full-width bracket or squared sign is harmless

_DISGUISED_AS_LATIN = "".join(CYRILLIC_LOOKALIKES) + "οινΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"
_MIXED_PAIR = Pattern(f"[a-zA-Z][{_DISGUISED_AS_LATIN}]|[{_DISGUISED_AS_LATIN}][a-zA-Z]")
_MIXED_WORD = Pattern(f"[a-zA-Z{_DISGUISED_AS_LATIN}]{{{_LEAST_MIXED_WORD},}}")
_COMPATIBILITY = Pattern("[\uff21-\uff5a\U0001d400-\U0001d7ff\u24b6-\u24e9\U0001f130-\U0001f189]")
_UNSPACED_SCRIPT = Pattern("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_SPACED_LETTERS = Pattern(r"\b\w(?:[ .\-_*]{1,3}\w\b){7,}")
_SPACED_OUT = ("ignore", "disregard", "forget", "instruction", "systemprompt", "jailbreak", "override")
_DIGITS_AS_LETTERS = str.maketrans("013457@$", "oieastas")
_SPELT_WITH_DIGITS = ("ignore", "disregard", "forget", "override", "bypass", "you are now", "system prompt")
_HIDDEN = (
    (
        "has invisible characters inside words",
        Pattern("(?<=[a-zA-Z])[\u200b-\u200d\u2060-\u2064\ufeff]+(?=[a-zA-Z])"),
    ),
    (
        # After a black flag emoji, tag characters name a region.
        "carries text that no font shows",
        Pattern(f"(?<!\U0001f3f4)(?<![{TAGS}])[{TAGS}]+"),
    ),
    ("carries values that no font shows, or reverses text", Pattern(f"[{SELECTORS}]{{2,}}|[\u202d\u202e]")),
)


class Verdict(NamedTuple):
    """
    Score from 0 to 1 of how much a text looks like an order to its reader, with the rule that matched.

    ``start`` and ``end`` (exclusive) are offsets in the original text. If no rule matches, ``rule`` and the span are
    empty.
    """

    score: float
    rule: str = ""
    reason: str = ""
    start: int = 0
    end: int = 0

    @property
    def dropped(self) -> bool:
        """Whether the text must be left out: a score of 0.6 or more."""
        return self.score >= DROP_AT


def inspect(text: str, *, limit: int = INSPECTED) -> Verdict:
    """
    Return the highest-scoring verdict of all rules on the first *limit* characters of *text*.

    The text is normalised first: full-width, circled and mathematical letters, Cyrillic and Greek look-alikes,
    invisible characters, accents, mark-up between words, and digits used as letters. Hints, which are common in
    honest notes, count only in combination: ``1 - product(1 - hint)``.
    """
    return _verdict(text[:limit])


def guarded(text: str, *, limit: int = INSPECTED) -> str:
    """Return *text*, or `PLACEHOLDER` if the verdict on it is to drop it."""
    return PLACEHOLDER if inspect(text, limit=limit).dropped else text


@lru_cache(1024)  # the same texts are checked several times per prompt, and surfaced repeatedly
def _verdict(part: str) -> Verdict:
    unmasked = unmask(part)
    verdicts = [
        _decisive(unmasked),
        _hinted(unmasked),
        _disguised(part),
        _spaced_out(unmasked),
        _digits_for_letters(unmasked),
    ]
    return max(verdicts, key=lambda verdict: verdict.score)


def _decisive(unmasked: Unmasked) -> Verdict:
    for rule in DECISIVE:
        if found := rule.find(unmasked.text):
            return Verdict(rule.score, rule.name, rule.reason, *unmasked.span(*found.span()))
    return Verdict(0.0)


def _hinted(unmasked: Unmasked) -> Verdict:
    found = [(rule, match) for rule in HINTS if (match := rule.find(unmasked.text))]
    if not found:
        return Verdict(0.0)
    score = 1 - prod(1 - rule.score for rule, _ in found)
    start, end = min(match.start() for _, match in found), max(match.end() for _, match in found)
    names = "+".join(rule.name for rule, _ in found)
    reasons = " and ".join(rule.reason for rule, _ in found)
    return Verdict(round(score, 4), names, reasons, *unmasked.span(start, end))


def _disguised(text: str) -> Verdict:
    if text.isascii():
        return Verdict(0.0)
    for reason, pattern in _HIDDEN:
        if found := pattern.compiled.search(text):
            return Verdict(DISGUISE, "hidden-characters", reason, *found.span())
    return _mixed_scripts(text) or _in_fancy_letters(text)


def _mixed_scripts(text: str) -> Verdict | None:
    if not _MIXED_PAIR.compiled.search(text):
        return None
    for word in re.finditer(r"[^\W\d_]+", text):
        if _MIXED_WORD.compiled.fullmatch(word[0]) and _MIXED_PAIR.compiled.search(word[0]):
            return Verdict(DISGUISE, "mixed-scripts", "mixes Latin letters with look-alikes", *word.span())
    return None


def _in_fancy_letters(text: str) -> Verdict:
    """
    Return a verdict on letters in compatibility forms.

    Full-width letters are common in Chinese, Japanese and Korean text, but are a disguise in other text.
    """
    found = [match.start() for match in _COMPATIBILITY.compiled.finditer(text)]
    enough = len(found) >= _LEAST_COMPATIBILITY and len(found) > _MOST_COMPATIBILITY * len(text)
    if not enough or _UNSPACED_SCRIPT.compiled.search(text):
        return Verdict(0.0)
    return Verdict(DISGUISE, "fancy-letters", "writes plain letters in another form", found[0], found[-1] + 1)


def _spaced_out(unmasked: Unmasked) -> Verdict:
    for run in _SPACED_LETTERS.compiled.finditer(unmasked.text):
        joined = re.sub(r"\W|_", "", run[0])
        if any(word in joined for word in _SPACED_OUT):
            return Verdict(
                DISGUISE, "spaced-letters", "spaces out the letters of an order", *unmasked.span(*run.span())
            )
    return Verdict(0.0)


def _digits_for_letters(unmasked: Unmasked) -> Verdict:
    spelt = unmasked.text.replace("11", "ll").translate(_DIGITS_AS_LETTERS)
    if any(word in spelt and word not in unmasked.text for word in _SPELT_WITH_DIGITS):
        return _decisive(Unmasked(spelt, unmasked.places))
    return Verdict(0.0)


_ADDRESSEE = r"(?:ai|a\.i\.|llm|language model|large language model|assistant|agent|chatbot|bot)s?(?: (?:assistant|agent|model|system)s?)?"

HINTS = (
    Rule(
        "addresses-the-reader",
        0.5,
        "speaks to the assistant that reads it",
        Form(
            "note|message|instruction & to|for & ai|a.i.|llm|language|assistant|agent|bot",
            rf"\b(?:note|message|instructions?) (?:to|for)(?: the| all| any)? {_ADDRESSEE}\b",
        ),
        Form(
            "dear|attention|hey|hello & ai|a.i.|llm|language|assistant|agent|bot",
            rf"\b(?:dear|attention|hey|hello) {_ADDRESSEE}\b",
            after="order",
        ),
        Form("you & ai|a.i.|llm|language|assistant|agent|bot", rf"\bif you are (?:an?|the) {_ADDRESSEE}\b"),
        Form(
            "reading|processing|summari|parsing & ai|a.i.|llm|language|assistant|agent|bot|when",
            rf"\b(?:any|every|the|all) {_ADDRESSEE}(?: that is)? (?:reading|processing|summari[sz]ing"
            rf"|parsing)\b|\bwhen (?:reading|summari[sz]ing|processing) this\b",
        ),
        Form(
            "must|should|shall|have|has & ai|a.i.|llm|language|assistant|agent|bot",
            rf"{_ADDRESSEE} (?:must|should|shall|have to|has to)\b",
            after="order",
        ),
        Form(
            "hinweis|nachricht|die",
            r"\b(?:hinweis|nachricht|anweisung) an (?:die ki|den assistenten|das (?:sprach)?modell)\b",
        ),
        Form(
            "nota|mensaje|instruccion & para",
            r"\b(?:nota|mensaje|instruccion) para (?:la ia|el asistente|el modelo)\b",
        ),
        Form(
            "note|message|consigne & l'ia|l’ia|assistant|modele",
            r"\b(?:note|message|consigne) (?:pour|a) (?:l['’]ia|l['’]assistant|le modele)\b",
        ),
    ),
    Rule(
        "lies-in-wait",
        0.5,
        "waits for a later question",
        Form(
            "next|whenever|once|when|every|soon & user",
            r"\b(?:the next time|whenever|once|when|every time|as soon as)(?: that)? the user (?:asks"
            r"|requests|says|mentions|wants|types)\b",
        ),
        Form(
            "from|future|permanently|henceforth",
            r"\b(?:from now on|henceforth|in (?:all )?future (?:sessions|conversations|answers"
            r"|replies)) you (?:must|will|should|always|never)|\bfrom now on (?:answer|reply|respond"
            r"|always|never) (?:every|to every|all|with)|\bremember permanently\b",
        ),
        Form(
            "nachste",
            r"\bwenn (?:der|die) (?:nutzer|benutzer|anwender)\w*...das nachste mal"
            r"|\b(?:das )?nachste mal wenn (?:der|die) (?:nutzer|benutzer)",
        ),
        Form("proxima", r"\bla proxima vez que (?:el|la) usuari[oa]"),
        Form("prochaine", r"\bla prochaine fois que (?:l['’]utilisat|l['’]usager)"),
    ),
    Rule(
        "keeps-it-from-the-user",
        0.5,
        "hides something from the user",
        Form(
            "not|don't|dont|don’t|never|without|keep & user|mention|secret",
            r"\b(?:do not|don['’]?t|never|without) (?:tell|inform|alert|notify|warn|telling|informing"
            r"|alerting|notifying|asking|mention|mentioning)(?: to)? the user\b|\b(?:do not|don['’]?t"
            r"|never) mention (?:this|that you|these|it)\b|\bkeep (?:this|it) (?:a )?secret from\b",
        ),
        Form("silently", r"\bsilently \w+", after="order"),
        Form(
            "nutzer|erwahn",
            r"\bsag\w* dem (?:nutzer|benutzer|anwender) (?:nichts?|nicht)|\berwahne? (?:dies|das"
            r"|diese)\w*...nicht\b",
        ),
        Form(
            "usuario|decirselo",
            r"\bno (?:le|se lo) (?:digas|menciones|informes|cuentes)\b|\bsin (?:decirselo|avisar"
            r"|informar)(?: al| a la) usuari",
        ),
        Form(
            "utilisateur",
            r"\b(?:ne (?:le )?(?:dis|dites|mentionne|revele)[sz]? (?:pas|rien)|sans (?:prevenir"
            r"|le dire|informer))(?: a)? l['’]utilisat",
        ),
    ),
    Rule(
        "says-what-not-to-say",
        0.85,
        "tells the reader to keep quiet about its instructions",
        Form(
            "not|don't|dont|don’t|never & tell|mention|inform|reveal|show & instruction|note|message"
            "|text|order|rules",
            r"\b(?:do not|don['’]?t|never) (?:tell|mention|inform|reveal"
            r"|show)(?: to)?(?: the user)?(?: about)? (?:these|this|the above"
            r"|the following) (?:instructions?|notes?|messages?|texts?|orders?|rules)\b",
        ),
    ),
    Rule(
        "runs-a-command",
        0.4,
        "has a command run",
        Form(
            "run|execute|install|type|paste|start|call & curl|wget|-rf|http|iex",
            r"\b(?:run|execute|install|type|paste|start|call)\b[^.\n]{0,60}(?:curl|wget|rm -rf"
            r"|\biex\b|https?://)",
        ),
        Form(
            "approve|confirm|merge|transfer|commit|recommend|claim|delete",
            r"\b(?:always |silently )?(?:approve|confirm|merge|transfer|commit|recommend|claim|delete"
            r"|add)\b (?:directly|every|all|it|the|that|a link)",
        ),
        Form(
            "bestatig|aprueb|valide|recomiend|empfiehl|recommande",
            r"\b(?:bestatige|empfiehl|aprueba|recomienda|valide[sz]?|recommande[sz]?)\b",
        ),
    ),
    Rule(
        "calls-for-attention",
        0.2,
        "raises its voice",
        Form("important|critical|urgent|attention", r"\b(?:important|critical|urgent|attention) ?[:!]"),
    ),
    Rule(
        "speaks-of-instructions",
        0.2,
        "speaks of instructions, as many notes do",
        Form("system|instructions|override", r"\b(?:system prompt|new instructions|override)\b"),
    ),
)
