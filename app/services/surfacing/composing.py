"""Composition of the block: turn ranked candidates into entries that fit the token budget."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clawmem.app.services.briefing.telling import told_succession
from clawmem.app.services.documents.succession import current_successors
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.work import Candidate, RetrievalStores, Work
from clawmem.domain.documents.markdown import header_at
from clawmem.domain.retrieval.chunk_choice import intent_terms
from clawmem.domain.retrieval.snippets import ELLIPSIS, snippet
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
        span: Position of its text in the body.
        source: Redacted text at that position.
        source_line: File line of the first line of ``source``; None if redaction removed lines.
        header: Header of the table, if ``text`` begins with a table row.
        text: The part of ``source`` that is shown, clean; empty if only the note is named.
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

    def __call__(self, work: Work, request: RetrievalRequest, budget: int) -> BlockContent:
        """Return the passages that fit into *budget* tokens, best first, and the relations of their documents."""
        candidates = work.candidates
        best = max((c.score for c in candidates), default=0.0) or 1.0
        documents = {c.document_id: c.document for c in candidates if c.document}
        newer = current_successors(self.stores.documents, self.stores.successions, documents, request.as_of)
        heads = {
            number: self._head(
                document,
                request.question.now_ms,
                told_succession(newer.get(number)),
            )
            for number, document in documents.items()
        }
        bodies, spans = work.texts.bodies(documents), work.texts.spans(c.best for c in candidates)
        passages = []
        for c in candidates:
            read = self._read(
                c, heads[c.document_id], bodies.get(c.document_id, ""), c.span or spans.get(c.best)
            )
            # The threshold already dropped weak candidates; the tier only limits the length of the text.
            passages.append(self._cut(read, request, CHARACTERS[tier_of(c.score / best)]))
        shown = self._fitting(passages, request, budget)
        for together in _by_document(shown):
            body = bodies.get(together[0].candidate.document_id, "")
            for longer in (self._note(together, body, request), self._in_full(together, request)):
                extended = [*(p for p in shown if p not in together)]
                extended[shown.index(together[0]) : shown.index(together[0])] = longer
                if longer and token_count(_text(extended)) <= budget:
                    shown = extended
                    break
        entries = _entries(shown)
        left = budget - token_count(SEPARATOR.join(entries))
        relations = pack_lines(self._relations(shown), left, blocks.RELATIONS_FRAME)
        return BlockContent(tuple(entries), tuple(relations), tuple(passage.candidate for passage in shown))

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

    def _read(self, candidate: Candidate, head: blocks.Entry, body: str, span: Span | None) -> _Passage:
        """Return the passage of *candidate*, redacted, with no text chosen yet."""
        if span is None:
            return _Passage(candidate, head)
        written = body[span.start : span.end]
        start = span.start + len(written) - len(written.lstrip())
        source = self.redact(body, start, max(start, span.start + len(written.rstrip())))
        is_whole = source.count("\n") == written.strip().count("\n")
        first = span.start_line + body.count("\n", span.start, start) if is_whole else None
        header = "\n".join(header_at(body, span.start) or ())
        return _Passage(candidate, head, span, source, first, self.redact(header, 0, len(header)))

    def _cut(self, passage: _Passage, request: RetrievalRequest, room: int) -> _Passage:
        """Return *passage* with at most *room* characters of its best matching lines."""
        if not passage.source or not room or passage.span is None:
            return passage._replace(text="", lines=None)
        text, first = passage.source, passage.source_line or 1
        last = first + text.count("\n")
        if len(text) > room:
            wanted = intent_terms(request.purpose) if request.purpose else ()
            terms = request.question.forms.words
            found = snippet(text, terms, intent_terms=wanted, max_length=room, first_line=first)
            text, first, last = found.text, found.start_line, found.end_line
        lines = (first, last) if passage.source_line else (passage.span.start_line, passage.span.end_line)
        header = self.clean(passage.header) if "|" in text.partition("\n")[0] else ""
        return passage._replace(text=self.clean(text), header=header, lines=lines)

    def _fitting(
        self, passages: Sequence[_Passage], request: RetrievalRequest, budget: int
    ) -> list[_Passage]:
        """Return the first *passages* that fit; if not all fit, shorten the last of them."""
        if token_count(_text(passages)) <= budget:
            return [*passages]
        room = CHARACTERS[Tier.WARM]
        shorter = [
            self._cut(passage, request, room) if len(passage.text) > room else passage for passage in passages
        ]

        def mixed(count: int, full: int) -> list[_Passage]:
            return [*passages[:full], *shorter[full:count]]

        return mixed(
            *pack_shorter(
                len(passages), lambda n, full: _text(mixed(n, full)), budget, int(budget * FULL_SHARE)
            )
        )

    def _in_full(self, together: Sequence[_Passage], request: RetrievalRequest) -> list[_Passage]:
        """Return the passages of a note without cuts."""
        return [
            self._cut(passage, request, FULL_CHARACTERS) if passage.text else passage for passage in together
        ]

    def _note(self, together: Sequence[_Passage], body: str, request: RetrievalRequest) -> list[_Passage]:
        """
        Return the whole note in place of its passages; none if they are better.

        The note must be short, longer than the passages, by a known author, and no row was found in it.
        """
        first = together[0]
        start, end = text_range(body)
        if not first.text or first.span is None or first.head.lead or end - start > FULL_CHARACTERS:
            return []
        if any(passage.header for passage in together):
            return []  # other rows of the table would be noise
        if end - start <= sum(len(passage.source) for passage in together) + LEAST_MORE or has_injection(
            body
        ):
            return []
        above = first.span.start_line - body.count("\n", 0, first.span.start)
        span = first.span._replace(
            start=start,
            end=end,
            start_line=above + body.count("\n", 0, start),
            end_line=above + body.count("\n", 0, end),
        )
        return [self._cut(self._read(first.candidate, first.head, body, span), request, FULL_CHARACTERS)]

    def _relations(self, shown: Sequence[_Passage]) -> list[str]:
        """Return the relations among texts of the user and of assistants; relations to texts of others are omitted."""
        titles = {
            passage.candidate.document_id: passage.head.title for passage in shown if not passage.head.lead
        }
        among = Scope(EVERYTHING.collections, documents=frozenset(titles))
        relations = self.stores.relations.outbound(titles, limit=blocks.MOST_RELATIONS, scope=among)
        newest = sorted(relations, key=lambda r: r.created_at, reverse=True)
        strongest = sorted(newest, key=lambda r: -r.weight)[: blocks.MOST_RELATIONS]
        return [blocks.edge_line(blocks.Edge(titles[r.source], r.kind, titles[r.target])) for r in strongest]


def text_range(body: str) -> tuple[int, int]:
    """Return where the text of *body* begins, after its title, and where it ends."""
    start, end = 0, len(body.rstrip())
    while start < end and (line := body[start:].partition("\n")[0]).strip()[:1] in ("", "#"):
        start += len(line) + 1
    return min(start, end), end


def _text(passages: Sequence[_Passage]) -> str:
    return SEPARATOR.join(_entries(passages))


def _entries(passages: Sequence[_Passage]) -> list[str]:
    entries = []
    for together in _by_document(passages):
        head = together[0].head
        in_order = sorted(together, key=lambda passage: passage.candidate.best)
        text = _joined([passage for passage in in_order if passage.text])
        entries.append(blocks.entry_text(head._replace(place=f"{head.place}{_lines(together)}", text=text)))
    return entries


def _joined(passages: Sequence[_Passage]) -> str:
    """Return the texts one below the other; rows of one table stand together below its header."""
    text, header, last = "", "", 0
    for passage in passages:
        if passage.header and (passage.header == header or text.endswith(passage.header)):
            header = passage.header
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
    if not shown:
        return f":{span.start_line}" if (span := together[0].span) else ""
    first, last = min(first for first, _ in shown), max(last for _, last in shown)
    return f":{first}-{last}" if last > first else f":{first}"


def _by_document(passages: Iterable[_Passage]) -> list[list[_Passage]]:
    """Group *passages* by document; each group takes the position of its best passage."""
    grouped: dict[int, list[_Passage]] = {}
    for passage in passages:
        grouped.setdefault(passage.candidate.document_id, []).append(passage)
    return list(grouped.values())
