"""Likeness of texts: two versions of a note, copies of a note, and a text that a note states already."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache

from rapidfuzz.distance import Levenshtein

from clawmem.domain.text.vocabulary import STOP_WORDS, denies
from clawmem.domain.text.words import FULL_STOPS, FUNCTION_FORMS, fold, normalise, words
from clawmem.ports.records import Document

_CONFLICT = (
    r"(?i)(?:\.sync-conflict-[\w-]+|[ _]*[(\[][^()\[\]/]*"
    r"(?:conflicted|conflict \d|sfconflict|konflikt stehende)[^()\[\]/]*[)\]])(?=\.\w+\Z)"
)
_SHINGLE = 3  # words: notes of one kind share many words and few phrases


def jaccard(first: AbstractSet[str], second: AbstractSet[str]) -> float:
    """Return the Jaccard similarity of two sets, in [0, 1]; 0 if both are empty."""
    return len(first & second) / len(first | second) if first or second else 0.0


def likeness(one: str, other: str) -> float:
    """
    Return the share of three-word phrases that two texts have in common, in [0, 1] (Sørensen-Dice coefficient).

    The order of the phrases does not count; a text of fewer than three words is one phrase.
    """
    phrases = []
    for text_words in (words(one), words(other)):
        starts = range(max(1, len(text_words) - _SHINGLE + 1)) if text_words else ()
        phrases.append(Counter(tuple(text_words[at : at + _SHINGLE]) for at in starts))
    first, second = phrases
    every = first.total() + second.total()
    return 2 * (first & second).total() / every if every else 0.0


def possible_copies(
    notes: Iterable[Document], places: Iterable[tuple[str, str]]
) -> Iterator[tuple[Document, tuple[str, str]]]:
    """
    Yield each of *notes* with the files of its collection of which it may be a copy, as its name begins so.

    ``Van 1.md`` may be a copy of ``Van.md``. *places* are the collections and paths of files.
    """
    paths = defaultdict[tuple[str, str], list[str]](list)
    for collection, path in places:
        paths[collection, path.rpartition("/")[2]].append(path)
    for note in notes:
        stem, dot, suffix = note.path.rpartition("/")[2].rpartition(".")
        for end in (at for at in range(1, len(stem)) if not stem[at].isalnum()):
            name = f"{stem[:end].rstrip()}{dot}{suffix}"
            yield from ((note, (note.collection, path)) for path in paths.get((note.collection, name), ()))


def without_conflict(path: str) -> str:
    """Return *path* without the mark with which Syncthing, Dropbox, Obsidian Sync and others name a conflicting version."""
    return re.sub(_CONFLICT, "", path)


def is_copy(copy: Document, original: Document, bodies: Mapping[int, str]) -> bool:
    """
    Whether *copy*, a note whose name begins with that of *original*, is a copy of it.

    A conflicting version is, and a note of the same type without words of its own that was not changed on a later day.
    """
    if without_conflict(copy.path) == original.path:
        return True
    if copy.content_type != original.content_type:  # a memory is named after its session, as the handoff is
        return False
    copied, known = ({*words(bodies.get(note.id, ""))} for note in (copy, original))
    return copied <= known and copy.modified_at[:10] <= original.modified_at[:10]


def edit_similarity(one: str, other: str) -> float:
    """Return ``1 - distance / length``: Levenshtein of the folded texts, over the longer text; 1 for two empty texts."""
    return Levenshtein.normalized_similarity(fold(one), fold(other))


# Share of three-word phrases: one other word in a sentence of fifteen words, which is often the news, is below it.
_LEAST_RESTATED = 0.85
# Signs that change what a text states: "C++", "-5 degrees", "50 €", "x < 5", "#3".
_SIGN = re.compile(r"[+<>=%&@€$£¥°±×÷^]|#(?=\w)|(?<!\w)[-−](?=\d)")
_QUOTE_MARK = re.compile(r"^[ \t]*>[ \t>]*|^[ \t]*\+[ \t]", flags=re.MULTILINE)  # of a quotation or a list
_MOST_LONGER = 2  # a part of more than twice the length states more
_SENTENCE = re.compile(
    rf"[^\s.!?{FULL_STOPS}][^.!?{FULL_STOPS}]*(?:[.!?{FULL_STOPS}](?=\S)[^.!?{FULL_STOPS}]*)*"
)
_LEAST_SENTENCE = 3  # words; a shorter sentence says little without those around it


def restating_line(text: str, body: str) -> int | None:
    """
    Return the 1-based line where *body* states *text*, nearly in the same words; ``None`` if it does not.

    Compared are the whole body, its paragraphs and its lines. Punctuation, blanks and capitals do not count; every number
    and every sign such as ``+``, ``<`` or ``€`` must be the same, and *text* may have no other word than function words,
    because such a note is news. Sentences within a longer line or paragraph must have exactly the same words.
    """
    stated, signs = words(text), _signs(text)
    for line, part in _parts(body):
        within = _line_of_sentences(text, stated, part)
        if within is not None:
            return line + within
        if len(text) > _MOST_LONGER * len(part) or len(part) > _MOST_LONGER * len(text) + len("- [ ] "):
            continue
        if _signs(part) != signs:
            continue
        found = words(part)
        if found == stated and (stated or part.strip() == text.strip()):
            return line
        changed = {*stated} ^ {*found}
        news = (word for word in changed if denies(word) or (word in stated and word not in STOP_WORDS))
        if not any(news) and _numbers(found) == _numbers(stated) and likeness(text, part) >= _LEAST_RESTATED:
            return line
    return None


def is_longer_note(text: str, body: str) -> bool:
    """Whether *body* states more than *text*; its first heading does not count."""
    return likeness(text, re.sub(r"\A\s*#{1,6}[ \t][^\n]*", "", body)) < _LEAST_RESTATED


def _line_of_sentences(text: str, asked: list[str], part: str) -> int | None:
    """Return the line of *part*, from 0, where it contains the sentences of *text*; ``None`` if it does not."""
    lower = normalise(part).lower()
    if len(asked) < _LEAST_SENTENCE or not all(word in lower for word in asked):
        return None  # spares the division of nearly every part
    count = sum(1 for _ in _SENTENCE.finditer(text))
    found = list(_SENTENCE.finditer(part))
    for first, last in zip(found, found[count - 1 :], strict=False):
        passage = part[first.start() : last.end()]
        if words(passage) == asked and _signs(passage) == _signs(text):
            return part.count("\n", 0, first.start())
    return None


def _parts(body: str) -> Iterator[tuple[int, str]]:
    """Yield the lines, paragraphs and at last the whole of *body*, with the line where each begins."""
    lines, first = body.split("\n"), 1
    for number, line in enumerate([*lines, ""], 1):
        if line.strip():
            yield number, line
        else:
            if number - first > 1:
                yield first, "\n".join(lines[first - 1 : number - 1])
            first = number + 1
    yield next((number for number, line in enumerate(lines, 1) if line.strip()), 1), body


def _numbers(found: list[str]) -> list[str]:
    return sorted(word for word in found if any(map(str.isdigit, word)))


def _signs(text: str) -> list[str]:
    return sorted(_SIGN.findall(_QUOTE_MARK.sub("", text)))


STEM = 4  # letters that two forms of a word share at least
_INITIALS = 2  # letters that forms of a word share
_MOST_ENDING = 3  # letters that a form may have after the stem


def is_same_word(one: str, other: str) -> bool:
    """Whether two words are forms of one word: equal stems of at least `STEM` letters with short endings."""
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) < STEM:
        return len(shorter) > STEM - 2 and shorter.removesuffix("s") == longer.removesuffix("s")
    shared = next((at for at, letter in enumerate(shorter) if letter != longer[at]), len(shorter))
    return shared >= max(STEM, len(shorter) - 2) and len(longer) - shared <= _MOST_ENDING


def has_words(asked: Sequence[str], text: str, phrases: Iterable[Sequence[str]] = ()) -> list[bool]:
    """
    Return for each word of *asked* whether *text* has it or a form of it; diacritics do not count.

    A text that lacks one of *phrases* lacks all of its words.
    """
    every = words(text) if text.isascii() else [*map(cache(fold), words(text))]
    joined = f" {' '.join(every)} "
    lacking = {word for phrase in phrases if f" {fold(' '.join(phrase))} " not in joined for word in phrase}
    by_initials: dict[str, set[str]] = {}
    for word in every:
        by_initials.setdefault(word[:_INITIALS], set()).add(word)

    def is_there(word: str) -> bool:
        alike = by_initials.get(word[:_INITIALS], set())
        return word in alike or any(is_same_word(word, other) for other in alike - FUNCTION_FORMS.keys())

    return [word not in lacking and is_there(fold(word)) for word in asked]
