"""Parsing of files into documents: title, type, times and fragments."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, tzinfo
from itertools import takewhile

from clawmem.app.services.indexing.publish import NO_DECLARATIONS, Declarations
from clawmem.domain.briefing.blocks import few
from clawmem.domain.documents import encoding, frontmatter, identity, names, times
from clawmem.domain.documents.fragments import fragment
from clawmem.domain.documents.links import SUPERSEDES, note_links
from clawmem.domain.documents.markdown import Markdown, is_field
from clawmem.domain.documents.properties import inline_fields, note_properties, note_tags, property_key
from clawmem.domain.retrieval.composite import baseline
from clawmem.domain.security.origin import origin_of
from clawmem.domain.text.dates import names_limit
from clawmem.domain.text.likeness import without_conflict
from clawmem.domain.text.written_dates import authored_at, day_at_opening, formatted_day
from clawmem.ports.documents import TAGS, Claims, Property
from clawmem.ports.errors import SourceUnreadable
from clawmem.ports.files import TextExtractor
from clawmem.ports.records import Document, Fragment, Origin, SourceStamp

Split = Callable[[str, int], list[Fragment]]  # the fragments of a body that begins on a line of its file
ParseFrontMatter = Callable[..., Mapping[str, object]]  # of a text and its first line; raises ValueError

# Fragment numbers have twenty bits in a vault; a file with more lines is a log, not a note.
MAX_FRAGMENTS = 1 << 20
# Bytes. Indexing takes about 14 times as much memory, and 2 s of CPU time for each MB with its vectors.
MAX_TEXT = 32_000_000
MAX_ENTRY_LINES = 100  # of a malformed key; of a longer one no line is read


@dataclass(frozen=True, slots=True)
class ParsedSource:
    """A document ready to be saved, and a problem of its file (``None`` if there is none)."""

    document: Document
    body: str
    fragments: list[Fragment]
    complaint: str | None = None
    declared: Declarations = NO_DECLARATIONS


def parse_source(
    data: bytes,
    collection: str,
    path: str,
    stamp: SourceStamp,
    *,
    now_ms: int,
    parse_front_matter: ParseFrontMatter,
    known: Document | None = None,
    trust: Origin = Origin.USER,
    extract: TextExtractor | None = None,
    about: str = "",
    project: str = "",
    split: Split | None = None,
    journal_format: str = "",
    zone: tzinfo = UTC,
) -> ParsedSource:
    """
    Parse one file.

    If its body equals that of *known*, the current document at this path, the document keeps its time of change:
    copying, cloning or touching a file does not make a note new.

    Malformed front matter is treated as body, with a complaint, so that no text is lost. A time of day without an
    offset is in *zone*. A journal has its day in *journal_format* as an alias; only a note of Logseq has such a format.

    Raises:
        SourceUnreadable: no text, more than `MAX_TEXT` bytes of it, or more than `MAX_FRAGMENTS` fragments.
    """
    extracted = extract(path, data) if extract else None
    if extracted:  # its title is its file name: the declared one is often that of a form
        _check_length(len(extracted.body), path)
        aliases = (extracted.name,) if extracted.name else ()
        facts = frontmatter.Facts(title=names.file_name(path), date=extracted.date or None, aliases=aliases)
        note, front_matter, complaint = Markdown(extracted.body), "", extracted.warning
        declared = Declarations(links=note_links(note) if extracted.has_links else [])
    else:
        note, front_matter, facts, declared, complaint = _note(data, path, parse_front_matter, journal_format)
    if journal := formatted_day(names.file_name(path), journal_format):
        facts = facts._replace(aliases=(*facts.aliases, journal))
    if project and not any(given.name.casefold() == "project" for given in declared.properties):
        given = Property("project", project, property_key(project))
        declared = declared._replace(properties=[*declared.properties, given])
    digest = identity.body_hash(note.body)
    modified_ms = stamp.mtime_ns // 1_000_000  # it may only be that of a copy
    if known is not None and known.hash == digest:
        modified_ms = times.parse_iso(known.modified_at) or modified_ms
    kind = frontmatter.content_type(facts.content_type, path)
    dated = [
        *(heading.label for heading in note.headings if not names_limit(heading.label)),
        day_at_opening(note.body, modified_ms + 86_400_000),
    ]
    document = Document(
        collection=collection,
        path=path,
        title=names.title(facts.title, note, path),
        hash=digest,
        source_hash=identity.source_hash(data),
        authored_at=times.iso_utc(authored_at(facts.date, without_conflict(path), dated, modified_ms, zone)),
        modified_at=times.iso_utc(modified_ms),
        indexed_at=times.iso_utc(now_ms),
        content_type=kind,
        confidence=baseline(kind) if facts.confidence is None else facts.confidence,
        tags=facts.tags,
        aliases=facts.aliases,
        front_matter=front_matter,
        origin=origin_of(facts.tags, trust),
        domain=facts.domain,
        workstream=facts.workstream,
        review_by=facts.review_by,
        pinned_in_note=facts.pinned,
        body_line=note.first_line,
        body_length=len(note.body),
        stamp=identity.stamp_to_record(stamp, now_ms),
    )
    if split:
        fragments = split(note.body, note.first_line)
    else:
        fragments = fragment(
            note, title=document.title, date=document.authored_at[:10], front_matter=facts.extra, about=about
        )
    if len(fragments) > MAX_FRAGMENTS:
        raise SourceUnreadable(path, f"it falls into {len(fragments)} parts, {MAX_FRAGMENTS} are the most")
    return ParsedSource(document, note.body, fragments, complaint, declared)


def decode(data: bytes, path: str) -> tuple[str, str | None]:
    """Return the text of a file that is no attachment. Raises `SourceUnreadable` if it has none, or too much."""
    _check_length(len(data), path)
    try:
        return encoding.decode(data)
    except ValueError as error:
        raise SourceUnreadable(path, str(error)) from error


def _check_length(size: int, path: str) -> None:
    if size > MAX_TEXT:
        reason = f"it has {size / 1e6:,.1f} MB of text, {MAX_TEXT / 1e6:g} MB are the most; split the file"
        raise SourceUnreadable(path, reason)


def _note(
    data: bytes, path: str, parse_front_matter: ParseFrontMatter, journal_format: str
) -> tuple[Markdown, str, frontmatter.Facts, Declarations, str | None]:
    """Return the text of a note, its front matter, what that and the text declare, and a problem of the file."""
    text, warning = decode(data, path)
    parts, malformed = frontmatter.split(text), None
    fence = frontmatter.FENCE if parts.text.startswith(frontmatter.FENCE) else ""
    head = parts.text.removeprefix(fence)
    try:
        raw = parse_front_matter(parts.text) if parts.text else {}
    except ValueError as error:
        # Read it without its malformed lines, and ``key:value`` as ``key: value``.
        raw, left_out, faults, first = dict[str, object](), list[int](), list[str](), 2
        # The keys, each with its value, whose lines begin with a blank, a hyphen or a bracket.
        text_of_keys = re.sub(r"^([^\W\d][\w-]*):(?=[^\s:/])", r"\1: ", head, flags=re.MULTILINE)
        for entry in re.split(r"^(?=[^\s#\]}-])", text_of_keys, flags=re.MULTILINE):
            lines = entry.splitlines(keepends=True)
            for at in [None, *reversed(range(len(lines)))][:MAX_ENTRY_LINES]:
                part = lines if at is None else lines[:at] + lines[at + 1 :]
                try:
                    for key, value in parse_front_matter("".join([fence, *part]), first).items():
                        raw.setdefault(key, value)
                    left_out += [] if at is None else [first + at]
                    break
                except ValueError as fault:
                    faults += [str(fault)] if at is None else []
            else:
                left_out.append(first)
            first += len(lines)
        done = f"left out in line {few([*map(str, left_out)], 9)}" if left_out else "read key by key"
        malformed = f"front matter {done if raw else 'taken as text'}: {next(filter(None, faults), error)}"
        parts = parts if raw else frontmatter.FrontMatter("", text.removeprefix("\ufeff"), 1)
    note = Markdown(parts.body, parts.body_line)
    if note.text != note.body:
        note = Markdown(note.text, parts.body_line)
    facts, fields = frontmatter.facts(raw), inline_fields(note)
    # As Logseq has no front matter, the first block has the properties of the page.
    page = inline_fields(Markdown("\n".join(takewhile(is_field, note.body.lstrip().split("\n")))))
    of_page, own = frontmatter.facts(dict(page)), page if journal_format else fields
    facts = facts._replace(title=facts.title or of_page.title, date=facts.date or of_page.date)
    tags = note_tags((*facts.tags, *(value for name, value in own if name == TAGS)), note)
    aliases = (*facts.aliases, *(value for name, value in own if name == "aliases"))
    links = note_links(note, head, has_tag_links=journal_format != "")
    properties = note_properties(raw, fields, tags, aliases)
    kind = frontmatter.content_type(facts.content_type, path)
    if kind == "note" and facts.content_type is None:  # one word that people or other programs use as a type
        types = [p.key.strip("[]") for p in note_properties(raw, own, (), ()) if p.name.casefold() == "type"]
        kind = next((name for name in types if re.fullmatch(r"[^\W\d][^\s,.;:/]*", name)), kind)
    # Of a sentence that supersedes, the first link is meant.
    named = {link.context: link.target for link in reversed(links) if SUPERSEDES.match(link.context)}
    claims = Claims((*facts.supersedes, *reversed(named.values())), facts.superseded_by)
    declared = Declarations(claims, links, properties)
    if parts.is_unclosed:
        malformed = f"front matter taken as text: it has no line {parts.body[:3]} at its end"
    complaints = "; ".join(filter(None, (warning, malformed, *facts.faults)))
    facts = facts._replace(tags=tags, aliases=aliases, content_type=kind)
    return note, parts.text, facts, declared, complaints or None
