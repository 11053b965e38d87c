"""Merge gate: decides whether two observations say the same with enough certainty to merge them."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import chain, combinations
from math import hypot
from typing import NamedTuple

from clawmem.domain.maintenance.contradiction_gate import numbers
from clawmem.domain.text.likeness import jaccard
from clawmem.domain.text.vocabulary import MONTHS, NUMBERS, SEASONS, STOP_WORDS, WEEKDAYS, denies, script_of
from clawmem.ports.records import Document

NORMAL = 0.93  # least cosine of two texts that name the same
STRICT = 0.98  # least cosine if the names cannot be compared
SAME_ANCHORS = 0.5  # Jaccard similarity of names; at or below, the texts are about different things
SAME_MATTER = 0.5  # Jaccard similarity of the long words; at or below, the texts are not candidates
LEAST_REPEATED = 4  # words of a text that repeats another one with a word more
GROUNDED = 0.6  # least share of a pattern's long words that each of its sources contains
TAKEN_UP = 0.8  # least share of each source's long words that the pattern contains
_LONG = 4  # letters of a word that indicates the topic of a text
_STEM = 4  # letters by which words are compared: fail, fails

_OTHER = re.compile(r"[\W_]")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_SMALL = re.compile(r"\b[^\W\d_A-Z][\w+#-]*")
_CAPITALISED = re.compile(r"\b[^\W\d_a-z][\w+#-]*")
# Words that neither are names nor indicate a topic.
_COMMON = STOP_WORDS | frozenset(
    "always come comes every get gets goes keep keeps kept made make makes need needs never new now old take taken takes "
    "took use used uses works".split()
)
_COUNTED = NUMBERS.keys() | MONTHS.keys() | WEEKDAYS.keys() | SEASONS.keys()
_OPPOSITES = tuple(
    frozenset(pair.split())
    for pair in (
        "enabled disabled,on off,allowed forbidden,allows forbids,before after,always never,start stop,starts stops,"
        "add remove,adds removes,public private,sync async,increases decreases,increased decreased,more less,more fewer,"
        "above below,first last,required optional,open closed,left right,up down,minimum maximum,with without,likes dislikes,"
        "passes fails,accepted rejected,faster slower,manual automatic,prefers avoids,old new,early late,earlier later,in out,"
        "longer shorter,bigger smaller,input output,reads writes,client server,internal external,raised lowered"
    ).split(",")
)
# Words whose arguments cannot be swapped without a change of meaning.
_DIRECTED = re.compile(
    r"\b(?:first|then|from|over|instead|rather|than|before|after|replac\w*|supersed\w*|above|below|behind|under|depends?|owns|owned|"
    r"calls?|reports?|taught|teaches|reviews?|sent|sends|gave|gives|owes?|beats?|into|onto)\b",
    re.IGNORECASE,
)


class Method(StrEnum):
    """Anchors by which two texts were compared."""

    ENTITIES = "entity_aware"
    LEXICAL = "lexical_only"
    STRICTEST = "strictest_default"


class MergeDecision(NamedTuple):
    """Whether two texts may be merged, their cosine, the cosine required, and the reason if they may not."""

    accepted: bool
    score: float
    threshold: float
    reason: str
    method: Method


class ObservationText(NamedTuple):
    """The text of an observation and the ids of the entities mentioned in it."""

    text: str
    entities: frozenset[str] = frozenset()


class Observation(NamedTuple):
    """A document, its statement, the project of its session, and whether it applies to that alone."""

    document: Document
    statement: ObservationText
    project: str = ""
    is_local: bool = False

    @property
    def kind(self) -> tuple[str, str, bool]:
        """Only observations of one kind say the same or contradict each other."""
        return self.document.content_type, self.project, self.is_local

    @property
    def id(self) -> int:
        """The document's id."""
        return self.document.id

    @property
    def when(self) -> tuple[str, int]:
        """The key that orders observations by time."""
        return self.document.authored_at, self.document.id


