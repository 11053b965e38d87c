"""Composition of the block: turn ranked candidates into entries that fit the token budget."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clawmem.app.services.briefing.telling import told_succession
from clawmem.app.services.documents.succession import current_successors
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.work import Candidate, RetrievalStores
from clawmem.app.services.surfacing.filters import span_of
from clawmem.domain.documents.tables import header_at
from clawmem.domain.retrieval.chunk_choice import intent_terms
from clawmem.domain.retrieval.snippets import ELLIPSIS, holds_any, snippet
from clawmem.domain.security.injections import has_injection
from clawmem.domain.security.origin import LEADS, SOURCES, is_verified
from clawmem.domain.surfacing import block as blocks
from clawmem.domain.surfacing.block import age_label
from clawmem.domain.surfacing.packing import (
    CHARACTERS,
    FULL_CHARACTERS,
    FULL_SHARE,
    SEPARATOR,
    Tier,
    pack_lines,
    pack_shorter,
    tier_of,
)
from clawmem.domain.surfacing.properties import asked_properties
from clawmem.domain.text.words import token_count
from clawmem.ports.records import EVERYTHING, Document, Scope, Span

DAY = len("2026-03-31")
LEAST_MORE = 10  # characters that a whole note has more than the lines that were found

BELOW, APART = "\n", f"\n{ELLIPSIS}\n"  # what stands between a passage and the next line, or a later one

Clean = Callable[[str], str]
RedactPart = Callable[[str, int, int], str]


class BlockContent(NamedTuple):
    """Content of a block: rendered entries and relations, and the candidates behind the entries."""

    entries: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = ()


class _Passage(NamedTuple):
    """
    Candidate prepared for display.

    Attributes:
        candidate: The ranked candidate.
        head: Entry of its document, without text.
        span: Position of its fragment in the body.
        source: Redacted text of the fragment; empty if the tier shows no text.
        source_line: File line of the first line of ``source``; None if redaction removed lines.
        header: Header of the table, if ``text`` begins with a table row.
        text: The part of ``source`` that is shown, as long as the tier allows.
        lines: First and last file line of ``text``.
    """

    candidate: Candidate
    head: blocks.Entry
    span: Span | None = None
    source: str = ""
    source_line: int | None = None
    header: str = ""
    text: str = ""
    lines: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Composer:
    """
    Renderer of candidates, with one entry per document.

    Args:
        clean: Makes any text safe to include in a block.
        redact: Returns the part of a body between two offsets without secrets. It needs the whole body, because
            half of a secret would not be recognised.
    """

    stores: RetrievalStores
    clean: Clean
    redact: RedactPart

    def __call__(
        self, candidates: Sequence[Candidate], request: RetrievalRequest, budget: int
    ) -> BlockContent:
        """Return the passages that fit into *budget* tokens, best first, and the relations of their documents."""
        best = max((c.score for c in candidates), default=0.0)
        documents = {c.document_id: c.document for c in candidates if c.document}
        newer = current_successors(self.stores.documents, self.stores.successions, documents, request.as_of)
        properties = self._properties(documents, request)
        heads = {
            number: self._head(
                document, request.question.now_ms, told_succession(newer.get(number))
            )._replace(properties=properties.get(number, ""))
            for number, document in documents.items()
        }
        found = [self._passage(c, heads[c.document_id], request, best) for c in candidates]
        passages = _matching_rows(found, request.question.forms.words)
        shown = self._in_full(self._fitting(passages, request, budget), request, budget)
        shown = self._as_notes(shown, request, budget)
        entries = _entries(shown)
        left = budget - token_count(SEPARATOR.join(entries))
        relations = pack_lines(self._relations(shown), left, blocks.RELATIONS_FRAME)
        return BlockContent(tuple(entries), tuple(relations), tuple(one.candidate for one in shown))

    def _properties(self, documents: Collection[int], request: RetrievalRequest) -> Mapping[int, str]:
        """Return the properties that the question names, by document; none with a secret or that must not be shown."""
        declared = self.stores.properties.many(documents) if documents else {}
        found = asked_properties(declared, request.question.forms.words)
        redacted = {number: self.redact(line, 0, len(line)) for number, line in found.items()}
        return {number: self.clean(line) for number, line in redacted.items() if not has_injection(line)}

    def _head(self, document: Document, now_ms: int, succession: str) -> blocks.Entry:
        origin = document.origin
        return blocks.Entry(
            self.clean(document.title),
            self.clean(document.content_type),
            self.clean(document.display_path),
            document.authored_at[:DAY],
            age=age_label(document.authored_at, now_ms),
            source=SOURCES[origin],
            lead="" if is_verified(origin) else LEADS[origin],
            successor=self.clean(succession),
        )

    def _passage(
        self, candidate: Candidate, head: blocks.Entry, request: RetrievalRequest, best: float
    ) -> _Passage:
        # The threshold stage already dropped weak candidates; the tier only limits the length of the text.
        room = CHARACTERS[tier_of(candidate.score / best if best else 0.0)]
        span = span_of(self.stores.documents, candidate)
        return self._cleaned(self._read(_Passage(candidate, head, span), request, room))

    def _read(self, passage: _Passage, request: RetrievalRequest, room: int) -> _Passage:
        """Return *passage* with at most *room* characters of the text at its span, redacted but not cleaned."""
        candidate, head, span = passage.candidate, passage.head, passage.span
        if not room:
            return passage
        body = self.stores.documents.body(candidate.document_id) or ""
        written = body[span.start : span.end] if span else ""
        source = self._redacted(body, span, written) if span else ""
        is_whole = source.count("\n") == written.strip().count("\n")
        above = written.count("\n", 0, len(written) - len(written.lstrip()))
        first = span.start_line + above if span and is_whole else None
        header = "\n".join(header_at(body, span.start) or ()) if span else ""
        header = self.redact(header, 0, len(header))
        return self._selected(_Passage(candidate, head, span, source, first, header), request, room)

    def _redacted(self, body: str, span: Span, written: str) -> str:
        start = span.start + len(written) - len(written.lstrip())
        return self.redact(body, start, max(start, span.start + len(written.rstrip())))

    def _cut(self, passage: _Passage, request: RetrievalRequest, room: int) -> _Passage:
        """Return *passage* with at most *room* characters, cleaned."""
        return self._cleaned(self._selected(passage, request, room))

    def _cleaned(self, passage: _Passage) -> _Passage:
        if not passage.source:
            return passage
        return passage._replace(text=self.clean(passage.text), header=self.clean(passage.header))

    def _selected(self, passage: _Passage, request: RetrievalRequest, room: int) -> _Passage:
        """Return *passage* with at most *room* characters of its best matching lines, and their line numbers."""
        if not passage.source:
            return passage
        first = passage.source_line or 1
        if len(passage.source) <= room:
            shown, last = passage.source, first + passage.source.count("\n")
        else:
            wanted = intent_terms(request.purpose) if request.purpose else ()
            terms = request.question.forms.words
            found = snippet(passage.source, terms, intent_terms=wanted, max_length=room, first_line=first)
            shown, first, last = found.text, found.start_line, found.end_line
        span = passage.span
        around = (span.start_line, span.end_line) if span else None
        lines = (first, last) if passage.source_line else around
        header = passage.header if "|" in shown.partition("\n")[0] else ""
        return passage._replace(text=shown, header=header, lines=lines)

    def _fitting(
        self, passages: Sequence[_Passage], request: RetrievalRequest, budget: int
    ) -> Sequence[_Passage]:
        """Return the first *passages* that fit; if not all fit in full, shorten the last of them."""
        if token_count(_text(passages)) <= budget:
            return passages
        shorter = [self._shortened(one, request) for one in passages]

        def mixed(count: int, full: int) -> list[_Passage]:
            return [*passages[:full], *shorter[full:count]]

        count, full = pack_shorter(
            len(passages), lambda n, full: _text(mixed(n, full)), budget, int(budget * FULL_SHARE)
        )
        return mixed(count, full)

    def _in_full(
        self, passages: Sequence[_Passage], request: RetrievalRequest, budget: int
    ) -> list[_Passage]:
        """Return *passages* with the cut texts in full, best first, as far as *budget* allows."""
        shown = list(passages)
        for at, one in enumerate(passages):
            full = self._cut(one, request, FULL_CHARACTERS) if one.text else one
            fuller = [*shown[:at], full, *shown[at + 1 :]]
            if len(full.text) > len(one.text) and token_count(_text(fuller)) <= budget:
                shown = fuller
        return shown

    def _as_notes(
        self, passages: Sequence[_Passage], request: RetrievalRequest, budget: int
    ) -> list[_Passage]:
        """Return *passages* with whole notes in place of their lines, best first, as far as *budget* allows."""
        shown = list(passages)
        for one in _by_document(passages):
            note = self._note(one, request)
            # Most notes do not fit, and cleaning takes longer than all else: a note is cleaned if it fits as it is.
            if note and token_count(_text(_with_note(shown, one, note))) <= budget:
                fuller = _with_note(shown, one, self._cleaned(note))
                shown = fuller if token_count(_text(fuller)) <= budget else shown
        return shown

    def _note(self, lines: Sequence[_Passage], request: RetrievalRequest) -> _Passage | None:
        """
        Return the whole note of *lines*, not cleaned, or ``None``.

        It must be short, longer than the lines, by a known author, and no row was found in it.
        """
        first = lines[0]
        body = self.stores.documents.body(first.candidate.document_id) or ""
        start, end = text_range(body)
        if not first.text or not first.span or first.head.lead or end - start > FULL_CHARACTERS:
            return None
        if any(one.header for one in lines):
            return None  # other rows of the table would be noise
        if end - start <= sum(len(one.source) for one in lines) + LEAST_MORE or has_injection(body):
            return None
        above = first.span.start_line - body.count("\n", 0, first.span.start)
        places = (above + body.count("\n", 0, start), above + body.count("\n", 0, end))
        span = first.span._replace(start=start, end=end, start_line=places[0], end_line=places[1])
        return self._read(first._replace(span=span), request, FULL_CHARACTERS)

    def _shortened(self, passage: _Passage, request: RetrievalRequest) -> _Passage:
        room = CHARACTERS[Tier.WARM]
        if len(passage.text) <= room:
            return passage
        return self._cut(passage, request, room)

    def _relations(self, shown: Sequence[_Passage]) -> list[str]:
        """Return the relations among texts of the user and of assistants; relations to texts of others are omitted."""
        titles = {one.candidate.document_id: one.head.title for one in shown if not one.head.lead}
        among = Scope(EVERYTHING.collections, documents=frozenset(titles))
        found = self.stores.relations.outbound(titles, limit=blocks.MOST_RELATIONS, scope=among)
        found = sorted(found, key=lambda r: r.created_at, reverse=True)  # stable: newest among equal weights
        strongest = sorted(found, key=lambda r: -r.weight)[: blocks.MOST_RELATIONS]
        return [blocks.edge_line(blocks.Edge(titles[r.source], r.kind, titles[r.target])) for r in strongest]


def text_range(body: str) -> tuple[int, int]:
    """Return where the text of *body* begins, after its title, and where it ends."""
    start, end = 0, len(body.rstrip())
    while start < end and (line := body[start:].partition("\n")[0]).strip()[:1] in ("", "#"):
        start += len(line) + 1
    return min(start, end), end


def _with_note(shown: Sequence[_Passage], lines: Sequence[_Passage], note: _Passage) -> list[_Passage]:
    """Return *shown* with *note* in place of its *lines*."""
    others = [passage for passage in shown if passage not in lines]
    others.insert(shown.index(lines[0]), note)
    return others


def _text(passages: Sequence[_Passage]) -> str:
    return SEPARATOR.join(_entries(passages))


def _entries(passages: Sequence[_Passage]) -> list[str]:
    return [_entry(together) for together in _by_document(passages)]


def _entry(together: Sequence[_Passage]) -> str:
    head = together[0].head
    in_order = sorted(together, key=lambda passage: passage.candidate.best)
    return blocks.entry_text(
        head._replace(
            place=f"{head.place}{_lines(together)}",
            text=_joined([passage for passage in in_order if passage.text]),
        )
    )


def _matching_rows(passages: Sequence[_Passage], words: Sequence[str]) -> list[_Passage]:
    """
    Return *passages* without table rows that hold no query word, if another row of the same table holds one.

    Column names in the table header match every row, so such rows are noise. A passage that is only a header is
    left out if a row of its table is shown.
    """

    def table(passage: _Passage) -> tuple[int, str]:
        return passage.candidate.document_id, passage.header

    rows = [passage for passage in passages if passage.header]
    matching = {table(row) for row in rows if holds_any(row.source, words)}
    headers = {table(row) for row in rows}
    return [
        one
        for one in passages
        if (table(one) not in matching or holds_any(one.source, words))
        and (one.candidate.document_id, one.text) not in headers
    ]


def _joined(passages: Sequence[_Passage]) -> str:
    """Return the texts one below the other; rows of one table stand together below its header."""
    text, header, last = "", "", 0
    for passage in passages:
        if passage.header and passage.header == header:
            text = f"{text}\n{passage.text}"
        else:
            is_next = passage.lines is not None and passage.lines[0] == last + 1
            header = passage.header
            own = f"{header}\n{passage.text}" if header else passage.text
            text = f"{text}{BELOW if is_next else APART}{own}" if text else own
        last = passage.lines[1] if passage.lines else 0
    return text


def _lines(together: Sequence[_Passage]) -> str:
    """Return the line range of all shown text as ``:first-last``; without shown text, the line that was found."""
    shown = [passage.lines for passage in together if passage.lines]
    span = together[0].span
    if not shown:
        return f":{span.start_line}" if span else ""
    first, last = min(first for first, _ in shown), max(last for _, last in shown)
    return f":{first}-{last}" if last > first else f":{first}"


def _by_document(passages: Iterable[_Passage]) -> list[list[_Passage]]:
    """Group *passages* by document; each group takes the position of its best passage."""
    grouped: dict[int, list[_Passage]] = {}
    for passage in passages:
        grouped.setdefault(passage.candidate.document_id, []).append(passage)
    return list(grouped.values())
