"""
Kinds of answer that a question asks for: an amount, a telephone number, a date.

A slot has words that ask for it and a pattern of its fillers.
"""

from __future__ import annotations

from typing import NamedTuple

from clawmem.domain.security.patterns import AnyCase, Pattern
from clawmem.domain.text.vocabulary import NUMBERS

_MONTHS = (
    r"(?:jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz]|févr|avril|juin|juil|août)[a-zäéû]{0,7}"
)
NUMBER_WORDS = frozenset([*NUMBERS, *"once twice couple half third none no every both ein eine".split()])
# A text in a language seldom names it.


class Slot(NamedTuple):
    """
    Kind of answer that a question asks for.

    Attributes:
        cues: Words and phrases of a question that ask for it.
        stands_for: Words of the question that a filler replaces.
        filler: Pattern of an answer.
        beside: Pattern of a word that must stand near the filler: not every amount is a rent. Then, and for a count, no
            filler of another slot will do.
        is_contact: Whether nothing else than this filler can answer.
    """

    cues: tuple[str, ...]
    stands_for: frozenset[str]
    filler: Pattern
    beside: Pattern | None = None
    is_contact: bool = False


def _slot(cues: str, stands_for: str, filler: str, *, beside: str = "", is_contact: bool = False) -> Slot:
    named = tuple(cue.strip() for cue in cues.split("|"))
    replaced = frozenset(f"{cues.replace('|', ' ')} {stands_for}".split())
    return Slot(named, replaced, AnyCase(filler), AnyCase(beside) if beside else None, is_contact)


# A number that may be an amount of money: no part of a date or time, no year, no length, weight, power or share.
_AMOUNT = (
    r"[€$£] ?\d|\d ?(?:[€$£]|eur\b|euros?\b|chf\b|francs?\b)|\dk\b|(?<![\w.:/-])(?!(?:19|20)\d\d\b)\d{2,9}(?![\d:/°%-])"
    rf"(?! ?(?:%|mm|cm|km|kg|ml|min|kwh?|am|pm|[mglkwvh°]|hours?|minutes?|days?|weeks?|years?|pages?|degrees?)\b|[.]? ?{_MONTHS}\b)"
)
COUNT = _slot(
    "how many|how old|how often|how long|how big|how large|how fast|wie viele|wie oft|wie lange|combien|quantos|quantas",
    "",
    rf"\d|\b(?:{'|'.join(sorted(NUMBER_WORDS))})\b",
)
SLOTS = (
    _slot(
        "phone|telephone|mobile|telefon|telefonnummer|téléphone|telefone|teléfono",
        "number nummer",
        r"(?<![\d-])(?!\d{4}-\d\d)\+?\d{2,5}[ /-]?\d{2,4}(?:[ -]?\d{2,4}){1,3}(?!\d)",
        is_contact=True,
    ),
    _slot("e mail|email|mail address", "", r"\w@\w", is_contact=True),
    _slot("iban", "", r"\biban\b|\b[a-z]{2}\d{2} ?\d{4}", is_contact=True),
    _slot("serial number|seriennummer", "", r"\bserial|\bserien|\bs/?n\b", is_contact=True),
    _slot(
        "licence plate|license plate|number plate|kennzeichen",
        "",
        r"\bplates?\b|\bkennzeichen",
        is_contact=True,
    ),
    _slot(
        "colour|color|farbe|couleur|cor",
        "",
        r"\b(?:red|blue|green|yellow|black|white|gr[ea]y|brown|orange|pink|purple|violet|beige|navy|cream|rot|blau|grün"
        r"|gelb|schwarz|weiß|grau|braun|rouge|bleue?|verte?|jaune|noire?|blanche?|vermelh[oa]|azul|verde|amarel[oa])\b",
        is_contact=True,
    ),
    _slot(
        "how much|price|cost|costs|charge|charges|charged|charging|bill|billing|pay|pays|paid|owe|owes|owed|fee|euro"
        "|euros|franc|francs|kostet|kosten|preis|amount|rate|wie viel|wie hoch|damage",
        "wants",
        _AMOUNT,
    ),
    _slot(
        "rent|miete|kaltmiete|loyer|renda|alquiler|pacht",
        "",
        _AMOUNT,
        beside=r"\b(?:rent\b|rents|rented|rental|kaltmiet|warmmiet|miete|loyer|renda\b|alquiler|lease|pacht)",
    ),
    _slot(
        "salary|earn|earns|wage|gehalt|lohn|salaire",
        "",
        _AMOUNT,
        beside=r"\b(?:salar|earn|wage|gehalt|lohn|a month|a year|gross|net\b|brutto|netto)",
    ),
    _slot(
        "weigh|weighs|weight|how heavy|gewicht|wiegt|wie schwer",
        "",
        r"\d\s?(?:kg|g|kilos?|grams?|tons?)\b|\bweigh",
    ),
    _slot(
        "how tall|how high|how deep|how wide|how far|height|depth",
        "",
        r"\d\s?(?:mm|cm|m|km|metres?|meters?|miles?)\b",
    ),
    COUNT,
    _slot(
        "when|which day|what day|what date|what time|what year|date|birthday|how long ago|wann|quand|quando|cuándo",
        "run runs out ends end begin begins start time",
        rf"\b(?:{_MONTHS}|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|diens|donners|frei|sams|sonn)tags?"
        r"|mittwochs?|(?:19|20)\d\d|\d{1,2}[:.]\d\d|\d{1,2}\.|spring|summer|autumn|winter|christmas|easter|yesterday|today"
        r"|tomorrow|weeks?|days|months?|years?|noon|evening|morning|night)\b|\d\.",
    ),
)
