"""Open tasks before the other results of a question that asks for them."""

from dataclasses import replace

from clawmem.app.services.documents.tasks import tasks_in
from clawmem.app.services.retrieval.answer import Answer, describe
from clawmem.app.services.retrieval.dates import BY_TIME_OF_FILE
from clawmem.app.services.retrieval.pipelines import narrowed
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit, rewind_request
from clawmem.app.services.retrieval.work import Candidate, LoadedTexts, RetrievalStores, Trace, Work
from clawmem.domain.text.written_dates import days_text
from clawmem.ports.records import FragmentKey, FragmentKind, Span

TASK_CONFIDENCE = 0.8  # not fitted: the question and the lines are recognised by their form


def tasks_first(request: RetrievalRequest, answer: Answer, *, stores: RetrievalStores) -> Answer:
    """
    Return *answer* with the open tasks first that the question asks for, each as a result of its line and its days.

    Where no task is of the time that it asks for, the notice of the trace says so, and those without a day are possible
    answers. Other notes are at most possible answers to a question for tasks without a topic, and none to one with
    nothing but a time, if it has tasks.
    """
    request = rewind_request(request)._replace(unit=Unit.LINE)
    candidates, notice = _open_tasks(stores, request)
    if not candidates and not notice:
        return answer
    notes = {candidate.document_id for candidate in candidates}
    others = [result for result in answer.results if result.document.id not in notes]
    if _is_all(request):
        others = [
            replace(other, confidence=min(other.confidence or 0.0, BY_TIME_OF_FILE))
            for other in others
            if request.floor <= BY_TIME_OF_FILE and (notice or request.question.topic)
        ]
    answer.trace.note("open tasks first")
    answer.trace.notice = notice
    tasks = describe(LoadedTexts(stores.documents), stores, request, candidates)
    answer.results = (*tasks, *others)[: request.limit]
    answer.answered = BY_TIME_OF_FILE if notice else max(answer.answered or 0.0, TASK_CONFIDENCE)
    return answer


def lead_with_tasks(stores: RetrievalStores, request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """Put the open tasks that a prompt asks for before the other candidates, or in their place if it has no topic."""
    tasks, notice = _open_tasks(stores, request)
    if not tasks or notice:
        return work
    trace.note("open tasks first")
    notes = {candidate.document_id for candidate in tasks}
    others = () if _is_all(request) else (c for c in work.candidates if c.document_id not in notes)
    tasks = [c._replace(score=1.0 - place / 1_000) for place, c in enumerate(tasks)]
    return work.with_candidates([*tasks, *others])._replace(answered=TASK_CONFIDENCE)


def _is_all(request: RetrievalRequest) -> bool:
    """Whether the question asks for tasks of any topic, and for nothing else."""
    wanted = request.question.tasks
    return wanted is not None and wanted.is_named and not wanted.topic


def _open_tasks(stores: RetrievalStores, request: RetrievalRequest) -> tuple[list[Candidate], str]:
    """Return the tasks that the question asks for, those without a day if none is of its time, and a notice that says so."""
    wanted, likely, notice = request.question.tasks, TASK_CONFIDENCE, ""
    if wanted is None or request.floor > TASK_CONFIDENCE:
        return [], ""
    scope = narrowed(stores, request).scope
    tasks = tasks_in(stores.documents, scope, wanted.days, wanted.topic)
    if wanted.days and _is_all(request) and not tasks:
        notice, likely = f"No open task is of that time ({days_text(*wanted.days)}).", BY_TIME_OF_FILE
        every = tasks_in(stores.documents, scope) if request.floor <= likely else []
        tasks = [(note, task) for note, task in every if not task.days[0]]
    texts, candidates = LoadedTexts(stores.documents), list[Candidate]()
    for note, task in tasks[: request.limit]:
        lines = texts.bodies([note.id])[note.id].split("\n")
        place = task.line - note.body_line
        start = sum(len(line) + 1 for line in lines[:place])
        shown, key = lines[place : task.last_line - note.body_line + 1], FragmentKey(note.id, 0)
        span = Span(key, FragmentKind.LIST, task.line, task.last_line, start, start + len("\n".join(shown)))
        candidates.append(
            Candidate(note.id, key, likely, likely, document=note, span=span, confidence=likely)
        )
    return candidates, notice
