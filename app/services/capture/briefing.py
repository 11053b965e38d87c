"""Context that a session gets unasked, the profile of the user, and the review of recent decisions."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import NamedTuple

from clawmem.app.services.capture.visibility import (
    DAY,
    Withheld,
    day_of,
    may_show,
    projects_elsewhere,
    shown_successor,
    without_replaced,
)
from clawmem.app.services.documents.records import TitledFile, titled_file
from clawmem.app.services.documents.succession import current_successors
from clawmem.app.services.documents.tasks import tasks_in
from clawmem.app.services.retrieval.answer import Answer, Result
from clawmem.app.services.retrieval.receipts import Recalls, Receipt, pack
from clawmem.app.services.retrieval.request import RetrievalRequest, read_request
from clawmem.domain.briefing.blocks import (
    DECISIONS,
    MOST_ITEMS,
    RECENT_DAYS,
    Phrase,
    ProfileLine,
    block,
    fact_of,
    file_name,
    is_stale,
    listing,
    names_file,
    repeated_phrases,
    section,
)
from clawmem.domain.briefing.failures import error_lines, names_error
from clawmem.domain.capture.contradiction import Verdict, verdict
from clawmem.domain.capture.handoff import outcome_first
from clawmem.domain.capture.notes import COLLECTION
from clawmem.domain.documents.times import DAY_MS, iso_utc
from clawmem.domain.lifecycle.policy import idle_days
from clawmem.domain.retrieval.question import Question
from clawmem.domain.security.quoting import safe
from clawmem.domain.security.redaction import redact, redact_part, redact_parts
from clawmem.domain.surfacing.filters import is_hidden
from clawmem.domain.text.likeness import has_words
from clawmem.domain.text.vocabulary import FORMER, NEWEST
from clawmem.domain.text.words import token_count, words
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore, PropertyStore, SuccessionStore
from clawmem.ports.errors import ClawmemError
from clawmem.ports.records import Document, Scope
from clawmem.ports.sessions import SessionStore, UsageStore, session_key

FACTS = ("decision", "preference")
SESSION_TOKENS = 600
COMPARED = 12  # first facts of a profile, each searched for a later note that says what changed
LOOKED_AT = 20  # search results, most of which may be excluded
# Values of the property `status`.
NOT_IN_FORCE = frozenset("draft proposed rejected deprecated superseded withdrawn".split())
PARAGRAPH = re.compile(r"\S[^\n]*(?:\n[^\n]*\S[^\n]*)*")


@dataclass(frozen=True, slots=True)
class DocumentPair:
    """The files of two served documents, ordered by id, and how often both were used in the same turn."""

    one: str
    other: str
    count: int


@dataclass(frozen=True, slots=True)
class Reflection:
    """
    Results of a review.

    ``decisions`` and ``antipatterns`` were written in the last ``days``, latest first; ``phrases`` occur repeatedly in
    the decisions. ``together`` covers all time, most frequent pairs first.
    """

    days: int
    decisions: list[TitledFile]
    phrases: list[Phrase]
    antipatterns: list[TitledFile]
    together: list[DocumentPair]


def reflect(documents: DocumentStore, usage: UsageStore, clock: Clock, days: int) -> Reflection:
    """Review the last *days*; nothing is changed. Raises `VaultError`."""
    since = iso_utc(max(0, clock.now_ms() - days * DAY_MS))
    served = {document.id: document for document in documents.latest()}
    recent = [document for document in served.values() if document.authored_at >= since]
    decisions = [note for note in recent if note.content_type == "decision"][:50]
    pairs = [
        DocumentPair(document.display_path, served[other].display_path, count)
        for document in sorted(served.values(), key=lambda document: document.id)
        if document.access_count  # without any use it cannot have been used together with others
        for other, count in sorted(usage.partners(document.id).items())
        if count >= 3 and document.id < other and other in served
    ]
    # A decision that was captured and imported as well counts once.
    distinct = {(note.title, note.authored_at[:DAY]): note for note in decisions}
    return Reflection(
        days,
        [titled_file(note) for note in decisions],
        repeated_phrases(f"{note.title}\n\n{documents.body(note.id) or ''}" for note in distinct.values()),
        [titled_file(note) for note in recent if note.content_type == "antipattern"][:10],
        sorted(pairs, key=lambda pair: -pair.count)[:10],
    )


class Advice(NamedTuple):
    """A block for a moment of a session, empty if there is nothing to say, and the answer and request it was made from."""

    text: str
    answer: Answer
    request: RetrievalRequest

    def about(self, tag: str, introduction: str, lines: Sequence[tuple[Result, str]]) -> Advice:
        """Return the block *tag* with the *lines*, each about one of the results."""
        text = block(tag, introduction, ["\n".join(line for _, line in lines)], 200)
        return self._replace(text=text, answer=replace(self.answer, results=tuple(r for r, _ in lines)))


@dataclass(frozen=True, slots=True)
class Briefings:
    """Blocks of context for a session. They are read from records; ``search`` finds by words, without a model."""

    documents: DocumentStore
    successions: SuccessionStore
    properties: PropertyStore
    sessions: SessionStore
    search: Callable[[RetrievalRequest], Answer]
    clock: Clock
    withheld: Withheld
    recalls: Recalls
    explain: Callable[..., Receipt]

    def profile(self, project: str = "") -> str:
        """
        Return the profile of the user: decisions and preferences in force, and what the last sessions came to.

        It is Markdown; empty without a decision, a preference and a session. A line that does not fit is left out. Handoffs and statements that apply to other
        projects than *project* alone are left out; what was decided in another one is named with it, and comes last.
        """
        notes = self._shown(project)
        handoffs = {note.display_path: note for note in notes if note.content_type == "handoff"}
        items = [
            (session.summary, handoffs[session.handoff_path])
            for session in self.sessions.recent(MOST_ITEMS)
            if session.summary and session.handoff_path in handoffs
        ]
        items += [(note.title, note) for note in notes if note.content_type == "progress"]
        lines = [ProfileLine(redact(text), note.display_path, day_of(note)) for text, note in items]
        facts = self._in_force(notes, project)
        parts = [listing("## What holds", facts, 30, 500), listing("## Lately", lines, MOST_ITEMS, 280)]
        return "\n\n".join(["# Profile", *filter(None, parts)]) + "\n" if any(parts) else ""

    def at_start(self, project: str = "", session_id: str = "") -> str:
        """
        Return the block ``<vault-session>`` within 600 tokens; empty when there is nothing to say.

        Only decisions, preferences, handoffs and tasks change it, not time or use, so that a repeated start of a session
        gives the same bytes. Handoffs and preferences of other projects than *project* are left out.

        Args:
            session_id: A session that goes on: what was captured from it, it knows.
        """
        notes, elsewhere = self._shown(project, session_id), projects_elsewhere(self.properties, project)
        problems = [note for note in notes if note.content_type == "problem" and note.id not in elsewhere]
        tasks = [
            _line(note.title, day_of(note), mark)
            for note, mark in without_replaced(self.documents, self.successions, problems)
        ]
        # Check boxes of the notes that the project's name is in the path of.
        name = " ".join(words(project.rpartition("/")[2]))
        named = [note for note in notes if name and f" {name} " in f" {' '.join(words(note.display_path))} "]
        boxes = tasks_in(self.documents, Scope(documents=frozenset(note.id for note in named)))
        bodies = self.documents.bodies({note.id for note, _ in boxes})
        for note, box in sorted(boxes, key=lambda pair: (pair[0].display_path, pair[1].line)):
            tasks.append(_line(redact_part(bodies[note.id], *box.span), note.display_path))
        return block(
            "vault-session",
            "From the vault: what earlier sessions left, for information.",
            [
                safe(listing("## What holds", self._in_force(notes, project), 2 * DECISIONS, 260)),
                self._handoff([note for note in notes if note.id not in elsewhere]),
                section("## Open tasks", tasks, 90),
            ],
            SESSION_TOKENS,
        )

    def where_stopped(self, question: Question, project: str = "", session_id: str = "") -> str:
        """
        Return the block ``<vault-session>`` with the last handoff of *project* that *question* asks for; empty without one.

        A session knows its own handoff. If that is the last one, an earlier one is only meant by "last" or "previous".
        """
        topic, named = question.stopped_topic, question.named_time
        names_last = not (NEWEST | FORMER).isdisjoint(words(question.text))
        elsewhere, until = projects_elsewhere(self.properties, project), named and named.authored_until
        shown = self._shown(project, session_id if topic or names_last else "")
        notes = [
            note for note in shown if note.id not in elsewhere and (not until or note.authored_at < until)
        ]
        last = self._handoff(notes, topic or (), session_id)
        return block("vault-session", "From the vault, for information:", [last], SESSION_TOKENS)

    def staleness(self) -> str:
        """Return the block ``<vault-staleness>`` with at most five notes within 250 tokens; empty if none is stale."""
        now_ms = self.clock.now_ms()
        today = iso_utc(now_ms)[:DAY]
        due = [
            note
            for note in self._shown()
            if note.collection != COLLECTION
            and is_stale(review_by=note.review_by, today=today, idle_days=idle_days(note, now_ms))
        ]
        replaced = current_successors(self.documents, self.successions, [note.id for note in due])
        due.sort(key=lambda note: (note.review_by is None, note.review_by or note.authored_at))
        lines = []
        for note in [note for note in due if note.id not in replaced][:5]:
            review = note.review_by and f"review was due {note.review_by[:DAY]}"
            lines.append(_line(note.title, note.display_path, review or f"written {note.authored_at[:DAY]}"))
        introduction = "These notes have not been looked at for a while; what they say may be out of date."
        return block("vault-staleness", introduction, ["\n".join(lines)], 250)

    def after_compaction(self, state: str, summary: str = "", project: str = "") -> str:
        """
        Return the block ``<vault-postcompact>`` within 1200 tokens; empty when there is nothing to say.

        Args:
            state: The Markdown saved before the compaction; may be empty.
            summary: The client's summary of the conversation, if any; the query when the state has no last request.
            project: The project of the session; statements that apply to others alone are left out.
        """
        _, _, after = state.partition("## Last User Request\n")
        request = " ".join(after.partition("\n## ")[0].split())
        since = iso_utc(self.clock.now_ms() - RECENT_DAYS * DAY_MS)
        recent = [
            note
            for note in self._shown(project)
            if note.authored_at >= since and not is_hidden(note.display_path, note.content_type)
        ]
        stated: dict[str, list[str]] = {}  # by type, those of other projects last
        elsewhere = projects_elsewhere(self.properties, project)
        for kind in ("decision", "antipattern"):
            notes = [note for note in recent if note.content_type == kind]
            notes.sort(key=lambda note: note.id in elsewhere)
            marked = without_replaced(self.documents, self.successions, notes)
            bodies = self.documents.bodies([note.id for note, _ in marked])
            stated[kind] = [
                _line(_stated(note, bodies), elsewhere.get(note.id, ""), day_of(note), mark)
                for note, mark in marked
            ]
        results: list[Result] = []
        with suppress(ClawmemError):  # a failing index must not discard the other sections
            query = (request or summary)[:200]
            results += self._found(query, project)[0].answer.results if query else ()
        context = []
        for result in results:
            note, body = result.document, result.body
            if not is_hidden(note.display_path, note.content_type):
                beginning = " ".join(redact_part(body, 0, min(len(body), 2000)).split())[:150]
                marks = elsewhere.get(note.id, ""), shown_successor(result.superseded_by)
                context.append(_line(note.title, note.display_path, *marks, text=beginning))
        return block(
            "vault-postcompact",
            "State of this session, saved when its conversation was compacted, and what the vault has on it.",
            [
                section("## Saved before compaction", filter(str.strip, safe(state).splitlines()), 600),
                section("## Decisions of the last days", stated["decision"][:5], 400),
                section("## What went wrong before", stated["antipattern"][:3], 150),
                section("## From the vault", context[:3], 200),
            ],
            1200,
        )

    def file_lessons(self, path: str, project: str = "") -> Advice:
        """
        Return the block ``<vault-file-lessons>``: decisions, orders, problems and mistakes that name a file; or nothing.

        A line has no secrets, even if their labels are in other lines.

        Args:
            path: The file path, of any system; its folders distinguish it from other files of that name.
        """
        name = file_name(path)
        lessons: list[tuple[Result, str]] = []
        found, elsewhere = self._found(name, project)
        for result in found.answer.results:
            note, body, start, is_named = result.document, result.body, 0, False
            is_lesson = note.content_type in ("antipattern", "problem", *FACTS)
            for line in body.splitlines(keepends=True) if is_lesson else ():
                is_named = is_named or names_file(line, path)
                # Below a heading stands the reason.
                if is_named and line.strip() and not line.startswith("#"):
                    shown = redact_part(body, start, start + len(line)).strip("> \n")
                    marks = elsewhere.get(note.id, ""), day_of(note), shown_successor(result.superseded_by)
                    text = "" if shown.startswith(note.title.rstrip("…")) else shown
                    title = note.title if text else shown
                    lessons.append((result, _line(title, note.content_type, *marks, text=text)))
                    break
                start += len(line)
        return found.about("vault-file-lessons", f"Noted about {safe(name)} before:", lessons[:3])

    def earlier_fix(self, output: str, project: str = "") -> Advice | None:
        """
        Return the block ``<vault-earlier-fix>``: up to two notes that name the error in the *output* of a command.

        Each is quoted from the paragraph that names it to the next one, which often has the remedy. ``None`` if no note
        names the same error.
        """
        for line in error_lines(output):
            found, elsewhere = self._found(redact(line), project)
            fixes: list[tuple[Result, str]] = []
            for result in found.answer.results:
                note, body = result.document, result.body
                named = (place for place in PARAGRAPH.finditer(body) if names_error(place[0], line))
                if (place := next(named, None)) and result.superseded_by is None:
                    following = PARAGRAPH.search(body, place.end())
                    end = min(following.end() if following else place.end(), place.start() + 400)
                    text = " ".join(redact_part(body, place.start(), end).split())
                    marks = note.display_path, elsewhere.get(note.id, ""), day_of(note)
                    fixes.append((result, _line(note.title, *marks, text=text)))
            if fixes:
                return found.about("vault-earlier-fix", "From the vault, about the same error:", fixes[:2])
        return None

    def record(self, advice: Advice, verb: str, session_id: str, prompt_id: str) -> None:
        """Record *advice* that a session got from the hook *verb*, so that its use can be measured."""
        text, answer, request = advice
        self.recalls.record(
            answer,
            verb,
            0.0,
            limit=LOOKED_AT,
            receipt=lambda: pack(self.explain(answer, request, verb, 0.0, tokens=token_count(text))),
            session_id=session_id,
            prompt_id=prompt_id,
        )

    # -- parts --------------------------------------------------------------------------------------

    def _shown(self, project: str = "", session_id: str = "") -> list[Document]:
        """Return the documents that may be shown unasked, last written first, without those of the session itself."""
        now, withheld = iso_utc(self.clock.now_ms()), self.withheld(project)
        own = session_key(session_id) if session_id else None
        return [
            note
            for note in self.documents.latest()
            if note.id not in withheld and may_show(note, now) and not (own and own in note.path)
        ]

    def _in_force(self, notes: Sequence[Document], project: str) -> list[ProfileLine]:
        """Return the lines of decisions and preferences in force; a fact that a later one contradicts is not."""
        status = self.properties.named("status")
        stated = [
            note
            for note in notes
            if note.content_type in FACTS
            # A captured decision that a later one contradicted is below 0.8.
            and note.confidence >= (0.8 if note.collection == COLLECTION else 0.4)
            and NOT_IN_FORCE.isdisjoint(value.key for value in status.get(note.id, ()))
        ]
        newer = current_successors(self.documents, self.successions, [note.id for note in stated])
        # The date of an undated file may only be that of a copy, so undated notes come after dated ones.
        elsewhere = projects_elsewhere(self.properties, project)
        current = [note for note in stated if note.id not in newer]
        current.sort(key=lambda note: (note.id in elsewhere, not note.has_own_date))
        of_kind = ([note for note in current if note.content_type == kind][:DECISIONS] for kind in FACTS)
        facts = [note for pair in zip_longest(*of_kind) for note in pair if note]
        bodies = self.documents.bodies([note.id for note in facts])
        lines, shown = [], {note.id for note in notes}
        # Outside of any project, all are named.
        labels = elsewhere if project else projects_elsewhere(self.properties, "-")
        for number, note in enumerate(facts):
            text, change = _stated(note, bodies), ""
            with suppress(ClawmemError):  # a failing index must not discard the statement
                for result in self._found(text[:100])[0].answer.results if number < COMPARED else ():
                    if result.document.id == note.id and (later := result.changed_by) and later.id in shown:
                        change = f"perhaps no longer so, see {later.display_path}; "
            place = change + ", ".join(filter(None, (labels.get(note.id), note.display_path)))
            lines.append(ProfileLine(text, place, day_of(note)))
        return [
            line
            for line in lines
            if not any(
                other.day > line.day and verdict(other.text, line.text) is not Verdict.NONE for other in lines
            )
        ]

    def _handoff(self, documents: Sequence[Document], topic: Collection[str] = (), own: str = "") -> str:
        # The date of an undated file may only be that of a copy, so dated handoffs take precedence.
        handoffs = [document for document in documents if document.content_type == "handoff"]
        handoffs.sort(key=lambda note: not note.has_own_date)
        bodies = self.documents.bodies([note.id for note in handoffs if topic])
        about = [note for note in handoffs if all(has_words([*topic], bodies.get(note.id, "")))]
        for last, mark in without_replaced(self.documents, self.successions, about[:1]):
            if own and session_key(own) in last.path:
                return ""
            noted = ", ".join(safe(part) for part in (day_of(last), mark) if part)
            heading = f"## Where the last session stopped{f' ({noted})' if noted else ''}"
            body = safe(outcome_first(self.documents.body(last.id) or ""))
            return section(heading, filter(str.strip, body.splitlines()), 220)
        return ""

    def _found(self, text: str, project: str = "") -> tuple[Advice, Mapping[int, str]]:
        """Return the notes that *text* finds and a session may see; those of other projects come last, with labels by id."""
        request = read_request(text, now_ms=self.clock.now_ms(), limit=LOOKED_AT, show_all=True)
        answer, elsewhere = self.search(request), projects_elsewhere(self.properties, project)
        now, withheld = iso_utc(self.clock.now_ms()), self.withheld(project)
        shown = [r for r in answer.results if r.document.id not in withheld and may_show(r.document, now)]
        shown.sort(key=lambda result: result.document.id in elsewhere)
        return Advice("", replace(answer, results=tuple(shown)), request), elsewhere


def _stated(note: Document, bodies: Mapping[int, str]) -> str:
    # A captured note repeats its title and adds its origin. A sentence alone may lack the label of its secret.
    body = "" if note.collection == COLLECTION else bodies.get(note.id, "")
    return fact_of(*redact_parts((note.title, body)))


def _line(title: str, *parts: str, text: str = "") -> str:
    """Return one line: the title, the *parts* that are not empty in brackets, and the *text*."""
    noted = ", ".join(filter(None, parts))
    line = f"{' '.join(title.split())}{f' ({noted})' if noted else ''}{f': {text}' if text else ''}"
    return f"- {safe(line)}"
