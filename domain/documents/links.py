"""Links in the text of a note to other notes, each with the sentence around it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice

from clawmem.domain.documents.address import folded
from clawmem.domain.documents.blocks import blocks
from clawmem.domain.documents.markup import COMMENTS, NOT_PROSE, blanked
from clawmem.domain.documents.names import document_names, file_name
from clawmem.domain.documents.title import HEADING
from clawmem.ports.documents import Link, LinkKind, NameKind, NoteName
from clawmem.ports.records import Document

MAX_CONTEXT = 300  # characters of the sentence around a link
MAX_LINKS = 10_000  # of one note; a note with more is a generated list

_ID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_LINK = re.compile(
    r"(?<![#\\])(?P<embed>!?)\[\[(?P<wiki>(?:(?!\]\]|\[\[)[^\n])+)\]\]"
    r"|(?<!\\)(?P<image>!?)\[(?P<text>[^\[\]\n]*(?:\[[^\[\]\n]*\][^\[\]\n]*)*)\]"
    r"\(\s*(?:<(?P<angled>[^<>\n]*)>|(?P<plain>[^\s()<>]*(?:\([^\s()]*\)[^\s()]*)*))(?:\s+[\"'(][^\n]*?[\"')])?\s*\)"
    rf"|\(\((?P<block>{_ID})\)\)"
)
_BLOCK_ID = re.compile(rf"^[ \t]*(?:[-*][ \t]+)?id::[ \t]*({_ID})[ \t]*$", re.MULTILINE)
_MAY_LINK = ("[[", "](", "((")
_PART = re.compile(r"[#^]")
_BAR = re.compile(r"\\?\|")
_SCHEME = re.compile(r"\A(?:[a-zA-Z][a-zA-Z0-9+.-]+:|//)")
_SENTENCE_END = re.compile(r"[.!?…]['\")\]]*\s+(?=\S)|(?<=[。！？])")
_ENCODED = re.compile(r"(?:%[0-9a-fA-F]{2})+")
_MARKS = re.compile(
    r"^[ \t]*(?:>[ \t]?)*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?|#{1,6}[ \t]+)?", re.MULTILINE
)

# Files that a note shows or points to, and that are no notes: a link to one of them is never broken.
_ATTACHMENT = re.compile(
    r"\.(?:avif|bmp|gif|jpe?g|png|svg|webp|ico|tiff?|mp3|wav|m4a|ogg|opus|flac|3gp|mp4|m4v|mov|mkv|webm|avi|ogv"
    r"|pdf|docx?|xlsx?|pptx?|odt|ods|html?|csv|tsv|json|ya?ml|zip|gz|canvas|base|excalidraw|py|js|ts|sh|sql|css|bib)\Z",
    re.IGNORECASE,
)


def note_links(body: str, first_line: int = 1, front_matter: str = "") -> list[Link]:
    """
    Return the links of a note to other notes, those of its front matter first; at most `MAX_LINKS`.

    A link in code, a formula or a comment, or with a backslash before it, is text, and so is one to a web address or to a place in the same note;
    ``#[[two words]]`` is a tag.

    Args:
        first_line: Line of the file on which *body* begins; *front_matter* begins on line 2.
    """
    return [*islice(_every_link(body, first_line, front_matter), MAX_LINKS)]


def omitted_links(body: str, front_matter: str = "") -> int:
    """Return the number of links that `note_links` leaves out."""
    return max(0, sum(1 for _ in _every_link(body, 1, front_matter)) - MAX_LINKS)


def _every_link(body: str, first_line: int, front_matter: str) -> Iterator[Link]:
    if "[[" in front_matter:
        yield from _links_in(front_matter, 2, by_line=True)
    yield from _links_in(body, first_line)


def note_names(document: Document, body: str) -> list[NoteName]:
    """Return the names by which a link may mean *document*: of its file, its aliases, its title and its blocks."""
    names = [NoteName(folded(file_name(document.path)), NameKind.FILE)]
    names += [NoteName(folded(alias), NameKind.ALIAS) for alias in document.aliases]
    names += [NoteName(folded(name), NameKind.TITLE) for name in document_names(document)[:1]]
    if "id::" in body:
        names += [NoteName(number.lower(), NameKind.BLOCK) for number in _BLOCK_ID.findall(body)]
    return names


def link_key(target: str) -> str:
    """Return the form of a target's last part in which it is compared with the names of notes."""
    return folded(file_name(target.replace("\\", "/")))


def written_link(link: Link) -> str:
    """Return the target of *link* and its heading or block, such as ``note#Heading``."""
    sign = "#" if link.part and not link.part.startswith("^") else ""
    return f"{link.target}{sign}{link.part}"


def is_attachment(target: str) -> bool:
    """Whether *target* is the name of a picture, a recording or another file that is no note."""
    return _ATTACHMENT.search(target) is not None


