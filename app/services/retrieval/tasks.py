"""Open tasks before the other candidates of a question that asks for them."""

from clawmem.app.services.documents.tasks import tasks_in
from clawmem.app.services.retrieval.dates import BY_TIME_OF_FILE
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.work import Candidate, RetrievalStores, Trace, Work
from clawmem.domain.documents.properties import TaskLine
from clawmem.domain.text.written_dates import days_text
from clawmem.ports.records import Document, FragmentKey, FragmentKind, Span

TASK_CONFIDENCE = 0.8  # not fitted: the question and the lines are recognised by their form


def tasks_first(stores: RetrievalStores, request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """
    Put the open tasks first that the question asks for, each with its line and its days.

    Where no task is of the time that it asks for, the notice of the trace says so, and those without a day are possible
    answers. Other notes are at most possible answers to a question for tasks without a topic, and none to one with
    nothing but a time, if it has tasks.
    """
    wanted, likely, notice = request.question.tasks, TASK_CONFIDENCE, ""
    if wanted is None or request.floor > likely:
        return work
    is_any = wanted.is_named and not wanted.topic
    tasks = tasks_in(stores.documents, request.scope, wanted.days, wanted.topic)
    if wanted.days and is_any and not tasks:
        notice, likely = f"No open task is of that time ({days_text(*wanted.days)}).", BY_TIME_OF_FILE
        every = tasks_in(stores.documents, request.scope) if request.floor <= likely else []
        tasks = [(note, task) for note, task in every if not task.days[0]]
    if not tasks and not notice:
        return work
    bodies = work.texts.bodies(note.id for note, _ in tasks)
    first = [_candidate(note, task, bodies[note.id]) for note, task in tasks]
    first = [c._replace(score=1.0 - at / 1_000, confidence=likely) for at, c in enumerate(first)]
    others = [c for c in work.candidates if c.document_id not in bodies]
    if is_any:
        is_shown = request.floor <= BY_TIME_OF_FILE and (notice or request.question.topic)
        least = (c._replace(confidence=min(c.confidence or 0.0, BY_TIME_OF_FILE)) for c in others)
        others = [*least] if is_shown else []
    trace.notice = notice
    answered = likely if notice else max(work.answered or 0.0, likely)
    return work.with_candidates([*first, *others][: request.limit])._replace(answered=answered)


def _candidate(note: Document, task: TaskLine, body: str) -> Candidate:
    lines, place, key = body.split("\n"), task.line - note.body_line, FragmentKey(note.id, 0)
    start = sum(len(line) + 1 for line in lines[:place])
    shown = lines[place : task.last_line - note.body_line + 1]
    span = Span(key, FragmentKind.LIST, task.line, task.last_line, start, start + len("\n".join(shown)))
    return Candidate(note.id, key, TASK_CONFIDENCE, TASK_CONFIDENCE, document=note, span=span)
