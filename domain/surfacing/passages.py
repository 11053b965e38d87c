"""Passages of notes in a block: longer ones where there is room, and those of one note as one entry."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from clawmem.domain.documents.markdown import Markdown
from clawmem.domain.retrieval.snippets import ELLIPSIS
from clawmem.domain.security.injections import has_injection
from clawmem.domain.surfacing.block import Entry, entry_text
from clawmem.domain.surfacing.packing import FULL_CHARACTERS
from clawmem.ports.records import FragmentKey, Span

# Parsed around a passage, so that a fence that opens above its section is seen, but of the longest code.
NEAR_CHARACTERS = 20 * FULL_CHARACTERS
# Empty lines and headings above a text.
_ABOVE_TEXT = re.compile(r"\A(?:[^\S\n]*(?:#[^\n]*)?(?:\n|\Z))*")


class Passage(NamedTuple):
    """
    Part of a document to be shown.

    Attributes:
        key: The fragment that was found.
        head: Entry of its document, without text.
        body: Text of its document.
        span: Position of the part in the body; None if the fragment no longer exists.
        text: What is shown of the part, safe; empty if only the note is named.
        lines: First and last file line of ``text``.
        header: Header of the table, if ``text`` begins with a table row.
    """

    key: FragmentKey
    head: Entry
    body: str
    span: Span | None
    text: str = ""
    lines: tuple[int, int] = (0, 0)
    header: str = ""


def longer_passages(together: Sequence[Passage]) -> Iterator[list[Passage]]:
    """
    Yield longer replacements for the passages of a note: the whole note, the section of the best one, all uncut.

    The whole must be short, longer than the passages in it, and of a known author. It does not replace rows of a
    table, because other rows would be noise.
    """
    first, body, span = together[0], together[0].body, together[0].span
    if span and first.text and not first.head.lead and not any(passage.header for passage in together):
        # No longer section is shown, and a note may have megabytes: only the lines near the passage are parsed.
        first_place = body.rfind("\n", 0, max(0, span.start - NEAR_CHARACTERS)) + 1
        near = Markdown(body[first_place : span.end + NEAR_CHARACTERS])
        headings = [(first_place + heading.start, first_place + heading.end) for heading in near.headings]
        above = _ABOVE_TEXT.match(body)
        below = max((end for _, end in headings if end <= span.start), default=first_place)
        next_start = min((start for start, _ in headings if start > span.start), default=len(body))
        section = body[below:next_start]
        start_of_section = below + len(section) - len(section.lstrip())
        for start, end in (
            (above.end() if above else 0, len(body.rstrip())),
            (start_of_section, below + len(section.rstrip())),
        ):
            inside = []
            for passage in together:
                place = passage.span or span
                last = place.start + len(body[place.start : place.end].rstrip())
                if passage.span and place.start < end and start < last <= end:
                    inside.append(passage)
            length = sum(p.span.end - p.span.start for p in inside if p.span and p.text)
            is_longer = length + 10 < end - start <= FULL_CHARACTERS
            if is_longer and not has_injection(body[start:end]):
                line = span.start_line - body.count("\n", start, span.start)
                whole = first._replace(span=span._replace(start=start, end=end, start_line=line))
                yield [whole, *(p for p in together if p not in inside)]
    yield [*together]


def entries_of(passages: Sequence[Passage]) -> list[str]:
    """
    Return an entry for each document: its passages one below the other, with an ellipsis where text is left out.

    Rows of one table stand together below its header.
    """
    entries = []
    for together in by_document(passages):
        head, lines = together[0].head, [passage.lines for passage in together if passage.text]
        first, last = min((line for line, _ in lines), default=0), max((line for _, line in lines), default=0)
        if not lines and (span := together[0].span):  # without shown text, the line that was found
            first = last = span.start_line
        place = f":{first}-{last}" if last > first else f":{first}" if first else ""
        text, before = "", None
        for passage in sorted((p for p in together if p.text), key=lambda p: p.lines):
            gap, content = "", f"{passage.header}\n{passage.text}" if passage.header else passage.text
            if before is not None:
                skipped = passage.lines[0] - before.lines[1] - 1
                if passage.header and (
                    passage.header == before.header or before.text.endswith(passage.header)
                ):
                    gap, content = "\n", passage.text
                elif passage.span is None or skipped < 0:
                    gap = f"\n{ELLIPSIS}\n"
                else:
                    above = passage.span.start_line - passage.body.count("\n", 0, passage.span.start)
                    line = passage.lines[0] - above
                    between = passage.body.split("\n")[max(0, line - skipped) : line]
                    is_left_out = any(map(str.strip, between))
                    gap = f"\n{ELLIPSIS}\n" if is_left_out else "\n" * (1 + min(skipped, 1))
            text, before = text + gap + content, passage
        entries.append(entry_text(head._replace(place=f"{head.place}{place}", text=text)))
    return entries


def by_document(passages: Iterable[Passage]) -> list[list[Passage]]:
    """Group *passages* by document; each group takes the position of its best passage."""
    grouped: dict[int, list[Passage]] = {}
    for passage in passages:
        grouped.setdefault(passage.key.document_id, []).append(passage)
    return list(grouped.values())
