"""Notes of some days: those that were written then, and those with sections of these days, as in a diary of a month."""

from collections.abc import Mapping, Sequence

from clawmem.app.services.documents.listing import AT_ONCE
from clawmem.domain.documents.diary import day_sections
from clawmem.domain.documents.markdown import Markdown
from clawmem.domain.documents.names import file_name
from clawmem.domain.documents.times import DAY_MS, iso_utc, parse_iso
from clawmem.domain.text.dates import month_named
from clawmem.domain.text.written_dates import day_in
from clawmem.ports.documents import DocumentStore
from clawmem.ports.records import Scope, Span

MONTH, DAY, LAST = len("2026-03"), len("2026-03-31"), "9998-12-31"
AROUND = 31  # days

Sections = Mapping[int, Sequence[Span | None]]  # by document; None is all of it


def sections_of_days(store: DocumentStore, scope: Scope, first: str, last: str) -> Sections:
    """
    Return the sections of the days from *first* to *last* of the notes with sections of days, maybe none.

    A note of one day is not divided. Of a diary of the month without sections, a part of the month has all of it. Notes
    with a day in their names are read up to a month before and after. The times of *scope* do not count.
    """
    sections = dict[int, list[Span | None]]()
    around = ((first, -AROUND), (last, AROUND))
    start, end = (iso_utc((parse_iso(day) or 0) + count * DAY_MS) for day, count in around)
    scope = scope._replace(authored_from=start if first else None, authored_until=None)
    notes = [
        note for note in store.latest(scope) if note.authored_at < end or not day_in(file_name(note.path))
    ]
    for at in range(0, len(notes), AT_ONCE):
        page = notes[at : at + AT_ONCE]
        bodies = store.bodies(note.id for note in page)
        for note in page:
            spans = [*day_sections(note, Markdown(bodies.get(note.id, ""), note.body_line))]
            if {span.label for span in spans} - {note.authored_at[:DAY]}:
                sections[note.id] = [span for span in spans if first <= span.label <= last]
            elif not spans and first < last and (month := month_named(file_name(note.path))):
                sections[note.id] = [None] if first[:MONTH] <= month <= last[:MONTH] else []
    return sections


def within_days(store: DocumentStore, scope: Scope, days: tuple[str, str]) -> tuple[Scope, Sections]:
    """
    Return *scope*, which is of *days*, with the notes that have sections of these days, and these sections.

    A note that states its month alone is left out without one. One that states a day of its own is not divided. An
    empty day is an open side.
    """
    by_note = sections_of_days(store, scope, days[0], days[1] or LAST)
    written, sections, others = store.ids(scope), dict[int, Sequence[Span | None]](), set[int]()
    for number, note in store.many(by_note).items():
        spans, day = by_note[number], note.authored_at[:DAY]
        stated = day_in(note.path + note.front_matter)
        is_first = note.authored_at[MONTH:] == "-01T00:00:00.000Z" and stated != day
        is_of_month = month_named(file_name(note.path)) or (note.has_own_date and is_first)
        is_of_day = note.has_own_date and all(span and span.label != day for span in spans)
        if spans and (is_of_month or not is_of_day or number not in written):
            sections[number] = spans
        elif not spans and is_of_month:
            others.add(number)
    if sections.keys() <= written and not others:
        return scope, sections
    documents = (written | sections.keys()) - others
    return scope._replace(authored_from=None, authored_until=None, documents=documents), sections
