"""Open tasks in a note: lines with an empty box, and those that Logseq marks as to do, with their days."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from clawmem.domain.documents.dating import day_in
from clawmem.domain.documents.diary import day_sections
from clawmem.domain.documents.markdown import Markdown
from clawmem.domain.documents.names import file_name
from clawmem.ports.records import Document

_TASK = re.compile(
    r"^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ /]\]|(?:TODO|DOING|NOW|LATER)\b)[ \t]+(?P<text>\S[^\n]*)"
    r"(?P<below>(?:\n[ \t]*(?:DEADLINE|SCHEDULED):[^\n]*)*)",
    re.MULTILINE,
)
# As the plugins Tasks and Dataview of Obsidian and as Logseq write them; a sign without a day is no part of the text.
_DAY = re.compile(
    r"(?:(?P<due>[📅📆🗓]\ufe0f?|[(\[]?\bdue:{0,2}|\bDEADLINE:)|[⏳⌛]\ufe0f?|[(\[]?\bscheduled:{0,2}|\bSCHEDULED:)"
    r"\s*<?(?P<day>\d{4}-\d\d-\d\d)[)\]]?|[📅📆🗓⏳⌛]\ufe0f?",
    re.IGNORECASE,
)
_DUE = re.compile(r"^due:[ \t]*[\"']?(\d{4}-\d\d-\d\d)", re.MULTILINE | re.IGNORECASE)


class TaskLine(NamedTuple):
    """
    An open task at a line of the file, without the signs of its days; the days are ISO 8601, or empty.

    ``due`` is the day that the line or else the front matter states; ``day`` is that of the line, or of the nearest
    heading with a day, or of the front matter, or in the name of the file.
    """

    line: int
    text: str
    due: str
    day: str


def open_tasks(document: Document, body: str) -> Iterator[TaskLine]:
    """Yield the open tasks in *body*, the text of *document*, in its order; none in code."""
    if not _TASK.search(body):
        return
    note = Markdown(body, document.body_line)
    sections = [*day_sections(document, note)][::-1]
    declared = _DUE.search(document.front_matter)
    for task in _TASK.finditer(note.prose):
        line, text = note.line_at(task.start("text")), body[slice(*task.span("text"))]
        days = [day for day in _DAY.finditer(text + task["below"]) if day["day"]]
        due = next((day["day"] for day in sorted(days, key=lambda day: not day["due"])), "")
        above = [span.label for span in sections if span.start_line <= line <= span.end_line]
        of_note = declared[1] if declared else ""
        day = next(filter(None, [due, *above, of_note, day_in(file_name(document.path))]), "")
        yield TaskLine(line, " ".join(_DAY.sub("", text).split()), due or of_note, day)
