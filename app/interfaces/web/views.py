"""The pages: each a function of the open vault and the query string that returns the values of its template."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

from pydantic import ValidationError

from clawmem.app.bootstrap.services import Services
from clawmem.app.client.connection import PROGRAM
from clawmem.app.interfaces.web import graph, reading
from clawmem.app.interfaces.web.rendering import address, note_address, rendered
from clawmem.app.interfaces.web.sessions import Message
from clawmem.app.operations import search
from clawmem.app.operations.documents import (
    find_entities,
    find_links,
    find_similar,
    get,
    list_documents,
    list_tags,
)
from clawmem.app.operations.history import session_log, show_receipt
from clawmem.app.operations.lifecycle import lifecycle_undo
from clawmem.app.operations.maintenance import consolidate, doctor, lanes_status, status
from clawmem.app.operations.operation import AnyOperation, Operation, refusal_of
from clawmem.app.operations.output import plural
from clawmem.app.operations.search import SearchAnswer
from clawmem.app.services.capture.visibility import made_private
from clawmem.app.services.documents.records import DatedDocument, titled_file
from clawmem.app.services.documents.tasks import open_task, tasks_in
from clawmem.domain.documents.times import DAY_MS, iso_utc
from clawmem.ports.errors import InvalidInput
from clawmem.ports.records import Scope
from clawmem.ports.telemetry import Question

Query = Mapping[str, str]
R = TypeVar("R")


class View(NamedTuple):
    """A page: its template, its title, and the function that returns the values of the template."""

    template: str
    title: str
    values: Callable[[Services, Query], Mapping[str, Any]]


VIEWS: dict[str, View] = {}
NAVIGATION: dict[str, str] = {}  # labels of the pages that every page links to


def view(path: str, title: str, template: str, *, in_navigation: bool = False) -> Callable[..., Any]:
    """Return a decorator that makes a function the page at *path*."""

    def decorate(values: Callable[[Services, Query], Mapping[str, Any]]) -> Any:
        VIEWS[path] = View(template, title, values)
        if in_navigation:
            NAVIGATION[path] = title
        return values

    return decorate


def drawn(path: str, services: Services, query: Query, *, csrf: str, messages: Sequence[Message] = ()) -> str:
    """Return the page at *path* as HTML."""
    page = VIEWS[path]
    now = iso_utc(services.clock.now_ms())
    values: dict[str, Any] = {"title": page.title, "path": path, "now": now, "query": query}
    values |= page.values(services, query)
    template = values.pop("template", page.template)
    here = values.pop("here", address(path, **query))
    return rendered(template, csrf=csrf, here=here, messages=messages, nav=NAVIGATION, **values)


def answer(operation: Operation[..., R], services: Services, parameters: Mapping[str, Any]) -> R:
    """
    Return the result of *operation* for parameters of a query string.

    Raises:
        InvalidInput: A parameter is invalid.
    """
    try:
        request = operation.request.model_validate(parameters)
    except ValidationError as error:
        raise refusal_of(error) from error
    return operation.run(services, request)


@view("/", "Home", "home.html", in_navigation=True)
def home(services: Services, query: Query) -> Mapping[str, Any]:
    """Show what changed this week, what holds, what is open, and what to do next."""
    store, week = services.vault.documents, iso_utc(services.clock.now_ms() - 7 * DAY_MS)
    latest = store.latest(limit=reading.LATEST)
    due = sorted(tasks_in(store), key=lambda pair: pair[1].due or "9999")
    by_reading = sorted(latest, key=lambda note: note.indexed_at, reverse=True)
    read = {note.collection: note.indexed_at for note in by_reading}  # when its first note was read
    new = [n for n in latest if n.authored_at >= week and not n.may_be_copied(read[n.collection])]
    decisions = reading.dated(services, [note for note in latest if note.content_type == "decision"][:20])
    return {
        "count": sum(store.collections().values()),
        "info": services.vault.storage.info(),
        "recalls": services.vault.telemetry.count(),
        "notes": reading.dated(services, (new or latest[:8])[:14]),
        "is_this_week": bool(new),
        "acts": [act for act in lifecycle_undo(services, limit=8) if act.at >= week],
        "decisions": [note for note in decisions if not note.superseded_by][:10],
        "tasks": [open_task(note, task) for note, task in (due if "tasks" in query else due[:12])],
        "open_tasks": len(due),
        "handoff": reading.last_handoff(services, session_log(services, limit=10), latest),
    }


@view("/advice", "What is worth doing", "advice.html")
def advice_page(services: Services, query: Query) -> Mapping[str, Any]:
    """Show what the user would do next; it takes a look at every note."""
    return {"steps": status(services).next_steps, "here": "/ui/"}


# -- search ---------------------------------------------------------------------------------------------

MODES: Mapping[str, tuple[str, AnyOperation]] = {
    "hybrid": ("words and meaning", search.query),
    "words": ("words", search.search),
    "vectors": ("meaning", search.vsearch),
    "auto": ("what fits the question", search.memory_retrieve),
    "intent": ("intent", search.intent_search),
    "plan": ("topics, one by one", search.query_plan),
}
CONDITIONS = ("collection", "content_type", "tag", "where", "since", "until", "as_of")


@view("/search", "Search", "search.html", in_navigation=True)
def search_page(services: Services, query: Query) -> Mapping[str, Any]:
    """Show the answer to a question, or the latest notes that meet the conditions without one."""
    question, mode = query.get("q", "").strip(), query.get("mode", "hybrid")
    conditions = {name: query[name] for name in CONDITIONS if query.get(name)}
    values: dict[str, Any] = {
        "question": question,
        "mode": mode if mode in MODES else "hybrid",
        "modes": {name: label for name, (label, _) in MODES.items()},
        "answer": None,
        "listing": None,
        "withheld": services.withheld(),
    }
    if question:
        # What is typed is no question yet: only one that was sent is recorded.
        asking = reading.unrecorded(services) if query.get("typed") else services
        operation = MODES[values["mode"]][1]
        given = {**conditions, "query": question, "compact": False, "explain": True, "show_all": True}
        found: SearchAnswer = answer(operation, asking, given)
        numbers = [item["document_id"] for item in (found.trace.items if found.trace else ())]
        results = services.vault.documents.many(numbers)
        values |= {"answer": found, "notes": [results.get(number) for number in numbers]}
    else:
        listed = {name: text for name, text in conditions.items() if name != "content_type"}
        is_narrow = "content_type" in conditions
        listing = answer(list_documents, services, {**listed, "limit": 10_000 if is_narrow else 40})
        notes = [
            note
            for note in listing.documents
            if conditions.get("content_type", note.content_type) == note.content_type
        ]
        values["listing"], values["total"] = notes[:40], len(notes) if is_narrow else listing.total
    if "part" in query:
        return values | {"template": "results.html"}
    collections = services.vault.documents.collections()
    return values | {"collections": sorted(collections), "tags": list_tags(services, limit=200)}


# -- a note ---------------------------------------------------------------------------------------------


@view("/note", "Note", "note.html")
def note_page(services: Services, query: Query) -> Mapping[str, Any]:
    """Show a note with all that is known about it."""
    text = get(services, query.get("file", ""))
    document = services.lookup.find(text.file)
    links = find_links(services, text.file, limit=200)
    targets = {link.written: note_address(link.target, link.target_line) for link in links if link.target}
    compared = get(services, query["beside"]) if query.get("beside") else None
    older, newer = reading.succession_of(services, document)
    derived = services.vault.documents.many(services.vault.derivations.children(document.id)).values()
    return {
        "title": text.title or text.file,
        "note": text,
        "document": document,
        "is_private": document.id in services.withheld(),
        "is_made_private": document.id in made_private(services.vault.acts),
        "decided": services.lifecycle.successor_of(document),
        "is_snoozed": document.is_snoozed(iso_utc(services.clock.now_ms())),
        "targets": targets.get,
        "links": [link for link in links if link.source == text.file],
        "backlinks": [link for link in links if link.source != text.file],
        "older": older,
        "newer": newer,
        "beside": compared,
        "similar": find_similar(services, text.file, limit=5).results,
        "facts": services.vault.triples.of_document(document.id),
        "derived": [titled_file(other) for other in derived if other.inactive is None],
        "uses": reading.prompts(services, 8, document),
    }


@view("/supersede", "Superseded by", "supersede.html")
def supersede_page(services: Services, query: Query) -> Mapping[str, Any]:
    """Offer the notes that may take the place of a note: those that a question finds, or the nearest ones."""
    note, question = get(services, query.get("file", "")), query.get("q", "").strip()
    if question:
        given = {"query": question, "limit": 12, "show_all": True, "compact": False}
        results = answer(search.query, reading.unrecorded(services), given).results
    else:
        results = find_similar(services, note.file, limit=12, compact=False).results
    return {
        "note": note,
        "question": question,
        "results": [other for other in results if other.file != note.file],
    }


# -- prompts and time -----------------------------------------------------------------------------------


@view("/prompts", "Prompts", "prompts.html", in_navigation=True)
def prompts_page(services: Services, query: Query) -> Mapping[str, Any]:
    """List the latest prompts with their blocks."""
    values: dict[str, Any] = {"prompts": reading.prompts(services, 60)}
    return values | {"template": "prompt_list.html"} if "part" in query else values


@view("/prompt", "Prompt", "prompt.html")
def prompt_page(services: Services, query: Query) -> Mapping[str, Any]:
    """Show what a prompt received, what was left out and why, and what the answer used."""
    receipt = show_receipt(services, query.get("id", ""))
    dropped = [drop["document_id"] for stage in receipt.stages for drop in stage["drops"]]
    recall = next(
        (prompt for prompt in reading.prompts(services, 1000) if str(prompt.recall.id) == query["id"]), None
    )
    used = recall.used if recall else {}
    reminders = used.keys() - {item["document_id"] for item in receipt.items}
    return {
        "title": receipt.question[:80],
        "receipt": receipt,
        "recall": recall and recall.recall,
        "used": used,
        "received": reading.quotations(services, receipt),
        "reminders": services.vault.documents.many(reminders).values(),
        "names": services.vault.documents.many(dropped),
    }


@view("/timeline", "Timeline", "timeline.html", in_navigation=True)
def timeline_page(services: Services, query: Query) -> Mapping[str, Any]:
    """Show how many notes were written when, from years to a day, and the notes of the time that was chosen."""
    at = query.get("at", "")
    if not re.fullmatch(r"(\d{4}(-\d\d){0,2})?", at):
        raise InvalidInput("INVALID_INPUT", "A time is a year, a month or a day: 2026, 2026-06, 2026-06-09.")
    size = {0: 4, 4: 7, 7: 10, 10: 10}[len(at)]  # characters of the periods below
    until = f"{at}~" if at else None  # sorts after every time of the period
    scope = Scope(authored_from=at or None, authored_until=until)
    counts = Counter(note.authored_at[:size] for note in services.vault.documents.latest(scope))
    documents = services.vault.documents.latest(scope, limit=300 if len(at) >= 7 else 40)
    day_of: Callable[[DatedDocument], str] = lambda note: note.authored_at[:10] if len(at) >= 7 else ""
    return {
        "title": f"Timeline {at}".strip(),
        "at": at,
        "above": [("all", ""), *((at[:length], at[:length]) for length in (4, 7) if len(at) >= length)],
        "bars": [
            {"label": period[5:] or period, "value": counts[period], "href": address("/timeline", at=period)}
            for period in sorted(counts)
        ],
        "total": sum(counts.values()),
        "days": [(day, list(notes)) for day, notes in groupby(reading.dated(services, documents), day_of)],
    }


# -- care -----------------------------------------------------------------------------------------------


@view("/inbox", "Inbox", "inbox.html", in_navigation=True)
def inbox_page(services: Services, query: Query) -> Mapping[str, Any]:
    """Show what a person may want to decide: doubtful notes, links and merges."""
    runs = lanes_status(services, limit=20, journal=True).runs
    decisions = [
        {**decision, "at": run.started_at} for run in runs for decision in run.metrics.get("decisions", ())
    ]
    to_pin, to_snooze = services.lifecycle.proposals(8)
    return {
        "duplicates": consolidate(services, most=100, dry_run=True),
        "contradictions": reading.contradictions(services),
        "refused": [decision for decision in decisions if decision["verdict"] == "refuse"][:20],
        "merged": [decision for decision in decisions if decision["verdict"] in ("merge", "supersede")][:20],
        "stale": reading.overdue(services),
        "broken": find_links(services, broken=True, limit=60),
        "to_pin": [titled_file(note) for note in to_pin],
        "to_snooze": [titled_file(note) for note in to_snooze],
    }


@view("/inbox/corrections", "Perhaps corrected", "corrections.html")
def corrections_page(services: Services, query: Query) -> Mapping[str, Any]:
    """Show the latest decisions and preferences that a newer note says to have changed; it asks for each by its title."""
    asking, latest = reading.unrecorded(services), services.vault.documents.latest(limit=reading.LATEST)
    changes = {}
    for note in [note for note in latest if note.content_type in ("decision", "preference")][:12]:
        given = {"query": note.title or note.path, "compact": False, "show_all": True}
        for found in answer(search.search, asking, given).results:
            if found.changed_by and not found.superseded_by:
                changes[found.file] = (found, found.changed_by.file)
    return {"changes": list(changes.values()), "here": "/ui/inbox"}


@view("/health", "Health", "health.html", in_navigation=True)
def health_page(services: Services, query: Query) -> Mapping[str, Any]:
    """Show vectors, models, lanes and storage; its other parts take longer, and have addresses of their own."""
    return {"status": status(services), "lanes": lanes_status(services, limit=12)}


@view("/health/findings", "Findings of doctor", "findings.html")
def findings_page(services: Services, query: Query) -> Mapping[str, Any]:
    """Show the findings of every check, those with a remedy first."""
    examination = doctor(services)
    return {
        "findings": sorted(examination.findings, key=lambda finding: finding.ok),
        "ok": examination.ok,
        "here": "/ui/health",
    }


class Bar(NamedTuple):
    """A bar of a chart: its label, the page that the label leads to, its length, and that in words."""

    label: str
    href: str
    value: float
    text: str


@view("/health/charts", "Use and growth", "charts.html")
def charts_page(services: Services, query: Query) -> Mapping[str, Any]:
    """Show the report as charts. It is made by a process of its own, as duckdb takes 80 MB, which it would keep."""
    command = [*PROGRAM, "report", "--json", "--top", "12", "--vault", str(services.settings.vault)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, timeout=120)
    if done.returncode:
        return {"missing": done.stderr.strip(), "charts": {}}
    tables = json.loads(done.stdout)["tables"]
    growth, kinds = Counter[str](), Counter[tuple[str, str]]()
    for row in tables[Question.GROWTH]:
        if row["basis"] == "authored":
            growth[row["month"]] += row["documents"]
    for row in tables[Question.COVERAGE]:
        kinds[row["collection"], row["content_type"]] += row["documents"]
    most, never = tables[Question.MOST_RECALLED][:12], tables[Question.NEVER_RECALLED]
    charts = {
        "Notes by collection and type": [
            Bar(f"{name} · {kind}", address("/search", collection=name), count, plural(count, "note"))
            for (name, kind), count in kinds.most_common(12)
        ],
        "Median age by type": [
            Bar(row["content_type"], "", row["median_days"], plural(int(row["median_days"]), "day"))
            for row in tables[Question.STALENESS]
        ],
        "Found most often": [
            Bar(
                row["document"], note_address(row["document"]), row["recalls"], plural(row["recalls"], "time")
            )
            for row in most
        ],
        f"Never found: {plural(len(never), 'note')}, the oldest": [
            Bar(
                row["document"],
                note_address(row["document"]),
                row["age_days"],
                plural(row["age_days"], "day"),
            )
            for row in (never[:8] if most else ())
        ],
        "Speed of answers, median": [
            Bar(
                row["verb"],
                "",
                row["p50_ms"],
                f"{row['p50_ms']:.0f} ms, {plural(row['recalls'], 'question')}",
            )
            for row in tables[Question.SPEED]
        ],
    }
    bars = [
        {"label": month[2:], "value": count, "href": address("/timeline", at=month)}
        for month, count in sorted(growth.items())
    ]
    return {"growth": bars[-36:], "charts": charts}


@view("/graph", "Graph", "graph.html", in_navigation=True)
def graph_page(services: Services, query: Query) -> Mapping[str, Any]:
    """Show what is around a note or an entity, in both ways: drawn, and as a list."""
    file, entity = query.get("file", "").strip(), query.get("entity", "").strip()
    depth = 1 if query.get("depth") == "1" else 2
    drawing = None
    if file:
        drawing = graph.around_note(services, services.lookup.find(file).id, depth)
    elif entity:
        drawing = graph.around_entity(services, entity, query.get("as_of", ""))
    return {
        "file": file,
        "entity": entity,
        "title": f"Around {drawing.nodes[0].label}" if drawing else "Graph",
        "depth": depth,
        "drawing": drawing,
        "entities": [] if drawing else find_entities(services, limit=30),
        "notes": [] if drawing else reading.dated(services, services.vault.documents.latest(limit=12)),
    }
