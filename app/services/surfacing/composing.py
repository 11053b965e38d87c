"""Composition of the block: turn ranked candidates into entries that fit the token budget."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from clawmem.app.environment.session_topics import project_label, project_of
from clawmem.app.services.capture.visibility import CITES, SAID, citation_label, day_of, shown_successor
from clawmem.app.services.documents.references import with_blocks
from clawmem.app.services.documents.succession import current_successors
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.work import Candidate, RetrievalStores, Work
from clawmem.domain.briefing.blocks import shortened
from clawmem.domain.conversations.units import CONVERSATION, with_reply
from clawmem.domain.documents.markdown import LOGSEQ_OWN, header_at, is_field
from clawmem.domain.documents.properties import TAG_PROPERTIES, TECHNICAL_PROPERTIES
from clawmem.domain.documents.times import DAY_MS, parse_iso
from clawmem.domain.retrieval.query_forms import content_words
from clawmem.domain.retrieval.snippets import snippet
from clawmem.domain.security.origin import LEADS, SOURCES, is_verified
from clawmem.domain.security.quoting import safe
from clawmem.domain.security.redaction import redact, redact_part
from clawmem.domain.surfacing import block as blocks
from clawmem.domain.surfacing.packing import FULL_CHARACTERS, SEPARATOR, pack, pack_lines, quoted_characters
from clawmem.domain.surfacing.passages import Passage, by_document, entries_of, longer_passages
from clawmem.domain.text.parts import intent_terms
from clawmem.domain.text.words import joined_words, token_count, words
from clawmem.ports.records import EVERYTHING, Document, FragmentKind, Scope, one_line

HIDDEN = TECHNICAL_PROPERTIES | TAG_PROPERTIES | {CITES, SAID}


class Quotation(NamedTuple):
    """Lines of a document that a block quoted, and the hash of its text at that time."""

    document_id: int
    hash: str
    first: int
    last: int


class BlockContent(NamedTuple):
    """Content of a block: rendered entries and relations, and the candidates behind the entries, with quoted lines."""

    entries: tuple[str, ...]
    relations: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    lines: tuple[tuple[int, int], ...]


def compose(
    stores: RetrievalStores,
    work: Work,
    request: RetrievalRequest,
    budget: int,
    known: Iterable[Quotation] = (),
    withheld: Collection[int] = (),
    folder: str = "",
) -> BlockContent:
    """
    Return the passages that fit into *budget* tokens, best first, and the relations of their documents.

    Of the passages that *known* contains, only note and place are named. Successors in *withheld* are not named.
    Memories that cite a file in *folder* are marked if it changed.
    """
    candidates, by_key = work.candidates, {c.best: c for c in work.candidates}
    topics = frozenset(content_words(request.question.text))
    best = max((c.score for c in candidates), default=0.0) or 1.0
    documents = {c.document_id: c.document for c in candidates if c.document}
    bodies, spans = work.texts.bodies(documents), work.texts.spans(c.best for c in candidates)
    spans |= {c.best: c.span for c in candidates if c.span}
    found = (
        span.label
        for c in candidates
        if (span := spans.get(c.best)) and span.kind is FragmentKind.FRONT_MATTER
    )
    matched = {label.partition(":")[0].lower() for label in found if not topics.isdisjoint(words(label))}
    heads = _heads(stores, documents, bodies, request, matched, withheld, folder)
    for c in candidates:
        if c.changed_by and c.changed_by.id not in withheld:
            head, doubt = heads[c.document_id], safe(f"perhaps no longer so, see {c.changed_by.display_path}")
            heads[c.document_id] = head._replace(remarks=tuple(dict.fromkeys((*head.remarks, doubt))))
    quoted = {
        c.best
        for c in candidates
        if (span := spans.get(c.best)) and c.document
        for quotation in known
        if (c.document.id, c.document.hash) == (quotation.document_id, quotation.hash)
        and quotation.first <= span.start_line <= span.end_line <= quotation.last
    }
    # The threshold already dropped weak candidates; the tier only limits the length of the text.
    passages: dict[object, Passage] = {}
    for c in candidates:  # properties and the first line of a note share a place
        span, body = spans.get(c.best), bodies.get(c.document_id, "")
        room = 0 if c.best in quoted else quoted_characters(c.score / best)
        if span and c.document and c.document.content_type == CONVERSATION:
            near = [p.span for p in passages.values() if p.key.document_id == c.document_id and p.span]
            if any(other.start <= span.start and span.end <= other.end for other in near):
                continue
            span = with_reply(span, body, room, near)
        at = (c.document_id, span.start, span.end) if span else c.best
        passages.setdefault(at, _cut(Passage(c.best, heads[c.document_id], body, span), request, room))
    every = [*passages.values()]
    shown = every[: pack(len(every), lambda n: SEPARATOR.join(entries_of(every[:n])), budget)]
    for together in by_document(shown):
        for longer in longer_passages(together):
            place = shown.index(together[0])
            others = [[p for p in part if p not in together] for part in (shown[:place], shown[place:])]
            cut = [_cut(p, request, FULL_CHARACTERS) if p.text else p for p in longer]
            extended = [*others[0], *cut, *others[1]]
            if token_count(SEPARATOR.join(entries_of(extended))) <= budget:
                shown = extended
                break
    entries = [with_blocks(entry, stores.documents, stores.links, withheld) for entry in entries_of(shown)]
    # Relations to texts of others are omitted.
    titles = {p.key.document_id: p.head.title for p in shown if not p.head.lead}
    among = Scope(EVERYTHING.collections, documents=frozenset(titles))
    relations = stores.relations.outbound(titles, limit=blocks.MOST_RELATIONS, scope=among)
    newest = sorted(relations, key=lambda r: r.created_at, reverse=True)
    strongest = sorted(newest, key=lambda r: -r.weight)[: blocks.MOST_RELATIONS]
    lines = [one_line(f"- {titles[r.source]} --[{r.kind}]--> {titles[r.target]}") for r in strongest]
    left = budget - token_count(SEPARATOR.join(entries))
    packed = pack_lines(lines, left, blocks.RELATIONS_FRAME)
    lines_of = tuple(p.lines if p.text else (0, 0) for p in shown)
    return BlockContent(tuple(entries), tuple(packed), tuple(by_key[p.key] for p in shown), lines_of)


def _heads(
    stores: RetrievalStores,
    documents: Mapping[int, Document],
    bodies: Mapping[int, str],
    request: RetrievalRequest,
    matched: Collection[str],
    withheld: Collection[int],
    folder: str,
) -> dict[int, blocks.Entry]:
    """
    Return the entries of *documents* by id, without text: with age, source, other project, successor, and whether a cited
    file changed.

    An entry has up to three properties that were *matched*, or that the question names: by their name, or by a value that
    the text of the note lacks. ``apk_expires``, ``apk-expires`` and ``apkExpires`` are also named by "apk expires". Texts
    of others show none.
    """
    topics = frozenset(content_words(request.question.text))
    named = topics | joined_words(words(request.question.text))
    newer = current_successors(stores.documents, stores.successions, documents, request.as_of)
    properties = stores.properties.many(documents)
    own = {number for number, document in documents.items() if is_verified(document.origin)}
    names = {
        p.name.lower()
        for number in own
        for p in properties.get(number, ())
        if p.name.lower() in matched
        or "".join(words(p.name)) in named
        or ("".join(words(p.value)) in topics and p.value.lower() not in bodies.get(number, "").lower())
    } - HIDDEN
    heads, project = {}, project_of(folder)
    for number, document in documents.items():
        stated = [p for p in properties.get(number, ()) if number in own and p.name.lower() in names]
        day = day_of(document)
        written_ms = parse_iso(day)
        is_old = written_ms is not None and request.question.now_ms - written_ms > 182 * DAY_MS
        remarks = (
            day,
            "over 6 months old" if is_old else "",  # still true when the block is read again
            SOURCES[document.origin],
            *(safe(redact(shortened(f"{p.name}: {p.value}", 100))) for p in stated[:3]),
            citation_label(properties.get(number, ()), folder),
            safe(project_label(properties.get(number, ()), project)),
            safe(shown_successor(newer.get(number), withheld)),
        )
        heads[number] = blocks.Entry(
            safe(document.title),
            safe(document.content_type),
            safe(document.display_path),
            remarks,
            lead="" if number in own else LEADS[document.origin],
        )
    return heads


def _cut(passage: Passage, request: RetrievalRequest, room: int) -> Passage:
    """Return *passage* with at most *room* characters of its best matching lines."""
    body, span = passage.body, passage.span
    if span is None or not room:
        return passage._replace(text="", header="")
    written = body[span.start : span.end]
    start = span.start + len(written) - len(written.lstrip())
    text = redact_part(body, start, max(start, span.start + len(written.rstrip())))
    first = span.start_line + body.count("\n", span.start, start)
    last = first + text.count("\n")
    if len(text) > room:
        wanted = intent_terms(request.purpose) if request.purpose else ()
        terms = request.question.forms.words
        best = snippet(text, terms, intent_terms=wanted, max_length=room, first_line=first)
        text, first, last = best.text, best.start_line, best.end_line
    is_row = "|" in text.partition("\n")[0]
    header = "\n".join((is_row and header_at(body, span.start)) or ())
    header = safe(redact_part(header, 0, len(header))) if len(header) <= FULL_CHARACTERS // 2 else ""
    shown = "\n".join(line for line in text.split("\n") if not is_field(line, LOGSEQ_OWN))
    return passage._replace(text=safe(shown), lines=(first, last), header=header)
