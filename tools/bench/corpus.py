"""
Text for size tests: as much as is wanted, with the statistics of real notes and chats.

A source is read once. Its sentences are cut into phrases, each behind a word that is frequent, where much can
follow; a new sentence walks from phrase to phrase, mostly within one topic, so that all neighbouring
words were written by somebody and frequent words stay as frequent as they are. A real vocabulary never
stops growing, that of a walk does: so the place of a rare word is filled anew, by a Pitman-Yor process, with
a word unseen so far or with one that the note, its project or the corpus has used. Unseen words are
those of the source, then blends of two of them. Everything follows from the seed.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import chain, count, islice
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeVar

from corpus_source import LONGEST_SENTENCE, Paragraph, Rare, Source, Topic, is_content, kind

from clawmem.domain.documents.fragments import MAX_PASSAGE
from clawmem.domain.documents.markdown import BlockKind
from clawmem.domain.documents.names import file_name
from clawmem.domain.text.words import index_text, words
from clawmem.ports.records import FragmentKey, Grain, LexicalEntry, LexicalQuery, Term, embedding_text

T = TypeVar("T")
MOST_LINES = 40  # of a note, headings included
PROJECT = 50  # notes that share their topics and their rare words
COLLECTIONS = 12
DAYS = 7 * 365  # over which the notes were written, from 2020 on
BLENDS = 20  # tries for an unseen word
DISCOUNT = 0.5  # Heaps' exponent of English text; a source of few subjects shows a smaller one
SAME_TOPIC, MAIN_TOPIC = 0.9, 0.8  # the share of turns, and of a project's notes
IN_NOTE, IN_PROJECT = 0.5, 0.8  # of rare words that come again: from the note; from it or its project
_RUN = re.compile(r"[^\W\d_]+|\d+")


class Line(NamedTuple):
    """A block of a note; ``above`` are the headings over it, the title left out."""

    kind: BlockKind
    text: str
    above: str


@dataclass(frozen=True, slots=True)
class Note:
    """One generated document."""

    number: int
    collection: str
    path: str
    title: str
    authored_at: str
    lines: tuple[Line, ...]

    def markdown(self) -> str:
        """The file, as a person would have written it."""
        head = (
            f"---\ntitle: {json.dumps(self.title)}\ndate: {self.authored_at[:10]}\n---\n\n# {self.title}\n\n"
        )
        return head + "\n\n".join(line.text for line in self.lines) + "\n"

    def entries(self, grain: Grain) -> list[LexicalEntry]:
        """What the lexical index is told of its lines or passages, numbered from 1 in reading order."""
        texts = self._passages() if grain is Grain.PASSAGE else self._lines()
        return [self._entry(grain, seq, above, text) for seq, (above, text) in enumerate(texts, 1)]

    def passages(self) -> list[str]:
        """What an embedder sees of its passages, in the order of their entries."""
        return [embedding_text(self._context(above), text) for above, text in self._passages()]

    def _lines(self) -> list[tuple[str, str]]:
        following = [*self.lines[1:], None]
        return [
            (line.above, line.text)
            for line, below in zip(self.lines, following, strict=True)
            if line.kind is not BlockKind.HEADING or below is None or _level(below) <= _level(line)
        ]

    def _passages(self) -> list[tuple[str, str]]:
        packed: list[tuple[str, str]] = []
        for line in self.lines:
            above, text = packed[-1] if packed else ("", "")
            if packed and len(text) + len(line.text) + 2 <= MAX_PASSAGE:
                packed[-1] = (above, f"{text}\n\n{line.text}")
            else:
                packed.append((line.above, line.text))
        return packed

    def _context(self, above: str) -> str:
        return f"{' › '.join(filter(None, (self.title, above)))} ({self.authored_at[:10]})"

    def _entry(self, grain: Grain, seq: int, above: str, text: str) -> LexicalEntry:
        names = (file_name(self.path), *reversed(self.path.split("/")[:-1]))
        key = FragmentKey(self.number, seq)
        head = f"{self.title} {above}".rstrip()
        more = (name for name in names if not {*words(head)}.issuperset(words(name)))
        title = index_text(" ".join((head, *more)))
        return LexicalEntry(key, grain, self.collection, title, index_text(text), self.authored_at)


def _level(line: Line) -> int:
    """Return the level of a heading; one more than the lowest for another line."""
    return len(line.text) - len(line.text.lstrip("#")) if line.kind is BlockKind.HEADING else 7


class Vocabulary:
    """
    The rare words of one kind: when a new one is due, and which old one comes again.

    After N draws and V words the next is new with probability (S + D V) / (S + N), with D the discount. S is such
    that as many draws as the source has rare words bring about as many different ones.
    """

    def __init__(self, counts: Counter[str], rng: Random) -> None:
        self._rng = rng
        self._strength = _strength(counts.total(), len(counts))
        self._stock = list(counts)
        self._known: set[str] = set()
        self._drawn: list[str] = []  # every draw, so that a word comes again as often as it has come
        self.note: list[str] = []
        self.project: list[str] = []

    def draw(self, core: str) -> str:
        """A word in the place of *core*, which itself is the first choice for a new one."""
        novelty = self._strength + DISCOUNT * len(self._known)
        if self._rng.random() * (self._strength + len(self._drawn)) < novelty:
            word = self._unseen(core)
        else:
            word = self._again()
        for memory in (self._drawn, self.project, self.note):
            memory.append(word)
        return word

    def _again(self) -> str:
        chance = self._rng.random()
        nearest = self.note if chance < IN_NOTE else self.project if chance < IN_PROJECT else self._drawn
        return _pick(self._rng, nearest or self._drawn)

    def _unseen(self, word: str) -> str:
        for _ in range(BLENDS):
            if word.lower() not in self._known:
                break
            word = self._blend(word)
        else:
            word += str(len(self._known))  # a small stock is used up
        self._known.add(word.lower())
        return word

    def _blend(self, word: str) -> str:
        """*word* with one of its parts changed: other digits, or the beginning of it and the end of another."""
        run = _pick(self._rng, list(_RUN.finditer(word)))
        part = self._digits(run[0]) if run[0].isdigit() else self._joined(run[0])
        return word[: run.start()] + part + word[run.end() :]

    def _digits(self, run: str) -> str:
        length = len(run) + (self._rng.random() < 0.2)
        return str(self._rng.randrange(10 ** (length - 1), 10**length))

    def _joined(self, run: str) -> str:
        other: str = _pick(self._rng, _RUN.findall(_pick(self._rng, self._stock)))
        head = run[: self._rng.randint(min(2, len(run)), min(6, len(run)))]
        at = other.find(head[-1].lower(), len(other) // 3)  # joined where both have the same letter
        joined = head + (other[at + 1 :] if at >= 0 else other[len(other) // 2 :])
        return joined.upper() if run.isupper() and len(run) > 1 else joined


class Writer:
    """Writes one note after another."""

    def __init__(self, source: Source, rng: Random) -> None:
        self._source = source
        self._rng = rng
        self._vocabularies = {kind: Vocabulary(counts, rng) for kind, counts in source.rare.items()}
        self._project: tuple[Topic, Topic]
        self._began: date

    def notes(self) -> Iterator[Note]:
        """Endless, numbered from 1, those of a project one after another."""
        for number in count(1):
            if number % PROJECT == 1:
                self._begin_project()
            yield self._note(number)

    def _begin_project(self) -> None:
        pick = self._rng.choice
        self._project = (pick(pick(self._source.topics)), pick(pick(self._source.topics)))
        self._began = date(2020, 1, 1) + timedelta(self._rng.randrange(DAYS))
        for vocabulary in self._vocabularies.values():
            vocabulary.project.clear()

    def _note(self, number: int) -> Note:
        for vocabulary in self._vocabularies.values():
            vocabulary.note.clear()
        topic = self._project[self._rng.random() >= MAIN_TOPIC]
        title = self._sentence(topic, BlockKind.HEADING)
        day = self._began + timedelta(self._rng.randrange(90))
        project = (number - 1) // PROJECT
        return Note(
            number,
            f"notes-{project % COLLECTIONS:02d}",
            f"project-{project:04d}/{number:07d}.md",
            title,
            f"{day}T00:00:00.000Z",
            tuple(self._lines(topic, self._rng.choice(topic.documents))),
        )

    def _lines(self, topic: Topic, shape: list[Paragraph]) -> Iterator[Line]:
        """Blocks like some that stand together in a real document."""
        first = self._rng.randrange(max(1, len(shape) - MOST_LINES + 1))
        above: list[tuple[int, str]] = []
        for paragraph in shape[first : first + MOST_LINES]:
            text = self._text(topic, paragraph)
            if paragraph.kind is BlockKind.HEADING:
                above = [(level, label) for level, label in above if level < paragraph.level]
            yield Line(paragraph.kind, f"{paragraph.label}{text}", " › ".join(label for _, label in above))
            if paragraph.kind is BlockKind.HEADING:
                above.append((paragraph.level, text))

    def _text(self, topic: Topic, like: Paragraph) -> str:
        """One sentence of a heading, else as many as come nearest to the length of the real paragraph."""
        text = self._sentence(topic, like.kind)
        if like.kind is BlockKind.HEADING:
            return text
        wanted = sum(map(len, like.sentences)) - _length(text)
        while wanted > 0:
            sentence = self._sentence(topic, like.kind)
            wanted -= _length(sentence)
            if wanted < -_length(sentence) / 2:
                break
            text += f" {sentence}"
        return text

    def _sentence(self, topic: Topic, kind: BlockKind) -> str:
        chance, own, every = self._rng.random, topic.walks[kind], self._source.walks[kind]
        said: list[str] = []
        key: str | None = ""
        while key is not None and len(said) < LONGEST_SENTENCE:
            options = (own.get(key) if chance() < SAME_TOPIC else None) or every[key]
            parts, key = options[int(chance() * len(options))]
            for part in parts:
                said.append(part if isinstance(part, str) else self._filled(part))
        return " ".join(said)

    def _filled(self, rare: Rare) -> str:
        return rare.before + self._vocabularies[kind(rare.core)].draw(rare.core) + rare.behind


def generate(source: Source, seed: int = 1) -> Iterator[Note]:
    """Endless notes: the same source and seed give the same ones."""
    return Writer(source, Random(seed)).notes()


def entries(source: Source, grain: Grain, number: int, seed: int = 1) -> Iterator[LexicalEntry]:
    """The first entries of all notes, as many as asked for."""
    return islice(chain.from_iterable(note.entries(grain) for note in generate(source, seed)), number)


def write_notes(notes: Iterable[Note], folder: Path) -> None:
    """Write them as Markdown files, each at ``collection/path``."""
    for note in notes:
        path = folder / note.collection / note.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(note.markdown(), "utf-8")


def questions(
    told: Sequence[LexicalEntry], number: int, seed: int = 1, common: Sequence[str] = ()
) -> list[LexicalQuery]:
    """
    Questions of 3 to 8 content words, any of which may match, each from the text of one entry.

    Args:
        told: Entries to ask for; some need three content words or more.
        common: Words that occur everywhere; they take the place of half of the words.
    """
    rng = Random(seed)
    asked: list[LexicalQuery] = []
    while len(asked) < number:
        content = sorted({word for word in words(rng.choice(told).text) if is_content(word)})
        if len(content) >= 3:
            chosen = rng.sample(content, min(rng.randint(3, 8), len(content)))
            if common:
                chosen = [*rng.sample(common, len(chosen) // 2), *chosen[len(chosen) // 2 :]]
            asked.append(LexicalQuery(tuple(Term(word) for word in dict.fromkeys(chosen))))
    return asked


def _strength(draws: int, different: int) -> float:
    """Which strength brings about that many different words in that many draws, by halving the interval."""
    low, high = 1e-3, 10.0 * draws  # beyond this all are new
    for _ in range(60):
        strength = (low * high) ** 0.5
        expected = strength / DISCOUNT * ((1 + draws / strength) ** DISCOUNT - 1)
        low, high = (strength, high) if expected < different else (low, strength)
    return low


def _length(text: str) -> int:
    return text.count(" ") + 1


def _pick(rng: Random, options: Sequence[T]) -> T:
    return options[int(rng.random() * len(options))]  # four times as fast as choice()
