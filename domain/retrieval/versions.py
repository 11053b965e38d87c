"""
Notes that describe the same subject at different times, and the one that a question means.

Names and dates say which is current ("energy 2025", "energy 2026"), or a note declares those that it supersedes, or
says that something changed: "As of June it is Rust".
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cached_property
from itertools import combinations
from typing import TypeVar

from clawmem.domain.retrieval.query_forms import content_words
from clawmem.domain.text.likeness import is_same_word
from clawmem.domain.text.vocabulary import FORMER, MONTHS, STOP_WORDS, any_of
from clawmem.domain.text.words import words

Key = TypeVar("Key", int, str)

# Share of the best version's relevance. A note that matches worse is about something else, or names the event that ended
# the former state.
COMPARABLE = 0.3

# Words in file names that tell versions apart. Notes dated to the month or day are records, of which each stays true.
_VERSION_WORDS = frozenset(
    "a before the old older former previous earlier original first initial new newer current now last this year from since"
    " until alt alte alter neu neue ancien nouveau antes viejo nuevo antigo novo".split()
)
SHARED = 2  # words of two names that make a series, or one subject of two decisions
# First words of decisions that name no subject: "use-postgres", "move-to-hetzner".
_DECIDING = frozenset(
    "use adopt choose pick take move switch keep drop stop start add remove allow no not".split()
)
_FROM_ON = re.compile(rf"\b(?:from|since|until|ab|seit|bis)\s+(?:{any_of(MONTHS)})\b")
_EARLIEST = re.compile(
    r"\b(?:original(?:ly)?|initial(?:ly)?|in\s+the\s+beginning|to\s+begin\s+with|first\W*\Z"
    r"|when\s+(?:we|i|they|it)\s+(?:start|began|open)\w*"
    r"|(?:the|my|our|your|her|his|its|at|very)\s+first)\b",
    re.IGNORECASE,
)
_FORMER = re.compile(rf"\b(?:{any_of(FORMER)}|used?\s+to|back\s+then|in\s+the\s+past)\b", re.IGNORECASE)

# Words of the question and the older passage that a sentence has at least; two of the question, if they are half of it.
SHARED_WITH_CHANGE, ASKED = 3, 2

CHANGE = re.compile(
    rf"""
    \b(?:as\s+of|no\s+longer|any\s?(?:more|\s?longer)|instead|in\s+the\s+end|(?:moved|changed)(?=\s+(?:\S+\s+){{0,5}}to\b)|(?<!until\ )(?<!to\ )now
    | from\s+(?:today|(?:[\w']+\s+){{1,4}}on)
    | nicht\s+mehr|kein\w{{0,2}}(?:\s+\S+){{1,3}}?\s+mehr|statt(?:dessen)?|doch\s+nicht|am\s+ende|(?:um|nach\s+\w+\s+)gezogen|geändert|(?<!bis\ )jetzt|ab\s+(?:sofort|{any_of(MONTHS)})
    | au\s+lieu\s+de|d[ée]sormais|finalement|en\s+fait|n(?:e\s|['’])\S+\s+plus|ya\s+no|(?:en|em)\s+(?:vez|lugar)\s+de|j[áa]\s+n[ãa]o|invece\s+(?:di|che)|non\s+\S+\s+pi[ùu])\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
CORRECTION = re.compile(  # the beginning of a note
    r"(?i)\A\W*(?:correction|correcci[oó]n|correzione|correção|actually|scratch that|on second thought|(?:no|nein|sorry|wait)(?=,)"
    r"|i was (?:wrong|mistaken)|my mistake"
    r"|korrektur|berichtigung|eigentlich|doch nicht|(?:ich habe? mich|da habe? ich mich) (?:geirrt|vertan)"
    r"|en fait|je me suis trompée?|en realidad|me equivoqué|in realtà|mi sono sbagliat[oa]|na verdade|enganei-me)\b"
)
# Up to three words before a number.
_NO_LONGER = frozenset("not longer nicht statt instead pas lieu vez lugar invece non não".split())
_END = re.compile(r"[.!?](?=\s)|\n")
# A number with its currency, or the words after it; a date or a version has none.
_VALUE = re.compile(
    r"([$€£¥])?\s?(?<![\w./-])(\d(?:[\d.,:]*\d)?)(?:\s?([$€£¥%°]))?((?:[ /-]{1,2}[^\W\d_]+){0,3})"
)


class Wanted(StrEnum):
    """Version of a subject that a question asks for."""

    CURRENT = "current"
    FORMER = "former"
    EARLIEST = "earliest"


def subject_name(path: str) -> tuple[str, str] | None:
    """
    Return the folder and the subject that the file name of *path* names, without the words for its version.

    ``None`` if only such words are left, as in ``2025.md``.
    """
    folder, _, file = path.rpartition("/")
    name = _FROM_ON.sub(" ", file.rpartition(".")[0].casefold().replace("-", " ").replace("_", " "))
    subject = [word for word in words(name) if word not in _VERSION_WORDS | years_in(name)]
    return (folder, " ".join(subject)) if any(word.isalpha() and len(word) > 1 for word in subject) else None


def years_in(text: str) -> frozenset[str]:
    """Return the words of *text* that are years, from 1900 to 2099."""
    return frozenset(w for w in words(text) if len(w) == 4 and w.isdecimal() and w[:2] in ("19", "20"))


def decision_subjects(path: str) -> frozenset[tuple[str, ...]]:
    """
    Return the subjects that the decision in the file *path* may be about; two decisions that share one are about the
    same.

    These are its folder with the first content word of its name ("sensor-sht31", "sensor-sht45"), and with each two
    ("slot-hold-length", "shorter-slot-hold").
    """
    folder, _, file = path.rpartition("/")
    name = words(file.rpartition(".")[0].casefold().replace("_", " "))
    content = [word for word in name if word.isalpha() and word not in STOP_WORDS | _VERSION_WORDS]
    pairs = combinations(sorted({*content}), SHARED)
    first = [(content[0],)] if content and content[0] not in _DECIDING else []
    return frozenset((folder, *subject) for subject in (*first, *pairs))


def wanted_version(query: str) -> Wanted:
    """Return the version that *query* asks for by its words, the current one unless it says otherwise."""
    later = Wanted.FORMER if _FORMER.search(query) else Wanted.CURRENT
    return Wanted.EARLIEST if _EARLIEST.search(query) else later


def in_wanted_order(
    versions: Mapping[int, tuple[int, str]], wanted: Wanted, until: str | None = None
) -> list[int]:
    """
    Return the documents of one subject, the one that the question means first.

    Each has the number of notes that have superseded it, and the time when it was written. The current version is the last
    one, or the last one before the ISO time *until*. A former version is the last one before that.
    """
    newest = sorted(versions, key=lambda n: (-versions[n][0], versions[n][1], n), reverse=True)
    if until is not None:
        known = [number for number in newest if versions[number][1] < until]
        return [*known, *(number for number in newest[::-1] if number not in known)]
    if wanted is Wanted.EARLIEST:
        return newest[::-1]
    if wanted is Wanted.FORMER:
        return [*newest[1:], *newest[:1]]
    return newest


def successors(pairs: Iterable[tuple[Key, Key]]) -> dict[Key, set[Key]]:
    """Return all items that have superseded an item, over any number of steps, without those in a cycle with it."""
    direct: dict[Key, set[Key]] = defaultdict(set)
    for older, newer in pairs:
        direct[older].add(newer)
    reached: dict[Key, set[Key]] = {}
    for older in direct:
        items, waiting = reached.setdefault(older, set()), [older]
        while waiting:
            new = direct.get(waiting.pop(), set()) - items
            items |= new
            waiting += new
    return {
        older: {newer for newer in items if older not in reached.get(newer, ())}
        for older, items in reached.items()
    }


def last_successors(pairs: Iterable[tuple[Key, Key]]) -> dict[Key, set[Key]]:
    """Return for each superseded item those of its successors that are not superseded themselves."""
    newer = successors(pairs)
    return {
        older: {item for item in items if not newer.get(item, set()) & items}
        for older, items in newer.items()
        if items
    }


def successor_label(path: str, written: str) -> str:
    """Return the label of a superseded note, on one line; *written* is an ISO 8601 time."""
    return f"superseded by {' '.join(path.splitlines())} ({written[:10]})"


def replaced_numbers(text: str) -> frozenset[str]:
    """Return the numbers that *text* says do not hold: "68, not 62", "nicht mehr 62", "instead of 62", "not in room 12"."""
    spelt = words(text)
    after = (spelt[at + 1 : at + 4] for at, word in enumerate(spelt) if word in _NO_LONGER)
    return frozenset(n for n in (next(filter(str.isdecimal, near), "") for near in after) if n)


class Statement:
    """Passage of a note about a *topic*, the content words of a question, which a newer text may change."""

    def __init__(self, passage: str, topic: Collection[str]) -> None:
        self.passage, self.topic, self.content = passage, topic, content_words(passage)

    def is_changed_by(self, text: str) -> bool:
        """
        Whether a sentence of *text* has a marker of change, or corrects, and is about the subject of the passage.

        Of "10:00, not 8:30" the passage has the 8.
        """
        for line in _changes(text):
            sentence, replaced = content_words(line), replaced_numbers(line)
            common = _shared(self.topic, sentence)
            also = [w for w in sentence if w in self.content and not _shared([w], common)] if common else []
            is_topic = len(common) >= max(ASKED, len(self.topic) / 2) and bool(_shared(common, self.content))
            if common and len(self.topic) == 1:
                is_topic = is_same_word(common[0], sentence[0])  # "Standup moved to 10:15"
            is_about = is_topic or len(common) + len(also) >= SHARED_WITH_CHANGE
            if common and is_about and not (replaced and replaced.isdisjoint(words(self.passage))):
                return True
        return False

    def has_other_value(self, text: str) -> bool:
        """
        Whether a sentence of *text* gives another number for what the passage answers.

        Both have words of the topic, and numbers in one unit: "The rent is €780 a month", "It goes to €865 a month".
        Several numbers in a unit are a list of other things.
        """
        for sentence in _END.split(text) if self._values else ():
            values = _single_values(sentence).items()
            is_other = any(self._values.get(unit, numbers).isdisjoint(numbers) for unit, numbers in values)
            common = _shared(self.topic, content_words(sentence)) if is_other else []
            if len(common) >= max(ASKED, len(self.topic) / 2) and _shared(common, self.content):
                return True
        return False

    @cached_property
    def _values(self) -> dict[str, set[str]]:
        answers = (part for part in _END.split(self.passage) if _shared(self.topic, content_words(part)))
        return _single_values("\n".join(answers))


def _changes(body: str) -> Iterator[str]:
    """Yield the sentences of *body* with a marker of change, or that open it with a correction."""
    first, *others = _END.split(body.lstrip())
    yield from [first] if CORRECTION.match(first) or CHANGE.search(first) else []
    yield from filter(CHANGE.search, others)


def _single_values(text: str) -> dict[str, set[str]]:
    """Return the units of *text* with one number, and that: signs of currencies, and the content words after a number."""
    values: dict[str, set[str]] = defaultdict(set)
    for sign, number, sign_after, following in _VALUE.findall(text):
        for unit in {sign, sign_after, *content_words(following)} - {"", *MONTHS}:
            values[unit].add(number)
    return {unit: numbers for unit, numbers in values.items() if len(numbers) == 1}


def _shared(topic: Iterable[str], others: Collection[str]) -> list[str]:
    return [word for word in topic if any(is_same_word(word, other) for other in others)]
