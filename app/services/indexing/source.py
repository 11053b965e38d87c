"""Parsing of files into documents: title, type, times and fragments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from clawmem.app.services.indexing.publish import NO_DECLARATIONS, Declarations
from clawmem.domain.documents import content_type, dating, encoding, frontmatter, identity, times, title
from clawmem.domain.documents.fragments import fragment
from clawmem.domain.documents.ignoring import Exclusion
from clawmem.domain.documents.links import MAX_LINKS, note_links, omitted_links
from clawmem.domain.documents.markdown import Markdown
from clawmem.domain.documents.names import file_name
from clawmem.domain.documents.properties import inline_fields, note_properties
from clawmem.domain.documents.tags import note_tags
from clawmem.domain.documents.templates import template_mark
from clawmem.domain.retrieval.confidence import baseline
from clawmem.domain.security.origin import origin_of
from clawmem.ports.documents import Claims
from clawmem.ports.errors import SourceUnreadable
from clawmem.ports.files import ExtractedText, TextExtractor
from clawmem.ports.records import Document, Fragment, Origin, SourceStamp

Split = Callable[[str, int], list[Fragment]]  # the fragments of a body that begins on a line of its file
ParseYaml = Callable[[str], Mapping[str, object]]  # raises ValueError with a short reason

# A file may change again within one tick of its clock without a new time, so a recent stamp is not trusted.
SETTLED_AFTER_MS = 2000
UNSETTLED_NS = 0

TAKEN_AS_TEXT = "front matter taken as text"
LEFT_OUT = "front matter left out"

# Fragment numbers have twenty bits in a vault; a file with more lines is a log, not a note.
MAX_FRAGMENTS = 1 << 20
# Bytes. Indexing takes about 14 times as much memory, and 2 s of CPU time for each MB with its vectors.
MAX_TEXT = 32_000_000


@dataclass(frozen=True, slots=True)
class ParsedSource:
    """
    A document ready to be saved, and a problem of its file (``None`` if there is none).

    ``template`` is the placeholder of a template, which is not indexed.
    """

    document: Document
    body: str
    fragments: list[Fragment]
    complaint: str | None = None
    declared: Declarations = NO_DECLARATIONS
    template: Exclusion | None = None


class _ReadText(NamedTuple):
    """The text of a file with what it declares, and a problem of the file."""

    note: Markdown
    front_matter: str
    facts: frontmatter.Facts
    declared: Declarations
    complaint: str | None


@dataclass(frozen=True, slots=True)
class _File:
    """A file before it is parsed."""

    data: bytes
    collection: str
    path: str
    stamp: SourceStamp
    now_ms: int
    known: Document | None
    trust: Origin = Origin.USER


def parse_source(
    data: bytes,
    collection: str,
    path: str,
    stamp: SourceStamp,
    *,
    now_ms: int,
    parse_yaml: ParseYaml,
    known: Document | None = None,
    trust: Origin = Origin.USER,
    extract: TextExtractor | None = None,
    about: str = "",
    split: Split | None = None,
) -> ParsedSource:
    """
    Parse one file.

    If its body equals that of *known*, the current document at this path, the document keeps its time of change:
    copying, cloning or touching a file does not make a note new.

    Malformed front matter is treated as body, with a complaint, so that no text is lost.

    Raises:
        SourceUnreadable: no text, more than `MAX_TEXT` bytes of it, or more than `MAX_FRAGMENTS` fragments.
    """
    extracted = extract(path, data) if extract else None
    read = _attachment(path, extracted) if extracted else _note(data, path, parse_yaml)
    note, facts = read.note, read.facts
    document = _document(_File(data, collection, path, stamp, now_ms, known, trust), read)
    if split:
        fragments = split(note.body, note.first_line)
    else:
        fragments = fragment(
            note, title=document.title, date=document.authored_at[:10], front_matter=facts.extra, about=about
        )
    if len(fragments) > MAX_FRAGMENTS:
        raise SourceUnreadable(path, f"it falls into {len(fragments)} parts, {MAX_FRAGMENTS} are the most")
    template = None if extracted else template_mark(note, read.front_matter)
    return ParsedSource(document, note.body, fragments, read.complaint, read.declared, template)


def settled(stamp: SourceStamp, now_ms: int) -> SourceStamp:
    """Return *stamp* for the record; if it is too recent to be trusted, one that matches no file."""
    fresh = now_ms - stamp.mtime_ns // 1_000_000 < SETTLED_AFTER_MS
    return SourceStamp(stamp.size, UNSETTLED_NS) if fresh else stamp


def _document(file: _File, read: _ReadText) -> Document:
    note, facts, body = read.note, read.facts, read.note.body
    modified_ms = _changed_ms(file, body)
    kind = content_type.content_type(facts.content_type, file.path)
    authored_ms = dating.authored_at(
        facts.date, file.path, [heading.label for heading in note.headings], modified_ms
    )
    return Document(
        collection=file.collection,
        path=file.path,
        title=title.title(facts.title, note, file.path),
        hash=identity.body_hash(body),
        source_hash=identity.source_hash(file.data),
        authored_at=times.iso_utc(authored_ms),
        modified_at=times.iso_utc(modified_ms),
        indexed_at=times.iso_utc(file.now_ms),
        content_type=kind,
        confidence=baseline(kind) if facts.confidence is None else facts.confidence,
        tags=facts.tags,
        aliases=facts.aliases,
        front_matter=read.front_matter,
        origin=origin_of(facts.tags, file.trust),
        domain=facts.domain,
        workstream=facts.workstream,
        review_by=facts.review_by,
        pinned_in_note=facts.pinned,
        body_line=note.first_line,
        body_length=len(body),
        stamp=settled(file.stamp, file.now_ms),
    )


def _changed_ms(file: _File, body: str) -> int:
    """Return the time of the last known change of *body*; the time of a file may only be that of a copy."""
    if file.known is not None and file.known.hash == identity.body_hash(body):
        known_ms = times.parse_iso(file.known.modified_at)
        if known_ms is not None:
            return known_ms
    return file.stamp.mtime_ns // 1_000_000


def decode(data: bytes, path: str) -> encoding.DecodedText:
    """Return the text of a file with LF line ends. Raises `SourceUnreadable` if it is no text, or too long."""
    _check_length(len(data), path)
    try:
        return encoding.decode(data)
    except ValueError as error:
        raise SourceUnreadable(path, str(error)) from error


def _check_length(size: int, path: str) -> None:
    if size > MAX_TEXT:
        raise SourceUnreadable(
            path, f"it has {size / 1e6:,.1f} MB of text, {MAX_TEXT / 1e6:g} MB are the most; split the file"
        )


def check_readable(data: bytes, path: str, extract: TextExtractor | None) -> None:
    """Raise `SourceUnreadable` if a file has no text."""
    if not (extract and extract(path, data)):
        decode(data, path)


def _attachment(path: str, extracted: ExtractedText) -> _ReadText:
    """Return the content of an attachment. Its title is its file name: the declared one is often that of a form."""
    _check_length(len(extracted.body), path)
    names = (extracted.name,) if extracted.name else ()
    facts = frontmatter.Facts(title=file_name(path), date=extracted.date or None, aliases=names)
    note = Markdown(extracted.body)
    links = note_links(note) if extracted.has_links else []
    return _ReadText(note, "", facts, Declarations(links=links), extracted.warning)


def _note(data: bytes, path: str, parse_yaml: ParseYaml) -> _ReadText:
    text, warning = decode(data, path)
    parts, raw, complaint = _front_matter(text, parse_yaml)
    note = Markdown(parts.body, parts.body_line)
    if note.without_comments != note.body:
        note = Markdown(note.without_comments, parts.body_line)
    facts, fields = frontmatter.facts(raw), inline_fields(note)
    tags, aliases = note_tags((*facts.tags, *fields.tags), note), (*facts.aliases, *fields.aliases)
    links = note_links(note, parts.text)
    omitted = omitted_links(note, parts.text) if len(links) == MAX_LINKS else 0
    too_many = f"its first {MAX_LINKS} links are read, {omitted} more are not" if omitted else None
    declared = Declarations(
        Claims(facts.supersedes, facts.superseded_by),
        links,
        note_properties(raw, fields, tags, aliases),
    )
    unusable = "; ".join(frontmatter.unusable_values(raw, parts.text))
    left_out = f"{LEFT_OUT}: {unusable}" if unusable else None
    complaints = "; ".join(filter(None, (warning, complaint, left_out, too_many)))
    facts = facts._replace(tags=tags, aliases=aliases)
    return _ReadText(note, parts.text, facts, declared, complaints or None)


def _front_matter(
    source: str, parse_yaml: ParseYaml
) -> tuple[frontmatter.FrontMatter, Mapping[str, object], str | None]:
    parts = frontmatter.split(source)
    if not parts.text:
        unclosed = f"{TAKEN_AS_TEXT}: no line '---' ends it" if frontmatter.is_unclosed(source) else None
        return parts, {}, unclosed
    try:
        return parts, parse_yaml(parts.text), None
    except ValueError as error:
        reason = str(error)
    raw: dict[str, object] = {}
    reasons: list[str] = []
    for line, entry in frontmatter.entries(parts.text):  # a malformed value loses its key alone
        try:
            raw = {**parse_yaml("\n" * line + entry), **raw}
        except ValueError as error:
            reasons.append(str(error))
    if not raw and not frontmatter.has_keys(parts.text):
        return frontmatter.whole(source), {}, f"{TAKEN_AS_TEXT}: {reason}"
    return parts, raw, f"{LEFT_OUT}: {'; '.join(reasons[:3]) or reason}"
