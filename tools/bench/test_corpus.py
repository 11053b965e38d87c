"""What size tests rest on: generated text that has the statistics of its source, at any length."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from itertools import islice
from pathlib import Path
from statistics import quantiles

import pytest
from corpus import Note, entries, generate, questions
from corpus_source import Source
from programs import run_program

import clawmem
from clawmem.domain.documents.fragments import fragment, lexical_entries
from clawmem.domain.documents.frontmatter import split
from clawmem.domain.documents.markdown import BlockKind, Markdown
from clawmem.domain.text.vocabulary import STOP_WORDS
from clawmem.domain.text.words import words
from clawmem.ports.records import Document, Grain

pytestmark = pytest.mark.bench

DATA = os.environ.get("BENCH_DATA")
SOURCES = [None, *(sorted(p.parent for p in Path(DATA).rglob("dev/corpus")) if DATA else [])]

DIGEST = """
from hashlib import sha256
from itertools import islice
from corpus import Source, generate
from corpus_source import Source
print(sha256("".join(n.markdown() for n in islice(generate(Source(), 7), 60)).encode()).hexdigest())
"""


@pytest.fixture(scope="module", params=SOURCES, ids=lambda folder: folder.parent.name if folder else "notes")
def source(request: pytest.FixtureRequest) -> Source:
    return Source(request.param)


@pytest.fixture(scope="module")
def notes(source: Source) -> list[Note]:
    return list(islice(generate(source), 1000))


def tokens(notes: Iterable[Note]) -> list[str]:
    return [word for note in notes for line in note.lines for word in words(line.text)]


def said(source: Source) -> list[list[str]]:
    """The words of every line of the source."""
    return [
        [word for sentence in paragraph.sentences for word in words(" ".join(sentence))]
        for topics in source.topics
        for topic in topics
        for document in topic.documents
        for paragraph in document
        if paragraph.kind is not BlockKind.HEADING
    ]


def stored(note: Note) -> Document:
    """What indexing its file makes of it, as far as its entries show."""
    when = note.authored_at
    return Document(note.collection, note.path, note.title, "", "", when, when, when, id=note.number)


def slope(counts: Counter[str], first: int, last: int) -> float:
    """How steeply log frequency falls with log rank, least squares over some ranks."""
    points = [(math.log(rank), math.log(n)) for rank, (_, n) in enumerate(counts.most_common(last), 1)][
        first:
    ]
    mean_x, mean_y = (sum(values) / len(points) for values in zip(*points, strict=True))
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


class TestRepeatable:
    def test_the_same_seed_gives_the_same_notes(self) -> None:
        """In every process, whatever the seed of its hashes."""
        folder = str(Path(__file__).parent)
        path = os.pathsep.join([folder, str(Path(clawmem.__path__[0]).parent)])
        environment = {"PYTHONPATH": path, "PYTHONHASHSEED": "12345"}
        here = "".join(note.markdown() for note in islice(generate(Source(), 7), 60))
        assert run_program(DIGEST, env=environment).stdout.strip() == sha256(here.encode()).hexdigest()

    def test_a_shorter_corpus_is_the_beginning_of_a_longer_one(self, source: Source) -> None:
        """What was measured at 10 000 is a part of what is measured at 100 000."""
        long = list(entries(source, Grain.PASSAGE, 300))

        assert list(entries(source, Grain.PASSAGE, 100)) == long[:100]


class TestStatistics:
    def test_frequent_words_fall_off_as_in_the_source(self, source: Source, notes: list[Note]) -> None:
        """Zipf's law, with the source's own slope."""
        real = Counter(word for line in said(source) for word in line)
        made = Counter(tokens(notes)[: real.total()])

        assert slope(made, 5, 200) == pytest.approx(slope(real, 5, 200), abs=0.15)

    def test_a_rare_word_comes_in_bursts(self, notes: list[Note]) -> None:
        """Where it stands once it stands again: spread by chance its occurrences would hardly meet in a note."""
        counts = Counter(tokens(notes))
        occurrences = places = 0
        for note in notes:
            here = [word for word in tokens([note]) if 3 <= counts[word] <= 12]
            occurrences, places = occurrences + len(here), places + len(set(here))

        assert occurrences / places >= 1.05

    def test_lines_are_as_long_as_those_of_the_source(self, source: Source, notes: list[Note]) -> None:
        """The shortest tenth, the middle and the longest tenth end at about the same lengths."""
        real = quantiles([len(line) for line in said(source)], n=10)
        lines = [line for note in notes for line in note.lines if line.kind is not BlockKind.HEADING]
        made = quantiles([len(words(line.text)) for line in lines], n=10)

        assert [made[i] for i in (0, 4, 8)] == pytest.approx([real[i] for i in (0, 4, 8)], rel=0.35, abs=2)


class TestForms:
    def test_the_files_hold_what_the_index_is_told(self, notes: list[Note]) -> None:
        """Reading the Markdown gives the lines and titles that the entries have."""
        for note in notes[:200]:
            parts = fragment(Markdown(split(note.markdown()).body), title=note.title)
            read = [entry for entry in lexical_entries(stored(note), parts) if entry.grain is Grain.LINE]

            assert [entry._replace(key=None) for entry in read] == [
                entry._replace(key=None) for entry in note.entries(Grain.LINE)
            ]

    def test_passages_hold_every_line(self, notes: list[Note]) -> None:
        """What is embedded and what is indexed are the same ones."""
        for note in notes[:200]:
            passages = note.passages()

            assert all(any(line.text in passage for passage in passages) for line in note.lines)
            assert len(note.entries(Grain.PASSAGE)) == len(passages)


class TestQuestions:
    def test_a_question_has_the_content_words_of_one_entry(self, source: Source) -> None:
        """Three to eight different ones, so that something always answers it."""
        told = list(entries(source, Grain.LINE, 500))
        asked = [[term.text for term in question.terms] for question in questions(told, 50)]

        texts = [set(words(entry.text)) for entry in told]
        assert all(3 <= len(set(terms)) == len(terms) <= 8 for terms in asked)
        assert all(any(text.issuperset(terms) for text in texts) for terms in asked)
        assert not STOP_WORDS.intersection(*asked)
        assert len({len(terms) for terms in asked}) >= 3