def _links_in(text: str, first_line: int, *, by_line: bool = False) -> Iterator[Link]:
    if not any(mark in text for mark in _MAY_LINK):
        return
    prose = blanked(text, NOT_PROSE)
    sentences, lines = _Sentences(text, by_line=by_line), _Places(text, first_line)
    for match in _LINK.finditer(prose):
        read = _read(match)
        if read is not None:
            kind, target, part, shown = read
            context = sentences.around(match.start(), match.end())
            yield Link(kind, target, link_key(target), lines.at(match.start()), part, shown, context)


def _read(match: re.Match[str]) -> tuple[LinkKind, str, str, str] | None:
    """Return the kind, target, part and display text of a link; ``None`` if it leads to no other note."""
    if match["block"]:
        return LinkKind.BLOCK, match["block"].lower(), "", ""
    if match["wiki"] is not None:
        target, _, shown = _BAR.sub("|", match["wiki"]).partition("|")
        name, part, shown = *_with_part(target), shown.strip()
        kind = LinkKind.EMBED if match["embed"] else LinkKind.WIKILINK
    else:
        written = match["angled"] if match["angled"] is not None else match["plain"]
        if not written or _SCHEME.match(written):
            return None
        name, part = _with_part(unquote(written), marks="#")
        kind, shown = (LinkKind.EMBED if match["image"] else LinkKind.MARKDOWN), match["text"].strip()
    return (kind, name, part, shown) if name else None


def unquote(text: str) -> str:
    """Return *text* with its percent-encoded UTF-8 decoded; invalid UTF-8 is left as written."""

    def decoded(match: re.Match[str]) -> str:
        try:
            return bytes.fromhex(match[0].replace("%", "")).decode("utf-8")
        except UnicodeDecodeError:
            return match[0]

    return _ENCODED.sub(decoded, text)


def _with_part(target: str, marks: str = "#^") -> tuple[str, str]:
    """Return the name in *target*, and the heading or the ``^id`` of the block behind it."""
    place = min((at for mark in marks if (at := target.find(mark)) >= 0), default=len(target))
    return target[:place].strip(), target[place:].removeprefix("#").strip()


class _Places:
    """Map of character offsets to lines of the file."""

    def __init__(self, text: str, first_line: int) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._first = first_line

    def at(self, offset: int) -> int:
        """Return the line that contains the character at *offset*."""
        return self._first + bisect_right(self._starts, offset) - 1


class _Sentences:
    """The sentences of a text; a sentence does not go beyond its paragraph, list item or table row."""

    def __init__(self, text: str, *, by_line: bool = False) -> None:
        self._text = blanked(text, COMMENTS)
        self._by_line = by_line

    @cached_property
    def _bounds(self) -> list[int]:
        """The offsets at which sentences begin or end, in order."""
        found: list[int] = []
        for start, end in self._blocks():
            found += [start, *(match.end() for match in _SENTENCE_END.finditer(self._text, start, end)), end]
        return found

    def _blocks(self) -> Iterable[tuple[int, int]]:
        if self._by_line:
            return [match.span() for match in re.finditer(r"[^\n]+", self._text)]
        return [(block.start, block.end) for block in blocks(self._text)]

    def around(self, start: int, end: int) -> str:
        """Return the sentence around the characters from *start* to *end* on one line, at most `MAX_CONTEXT` long."""
        first = bisect_right(self._bounds, start) - 1
        last = bisect_right(self._bounds, end - 1)
        from_here = self._bounds[first] if first >= 0 else 0
        to_there = self._bounds[last] if last < len(self._bounds) else len(self._text)
        room = max(MAX_CONTEXT - (end - start), 0) // 2
        text = self._text[max(from_here, start - room) : min(to_there, end + room)]
        return " ".join(_MARKS.sub("", text).split())[:MAX_CONTEXT]


def part_line(part: str, body: str, first_line: int) -> int | None:
    """
    Return the line of the heading or ``^block`` that *part* names in *body*; ``None`` if there is none.

    Of a path of headings, ``Above#Below``, each is below the one before. Punctuation and case do not count.
    """
    lines = blanked(body, NOT_PROSE).split("\n")
    if part.startswith("^"):
        marker = re.compile(rf"(?:^|\s)\^{re.escape(part[1:].strip())}\s*$", re.IGNORECASE)
        return next((first_line + at for at, line in enumerate(lines) if marker.search(line)), None)
    wanted = [_heading_key(name) for name in part.split("#") if name.strip()]
    for at, line in enumerate(lines):
        heading = HEADING.match(line)
        if heading and wanted and _heading_key(line[heading.end() :]) == wanted[0]:
            wanted = wanted[1:]
            if not wanted:
                return first_line + at
    return None


def _heading_key(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", folded(text)))