class Group(NamedTuple):
    """
    Observations that state *text*, newest first, and the reason for grouping them.

    ``score`` is the lowest cosine between any two of them; ``None`` if a model grouped them.
    """

    text: str
    members: tuple[Observation, ...]
    why: str
    score: float | None = None

    @property
    def ids(self) -> list[int]:
        """The ids of the members."""
        return [observation.id for observation in self.members]


def decide_merge(
    first: ObservationText, second: ObservationText, *, normal: float = NORMAL, strict: float = STRICT
) -> MergeDecision:
    """
    Decide whether *first* and *second* say the same.

    They do if nothing in them differs (`difference`) and the cosine of their character 3-grams is at least *normal*,
    or at least *strict* if one of them or both contain no names. A word more at the end or the beginning does not
    matter ("…", "… indeed"), nor does "have" ("we have decided"). In a script other than Latin, of which no negations are
    known, they have the same words.
    """
    first_names, second_names, method = _anchors_of(first, second)
    score = similarity(first.text, second.text)
    is_latin = not (script_of(first.text) or script_of(second.text))
    threshold = (normal if first_names and second_names else strict) if is_latin else 1.0
    left, right = _past_words(first.text), _past_words(second.text)
    is_repeated = (is_latin and min(len(left), len(right)) >= LEAST_REPEATED) and (
        left == right
        or left in (right[1:], right[:-1])
        or right in (left[1:], left[:-1])
        or left[1:] == right[:-1]
        or left[:-1] == right[1:]
    )
    if is_repeated:  # a word before a sentence has its capital, and is no name
        first, second = (
            side._replace(text=side.text[:1].lower() + side.text[1:]) for side in (first, second)
        )
    reason = difference(first, second, in_order=True)
    if not reason and score < threshold and not is_repeated:
        reason = "their words differ"
    return MergeDecision(not reason, score, threshold, reason, method)


def _past_words(text: str) -> list[str]:
    """Return the words of *text* with one form of the past: "we've decided" and "we have decided" are "we decided"."""
    spelt = written_words(text.replace("’", "'"))
    return [word.removesuffix("'ve") for word in spelt if word != "have"]


def difference(first: ObservationText, second: ObservationText, *, in_order: bool = False) -> str:
    """
    Return in a few words why two texts differ, regardless of any model's verdict; empty if they do not.

    They differ if their names differ (Jaccard similarity at most 0.5) or are in another order, if their numbers,
    weekdays or months are not the same, or if only one contains a negation or they contain opposite words.

    Args:
        in_order: Whether all common long words must be in the same order, not only names.
    """
    first_names, second_names, _ = _anchors_of(first, second)
    if first_names and second_names and jaccard(first_names, second_names) <= SAME_ANCHORS:
        return "they name others"
    if _values(first.text) != _values(second.text):
        return "their numbers differ"
    if denies(first.text) is not denies(second.text):
        return "one of them is a denial"
    first_words, second_words = (frozenset(written_words(text)) for text in (first.text, second.text))
    for pair in _OPPOSITES:
        if (
            len(pair & first_words) == len(pair & second_words) == 1
            and pair & first_words != pair & second_words
        ):
            return "they hold opposite words"
    is_directed = in_order or bool(_DIRECTED.search(first.text) or _DIRECTED.search(second.text))
    in_text = long_words if is_directed else capitalised_names
    left, right = (list(dict.fromkeys(in_text(text))) for text in (first.text, second.text))
    is_same_order = [word for word in left if word in right] == [word for word in right if word in left]
    return "" if is_same_order else "their words change places"


