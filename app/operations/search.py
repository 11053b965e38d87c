"""Questions, by words, by meaning, by both, by intent or in parts; the records of their answers, and their text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field

from clawmem.app.bootstrap.services import Services
from clawmem.app.operations.fields import (
    AsOf,
    CollectionNames,
    Conditions,
    Limit,
    Names,
    Since,
    TagNames,
    Until,
    conditions_in,
    listed,
    named_collections,
)
from clawmem.app.operations.operation import (
    Command,
    Effect,
    Option,
    Request,
    SelectedResult,
    argument,
    operation,
)
from clawmem.app.operations.output import Part, Styled, confidence_text, plural, printable, records_table
from clawmem.app.services.documents.listing import check_filters
from clawmem.app.services.documents.records import (
    DocumentReference,
    Successor,
    change_after,
    place_from,
    successor_mark,
    successor_of,
)
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.receipts import Receipt, pack
from clawmem.app.services.retrieval.request import (
    LEAST_COSINE,
    MAX_LIMIT,
    Ranking,
    RetrievalRequest,
    Unit,
    read_request,
)
from clawmem.app.services.retrieval.retrieve import report_missing_vectors, require_vectors
from clawmem.app.settings.model import Settings
from clawmem.domain.briefing.blocks import shortened
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.retrieval.intent import Intent
from clawmem.domain.retrieval.planning import Clause, Route
from clawmem.domain.retrieval.query_forms import MAX_QUERY
from clawmem.domain.retrieval.relevance import Likelihood, likelihood_of
from clawmem.domain.security.quoting import lines_to_read, title_to_read, without_orders
from clawmem.domain.text.dates import as_of_day
from clawmem.domain.text.spelling import stated_corrections
from clawmem.domain.text.written_dates import age, local_day
from clawmem.ports.records import one_line
from clawmem.ports.sessions import FOLDER_READER, UNFINISHED, Session

DIGITS = 4  # decimal places of scores and probabilities
RARE = Option(is_daily=False)
ALL = Option(("--all",), is_daily=False)
DIVERSE = Option(("--diverse/--no-diverse",), is_daily=False)
GRAPH = Option(("--graph/--no-graph",), tool="enable_graph_traversal")
FORCE_INTENT = Option(tool="force_intent")
QuestionText = Annotated[
    str, Field(min_length=1, max_length=MAX_QUERY, description="A whole question."), argument("QUESTION...")
]
MinScore = Annotated[float, Field(ge=0, le=1, description="Leave out what scores less, 0 to 1."), RARE]
Compact = Annotated[bool, Field(description="Short snippets and few keys; read on with get."), RARE]
UnitName = Literal["document", "line"]
IntentName = Literal["WHY", "WHEN", "ENTITY", "WHAT"]
RouteName = Literal["auto", "timeline", "causal", "discovery", "complex", "keyword", "semantic", "hybrid"]


class FoundDocument(SelectedResult, DocumentReference):
    """A document that may answer, and the lines that do. A compact result has only some of the keys."""

    score: float = Field(description="0 to 1, for the order within one answer only.")
    confidence: float | None = Field(default=None, description="Probability that it answers.")
    likelihood: str | None = Field(default=None, description="The confidence in a word.")
    age: str = Field(default="", description="When it was written, such as 3 weeks ago.")
    start_line: int = Field(description="First line of the answer.")
    end_line: int
    snippet: str
    superseded_by: Successor | None = None
    changed_after: str | None = Field(default=None, description="When its text was changed, if after as_of.")
    changed_by: Successor | None = Field(default=None, description="A newer note that says what changed.")
    collection: str | None = None
    path: str | None = None
    heading: str | None = None
    content_type: str | None = None
    authored_at: str | None = None
    modified_at: str | None = None
    context: str | None = Field(default=None, description="The descriptions of its folders.")
    body: str | None = Field(default=None, description="The whole text, on request.")


class SearchAnswer(SelectedResult):
    """Results of a search, best first. Only some searches have the last keys."""

    query: str
    count: int
    answered: float | None = Field(default=None, description="Probability that any result answers.")
    hidden: int = Field(default=0, description="Unlikely results that show_all shows.")
    results: list[FoundDocument]
    notice: str | None = Field(default=None, description="A word or time that no note has, or a newer note.")
    degraded: dict[str, str] = Field(default={}, description="Failed parts of the search, with reasons.")
    reference: DocumentReference | None = Field(default=None, description="The document that is compared.")
    as_of: str | None = Field(default=None, description="The day that the answer is from, if asked for.")
    mode: str | None = Field(default=None, description="The route that was taken.")
    intent: str | None = Field(default=None, description="Detected intent of the question.")
    confidence: float | None = Field(default=None, description="Probability of the intent.")
    clauses: int | None = Field(default=None, description="Number of parts of the question.")
    plan: list[Clause] | None = Field(default=None, description="These parts.")
    sessions: list[Session] | None = Field(default=None, description="The latest sessions.")
    trace: Receipt | None = Field(default=None, description="Explanation of the answer, on request.")
    receipt: int | None = Field(default=None, description="The number of the receipt of an explained answer.")


def answer_of(
    answer: Answer,
    settings: Settings,
    as_of: str | None = None,
    compact: bool = False,
    body: bool = False,
    **more: Any,
) -> SearchAnswer:
    """Return *answer*, of the time before *as_of*, as a record; a compact one has the beginnings of snippets."""
    results = []
    for place, result in enumerate(answer.results):
        document, shown, confidence = result.document, result.snippet(), result.confidence
        keys: dict[str, Any] = {
            **place_from(document, result.docid),
            "score": round(result.score, DIGITS),
            "confidence": confidence and round(confidence, DIGITS),
            "likelihood": None if confidence is None else str(likelihood_of(confidence)),
            "age": age(result.age_days),
            "start_line": shown.start_line,
            "end_line": shown.end_line,
            "snippet": " ".join(shown.text.split())[: 200 if place else 400] if compact else shown.text,
            "superseded_by": successor_of(result.superseded_by),
            "changed_by": successor_of(result.changed_by),
        }
        if changed := change_after(document, as_of):
            keys["changed_after"] = changed
        if not compact:
            names = ("collection", "path", "content_type", "authored_at", "modified_at")
            keys |= {name: getattr(document, name) for name in names}
            context = settings.context_of(document.collection, document.path)
            keys |= {"heading": result.heading, "context": context}
        if body:
            keys["body"] = without_orders(result.body, document.origin)
        results.append(FoundDocument(**keys))
    read = stated_corrections(answer.trace.corrected, answer.query, *(found.snippet for found in results[:1]))
    some = {name: getattr(answer, name) for name in ("mode", "intent", "confidence", "plan", "sessions")} | {
        "as_of": as_of and local_day(iso_utc((parse_iso(as_of) or 0) - 1)),
        "clauses": len(answer.plan),
        "notice": " ".join([*read, answer.trace.notice]).strip(),
    }
    return SearchAnswer(
        query=answer.query,
        count=len(results),
        answered=answer.answered and round(answer.answered, DIGITS),
        hidden=answer.trace.hidden,
        results=results,
        degraded=dict(answer.trace.degraded),
        **{name: value for name, value in some.items() if value},
        **more,
    )


def answer_parts(answer: SearchAnswer) -> Iterator[Part]:
    """Yield the results one below another, and the explanation of an explained answer."""
    if answer.mode is not None:
        yield f"[routed: {answer.mode}]"
    if answer.as_of is not None:
        yield f"as of: {answer.as_of}"
    if answer.intent is not None:
        yield f"asks for: {answer.intent} ({answer.confidence or 0:.2f})"
    if answer.plan:
        yield from records_table(answer.plan, "priority type=by result_count=found query=question")
    yield from map(session_line, answer.sessions or ())
    words = {result.likelihood for result in answer.results} - {None} or {likelihood_of(answer.answered or 0)}
    is_unlikely = answer.answered is not None and words == {Likelihood.UNLIKELY}
    if not answer.results:
        unlikely = " (nothing here is likely to answer)" if answer.answered is not None else ""
        nothing = f"Nothing found for: {answer.query}{unlikely}. Try other words, or fewer conditions."
        yield " ".join(filter(None, (nothing, answer.notice)))
    elif is_unlikely or answer.notice:
        verdict = "No confident answer." if is_unlikely else ""
        yield " ".join(filter(None, (verdict, answer.notice, "Closest matches:")))
    for result in answer.results:
        last = f"-{result.end_line}" if result.end_line > result.start_line else ""
        facts = filter(None, (result.docid, confidence_text(result.confidence), result.age))
        place, about = printable(f"{result.file}:{result.start_line}{last}"), printable("  ".join(facts))
        yield Styled(f"\x1b[36m\x1b[1m{place}\x1b[0m  \x1b[2m{about}\x1b[0m")  # bold cyan, and dimmed
        # the headings above the place; the first one is left out if it repeats the title
        below = f"{result.heading or ''} › ".removeprefix(f"{result.title} › ").removesuffix(" › ")
        title = without_orders(f"{result.title} › {below}" if below else result.title, result.origin)
        if title != result.snippet.strip():  # the title of a remembered sentence is the sentence
            yield f"  {one_line(title_to_read(title, result.origin))}"
        if result.superseded_by:
            yield f"  {successor_mark(result.superseded_by)}"
        elif change := result.changed_by:
            yield f"  perhaps no longer so: see {change.file} ({local_day(change.authored_at)})"
        if result.changed_after:
            yield f"  this text was changed on {local_day(result.changed_after)}"
        shown = lines_to_read((result.body or result.snippet).strip("\n"), result.origin)
        yield "\n".join(f"    {line}".rstrip() for line in shown)
        yield ""
    if answer.hidden:
        yield f"{plural(answer.hidden, 'unlikely result')} hidden; --all (show_all) shows them."
    if answer.trace is not None:
        yield from receipt_parts(answer.trace)
        number = answer.receipt
        yield f"receipt: {number}  (clawmem why {number})" if number else "receipt: none was kept"


def session_line(session: Session) -> str:
    """Return a session on one line."""
    facts = (
        session.id[:8],
        session.started_at[:16],
        "active" if session.ended_at is None else f"to {session.ended_at[:16]}",
        session.handoff_path or "",
        shortened(" ".join(session.summary.split()), 100),
        ", ".join(session.files_changed[:5]),
    )
    return "  ".join(facts).rstrip()


def receipt_parts(receipt: Receipt) -> Iterator[Part]:
    """Yield the question, each result with its score and what each retriever gave to it, and the stages."""
    conditions = ", ".join(f"{name} {value}" for name, value in receipt.asked.items())
    yield f"{receipt.verb}: {receipt.question}" + (f"  ({conditions})" if conditions else "")
    model = f", vectors of {receipt.model}" if receipt.model else ""
    yield f"asked {receipt.asked_at}, {receipt.took_ms:g} ms, clawmem {receipt.version}{model}"
    if receipt.answered is not None:
        yield f"confidence that anything found here answers: {confidence_text(receipt.answered)}"
    yield "" if receipt.items else "nothing was found"
    for rank, item in enumerate(receipt.items, start=1):
        facts = "  ".join(filter(None, (f"#{item['docid']}", confidence_text(item["confidence"]))))
        yield f"{rank}. {item['file']}:{item['start_line']}  {facts}"
        terms = (f"{name} {value:+.3f}" for name, value in item["terms"].items() if round(value, 3))
        yield f"    score: {', '.join(terms) or round(item['score'], 3)}"
        rows = [
            {"leg": name, **item["legs"].get(name, {}), "worth": item["parts"].get(name)}
            for name in dict.fromkeys([*item["legs"], *item["parts"]])
        ]
        legs = records_table(rows, "leg=relevance_by_leg rank score worth")
        yield from (f"    {line}" for part in legs for line in part.lines())
    yield f"\nhits: {', '.join(f'{name} {count}' for name, count in receipt.hits.items()) or 'none'}"
    yield from records_table(receipt.stages, "name=stage came_in=in went_out=out ms notes dropped")


class Question(Request):
    """The parameters of every search."""

    query: QuestionText
    limit: Limit = 10
    collection: CollectionNames = ""
    since: Since = ""
    until: Until = ""
    as_of: AsOf = ""
    content_type: Annotated[Names, Field(description="Only these content types."), Option(("--type",))] = ""
    tag: TagNames = ""
    where: Conditions = ""
    min_score: MinScore = 0.0
    unit: Annotated[UnitName, Field(description="Unit of a result."), Option(tool=None)] = "document"
    show_all: Annotated[bool, Field(description="Also unlikely results."), ALL] = False
    compact: Compact = True
    body: Annotated[bool, Field(description="Add the whole texts."), Option(("--full",), tool=None)] = False
    explain: Annotated[bool, Field(description="Show how the list came about."), Option(tool=None)] = False


class MeaningSearch(Question):
    """A question, searched by meaning."""

    min_score: MinScore = LEAST_COSINE


class Query(Question):
    """A question, searched by words and meaning."""

    purpose: Annotated[
        str,
        Field(
            validation_alias=AliasChoices("purpose", "intent"),
            description="Purpose of the answer; it influences the ranking and is not searched.",
        ),
        Option(tool="intent", is_daily=False),
    ] = ""
    diverse: Annotated[bool, Field(description="Move near-copies back."), DIVERSE] = True
    candidate_limit: Annotated[int | None, Field(ge=1, le=MAX_LIMIT, description="To compare."), RARE] = None


class IntentSearch(Question):
    """A question, searched by its intent."""

    intent: Annotated[IntentName | None, Field(description="By default by its words."), FORCE_INTENT] = None
    graph: Annotated[bool, Field(description="Follow relations of documents."), GRAPH] = True


class Retrieval(Query):
    """A question, searched by the route that fits it."""

    mode: Annotated[RouteName, Field(description="The way to search; auto: by the question.")] = "auto"


FULL = {"compact": False}
search_operation = partial(operation, Effect.READS, text=answer_parts, by_post=True)


@search_operation(route="/query", command=(Command("query --mode=hybrid", fixed=FULL),))
def query(services: Services, request: Query) -> SearchAnswer:
    """Find by words and meaning together, compared closely: the best single answer there is."""
    name = "openclaw" if Ranking(services.settings.ranking) is Ranking.OPENCLAW else "query"
    return answer_question(services, request, "query", services.pipeline(name))


@search_operation(command=(Command("search", fixed=FULL), Command("query --mode=words", fixed=FULL)))
def search(services: Services, request: Question) -> SearchAnswer:
    """Find by words: for names, identifiers, error messages, file names. The quickest."""
    return answer_question(services, request, "search", services.pipeline("search"))


@search_operation(route="/vsearch", command=(Command("query --mode=vectors", fixed=FULL),))
def vsearch(services: Services, request: MeaningSearch) -> SearchAnswer:
    """Find by meaning alone, for texts in other words. There is always a nearest document."""
    require_vectors(services.vault.embeddings, "found")
    return answer_question(services, request, "vsearch", services.pipeline("vsearch"))


@search_operation(route="/retrieve", command=(Command("query --mode=auto", fixed={**FULL, "mode": "auto"}),))
def memory_retrieve(services: Services, request: Retrieval) -> SearchAnswer:
    """
    Find what the user's notes and earlier sessions say, by whichever way the question calls for. Begin here.

    Takes why-questions along causes, "last session" to the sessions, several questions apart, names to words.
    """
    mode = None if request.mode == "auto" else Route(request.mode)
    return answer_question(services, request, "memory_retrieve", partial(services.memory_retrieve, mode=mode))


@search_operation(route="/intent-search", command=(Command("query --mode=intent", fixed=FULL),))
def intent_search(services: Services, request: IntentSearch) -> SearchAnswer:
    """Find by the intent of the question (why, when, who), along the relations of documents."""
    intent = Intent(request.intent) if request.intent else None
    find = services.intent_search_of(intent=intent, with_graph=request.graph)
    return answer_question(services, request, "intent_search", find)


@search_operation(route="/plan", command=(Command("query --mode=plan", fixed=FULL),))
def query_plan(services: Services, request: Question) -> SearchAnswer:
    """Find for a question of several topics: it is split, and its parts are answered together."""
    return answer_question(services, request, "query_plan", services.query_plan)


def answer_question(
    services: Services, request: Question, verb: str, find: Callable[[RetrievalRequest], Answer]
) -> SearchAnswer:
    """Return the answer of *find*, and record it with a receipt, as an answer to *verb*."""
    began, clock, documents = perf_counter(), services.clock, services.vault.documents
    now_ms, zone = clock.now_ms(), clock.zone()
    day, question = as_of_day(request.query, now_ms=now_ms, zone=zone)
    tags, where, types = listed(request.tag), conditions_in(request.where), listed(request.content_type)
    check_filters(documents, services.vault.properties, tags, where, types)
    conditions: dict[str, Any] = {
        **request.model_dump(include={*RetrievalRequest._fields, "since", "until"}),
        "as_of": request.as_of or day,
        "collections": named_collections(services, request.collection),
        "content_types": types,
        "tags": tags,
        "where": where,
        "ranking": Ranking(services.settings.ranking),
        "unit": Unit(request.unit),
    }
    retrieval = read_request(question, now_ms=now_ms, zone=zone, **conditions)
    answer = replace(find(retrieval), query=request.query)
    if documents.latest(limit=1):
        report_missing_vectors(services.vault.embeddings, verb, answer)
        is_unlikely = answer.answered is not None and likelihood_of(answer.answered) is Likelihood.UNLIKELY
        if is_unlikely and (advice := services.language_advice(question=request.query)):
            answer.trace.degraded["languages"] = advice
    else:
        answer.trace.degraded["vault"] = "it has no notes yet. Run: clawmem bootstrap PATH"
    for name in () if answer.results else documents.collections():
        if services.vault.captures.cursor(name, FOLDER_READER) == UNFINISHED:
            answer.trace.degraded[name] = "it is not read to its end. Run: clawmem update"
    took_ms = (perf_counter() - began) * 1000
    explain = partial(services.explain, answer, retrieval, verb, took_ms)
    receipt = explain() if request.explain else None
    number = services.recalls.record(
        answer, verb, took_ms, limit=request.limit, receipt=lambda: pack(receipt or explain())
    )
    shown: dict[str, Any] = {"compact": request.compact, "body": request.body}
    if receipt:
        shown |= {"trace": receipt, "receipt": number if services.recalls.keeps_receipts else None}
    return answer_of(answer, services.settings, retrieval.as_of, **shown)
