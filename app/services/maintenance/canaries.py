"""Canaries: questions with known answers that detect a faulty model before its results are used."""

from __future__ import annotations

import math
from collections.abc import Sequence
from struct import unpack
from typing import NamedTuple

from clawmem.domain.knowledge.llm_answer import json_answer
from clawmem.ports.embedder import Embedder
from clawmem.ports.generator import Generator
from clawmem.ports.records import Vector
from clawmem.ports.reranker import Reranker

SAME = 0.999  # least cosine between a stored and a recomputed vector of one text; rounding stays above
NAMED = 3  # names listed in a message

RERANK_TIMEOUT_S = 20.0  # per question; a small model on one core reads about one text per second
GENERATE_TIMEOUT_S = 30.0
ANSWER_TOKENS = 60


class Golden(NamedTuple):
    """A question, a text that answers it, and one that does not."""

    question: str
    right: str
    wrong: str


# A working model ranks the right text of each question first among the twelve. A model that returns constants or
# noise does not: a random pick is right in 1 of 12 cases, and it would have to be right six times.
GOLDEN = (
    Golden(
        "how to bake sourdough bread",
        "Bake the bread in a hot oven after the sourdough has risen overnight.",
        "The quarterly tax return is due before the end of March.",
    ),
    Golden(
        "database connection timeout error",
        "The connection to the database failed with a timeout.",
        "We planted tomatoes and basil behind the greenhouse.",
    ),
    Golden(
        "which train goes to the airport",
        "Take the train from the central station to reach the airport.",
        "The cello part of this quartet is surprisingly hard.",
    ),
    Golden(
        "my daughter's birthday party",
        "A party for the birthday of our daughter, with cake and balloons.",
        "Compile the kernel module before loading it.",
    ),
    Golden(
        "doctor appointment for knee pain",
        "The doctor examined the painful knee and ordered an x-ray at the next appointment.",
        "Stock prices fell sharply when the bank raised interest rates.",
    ),
    Golden(
        "learning to play the guitar",
        "She practises guitar chords every evening and is learning to play a song.",
        "The volcano erupted and covered the valley with ash.",
    ),
)
_TEXTS = tuple(text for golden in GOLDEN for text in (golden.right, golden.wrong))
_LINE_UP = 4  # texts compared per question

# Every use of a generator needs one of a few words under a given key.
_VERDICT = {"type": "object", "properties": {"answer": {"enum": ["yes", "no"]}}, "required": ["answer"]}
# The question contains no example answer; otherwise a model that repeats its prompt would pass.
_QUESTION = 'Is fire hot? Answer in JSON, with one object whose only field, "answer", is either yes or no.'


def embedder_fault(embedder: Embedder) -> str | None:
    """Return the fault in the vectors of *embedder* for texts of known similarity, or ``None``."""
    asked = [embedder.embed_query(golden.question) for golden in GOLDEN]
    told = embedder.embed_documents(_TEXTS)
    if len(told) != len(_TEXTS):
        return f"{len(told)} vectors came for {len(_TEXTS)} texts"
    if any(len(vector) != 4 * embedder.dimensions for vector in (*asked, *told)):
        return f"a vector is not of {embedder.dimensions} dimensions"
    if _is_constant(told) or _is_constant(asked):
        return "different texts get the same vector"
    likeness = [[cosine(question, text) for text in told] for question in asked]
    return _missed(
        [_leads(row, 2 * place) for place, row in enumerate(likeness)], "are not nearest to what they mean"
    )


def reranker_fault(reranker: Reranker) -> str | None:
    """Return the fault in the scores of *reranker* for texts of known order, or ``None``."""
    scores = [_scores(reranker, number) for number in range(len(GOLDEN))]
    if any(len(row) != _LINE_UP or not all(0 <= score <= 1 for score in row) for row in scores):
        return "a score is missing, or not from 0 to 1"
    if len({score for row in scores for score in row}) == 1:
        return "every text gets the same score"
    if all(_leads([-score for score in row], _place(number)) for number, row in enumerate(scores)):
        return "it scores the wrong way round: what answers a question comes last"
    leads = [_leads(row, _place(number)) for number, row in enumerate(scores)]
    return _missed(leads, "do not get their answer first")


def generator_fault(generator: Generator) -> str | None:
    """Return the fault in the JSON that *generator* writes on request, or ``None``."""

    def ask(prompt: str) -> str:
        return generator.generate(
            prompt, timeout_s=GENERATE_TIMEOUT_S, max_tokens=ANSWER_TOKENS, schema=_VERDICT
        )

    if json_answer(ask, _QUESTION, _VERDICT) is None:
        return "asked for JSON of a given shape, it wrote something else, twice"
    return None


def cosine(one: Vector, other: Vector) -> float:
    """Return the cosine of two vectors of any length; 0 for a zero vector, NaN if not finite or not comparable."""
    a, b = _numbers(one), _numbers(other)
    if len(a) != len(b):
        return math.nan
    lengths = math.hypot(*a) * math.hypot(*b)
    return sum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0.0


def listed(names: Sequence[str]) -> str:
    """Return the first `NAMED` of *names* and the number of the others."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _scores(reranker: Reranker, number: int) -> list[float]:
    """
    Return the scores of the candidate texts of one question: its right text among wrong ones.

    The position of the right text varies, which exposes a model that scores by position alone.
    """
    wrong = [golden.wrong for golden in GOLDEN]
    line_up = [wrong[(number + step) % len(wrong)] for step in range(_LINE_UP)]
    line_up[_place(number)] = GOLDEN[number].right
    return reranker.rerank(GOLDEN[number].question, line_up, timeout_s=RERANK_TIMEOUT_S)


def _place(number: int) -> int:
    return number % _LINE_UP


def _leads(scores: Sequence[float], place: int) -> bool:
    """Whether the score at *place* is above all others; False if any score is NaN."""
    return all(scores[place] > score for other, score in enumerate(scores) if other != place)


def _missed(hits: Sequence[bool], how: str) -> str | None:
    missed = [golden.question for golden, hit in zip(GOLDEN, hits, strict=True) if not hit]
    if not missed:
        return None
    return f"{len(missed)} of {len(GOLDEN)} questions {how}: {listed(missed)}"


def _is_constant(vectors: Sequence[Vector]) -> bool:
    return any(cosine(vectors[0], other) >= SAME for other in vectors[1:])


def _numbers(vector: Vector) -> tuple[float, ...]:
    return unpack(f"<{len(vector) // 4}f", vector)
