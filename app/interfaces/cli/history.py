"""Tables of sessions and of timelines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from clawmem.app.operations.output import Part, printable, table
from clawmem.app.records.provenance import title_of
from clawmem.app.records.succession import marked, successor_of
from clawmem.domain.briefing.packing import shortened
from clawmem.domain.security.quoting import title_to_read

if TYPE_CHECKING:
    from clawmem.app.services.documents.timeline import Entry, Timeline
    from clawmem.ports.sessions import Session

SHOWN_ID, SHOWN_SUMMARY, SHOWN_FILES = 8, 100, 5  # limits for the display of a session


def sessions_part(found: list[Session] | tuple[Session, ...]) -> Part:
    """Return sessions as a table."""
    if not found:
        return "No sessions are written down yet."
    columns = ("session", "began", "minutes", "handed over in", "what came of it", "files")
    return table(columns, [_session_row(session) for session in found])


def session_lines(found: Iterable[Session]) -> Iterator[Part]:
    """Yield one line per session with the full path of its handoff, which a narrow table would break."""
    for one in found:
        handoff = f"  {one.handoff_path}" if one.handoff_path else ""
        summary = _summary(one)
        began = one.started_at[:16].replace("T", " ")
        yield printable(f"session {one.id[:SHOWN_ID]}  {began}{handoff}{f'  {summary}' if summary else ''}")


def timeline_parts(found: Timeline) -> list[Part]:
    """Return a timeline as a table in which its document is marked, and the session in which it was written."""
    marked = [("", entry) for entry in found.before] + [(">", found.focus)]
    marked += [("", entry) for entry in found.after]
    order = table(("", "docid", "written", "file", "title"), [_entry_row(*one) for one in marked])
    if not found.session:
        return [order]
    within = f"in session {found.session.id[:SHOWN_ID]}: {_summary(found.session)}"
    return [order, printable(within)]


def _entry_row(mark: str, entry: Entry) -> tuple[str, ...]:
    document = entry.document
    written = document.authored_at[:16].replace("T", " ")
    title = marked(title_to_read(title_of(document), document.origin), successor_of(entry.superseded_by))
    return (mark, f"#{entry.docid}", written, document.display_path, title)


def _session_row(session: Session) -> tuple[str, ...]:
    files = ", ".join(session.files_changed[:SHOWN_FILES])
    more = len(session.files_changed) - SHOWN_FILES
    return (
        session.id[:SHOWN_ID],
        session.started_at[:16].replace("T", " "),
        _minutes(session),
        session.handoff_path or "",
        _summary(session),
        f"{files} and {more} more" if more > 0 else files,
    )


def _summary(session: Session) -> str:
    return shortened(" ".join(session.summary.split()), SHOWN_SUMMARY)


def _minutes(session: Session) -> str:
    from clawmem.domain.documents.times import parse_iso

    if session.ended_at is None:
        return "active"
    began, ended = parse_iso(session.started_at), parse_iso(session.ended_at)
    return "?" if began is None or ended is None else str(round((ended - began) / 60_000))
