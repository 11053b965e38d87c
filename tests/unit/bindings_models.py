"""How the vectors of the policies around models call this implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clawmem.domain.retrieval.blending import blend, published_blend
from clawmem.domain.retrieval.chunk_choice import choose_chunk, intent_terms
from clawmem.domain.retrieval.expansion import is_strong_signal, read_expansion
from clawmem.domain.retrieval.sketches import agreement, nearest_words, read_rows

Answer = Callable[[dict[str, Any]], Any]


def _refusable(answer: Answer) -> Answer:
    def refused_or_answered(given: dict[str, Any]) -> Any:
        try:
            return answer(given)
        except ValueError:
            return {"error": True}

    return refused_or_answered


def _expansion(given: dict[str, Any]) -> list[list[str]]:
    return [[variant.kind.value, variant.text] for variant in read_expansion(**given)]


def _chunk_choice(given: dict[str, Any]) -> dict[str, Any]:
    body = "".join(map(_run, given.pop("runs")))
    around = given.pop("around", None)
    chunk = choose_chunk(body, around=tuple(around) if around else None, **given)
    return {"start": body.index(chunk), "length": len(chunk)}


def _run(run: int | list[Any]) -> str:
    """Part of a body of thousands of characters: a text so many times, or so many numbers of five digits."""
    if isinstance(run, int):
        return "".join(f"{number:05d}" for number in range(run))
    text, times = run
    return str(text) * times


def _sketched(question: str, line: str, dimensions: int) -> list[Any] | None:
    """How near a line comes to each word of a question and to the whole, both sketches in hex."""
    asked, written = (read_rows(bytes.fromhex(sketch), dimensions) for sketch in (question, line))
    if asked is None or written is None:
        return None
    return [list(nearest_words(asked, written)), agreement(asked.whole, written.whole, dimensions)]


BINDINGS: dict[str, Answer] = {
    "expansion": _expansion,
    "strong_signal": lambda given: is_strong_signal(**given),
    "chunk_choice": _refusable(lambda given: _chunk_choice(dict(given))),
    "intent_terms": lambda given: list(intent_terms(**given)),
    "blend": _refusable(lambda given: blend(**given)),
    "published_blend": lambda given: published_blend(**given),
    "sketches": _refusable(lambda given: _sketched(**given)),
}
