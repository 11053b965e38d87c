"""The explanation of an answer as text and as JSON; imported only on request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clawmem.app.operations.output import Part, printable, table
from clawmem.app.services.retrieval.receipts import Receipt


def score_lines(
    score: float,
    terms: Mapping[str, float],
    parts: Mapping[str, float],
    ranks: Mapping[str, Mapping[str, Any]],
) -> list[str]:
    """
    Return the explanation of one result: the terms of its score, then a table of the retrievers.

    The table has, for each retriever, the rank, the retriever's own score, and its contribution to the relevance.
    """
    shown = ", ".join(f"{name} {value:+.3f}" for name, value in terms.items() if round(value, 3))
    legs = dict.fromkeys([*ranks, *parts])
    return [
        f"score: {shown or f'{score:.3f}'}",
        _row_of_leg("relevance by leg: ", "rank", "score", "worth"),
        *(_leg(name, ranks.get(name), parts.get(name)) for name in legs),
    ]


def trace_parts(trace: Mapping[str, Any]) -> list[Part]:
    """
    Return the part of the explanation that all results share: hits, stages, and dropped candidates.

    Args:
        trace: A `trace_record`.
    """
    hits = ", ".join(f"{name} {count}" for name, count in trace["hits"].items())
    rows = [
        (stage["name"], stage["came_in"], stage["went_out"], f"{stage['ms']:.1f}", _notes(stage))
        for stage in trace["stages"]
    ]
    return [printable(f"hits: {hits or 'none'}"), table(("stage", "in", "out", "ms", ""), rows)]


def trace_record(receipt: Receipt) -> dict[str, Any]:
    """Return the trace that all results share, as JSON."""
    return {name: plain(getattr(receipt, name)) for name in ("stages", "degraded", "hits")}


def plain(value: Any) -> Any:
    """Return a part of a receipt as JSON."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    return [*map(plain, value)] if isinstance(value, tuple | list) else value


def _leg(name: str, found: Mapping[str, Any] | None, part: float | None) -> str:
    rank, score = (str(found["rank"]), f"{found['score']:.3f}") if found else ("", "")
    return _row_of_leg(f"  {name}", rank, score, "" if part is None else f"{part:+.3f}")


def _row_of_leg(name: str, rank: str, score: str, worth: str) -> str:
    return f"{name:<24}{rank:>5}{score:>9}{worth:>9}".rstrip()


def _notes(stage: Mapping[str, Any]) -> str:
    dropped = (f"{count} {reason}" for reason, count in stage["dropped"].items())
    return "; ".join([*stage["notes"], *dropped])
