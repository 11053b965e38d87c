"""
Vocabulary of the time grammar, and a notation for its phrases.

A phrase is matched against text in lower case. ``{month}`` is replaced from `TERMS`, a space matches any white space,
and the match must end at the end of a word.
"""

from __future__ import annotations

import re
from types import MappingProxyType

from clawmem.domain.security.patterns import AnyCase

MONTHS = "january february march april may june july august september october november december".split()
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
SEASONS = "spring summer fall autumn winter".split()
_MONTHS_SHORT = "jan feb mar apr jun jul aug sept sep oct nov dec".split()
_WEEKDAYS_SHORT = "mon tues tue thurs thur thu fri".split()
_PERIODS = "today tonight yesterday morning afternoon evening night weekend quarter half".split()
UNITS = "minute hour day week month year".split()
ORDINALS = MappingProxyType({"first": 1, "second": 2, "third": 3, "fourth": 4})

_NUMBERS = "one two three four five six seven eight nine ten eleven twelve".split()
A_FEW = (2, 5)  # lowest and highest number
_COUNTS = MappingProxyType(
    {
        **{name: (number, number) for number, name in enumerate(_NUMBERS, start=1)},
        **dict.fromkeys(("a", "an"), (1, 1)),
        **dict.fromkeys(("a couple of", "couple of", "a couple"), (2, 3)),
        **dict.fromkeys(("a few", "few", "several"), A_FEW),
    }
)

# Following words that show that a month or a season is a verb, an adjective, an event or a product: "may be",
# "march on", "an august body", "march madness", "spring boot".
_FOLLOWED_BY = MappingProxyType(
    {
        "may": r"be|have|not|well|also|need|want|cause|contain|or\s+may",
        "march": r"on|past|madness|hare|order|band|of\s+(?:the|progress)",
        "august": r"company|body|bodies|presence|personage|assembly|gathering|institution",
        "spring": r"boot|framework|cloud|security|data|mvc|batch|cleaning|onions?|rolls?",
        "fall": r"back|short|through|apart|behind|guy",
    }
)

# Months that are not also names of people.
NOT_A_NAME = r"(?<!april)(?<!may)(?<!june)(?<!august)(?<!\bjan)"
# Words after a month that cannot follow a person ("since April joined") or a verb ("this may help").
_NO_VERB_FOLLOWS = (
    r"(?=\s*(?:$|[^\w\s'’])|\s+(?:a|about|and|did|do|does|for|how|i|in|of|on|onwards?|or|our|the|they|till|to"
    r"|through|until|we|what|when|where|which|who|why|with|you)\b)"
)
CLEARLY_A_MONTH = rf"(?!['’]s\b)(?:{NOT_A_NAME}|{_NO_VERB_FOLLOWS})"

# "The last three weeks of the trip" are part of an event at an unknown time. "Of running notes", "of the support
# tickets" and "of my journal" name records up to now.
_RECORDS = (
    r"(?:history|news|data|e?mail|correspondence|feedback|activity|chat|work|progress|diary|journal|log|training"
    r"|spending|traffic|output|paperwork|bookkeeping|accounting)"
)
NOT_OF_AN_EVENT = (
    r"(?!\s+of\s+(?:the|this|that|my|our|your|his|her|its|their|an?|[a-z]+['’]s)\s+"
    rf"(?!(?:[a-z-]+\s+){{0,2}}(?:[a-z]+[^aious\W]s|{_RECORDS})\b))"
)

_YEAR = r"(?P<year>19[7-9][0-9]|20[0-9]{2}|2100)"
_DAY_NUMBER = r"(?:3[01]|[12][0-9]|0?[1-9])"
_NTH = r"(?:st|nd|rd|th)?"


def _name(name: str) -> str:
    return rf"{name}(?!\s+(?:{_FOLLOWED_BY[name]})\b)" if name in _FOLLOWED_BY else name


def _any(names: list[str]) -> str:
    """Return a pattern for any of *names*, longest first, with any white space for a space."""
    return "|".join(_name(name).replace(" ", r"\s+") for name in sorted(names, key=len, reverse=True))


# "wed", "sat" and "sun" are also ordinary words, so they only name a day before a date.
TERMS = MappingProxyType(
    {
        "month": rf"(?P<month>{_any(MONTHS)}|(?:{_any(_MONTHS_SHORT)})\b\.?)",
        "day": rf"(?P<day>{_DAY_NUMBER}){_NTH}",
        "to_day": rf"(?:(?:\s*[-–]\s*|\s+(?:and|to|through|until)\s+(?:the\s+)?)(?P<to_day>{_DAY_NUMBER}){_NTH})?",
        "year": _YEAR,
        "of_year": (
            rf"(?:,?\s+(?:of\s+)?(?:{_YEAR}|['’](?P<short_year>[0-9]{{2}})|(?P<near_year>last|this)\s+year))"
        ),
        "weekday": rf"(?P<weekday>{_any([*WEEKDAYS, *_WEEKDAYS_SHORT])})(?!\s+the\s+[0-9])",
        "on_weekday": rf"(?:(?:{_any([*WEEKDAYS, *_WEEKDAYS_SHORT])}|wed|sat|sun)\b\.?,?\s+)?",
        "season": rf"(?P<season>{_any(SEASONS)})",
        "ordinal": rf"(?P<ordinal>{_any([*ORDINALS])})",
        "count": rf"(?P<count>{_any([*_COUNTS])}|[1-9][0-9]{{0,3}})",
        "unit": rf"(?P<unit>{_any(UNITS)})s?",
    }
)

# Necessary condition for a time in a text: a cheap test before the grammar is imported.
_TIMES = [*_PERIODS, *MONTHS, *_MONTHS_SHORT, *WEEKDAYS, *_WEEKDAYS_SHORT, *SEASONS]
MAY_NAME_TIME = AnyCase(
    rf"[0-9]|\b(?:(?:{'|'.join(UNITS)})s?|{'|'.join(_TIMES)})\b", "|".join([*"0123456789", *UNITS, *_TIMES])
)

# A phrase does not end inside a path, a version, a clock time, an address or a percentage.
_END = r"(?!\w|[/\\@=]\w|[-.:]\w|\s*%)"


def phrase(text: str) -> re.Pattern[str]:
    """Return the pattern for *text* in the notation of this module."""
    spaced = text.replace(" ", r"\s+")
    filled = re.sub(r"\{([a-z_]+)\}", lambda term: TERMS[term[1]], spaced)
    return re.compile(f"(?:{filled}){_END}")


def count_of(match: re.Match[str]) -> tuple[int, int]:
    """Return the lowest and the highest number that the ``{count}`` of a match may mean."""
    said = " ".join(match["count"].split())
    return _COUNTS[said] if said in _COUNTS else (int(said), int(said))


def month_of(match: re.Match[str]) -> int:
    """Return the number of the ``{month}`` of a match, from 1."""
    return 1 + _place(match["month"], MONTHS)


def weekday_of(match: re.Match[str]) -> int:
    """Return the number of the ``{weekday}`` of a match; Monday is 0."""
    return _place(match["weekday"], WEEKDAYS)


def _place(said: str, names: list[str]) -> int:
    return next(place for place, name in enumerate(names) if name.startswith(said[:3]))
