"""What a text for size tests is made from: the sentences, topics and frequencies of real notes and chats."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from clawmem.domain.documents.frontmatter import split
from clawmem.domain.documents.markdown import Block, BlockKind, Markdown
from clawmem.domain.text.vocabulary import STOP_WORDS

NOTES = Path(__file__).parents[2] / "examples" / "notes"
TOPIC = 8000  # words of neighbouring documents that make a topic
LONGEST_SENTENCE = 60  # words; code and tables on one line have no full stop
LONGEST_LINE = 60  # words; the chats of some collections have lost their line breaks
BRANCHING = 5  # occurrences in a topic that make a word a place to turn off
SHORTEST_PHRASE = 3  # words
COMMON = 50  # content words that count as very frequent
RARE_TOKENS = 0.05  # the share of the text that is filled anew
RARE = range(3, 11)  # occurrences in the source up to which a word is rare: as many as keep to that share
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_TURN = re.compile(r"\*\*[^*\n]{1,42}\*\*:?|(?:user|assistant|human|system):", re.IGNORECASE)
# What would make a heading, an item or code of a line that begins with it.
_MARKS = re.compile(r"(?:[\s#>*+|`~=-]+|\[.\]\s+|\d{1,9}[.)]\s+)*")
_CORE = re.compile(r"[^\W_](?:.*[^\W_])?")


class Rare(NamedTuple):
    """A word whose place is filled anew, and the punctuation around it."""

    before: str
    core: str
    behind: str


class Phrase(NamedTuple):
    """Some words of a sentence, rare ones apart, and the key to what may follow; ``None``: the end."""

    parts: tuple[str | Rare, ...]
    last: str | None


Walks = dict[BlockKind, defaultdict[str, list[Phrase]]]  # of a kind, by the word before, "" at the beginning


class Paragraph(NamedTuple):
    """One block of a real document."""

    kind: BlockKind
    level: int
    label: str
    sentences: list[list[str]]


class Topic(NamedTuple):
    """Neighbouring documents of one collection: their shapes, and how their sentences go."""

    documents: list[list[Paragraph]]
    walks: Walks


class Source:
    """What is learnt from real documents: topics by collection, and how often each rare word occurs, by kind."""

    def __init__(self, folder: Path | None = None) -> None:
        """
        Args:
            folder: One judged collection or a folder of them; None takes the example notes.
        """
        collections = [[_paragraphs(path) for path in paths] for paths in _files(folder)]
        cores = [core[0] for word in _words(chain.from_iterable(collections)) if (core := _CORE.search(word))]
        counts = Counter(core.lower() for core in cores)
        self.common = [word for word, _ in counts.most_common() if word.isalpha() and is_content(word)][
            :COMMON
        ]
        self._rare = _rare(counts)
        self.rare: dict[str, Counter[str]] = defaultdict(Counter)
        for word in cores:
            if word.lower() in self._rare:
                self.rare[kind(word)][word.lower()] += 1
        self.walks = _new_walks()
        self.topics = [[self._topic(group) for group in _groups(documents)] for documents in collections]

    def _topic(self, documents: list[list[Paragraph]]) -> Topic:
        walks = _new_walks()
        counts = Counter(_words(documents))
        for paragraph in chain.from_iterable(documents):
            for sentence in paragraph.sentences:
                for before, phrase in self._phrases(sentence, counts):
                    walks[paragraph.kind][before].append(phrase)
                    self.walks[paragraph.kind][before].append(phrase)
        # A note begins with a title of its own.
        return Topic([[p for p in document if p.level != 1] for document in documents], walks)

    def _phrases(self, sentence: list[str], counts: Counter[str]) -> Iterator[tuple[str, Phrase]]:
        before, first = "", 0
        for last, word in enumerate(sentence[:-1], 1):
            if counts[word] >= BRANCHING and last - first >= SHORTEST_PHRASE:
                yield before, Phrase(self._parts(sentence[first:last]), word)
                before, first = word, last
        yield before, Phrase(self._parts(sentence[first:]), None)

    def _parts(self, stretch: list[str]) -> tuple[str | Rare, ...]:
        parts: list[str | Rare] = []
        for word in stretch:
            core = _CORE.search(word)
            if core and core[0].lower() in self._rare:
                parts.append(Rare(word[: core.start()], core[0], word[core.end() :]))
            elif parts and isinstance(parts[-1], str):
                parts[-1] += f" {word}"
            else:
                parts.append(word)
        return tuple(parts)


def _files(folder: Path | None) -> list[list[Path]]:
    """The Markdown files by collection."""
    if folder is None:
        return [sorted(NOTES.rglob("*.md"))]
    roots = [folder / "corpus", *sorted(folder.glob("*/dev/corpus"))]
    return [sorted(root.rglob("*.md")) for root in roots if root.is_dir()]


def _paragraphs(path: Path) -> list[Paragraph]:
    """The blocks of one file, code left out; a long one becomes several, as if it had its line breaks."""
    body = split(path.read_text("utf-8")).body
    prose = (block for block in Markdown(body).blocks if block.kind is not BlockKind.CODE)
    return [part for block in prose for part in _parted(block, body[block.start : block.end])]


def _parted(block: Block, text: str) -> Iterator[Paragraph]:
    turn = block.kind is BlockKind.TURN
    kind, label = (BlockKind.PARAGRAPH if turn else block.kind), _label(block)
    for sentences in _packed(_sentences(_TURN.sub("", text, 1) if turn else text)):
        yield Paragraph(kind, block.level, label, sentences)
        label = "" if turn else label


def _label(block: Block) -> str:
    """What stands before the words of a block."""
    marks = {BlockKind.HEADING: "#" * max(2, block.level) + " ", BlockKind.ITEM: "- "}
    return f"**{block.label}:** " if block.kind is BlockKind.TURN else marks.get(block.kind, "")


def _sentences(text: str) -> Iterator[list[str]]:
    for sentence in _SENTENCE_END.split(_MARKS.sub("", text, 1)):
        said = sentence.split()
        for first in range(0, len(said), LONGEST_SENTENCE):
            spoken = _MARKS.sub("", " ".join(said[first : first + LONGEST_SENTENCE]), 1)
            if spoken:
                yield spoken.split()


def _packed(sentences: Iterable[list[str]]) -> Iterator[list[list[str]]]:
    packed: list[list[str]] = []
    for sentence in sentences:
        if packed and sum(map(len, packed)) + len(sentence) > LONGEST_LINE:
            yield packed
            packed = []
        packed.append(sentence)
    if packed:
        yield packed


def _groups(documents: list[list[Paragraph]]) -> Iterator[list[list[Paragraph]]]:
    """Neighbours together until they have the size of a topic; what is without a line is left out."""
    group: list[list[Paragraph]] = []
    size = 0
    for document in documents:
        if any(paragraph.kind is not BlockKind.HEADING for paragraph in document):
            group.append(document)
            size += sum(1 for _ in _words([document]))
        if size >= TOPIC:
            yield group
            group, size = [], 0
    if group:
        yield group


def _words(documents: Iterable[list[Paragraph]]) -> Iterator[str]:
    sentences = (paragraph.sentences for paragraph in chain.from_iterable(documents))
    return chain.from_iterable(chain.from_iterable(sentences))


def _rare(counts: Counter[str]) -> frozenset[str]:
    tokens = Counter(counts.values())
    kept = RARE_TOKENS * counts.total()
    limit = max((n for n in RARE if sum(k * tokens[k] for k in range(1, n + 1)) <= kept), default=RARE[0])
    return frozenset(word for word, count in counts.items() if count <= limit)


def kind(core: str) -> str:
    """Words change places only with their like."""
    if not core.isalpha():
        return "identifier" if any(map(str.isalpha, core)) else "number"
    return "word" if core.islower() else "name"


def _new_walks() -> Walks:
    return {kind: defaultdict(list) for kind in BlockKind}


def is_content(word: str) -> bool:
    return len(word) > 1 and word not in STOP_WORDS
