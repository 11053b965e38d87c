"""Search verbs and the output of their answers, for a command that searches itself and for a server that it asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from clawmem.app.interfaces.cli.history import session_lines
from clawmem.app.interfaces.cli.rendering import (
    NO_CONFIDENT_ANSWER,
    Said,
    age,
    answer_record,
    confidence_text,
    hidden_text,
    is_unlikely,
    json_part,
    styled,
)
from clawmem.app.interfaces.cli.retrieval import Given, Question, ask, given_to
from clawmem.app.interfaces.cli.session import one_of
from clawmem.app.operations.output import Part, printable, table
from clawmem.app.services.documents.succession import succession_mark
from clawmem.domain.security.quoting import lines_to_read, title_to_read, without_orders
from clawmem.ports.display import one_line

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.retrieval.answer import Answer, Result
    from clawmem.app.services.retrieval.pipelines.intent_search import IntentAnswer
    from clawmem.app.services.retrieval.pipelines.memory_retrieve import RoutedAnswer
    from clawmem.app.services.retrieval.pipelines.query_plan import PlanAnswer, PlannedClause
    from clawmem.app.services.retrieval.receipts import Receipt
    from clawmem.app.services.retrieval.request import RetrievalRequest

AUTO = "auto"  # the route is chosen by the words of the question


class Way(NamedTuple):
    """
    A search verb.

    ``name`` is the verb under which receipts are stored. ``find`` runs the search and raises `InvalidInput` if the
    question cannot be read. ``facts`` returns the members of the answer other than its results.
    """

    name: str
    find: Callable[[Services, Question, RetrievalRequest], Answer]
    facts: Callable[[Any], dict[str, Any]] = lambda found: {}


def answered(services: Services, verb: str, question: Question, *, as_json: bool) -> Said:
    """Return the output of *verb* for *question*; raise if the question or the vault is invalid."""
    given = _given(services, WAYS[verb], question)
    if question.explain:
        return _explained(verb, given, in_json=as_json)
    return _said(verb, given, in_json=as_json)._replace(later=lambda: given.record(given.receipt))


def answer_parts(answer: Answer, receipt: Receipt | None = None) -> Iterator[Part]:
    """
    Yield the results one below another, each with its place and the matching lines; with a *receipt* also the scores.
    """
    if not answer.results:
        silent = " (nothing here is likely to answer)" if answer.answered is not None else ""
        yield f"Nothing found for: {printable(answer.query)}{silent}"
    elif is_unlikely(answer):
        yield NO_CONFIDENT_ANSWER
    if receipt is None:
        for result in answer.results:
            yield from _result_parts(result)
        yield from filter(None, [hidden_text(answer, "--all")])
        return
    from clawmem.app.operations.explaining import item_lines, trace_parts, trace_record

    for result, item in zip(answer.results, receipt.items, strict=True):
        yield from _result_parts(result, item_lines(item))
    yield from filter(None, [hidden_text(answer, "--all")])
    yield from trace_parts(trace_record(receipt))


def _given(services: Services, way: Way, question: Question) -> Given:
    return given_to(services, way.name, question, lambda request: way.find(services, question, request))


def _explained(verb: str, given: Given, *, in_json: bool) -> Said:
    """Return the output with the receipt, which is stored first because the output names its id."""
    receipt = given.receipt()
    kept = given.record(lambda: receipt)
    said = _said(verb, given, receipt, kept, in_json=in_json)
    return said if in_json else said._replace(parts=[*said.parts, _receipt_line(kept)])


def _said(
    verb: str, given: Given, receipt: Receipt | None = None, kept: int | None = None, *, in_json: bool
) -> Said:
    facts, found = WAYS[verb].facts(given.answer), given.answer
    if in_json:
        parts: list[Part] = [json_part({**facts, **answer_record(found, receipt, kept)})]
    else:
        parts = [*_heading(facts), *answer_parts(found, receipt)]
    return Said(parts, found.trace.degraded)


def _retrieve(services: Services, question: Question, request: RetrievalRequest) -> RoutedAnswer:
    from clawmem.domain.retrieval.routing import Route

    mode = one_of("--mode", question.mode.lower(), (AUTO, *Route))
    return services.pipelines.memory_retrieve(request, None if mode == AUTO else Route(mode))


def _intent_search(services: Services, question: Question, request: RetrievalRequest) -> IntentAnswer:
    from clawmem.domain.retrieval.intent import Intent

    asked_for = question.asks_for.upper()
    forced = Intent(one_of("--intent", asked_for, tuple(Intent))) if asked_for else None
    return services.pipelines.intended(forced, with_graph=question.graph)(request)


def _of_intent(found: IntentAnswer) -> dict[str, Any]:
    return {"intent": found.intent, "confidence": found.confidence}


def _of_plan(found: PlanAnswer) -> dict[str, Any]:
    return {"plan": found.plan}


def _of_retrieved(found: RoutedAnswer) -> dict[str, Any]:
    facts = {
        "intent": found.intent,
        "confidence": found.confidence,
        "clauses": len(found.plan) or None,
        "plan": found.plan or None,
        "sessions": found.sessions or None,
    }
    return {"mode": found.mode, **{name: value for name, value in facts.items() if value is not None}}


WAYS: Mapping[str, Way] = {
    "search": Way("search", lambda services, question, request: ask(services, "search", request)),
    "vsearch": Way("vsearch", lambda services, question, request: ask(services, "vsearch", request)),
    "query": Way("query", lambda services, question, request: ask(services, "query", request)),
    "intent-search": Way("intent_search", _intent_search, _of_intent),
    "retrieve": Way("memory_retrieve", _retrieve, _of_retrieved),
    "plan": Way(
        "query_plan", lambda services, question, request: services.pipelines.query_plan(request), _of_plan
    ),
}


def _heading(facts: Mapping[str, Any]) -> Iterator[Part]:
    if "mode" in facts:
        yield f"[routed: {facts['mode']}]"
    if "intent" in facts:
        yield f"asks for: {facts['intent']} ({facts['confidence']:.2f})"
    if "plan" in facts:
        yield _plan_part(facts["plan"])
    if "sessions" in facts:
        yield from session_lines(facts["sessions"])
    if facts.keys() & {"mode", "plan"}:
        yield ""


def _plan_part(clauses: Iterable[PlannedClause]) -> Part:
    rows = [(clause.priority, clause.type, clause.result_count, clause.query) for clause in clauses]
    return table(("priority", "by", "found", "question"), rows)


def _receipt_line(kept: int | None) -> str:
    return f"receipt: {kept}  (clawmem why {kept})" if kept else "receipt: none was kept"


def _result_parts(result: Result, explained: Iterable[str] = ()) -> Iterator[Part]:
    lines = f"{result.start_line}-{result.end_line}" if result.end_line > result.start_line else ""
    place = typer.style(f"{result.document.display_path}:{lines or result.start_line}", fg="cyan", bold=True)
    facts = "  ".join(
        filter(None, (f"#{result.docid}", confidence_text(result.confidence), age(result.age_days)))
    )
    yield f"{styled(place)}  {typer.style(facts, dim=True)}"
    yield printable(f"  {_headline(result)}")
    if mark := succession_mark(result.superseded_by):
        yield printable(f"  {mark}")
    shown = lines_to_read(result.snippet().text.strip("\n"), result.document.origin)
    yield printable("\n".join(f"    {line}".rstrip() for line in shown))
    yield from (printable(f"    {line}") for line in explained)
    yield ""


def _headline(result: Result) -> str:
    """Return the title and the headings above the place; the first heading is left out if it repeats the title."""
    document, heading = result.document, result.heading
    below = heading.removeprefix(document.title).removeprefix(" › ")
    title = f"{document.title} › {below}" if below else document.title
    return one_line(title_to_read(without_orders(title, document.origin), document.origin))
