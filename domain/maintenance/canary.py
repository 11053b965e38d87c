"""Texts whose order every working model knows, and faults in the vectors and scores that a model gives them."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from operator import mul
from typing import NamedTuple

from clawmem.domain.briefing.blocks import few
from clawmem.ports.records import Vector

COMPARED = 4  # texts per question to a reranker


class Golden(NamedTuple):
    """A question, a text that answers it, and one that does not."""

    question: str
    right: str
    wrong: str


# A working model ranks the right text of each question first among the twelve. A model that returns constants or
# noise does not: a random pick is right in 1 of 12 cases, and it would have to be right six times.
GOLDEN = (
    Golden("how to bake sourdough bread", "We bake sourdough bread in a hot oven.", "The tax is due."),
    Golden("database connection timeout", "The database connection had a timeout.", "Basil grows in pots."),
    Golden("which train goes to the airport", "Take this train to the airport.", "The cello part is hard."),
    Golden("my daughter's birthday party", "A birthday party for our daughter.", "Compile this module."),
    Golden("doctor appointment for knee pain", "The doctor examined the painful knee.", "Stock prices fell."),
    Golden("learning to play the guitar", "She is learning guitar chords to play.", "A volcano erupted."),
)
# Every use of a generator needs one of a few words under a given key.
VERDICT = {"type": "object", "properties": {"answer": {"enum": ["yes", "no"]}}, "required": ["answer"]}
# The question contains no example answer; otherwise a model that repeats its prompt would pass.
QUESTION = 'Is fire hot? Answer in JSON, with one object whose only field, "answer", is either yes or no.'


def compared_texts(number: int) -> list[str]:
    """Return the texts for the question with this *number*: the right one and those of other questions."""
    texts = [GOLDEN[(number + step) % len(GOLDEN)].wrong for step in range(COMPARED)]
    texts[_place(number)] = GOLDEN[number].right
    return texts


def _place(number: int) -> int:
    """Return the place of the right text; it varies, which exposes a model that scores by place alone."""
    return number % COMPARED


def fault_in_ranking(scores: Sequence[Sequence[float]]) -> str | None:
    """Return the fault in the *scores* of the `compared_texts` of each question, or ``None``."""
    if any(len(row) != COMPARED or not all(0 <= score <= 1 for score in row) for row in scores):
        return "a score is missing, or not from 0 to 1"
    return _missed(scores, map(_place, range(len(GOLDEN))), "do not get their answer first")


def fault_in_vectors(questions: Sequence[Vector], vectors: Sequence[Vector], dimensions: int) -> str | None:
    """Return the fault in the vectors of the *questions*, and in those of the right and the wrong text of each."""
    if len(vectors) != 2 * len(GOLDEN) or any(
        len(vector) != 4 * dimensions for vector in (*questions, *vectors)
    ):
        return f"a vector is missing, or not of {dimensions} dimensions"
    similarities = [[cosine(question, vector) for vector in vectors] for question in questions]
    return _missed(similarities, range(0, len(vectors), 2), "are not nearest to what they mean")


def cosine(first: Vector, second: Vector) -> float:
    """Return the cosine of two vectors of any length; 0 for a zero vector, NaN if not finite or not comparable."""
    a, b = array("f", first), array("f", second)
    if len(a) != len(b):
        return math.nan
    lengths = math.hypot(*a) * math.hypot(*b)
    return sum(map(mul, a, b)) / lengths if lengths else 0.0


def _missed(scores: Iterable[Sequence[float]], places: Iterable[int], how: str) -> str | None:
    """Return the questions whose score at the right place is not above all others, which NaN never is."""
    missed = [
        golden.question
        for golden, row, place in zip(GOLDEN, scores, places, strict=True)
        if not all(row[place] > score for other, score in enumerate(row) if other != place)
    ]
    return f"{len(missed)} of {len(GOLDEN)} questions {how}: {few(missed)}" if missed else None
