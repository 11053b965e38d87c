"""Open tasks of the notes of a vault, by day."""

from __future__ import annotations

from clawmem.app.services.documents.listing import AT_ONCE
from clawmem.app.services.documents.records import Record
from clawmem.domain.documents.names import document_names
from clawmem.domain.documents.properties import TaskLine, open_tasks
from clawmem.domain.security.quoting import without_orders
from clawmem.domain.text.likeness import has_words, is_copy, possible_copies
from clawmem.ports.documents import DocumentStore
from clawmem.ports.records import EVERYTHING, Document, Origin, Scope


class OpenTask(Record):
    """A line with an empty box; its place, and its days as far as they are known."""

    file: str
    line: int
    text: str
    due: str
    day: str
    origin: Origin


def tasks_in(
    store: DocumentStore,
    scope: Scope = EVERYTHING,
    days: tuple[str, str] | None = None,
    topic: tuple[str, ...] = (),
) -> list[tuple[Document, TaskLine]]:
    """
    Return the open tasks of the documents in *scope* in the order of their days, those without a day last.

    The tasks of a copy, such as a conflicting version, are those of its original.

    Args:
        days: Only tasks from the first day to the last one; an empty first day is the earliest.
        topic: Words that the task, the headings above, or the names, folders and properties of the note must have.
    """
    notes, tasks = store.latest(scope), list[tuple[Document, TaskLine]]()
    for at in range(0, len(notes), AT_ONCE):
        bodies = store.bodies(note.id for note in notes[at : at + AT_ONCE])
        for note in notes[at : at + AT_ONCE]:
            names = (*document_names(note), note.display_path, *note.tags, note.front_matter)
            for task in open_tasks(note, bodies.get(note.id, "")):
                # With an open first day, the question is what is due by the last one.
                counted = task.days if days and days[0] else task.days[:1]
                is_in = not days or any(day and days[0] <= day <= days[1] for day in counted)
                if is_in and all(has_words(topic, " ".join((task.text, task.above, *names)))):
                    tasks.append((note, task))
    copies, with_tasks = set[int](), {note.id: note for note, _ in tasks}
    for note, place in possible_copies(with_tasks.values(), store.places() if tasks else ()):
        other = note.id not in copies and store.at(*place)
        if other and is_copy(note, other, store.bodies([note.id, other.id])):
            copies.add(note.id)
    tasks = [pair for pair in tasks if pair[0].id not in copies]
    return sorted(tasks, key=lambda pair: pair[1].days[0] or "9999")


def open_task(note: Document, task: TaskLine) -> OpenTask:
    """Return a *task* of *note* as a record, without orders of others."""
    text = without_orders(task.text, note.origin)
    place = {"file": note.display_path, "line": task.line}
    return OpenTask(**place, text=text, due=task.due, day=task.days[0], origin=note.origin)
