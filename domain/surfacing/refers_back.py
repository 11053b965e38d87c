"""Prompts that can only be understood with the prompts before them, and the queries that combine both.

"Why was it changed?" and "and for payments?" depend on earlier prompts; "where do we keep login sessions these days?"
never does. A pronoun refers back if the words before it do not name its antecedent. English, German and Spanish are
recognised; a prompt in another language counts as complete if it has two content words.
"""

from collections.abc import Sequence
from typing import NamedTuple

from clawmem.domain.text.vocabulary import STOP_WORDS
from clawmem.domain.text.words import words

COMPLETE = 2  # content words before a pronoun that suffice to name its antecedent
MOST_CONTINUED = (
    2  # content words of "and for payments?"; a longer sentence that begins with "and" is complete
)

LOOK_BACK = 2  # questions
MOST_MINUTES = 10  # since they were asked
MOST_CHARS = 2000
# Minimum relevance of an added candidate, as a share of the best candidate of the combined query.
LEAST_SHARE = 0.7
# Maximum relevance of an added candidate, as a share of the least relevant candidate of the prompt alone.
ADDED_SHARE = 0.9
APART = "\n\n"


class _Language(NamedTuple):
    """
    The words of one language by which a prompt refers back.

    Attributes:
        function_words: Words without content of their own.
        pronouns: Words that always refer to something else.
        demonstratives: Words that refer to something else unless one of ``times`` follows ("that day").
        times: Words for times, which may follow a demonstrative.
        bound: Demonstratives that refer back only at the end of the prompt or before one of ``verbs``.
        verbs: Words after which a bound demonstrative counts as referring back.
        phrases: Phrases that refer back, such as "the same".
        openings: Openings that continue an earlier question.
    """

    function_words: frozenset[str]
    pronouns: frozenset[str]
    demonstratives: frozenset[str]
    times: frozenset[str]
    bound: frozenset[str]
    verbs: frozenset[str]
    phrases: tuple[str, ...]
    openings: tuple[str, ...]


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ENGLISH = _Language(
    STOP_WORDS
    | _set(
        "please tell say show give explain know mean let also thanks ok okay hey well again further"
        " often long much many far soon done"
    ),
    _set("it its he she him her his hers they them their theirs"),
    _set("that those"),
    _set("day days week weeks month year years morning evening night time summer winter"),
    _set("this these"),
    _set(
        "is was were are did does do has had would will can could should happened means one ones too instead"
    ),
    ("the same", "the other", "the others", "the former", "the latter", "another one", "instead of that"),
    ("and", "but", "or", "what about", "how about", "same for", "also for"),
)
_GERMAN = _Language(
    _set(
        "wer wen wem was wann wo woher wohin wie warum wieso weshalb wozu welche welcher welches welchen ist war waren sind"
        " wurde wurden wird werden hat haben hatte hatten kann können soll sollen muss müssen und oder aber denn noch auch"
        " mal bitte doch schon so nur in im am an auf aus bei mit von vom zu zum zur für um über nach vor seit der die das"
        " den dem des ein eine einen einem einer nicht kein keine sich wir ich du ihr uns mir mich man sag zeig erklär mehr"
    ),
    _set(
        "es er ihn ihm sie ihnen davon dafür damit daran darüber dazu dabei darauf darin deswegen deshalb dasselbe"
    ),
    _set("jener jene jenes"),
    _set("tag tage tagen woche wochen monat jahr jahre zeit"),
    _set("das dies diese dieser dieses"),
    _set(
        "ist war waren sind wurde wurden wird hat hatte kann soll kam kostet geht heißt so entschieden beschlossen geändert gemacht gesagt genau"
    ),
    ("das gleiche", "das selbe", "der andere", "die andere", "das andere", "die anderen"),
    ("und", "aber", "oder", "was ist mit", "wie sieht es mit", "auch für"),
)
_SPANISH = _Language(
    _set(
        "quién quien quiénes qué que cuándo cuando dónde donde cómo como cuál cual cuánto cuánta por para con sin de del la"
        " el los las un una unos unas y o pero es fue era son eran está estaba ha han había se nos me mi su sus no en a al"
        " ya muy más también favor di dime muestra explica te le les hay"
    ),
    _set("lo él ella ello ellos ellas eso esto aquello"),
    _set("ese esa esos esas aquel aquella"),
    _set("día días semana mes año años vez tiempo"),
    frozenset(),
    frozenset(),
    ("lo mismo", "la otra", "el otro", "los otros", "las otras"),
    ("y", "pero", "o", "qué hay de", "y para", "y qué tal"),
)
_LANGUAGES = (_ENGLISH, _GERMAN, _SPANISH)


def refers_back(prompt: str) -> bool:
    """Whether *prompt* refers to something that only an earlier prompt can have named, or continues its sentence."""
    every = words(prompt)
    language = _language_of(every)
    return _continues(every, language) or any(_points_back(every, at, language) for at in range(len(every)))


def content_words(prompt: str) -> int:
    """Return the number of distinct content words in *prompt*; a self-contained question has `COMPLETE` or more."""
    every = words(prompt)
    return _content(every, _language_of(every))


def _language_of(every: Sequence[str]) -> _Language:
    """Return the language with the most function words and pronouns among the words; English in a tie with it."""
    return max(_LANGUAGES, key=lambda one: sum(w in one.function_words or w in one.pronouns for w in every))


def _content(some: Sequence[str], language: _Language) -> int:
    named = {*some} - language.function_words - language.pronouns - language.demonstratives - language.bound
    return len(named)


def _continues(every: Sequence[str], language: _Language) -> bool:
    text = f"{' '.join(every)} "
    begun = any(text.startswith(f"{opening} ") for opening in language.openings)
    return begun and 0 < _content(every, language) <= MOST_CONTINUED


def _points_back(every: Sequence[str], at: int, language: _Language) -> bool:
    if _content(every[:at], language) >= COMPLETE:
        return False
    word, following = every[at], every[at + 1] if at + 1 < len(every) else ""
    if word in language.pronouns:
        return not _is_expletive(every, at)
    if word in language.demonstratives:
        return following not in language.times
    if word in language.bound:
        return not following or following in language.verbs
    text = f" {' '.join(every[at:])} "
    return any(text.startswith(f" {phrase} ") for phrase in language.phrases)


def _is_expletive(every: Sequence[str], at: int) -> bool:
    """Whether the word *at* this index is an expletive "it": "is it possible", "what time is it", "it takes"."""
    if every[at] not in ("it", "es"):
        return False
    following = every[at + 1] if at + 1 < len(every) else ""
    return following in _EXPLETIVE or "time" in every[:at] or following in ("to", "that")


_EXPLETIVE = _set(
    "possible true ok okay fine safe better worth necessary normal allowed important seems takes take makes rains hot cold"
    " möglich wahr sicher nötig besser gibt regnet"
)


def looking_back(
    current: str, before: Sequence[str], *, look_back: int = LOOK_BACK, most: int = MOST_CHARS
) -> str:
    """
    Return *current* and up to *look_back* earlier questions, newest first, separated by blank lines.

    Whole questions are dropped, the oldest first, until at most *most* characters are left; a longer *current* is
    truncated. Empty questions and those equal to *current* are ignored.

    Args:
        before: Earlier questions, newest first.
    """
    if not current.strip():
        return current
    others = [text for text in before if text.strip() and text != current][:look_back]
    while others and len(APART.join([current, *others])) > most:
        others.pop()
    return APART.join([current, *others])[:most]