def replacement_objection(pattern: str, sources: Sequence[ObservationText]) -> str:
    """
    Return why *pattern*, written by a model, may not replace *sources*; empty if it may.

    There must be two sources or more, and no two of them may differ. Each source must contain at least 0.6 of the
    pattern's long words, and the pattern at least 0.8 of each source's. The pattern must not contain a number or name
    that no source contains, and it must contain a negation if and only if the sources do.
    """
    if len(sources) < 2:
        return "it rests on fewer than two observations"
    for first, second in combinations(sources, 2):
        if reason := difference(first, second):
            return reason
    texts = (pattern, *(source.text for source in sources))
    stems, *source_stems = ({word[:_STEM] for word in long_words(text)} for text in texts)
    shared = [len(stems & of_source) for of_source in source_stems]
    if not stems or min(shared) < GROUNDED * len(stems):
        return "it says what one of them does not"
    if any(count < TAKEN_UP * len(of_source) for count, of_source in zip(shared, source_stems, strict=True)):
        return "it does not say what one of them does"
    text = " ".join(source.text for source in sources)
    names = {*capitalised_names(pattern)}.difference(written_words(text), capitalised_names(text))
    if names or _values(pattern) - _values(text):
        return "it names what none of them does"
    return "one of them is a denial" if denies(pattern) is not denies(sources[0].text) else ""


def similarity(first: str, second: str) -> float:
    """
    Return the cosine of the counts of character 3-grams, in lower case and of letters and digits only.

    It is 1 for equal texts and 0 if one is empty. A text of fewer than three characters is one 3-gram.
    """
    first_text, second_text = (" ".join(_OTHER.sub(" ", text.lower()).split()) for text in (first, second))
    if not first_text or not second_text:
        return 0.0
    if first_text == second_text:
        return 1.0
    left, right = (
        Counter(text[i : i + 3] for i in range(max(1, len(text) - 2))) for text in (first_text, second_text)
    )
    shared = sum(count * right[gram] for gram, count in left.items())
    return shared / (hypot(*left.values()) * hypot(*right.values()))


def _anchors_of(
    first: ObservationText, second: ObservationText
) -> tuple[frozenset[str], frozenset[str], Method]:
    if first.entities and second.entities:
        return first.entities, second.entities, Method.ENTITIES
    # A capitalised word at the start of a sentence is no name if it is in lower case elsewhere.
    small = frozenset(_SMALL.findall(first.text)) | frozenset(_SMALL.findall(second.text))
    first_names, second_names = (
        frozenset(capitalised_names(observation.text)) - small for observation in (first, second)
    )
    return first_names, second_names, Method.LEXICAL if first_names or second_names else Method.STRICTEST


def capitalised_names(text: str) -> list[str]:
    """Return the names in *text*: capitalised words of two characters or more except common ones, in lower case."""
    names = (name.lower() for name in _CAPITALISED.findall(text) if len(name) > 1 and name[0].isupper())
    return [name for name in names if name not in _COMMON]


def long_words(text: str) -> list[str]:
    """Return the words of *text* that indicate its topic: four characters or more, not common, in lower case."""
    return [word for word in written_words(text) if len(word) >= _LONG and word not in _COMMON]


def written_words(text: str) -> list[str]:
    """Return the words of *text* in lower case, with apostrophes and hyphens inside."""
    return _WORD.findall(text.lower())


def _values(text: str) -> frozenset[str]:
    return numbers(text) | _COUNTED.intersection(written_words(text))


class StatementIndex:
    """
    Inverted index of statements, which finds those that share more than half of their long words with a text.

    Args:
        statements: Ids and texts.
    """

    def __init__(self, statements: Iterable[tuple[int, str]]) -> None:
        self._counts: dict[int, int] = {}
        self._statements: dict[str, list[int]] = {}
        for number, text in statements:
            words = frozenset(long_words(text))
            self._counts[number] = len(words)
            for word in words:
                self._statements.setdefault(word, []).append(number)

    def near(self, text: str) -> list[int]:
        """Return the ids of the statements that may be about the same matter as *text*, in ascending order."""
        words = frozenset(long_words(text))
        shared = Counter(chain.from_iterable(self._statements.get(word, ()) for word in words))
        return sorted(
            number
            for number, count in shared.items()
            if count > SAME_MATTER * (len(words) + self._counts[number] - count)
        )
