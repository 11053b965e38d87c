"""The diary of agents, and sections of a note that are about one day each, as in a diary of a month or year."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, tzinfo

from clawmem.domain.documents.markdown import Block, BlockKind, Markdown
from clawmem.domain.documents.names import file_name, searchable_names
from clawmem.domain.documents.times import parse_iso
from clawmem.domain.text.dates import month_named, temporal_range
from clawmem.domain.text.vocabulary import MONTHS
from clawmem.domain.text.words import slug, words
from clawmem.domain.text.written_dates import dated_lines, day_in, day_named
from clawmem.ports.records import Document, FragmentKey, FragmentKind, Span

DIARY = "diary"  # folder of the own collection
TOPIC = "general"


def day_sections(document: Document, note: Markdown) -> Iterator[Span]:
    """
    Yield each section of *note*, the text of *document*, whose heading names a day; its label is the day in ISO 8601.
    Without such headings, a note of a month has sections that begin with `dated_lines`.

    A day without its year is in that of the latest whole date above, else of the file name, the note's own date, or the
    nearest folder. One without its month is in that of a file named after the month.
    """
    own = document.authored_at if document.has_own_date else ""
    names = " ".join((file_name(document.path), own, *searchable_names(document))).replace("_", " ")
    year = next((word for word in words(names) if re.fullmatch(r"(?:19[7-9]|20\d)\d", word)), "")
    lines = "\n".join(re.findall(r"(?m)^ {0,3}#{1,6}[ \t].*\d.*", note.body))
    month = month_named(file_name(document.path))
    entries = [*dated_lines(note.prose)] if month or own.endswith("-01T00:00:00.000Z") else []
    month = month and f"{date.fromisoformat(f'{month}-01'):%B %Y}"
    is_diary = month or re.search(r"\d[-./_年] ?\d", lines) or MONTHS.keys() & words(lines)
    headings = note.headings if is_diary else []
    if entries and "\n" not in lines:  # only the title has a number
        headings = [Block(BlockKind.PARAGRAPH, note.line_at(at), 0, at, at, day) for at, day in entries]
    for at, heading in enumerate(headings):
        whole = f"{heading.label} {month}"
        day = day_in(heading.label) or (month and day_named(whole).replace(whole, ""))
        year = day[:4] or year
        if not day and any(map(str.isdecimal, heading.label)):
            text = re.sub(r"(?<![\w.])\d\d?\.\s?\d\d?\.(?!\s?\d)", rf"\g<0>{year}", heading.label)  # 22.11.
            named = temporal_range(text, now_ms=parse_iso(f"{year}-12-31") or 0)
            if named and named.is_day and any(map(str.isdecimal, text[named.start : named.end])):
                day = (named.authored_from or "")[:10]
        if day and year:
            end = next((h.start for h in headings[at + 1 :] if h.level <= heading.level), len(note.body))
            last = note.line_at(heading.start + len(note.body[heading.start : end].rstrip()))
            key = FragmentKey(document.id, -heading.start_line)  # that of no stored fragment
            yield Span(key, FragmentKind.SECTION, heading.start_line, last, heading.start, end, day)


def diary_path(at_ms: int, topic: str, zone: tzinfo = UTC) -> str:
    """Return ``diary/<YYYY-MM-DD>-<HHMMSSmmm>-<topic>.md``, in *zone*; the topic has letters, digits and hyphens alone."""
    moment = datetime.fromtimestamp(at_ms // 1000, zone)
    name = slug(topic)[:60].strip("-") or TOPIC
    return f"{DIARY}/{moment:%Y-%m-%d-%H%M%S}{at_ms % 1000:03}-{name}.md"
