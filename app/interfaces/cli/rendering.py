"""The output of answers: plain text in a pipe, tables and colour on a terminal, JSON on request."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.app.operations.output import Part, Table, Verbatim, plural, printable, table

if TYPE_CHECKING:
    from clawmem.app.services.retrieval.answer import Answer, Result
    from clawmem.app.services.retrieval.receipts import Receipt

_STYLE = re.compile(r"\x1b\[[\d;]*m")
NO_CONFIDENT_ANSWER = "No confident answer. Closest matches:"
_AGES = ((365.25, "year"), (30.44, "month"), (7, "week"), (1, "day"))


class Said(NamedTuple):
    """
    The output of a command.

    ``degraded`` maps each part of the search that could not be used to the reason. ``asides`` are sentences for
    stderr, such as those about documents that were left out. ``later`` is work to do after the output is written.
    """

    parts: list[Part]
    degraded: Mapping[str, str] = {}
    asides: Sequence[str] = ()
    later: Callable[[], object] = lambda: None


def show_json(value: object) -> None:
    """Print *value* as JSON, see `json_part`."""
    show_part(json_part(value))


def json_part(value: object) -> str:
    """Return *value* as JSON, dataclasses included; NaN and infinities become null."""
    return json.dumps(_plain(value), ensure_ascii=False, indent=2)


def show(text: str) -> None:
    """Print a line of text without the terminal escapes that a note may contain."""
    show_part(printable(text))


def styled(text: str) -> str:
    """Return *text* as `printable` does, but keep the escapes of clawmem's own styles."""
    return "\x1b".join(printable(part) for part in text.split("\x1b"))


def verbatim(text: str) -> Verbatim:
    """Return *text* as a verbatim part, with unencodable characters replaced."""
    return Verbatim(text.encode("utf-8", "replace").decode("utf-8"))


def part_of(told: Any) -> Part:
    """Return the part that *told*, decoded from JSON, represents."""
    if isinstance(told, str):
        return told
    return Verbatim(*told) if len(told) == len(Verbatim._fields) else Table(*told)


def show_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; in a pipe its columns are aligned with blanks."""
    show_part(table(columns, rows))


def show_part(part: Part) -> None:
    """Print one part of the output."""
    if isinstance(part, str):
        _show_line(part)
    elif isinstance(part, Verbatim):
        _show_verbatim(part.text)
    elif sys.stdout.isatty():
        _show_rich_table(part.columns, part.rows)
    else:
        for line in part.lines():
            _show_line(line)


def is_unlikely(answer: Answer) -> bool:
    """
    Whether *answer* was judged and has only unlikely results; without confidences of results, that of the answer
    decides.
    """
    from clawmem.domain.retrieval.relevance import Likelihood, likelihood_of

    if answer.answered is None:
        return False
    judged = [result.confidence for result in answer.results if result.confidence is not None]
    return likelihood_of(max(judged, default=answer.answered)) is Likelihood.UNLIKELY


def confidence_text(confidence: float | None) -> str:
    """Return a confidence and its word, such as ``0.82 likely``; an empty string if the result was not judged."""
    if confidence is None:
        return ""
    from clawmem.domain.retrieval.relevance import likelihood_of

    return f"{confidence:.2f} {likelihood_of(confidence)}"


def hidden_text(answer: Answer, remedy: str) -> str:
    """
    Return how many unlikely results were hidden, and that *remedy* shows them; an empty string if none was hidden.
    """
    hidden = answer.trace.hidden
    return f"{plural(hidden, 'unlikely result')} hidden; {remedy} shows them." if hidden else ""


def show_said(said: Said) -> None:
    """Print the output of a command; degraded parts and asides go to stderr in every format."""
    for part in said.parts:
        show_part(part)
    for leg, reason in said.degraded.items():
        sys.stderr.write(f"degraded: {leg}: {printable(reason)}\n")
    for aside in said.asides:
        sys.stderr.write(f"clawmem: {printable(aside)}\n")


def answer_record(
    answer: Answer, receipt: Receipt | None = None, receipt_id: int | None = None
) -> dict[str, object]:
    """
    Return an answer as JSON: the question, its answerability, the results, and the degraded parts of the search.

    With a *receipt* also the trace and the receipt's id.
    """
    results = [result_record(result) for result in answer.results]
    found: dict[str, object] = {
        "query": answer.query,
        "answered": share(answer.answered),
        "hidden": answer.trace.hidden,
        "results": results,
        "degraded": dict(answer.trace.degraded),
    }
    if receipt is None:
        return found
    from clawmem.app.operations.explaining import explained_record, trace_record

    explained = [
        {**result, **explained_record(item)} for result, item in zip(results, receipt.items, strict=True)
    ]
    return {**found, "results": explained, "trace": trace_record(receipt), "receipt": receipt_id}


def share(probability: float | None) -> float | None:
    """Return a probability rounded for JSON; null if it was not judged."""
    return None if probability is None else round(probability, 4)


def result_record(result: Result) -> dict[str, object]:
    """Return one result as JSON."""
    from clawmem.app.records.provenance import provenance_of, title_of
    from clawmem.app.records.succession import successor_of
    from clawmem.domain.retrieval.relevance import likelihood_of

    document, shown = result.document, result.snippet()
    return {
        "docid": f"#{result.docid}",
        "file": document.display_path,
        "collection": document.collection,
        "path": document.path,
        "title": title_of(document),
        **provenance_of(document.origin),
        "score": round(result.score, 4),
        "confidence": share(result.confidence),
        "likelihood": None if result.confidence is None else str(likelihood_of(result.confidence)),
        "start_line": result.start_line,
        "end_line": result.end_line,
        "heading": result.heading,
        "content_type": document.content_type,
        "authored_at": document.authored_at,
        "modified_at": document.modified_at,
        "snippet": shown.text,
        "snippet_line": shown.start_line,
        "superseded_by": successor_of(result.superseded_by),
    }


def age(days: float) -> str:
    """Return an age in days as text, such as ``3 weeks ago``."""
    if math.isnan(days):
        return "of unknown age"
    if days < 0:
        return "in the future" if days < -1 else "today"
    for length, unit in _AGES:
        if (count := int(days / length)) >= 1:
            return "yesterday" if (unit, count) == ("day", 1) else f"{plural(count, unit)} ago"
    return "today"


def _show_line(text: str) -> None:
    if str(sys.stdout.encoding).lower() == "utf-8" and not sys.stdout.isatty():
        sys.stdout.write(f"{_STYLE.sub('', text)}\n")
        sys.stdout.flush()
        return
    import typer  # importing typer takes longer than every other step of a served question

    typer.echo(text, color=_colour())


def _show_verbatim(text: str) -> None:
    if sys.stdout.isatty():
        _show_line(printable(text))
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(f"{text}\n".encode())
    sys.stdout.buffer.flush()


def _show_rich_table(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    # Cells are folded, not truncated, so that paths can be copied.
    folded = [Column(name, overflow="fold") for name in columns]
    table = Table(*folded, box=None, header_style="bold", pad_edge=False)
    for row in cells:
        table.add_row(*map(Text, row))
    Console(no_color=_colour() is False).print(table)


def _colour() -> bool | None:
    """Return False if NO_COLOR is set; None lets typer decide by whether stdout is a terminal."""
    return False if os.environ.get("NO_COLOR") else None


def _plain(value: Any) -> Any:
    from dataclasses import asdict, is_dataclass

    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    return str(value) if isinstance(value, PurePath) else value
