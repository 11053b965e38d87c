"""Results as the interfaces show them: every ranked candidate with its location and a snippet."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING

from clawmem.app.services.documents.listing import docids
from clawmem.app.services.documents.references import with_blocks
from clawmem.app.services.documents.succession import current_successors
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit, rewind_request
from clawmem.app.services.retrieval.work import Candidate, LoadedTexts, RetrievalStores, Trace
from clawmem.domain.conversations.units import CONVERSATION, reply_to
from clawmem.domain.documents.frontmatter import FENCE
from clawmem.domain.documents.markdown import Markdown
from clawmem.domain.documents.names import document_names
from clawmem.domain.documents.properties import TAG_PROPERTIES, TECHNICAL_PROPERTIES
from clawmem.domain.retrieval.query_forms import content_words
from clawmem.domain.retrieval.snippets import GAP, MAX_LENGTH, Snippet, excerpt, is_bare, snippet
from clawmem.domain.retrieval.versions import Statement
from clawmem.domain.security.injections import injection_within
from clawmem.domain.security.origin import is_verified
from clawmem.domain.security.quoting import LEFT_OUT
from clawmem.domain.text.parts import Place, holds_any, intent_terms
from clawmem.domain.text.words import fold, joined_words
from clawmem.domain.text.written_dates import days_since
from clawmem.ports.records import Document, FragmentKind, Span

if TYPE_CHECKING:
    from clawmem.domain.retrieval.intent import Intent
    from clawmem.domain.retrieval.planning import Clause, Route
    from clawmem.ports.sessions import Session

# Characters of the first result, which is read most. Of 155 right first results of questions by three authors .77 show the
# literal answer in 300 characters, and .85 in 600.
FIRST_LENGTH = 600
MOST_STATED = 3  # properties that the question names


@dataclass(frozen=True)
class Result:
    """One search result. Its lines are read from its text once: the answer shows them, and the receipt names them."""

    document: Document
    docid: str
    score: float
    relevance: float
    span: Span | None  # location in the document; None if unknown
    age_days: float
    legs: Mapping[str, float]
    terms: Mapping[str, float]
    body: str  # the whole text of the document
    words: Sequence[str]  # words of the question
    purpose: Sequence[str] = ()  # words of the intent of the question
    confidence: float | None = None  # the probability that the result answers the question, in [0, 1]
    shown_length: int = MAX_LENGTH  # characters
    unit: Unit = Unit.DOCUMENT
    superseded_by: Document | None = None  # the current note that replaces it
    changed_by: Document | None = None  # a newer note that says what changed
    with_blocks: Callable[[str], str] = field(default=str, compare=False)  # shows blocks for references

    @property
    def start_line(self) -> int:
        """The first line shown, from 1."""
        return self._shown.start_line

    @property
    def end_line(self) -> int:
        """The last line shown."""
        return self._shown.end_line

    @property
    def heading(self) -> str:
        """The headings above the first line shown."""
        span, line = self.span, self.start_line
        if span and span.kind is FragmentKind.LINE and span.start_line <= line <= span.end_line:
            return span.heading
        headings = Markdown(self.body, self.document.body_line).headings[::-1]
        return next(
            (f"{h.above} › {h.label}".removeprefix(" › ") for h in headings if h.start_line <= line), ""
        )

    def snippet(self) -> Snippet:
        """
        Return the lines that answer; `LEFT_OUT` for instructions in, or next to, those of an unverified document.

        The properties of a verified note that matched or that the question names are added, and the first later line that
        says what changed.
        """
        shown = self._shown._replace(text=self.with_blocks(self._shown.text))
        if not is_verified(self.document.origin):
            is_order = injection_within(self.body, *self._place(shown))
            return shown._replace(text=LEFT_OUT if is_order else shown.text.partition(GAP)[0])
        if self.unit is Unit.LINE or self.document.content_type == CONVERSATION:
            return shown
        later = self.body[self._place(shown)[1] :].split("\n")
        new = (line.strip() for line in later if line.strip() not in shown.text)
        changes = filter(Statement(shown.text, self.words).is_changed_by, new)
        found = self.span.label if self.span and self.span.kind is FragmentKind.FRONT_MATTER else ""
        found = found if holds_any(found, self.words) else ""
        matched, named, joined = found.partition(":")[0].casefold(), {*self.words}, joined_words(self.words)
        keys = ((name, content_words(name), entry.rstrip()) for name, entry in self._entries)
        stated = (
            entry
            for name, key, entry in keys
            if key and (name == matched or named.issuperset(key) or "".join(key) in joined)
        )
        added = [*islice(stated, MOST_STATED), *islice(changes, 1)]
        more = (line[:MAX_LENGTH] for line in added if line not in shown.text)
        return shown._replace(text=GAP.join([shown.text, *more]))

    @property
    def _entries(self) -> list[tuple[str, str]]:
        """The names of the properties in the front matter, each with its lines."""
        name = r"^(?=[^\s#:+-][^:=\n]*(?:=|:(?:\s|\Z)))"
        entries = re.split(name, self.document.front_matter, flags=re.MULTILINE)
        return [(re.split("[:=]", entry)[0].strip(" \t\"'").casefold(), entry) for entry in entries]

    @cached_property
    def _shown(self) -> Snippet:
        """
        The lines that answer: below the head of a table file; of a question in a conversation, the reply.

        If none has a word of the question, the front-matter line with most of them, except lines of technical properties,
        and of tags if the note has text.
        """
        place = (self.span.start, self.span.end) if self.span and self.span.end > self.span.start else None
        is_table = self.document.path.lower().endswith((".csv", ".tsv"))
        rows = (self.body.find("\n") + 1, len(self.body)) if is_table else None
        best = self._cut(within=place) if self.unit is Unit.LINE else self._cut(found=place, within=rows)
        if self.unit is not Unit.LINE and not holds_any(best.text, self.words):
            # They are shown anyway, or tell nothing apart: "which station is offline".
            names = fold(" ".join((*document_names(self.document), self.document.content_type)))
            wanted = [word for word in map(fold, self.words) if word not in names]
            has_text = best.text != "" and not is_bare(best.text.partition("\n")[0])
            ignored = TECHNICAL_PROPERTIES | (TAG_PROPERTIES if has_text else frozenset())
            head = "".join("\n" * text.count("\n") if key in ignored else text for key, text in self._entries)
            if holds_any(head, wanted):
                line = max(head.split("\n"), key=lambda line: sum(word in fold(line) for word in wanted))
                place = head.index(line), head.index(line) + len(line)
                first = 1 if head.startswith(FENCE) else 2  # of the file
                best = snippet(head, wanted, within=place, max_length=self.shown_length, first_line=first)
        if is_table and best.start_line > self.document.body_line:
            return best._replace(text=f"{self.body.partition(chr(10))[0][: self.shown_length]}\n{best.text}")
        if self.unit is Unit.LINE or self.document.content_type != CONVERSATION:
            return best
        start, _ = self._place(best)
        if best.start_line < self.document.body_line or not (reply := reply_to(self.body, start)):
            return best
        if reply[1] - start <= self.shown_length:
            return excerpt(self.body, [(start, reply[1])], self.shown_length, self.document.body_line)
        return self._cut(within=reply)

    def _place(self, shown: Snippet) -> Place:
        """Return the offsets of the lines of *shown* in the body."""
        lines = self.body.split("\n")
        first = max(0, shown.start_line - self.document.body_line)
        start = sum(len(line) + 1 for line in lines[:first])
        return start, start + sum(len(line) + 1 for line in lines[first : first + shown.line_count])

    def _cut(self, **place: Place | None) -> Snippet:
        length, first = self.shown_length, self.document.body_line
        return snippet(
            self.body, self.words, intent_terms=self.purpose, max_length=length, first_line=first, **place
        )


@dataclass
class Answer:
    """
    All results, best first, with the trace of how they were found.

    ``answered`` is the probability that any of them answers, ``confidence`` that of the recognised ``intent``; None if
    no stage computed it. ``plan`` are the clauses of a question that was split, ``mode`` the route that was taken. The
    latest ``sessions`` come newest first, those without an outcome last.
    """

    query: str
    results: tuple[Result, ...]
    trace: Trace
    answered: float | None = None
    intent: Intent | None = None
    confidence: float | None = None
    plan: tuple[Clause, ...] = ()
    mode: Route | None = None
    sessions: tuple[Session, ...] = ()


def describe(
    texts: LoadedTexts, stores: RetrievalStores, request: RetrievalRequest, candidates: Sequence[Candidate]
) -> tuple[Result, ...]:
    """Return the results with location and text of each candidate; ages are relative to the time of the request."""
    request = rewind_request(request)
    spans = texts.spans(c.best for c in candidates)
    served = [(c, c.document) for c in candidates if c.document is not None]
    bodies = texts.bodies(document.id for _, document in served)
    names = docids(stores.documents, [document for _, document in served])
    newer = current_successors(stores.documents, stores.successions, names, request.as_of)
    purpose = intent_terms(request.purpose) if request.purpose else ()
    # Words of a time alone ("on 2 March") tell nothing of the text, which is shown from its beginning.
    has_words = request.question.topic or not request.question.named_time
    return tuple(
        Result(
            document=document,
            docid=names[document.id],
            score=min(1.0, max(0.0, candidate.score)),
            relevance=candidate.relevance,
            span=candidate.span or (spans.get(candidate.best) if has_words else None),
            age_days=days_since(document.authored_at, request.question.now_ms, request.question.zone),
            legs=candidate.legs,
            terms=candidate.terms,
            body=bodies.get(document.id, ""),
            words=request.question.forms.words if has_words else (),
            purpose=purpose,
            confidence=candidate.confidence,
            unit=Unit.LINE if candidate.span else request.unit,
            superseded_by=newer.get(document.id),
            changed_by=candidate.changed_by,
            shown_length=MAX_LENGTH if place else FIRST_LENGTH,
            with_blocks=partial(with_blocks, documents=stores.documents, links=stores.links),
        )
        for place, (candidate, document) in enumerate(served)
    )
