"""The profile page: current statements and recent work, each line with its origin."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from clawmem.domain.documents.address import OWN_COLLECTION
from clawmem.domain.text.vocabulary import STOP_WORDS
from clawmem.domain.text.words import token_count, words
from clawmem.ports.records import Document

# A tag of many notes names an area, not a subject.
LEAST_COMMON, COMMON_SHARE = 4, 0.2

_UNSETTLED_TAGS = frozenset(
    {"draft", "proposal", "idea", "rejected", "superseded", "obsolete", "outdated", "deprecated", "archived"}
)
_UNSETTLED_FOLDERS = frozenset(
    {
        "draft",
        "drafts",
        "proposals",
        "ideas",
        "rejected",
        "archive",
        "archived",
        "trash",
        "templates",
        "inbox",
    }
)
_UNSETTLED_TITLES = ("proposal", "draft", "rfc", "idea", "entwurf", "vorschlag", "borrador")
LEAST_CONFIDENCE = 0.4


def is_settled(document: Document) -> bool:
    """Whether a note is not a draft, proposal or archived copy, by its tags, folders, title and confidence."""
    folders = {part.lower() for part in document.path.split("/")[:-1]}
    if folders & _UNSETTLED_FOLDERS or {tag.lower() for tag in document.tags} & _UNSETTLED_TAGS:
        return False
    title = document.title.lower()
    if title.startswith(_UNSETTLED_TITLES) or "(draft)" in title:
        return False
    return document.confidence >= LEAST_CONFIDENCE


def last_of_subject(documents: Sequence[Document]) -> list[Document]:
    """
    Return *documents*, last written first, without those on whose subject a later one of the collection exists.

    Two notes have the same subject if all subject tags of one are tags of the other. A later decision on a subject
    often replaces an earlier one without saying so.
    """
    counts = Counter(tag for one in documents for tag in one.tags)
    most = max(LEAST_COMMON, COMMON_SHARE * len(documents))
    kept: list[tuple[Document, frozenset[str]]] = []
    for one in documents:
        subject = frozenset(tag for tag in one.tags if ":" not in tag and counts[tag] <= most)
        if not any(_is_same(subject, known) and one.collection == other.collection for other, known in kept):
            kept.append((one, subject))
    return [one for one, _ in kept]


def _is_same(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one and other) and (one <= other or other <= one)


DECISIONS, HUBS = 20, 10  # documents that the page is built from
MOST_FACTS, FACT_TOKENS = 30, 500
MOST_ITEMS, ITEM_TOKENS = 10, 280  # with the facts, within the 800 tokens that a session gets
NEAR = 5  # edit distance below which two facts are duplicates
STALE_SESSIONS = 5  # sessions begun since the page was built

PAGE_PATH, PAGE_TYPE = "profile.md", "hub"
TITLE = "Profile"
HOLDS, AT_IT = "## What holds", "## Lately"


def is_profile_asked(query: str, collections: Collection[str]) -> bool:
    """Whether a question asks for the profile page by its name or its collection: the page repeats other notes."""
    return OWN_COLLECTION in collections or TITLE.lower() in words(query)


def is_profile_page(document: Document) -> bool:
    """Whether *document* is the profile page."""
    return (document.collection, document.path) == (OWN_COLLECTION, PAGE_PATH)


class ProfileLine(NamedTuple):
    """A statement of the page with the path and the day of its note."""

    text: str
    path: str
    day: str

    def __str__(self) -> str:
        """Return the printed line; the day is left out where the path names it."""
        origin = self.path if self.day in self.path else f"{self.path}, {self.day}"
        return f"- {self.text} ({origin})"


def distinct(facts: Iterable[str]) -> list[str]:
    """Return *facts* without those within four edits of an earlier one, ignoring case."""
    kept: list[str] = []
    for fact in facts:
        if not any(_is_near(fact.lower(), other.lower()) for other in kept):
            kept.append(fact)
    return kept


def profile_text(facts: Sequence[ProfileLine], items: Sequence[ProfileLine]) -> str:
    """
    Return the Markdown of the page: up to 30 facts in 500 tokens and up to 10 items in 280; empty without any.

    A line that does not fit is left out, not cut.
    """
    parts = [_part(HOLDS, facts, MOST_FACTS, FACT_TOKENS), _part(AT_IT, items, MOST_ITEMS, ITEM_TOKENS)]
    said = [part for part in parts if part]
    return "\n\n".join([f"# {TITLE}", *said]) + "\n" if said else ""


def _part(heading: str, lines: Sequence[ProfileLine], most: int, budget: int) -> str:
    told = dict.fromkeys(distinct(line.text for line in lines))
    first = {line.text: line for line in reversed(lines)}
    kept: list[str] = []
    for text in [*told][:most]:
        if token_count("\n".join([heading, *kept, str(first[text])])) <= budget:
            kept.append(str(first[text]))
    return "\n\n".join([heading, "\n".join(kept)]) if kept else ""


def _is_near(one: str, other: str) -> bool:
    return abs(len(one) - len(other)) < NEAR and edits(one, other, NEAR) < NEAR


def edits(one: str, other: str, most: int) -> int:
    """Return the Levenshtein distance of *one* and *other*, capped at *most*."""
    row = list(range(len(other) + 1))
    for place, char in enumerate(one, start=1):
        before, row[0] = row[0], place
        for column, match in enumerate(other, start=1):
            before, row[column] = (
                row[column],
                min(row[column] + 1, row[column - 1] + 1, before + (char != match)),
            )
        if min(row) >= most:
            return most
    return min(row[-1], most)


SHORTEST = 4  # letters of a significant word
LEAST, MOST = 3, 20  # texts with a phrase; phrases returned
# The lines of captured and imported notes that state who said it, where and in answer to what.
_PROVENANCE = re.compile(
    r"^(?:Said by the (?:user|assistant) in session .*|Said on \d{4}-\d\d-\d\d, in .*|In answer to: .*)$",
    re.MULTILINE,
)


class Phrase(NamedTuple):
    """A sequence of words and the number of texts that contain it."""

    text: str
    times: int


def repeated_phrases(texts: Iterable[str]) -> list[Phrase]:
    """
    Return up to twenty phrases of two or three words that three *texts* or more contain, most frequent first.

    A text counts once, because the note of a sentence has it as title, heading and quotation. Where it says who said it
    and in answer to what is left out.
    Words of up to three letters and stop words are skipped. Phrases of equal frequency are sorted by number of
    words descending, then alphabetically.
    """
    counts = Counter(phrase for text in texts for phrase in _phrases_of(text))
    often = [(phrase, count) for phrase, count in counts.items() if count >= LEAST]
    often.sort(key=lambda one: (-one[1], -len(one[0]), one[0]))
    return [Phrase(" ".join(phrase), count) for phrase, count in islice(often, MOST)]


def _phrases_of(text: str) -> set[tuple[str, ...]]:
    """Return the phrases of the paragraphs of *text*."""
    paragraphs = _PROVENANCE.sub("", text).split("\n\n")
    return {phrase for paragraph in paragraphs for phrase in _phrases(_telling(paragraph))}


def _telling(text: str) -> list[str]:
    return [word for word in words(text) if len(word) >= SHORTEST and word not in STOP_WORDS]


def _phrases(row: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for length in (2, 3):
        yield from (tuple(row[place : place + length]) for place in range(len(row) - length + 1))
