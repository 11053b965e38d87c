"""Answers as text: a few lines for agents, and spaced and styled for people on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clawmem.app.operations.answers import Clause, FoundDocument, SearchAnswer
from clawmem.app.operations.explaining import score_lines, trace_parts
from clawmem.app.operations.operation import Result
from clawmem.app.operations.output import Part, Styled, bold, confidence_text, dim, plural, table
from clawmem.app.services.documents.records import successor_mark
from clawmem.domain.briefing.packing import shortened
from clawmem.domain.retrieval.relevance import Likelihood, likelihood_of
from clawmem.domain.security.quoting import lines_to_read, title_to_read, without_orders
from clawmem.ports.records import one_line
from clawmem.ports.sessions import Session

NO_CONFIDENT_ANSWER = "No confident answer. Closest matches:"
SHOWN_ID, SHOWN_SUMMARY, SHOWN_FILES = 8, 100, 5  # limits for the display of a session


def answer_text(answer: SearchAnswer) -> str:
    """Return the results one below another, each with its place and the lines that answer; for agents."""
    plan = (
        f"{clause.priority}. {clause.type}: {clause.query} ({clause.result_count})"
        for clause in answer.plan or ()
    )
    head = [*_route_lines(answer), *plan, *map(session_line, answer.sessions or ())]
    if not answer.results:
        head += [f"Nothing found for: {answer.query}"]
    elif is_unlikely(answer):
        head += [NO_CONFIDENT_ANSWER]
    lines = [*head, *map(result_text, answer.results), *_hidden_line(answer, "show_all")]
    return "\n".join(lines)


def answer_parts(answer: SearchAnswer) -> Iterator[Part]:
    """Yield the results one below another; of an explained answer also the scores. For people."""
    yield from _heading(answer)
    if not answer.results:
        silent = " (nothing here is likely to answer)" if answer.answered is not None else ""
        yield f"Nothing found for: {answer.query}{silent}"
    elif is_unlikely(answer):
        yield NO_CONFIDENT_ANSWER
    for result in answer.results:
        yield from result_parts(result)
    yield from _hidden_line(answer, "--all")
    if answer.trace is not None:
        yield from trace_parts(answer.trace)
        kept = answer.receipt
        yield f"receipt: {kept}  (clawmem why {kept})" if kept else "receipt: none was kept"


def is_unlikely(answer: Result) -> bool:
    """
    Whether *answer* was judged and has only unlikely results; without confidences of results, that of the answer
    decides.
    """
    if not isinstance(answer, SearchAnswer) or answer.answered is None or not answer.results:
        return False
    words = {result.likelihood for result in answer.results if result.likelihood is not None}
    return (words or {likelihood_of(answer.answered)}) == {Likelihood.UNLIKELY}


def _hidden_line(answer: SearchAnswer, remedy: str) -> list[str]:
    if not answer.hidden:
        return []
    return [f"{plural(answer.hidden, 'unlikely result')} hidden; {remedy} shows them."]


def _route_lines(answer: SearchAnswer) -> Iterator[str]:
    if answer.mode is not None:
        yield f"[routed: {answer.mode}]"
    if answer.intent is not None:
        yield f"asks for: {answer.intent} ({answer.confidence or 0:.2f})"


def result_text(result: FoundDocument) -> str:
    """Return a result with its place and the lines that answer; for agents."""
    age = result.age
    facts = ", ".join(filter(None, (result.docid, confidence_text(result.confidence), age)))
    last = "" if result.end_line == result.start_line else f"-{result.end_line}"
    title = title_to_read(result.title, result.origin)
    mark = f" [{successor_mark(result.superseded_by)}]" if result.superseded_by else ""
    head = f"{result.file}:{result.start_line}{last} ({facts}) {title}{mark}"
    lines = [result.snippet] if result.trusted else lines_to_read(result.snippet, result.origin)
    return "\n  ".join([head, *lines])


def session_line(one: Session) -> str:
    """Return a session on one line; for agents."""
    ended = "active" if one.ended_at is None else f"to {one.ended_at[:16]}"
    summary = shortened(" ".join(one.summary.split()), SHOWN_SUMMARY)
    files = ", ".join(one.files_changed[:SHOWN_FILES])
    facts = (one.id[:SHOWN_ID], one.started_at[:16], ended, one.handoff_path or "", summary, files)
    return "  ".join(facts).rstrip()


def _heading(answer: SearchAnswer) -> Iterator[Part]:
    yield from _route_lines(answer)
    if answer.plan is not None:
        yield _plan_part(answer.plan)
    yield from map(_session_part, answer.sessions or ())
    if answer.mode is not None or answer.plan is not None:
        yield ""


def _plan_part(clauses: Iterable[Clause]) -> Part:
    rows = [(clause.priority, clause.type, clause.result_count, clause.query) for clause in clauses]
    return table(("priority", "by", "found", "question"), rows)


def _session_part(one: Session) -> Part:
    """Return a session on one line with the full path of its handoff, which a narrow table would break."""
    began = one.started_at[:16].replace("T", " ")
    facts = (one.handoff_path, shortened(" ".join(one.summary.split()), SHOWN_SUMMARY))
    return "  ".join([f"session {one.id[:SHOWN_ID]}", began, *filter(None, facts)])


def result_parts(result: FoundDocument) -> Iterator[Part]:
    """Yield a result with its place and the lines that answer, and its scores if it is explained; for people."""
    last = f"-{result.end_line}" if (result.end_line or 0) > result.start_line else ""
    facts = filter(None, (result.docid, confidence_text(result.confidence), result.age))
    yield Styled(f"{bold(f'{result.file}:{result.start_line}{last}')}  {dim('  '.join(facts))}")
    yield f"  {_headline(result)}"
    if result.superseded_by:
        yield f"  {successor_mark(result.superseded_by)}"
    shown = lines_to_read((result.body or result.snippet).strip("\n"), result.origin)
    yield "\n".join(f"    {line}".rstrip() for line in shown)
    if result.ranks is not None:
        explained = score_lines(result.score, result.terms or {}, result.legs or {}, result.ranks)
        yield from (f"    {line}" for line in explained)
    yield ""


def _headline(result: FoundDocument) -> str:
    """Return the title and the headings above the place; the first heading is left out if it repeats the title."""
    below = (result.heading or "").removeprefix(result.title).removeprefix(" › ")
    title = f"{result.title} › {below}" if below else result.title
    return one_line(title_to_read(without_orders(title, result.origin), result.origin))
