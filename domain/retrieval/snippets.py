"""The lines of a document that show why it matched, with their numbers."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from clawmem.domain.documents.markdown import HEADING, header_at, is_delimiter, is_field, is_machine_text
from clawmem.domain.text.parts import Place, text_pieces
from clawmem.domain.text.words import fold

MAX_LENGTH = 300
ELLIPSIS = "..."
GAP = "\n…\n"  # before other lines
_TERM, _INTENT_TERM = 100, 30  # integers, so that equal scores compare as equal
# The target of a link that is shown by another text, and a canvas: their words say little about the line.
_UNSHOWN = re.compile(r"\[\[[^\[\]|\n]*(?:\||\.canvas\]\])|(?<=\])\([^()\s]*\)")
_FENCES = ("```", "~~~")


class Snippet(NamedTuple):
    """
    Lines of a file. ``start_line`` is 1-based.

    ``line_count`` counts the lines shown, including a cut one, without the header of a table that comes above its row.
    """

    text: str
    start_line: int
    line_count: int

    @property
    def end_line(self) -> int:
        """The last line shown."""
        return self.start_line + self.line_count - 1


class _Piece(NamedTuple):
    """A line, or a sentence of a long one, with its terms."""

    start: int
    end: int
    text: str
    terms: frozenset[str]
    is_bare: bool  # begins no passage
    is_inner: bool  # ends none, though bare
    is_lead: bool  # is not its last one


def snippet(
    body: str,
    terms: Sequence[str],
    *,
    intent_terms: Sequence[str] = (),
    found: Place | None = None,
    within: Place | None = None,
    max_length: int = MAX_LENGTH,
    first_line: int = 1,
) -> Snippet:
    """
    Return the lines that hold most of the terms, in at most *max_length* characters.

    First comes the best passage. It begins with a line (a sentence, if a line is longer than half of *max_length*) and
    takes more up to the next heading; code begins and ends with a statement. Each distinct term in it counts 1 and each
    intent term 0.3 (as a substring, ignoring case and accents), half of that in the heading above alone; then the terms in its first
    line. A line of tags or a heading above text begins one only if it was *found*, or if there is no other line. A field of
    tags, or without a term, neither begins nor ends one. A task of Logseq has its days, a row of a table its header.

    Its end makes room for a short found fragment, and for the line with most of the terms still missing. The lines above
    it, up to the heading, get the rest. ``...`` stands for a missing part of a line.

    Args:
        found: Offsets of the matching fragment.
        within: The part of the body to search; the whole body if it has no text.
        first_line: Line of the file on which the body begins, > 1 after front matter.
    """
    wanted = {fold(term): _INTENT_TERM for term in intent_terms if term.strip()}
    wanted |= {fold(term): _TERM for term in terms if term.strip()}
    start, end = within if within and body[slice(*within)].strip() else (0, len(body))
    found = found or (0, 0)
    fits = end - start <= max_length
    longest, room = (max_length,) * 2 if fits else (max_length // 2, max_length - 2 * len(ELLIPSIS))
    pieces = _marked(body, [*text_pieces(body, start, end, longest)], wanted, found)
    places = _chosen(body, pieces, wanted, found, room) if pieces else [(0, len(body))]
    return excerpt(body, places, max_length, first_line)


def _marked(body: str, places: Sequence[Place], wanted: Mapping[str, int], found: Place) -> list[_Piece]:
    shown = _UNSHOWN.sub(lambda match: " " * len(match[0]), body)
    form = str.lower if all(map(shown.lower().__contains__, wanted)) else fold  # which takes 30 times as long
    pieces, texts = [], [body[start:end] for start, end in places]
    for place, text, following in zip(places, texts, [*texts[1:], ""], strict=False):
        line = form(shown[slice(*place)])
        within = [term for term in wanted if term in line]
        terms = frozenset(t for t in within if not t.isdecimal() or re.search(rf"(?<!\d){t}(?!\d)", line))
        is_other = is_field(text) and not is_bare(text) and (is_field(text, "tags") or not terms)
        is_header = is_delimiter(text) or (is_delimiter(following) and "|" in text)
        is_callout = text.lstrip("> \t").startswith("[!") and following.lstrip().startswith(">")
        is_day = text.lstrip().startswith(("DEADLINE:", "SCHEDULED:"))  # of the task above
        is_deeper = following.startswith(f"{text.partition(' ')[0]}#") or not HEADING.match(following or "# ")
        is_titled = is_bare(text) and place != found and (is_deeper or not (terms and HEADING.match(text)))
        is_alone = is_other or is_header or is_titled
        pieces.append(_Piece(*place, text, terms, is_alone, is_other or is_day, is_other or is_callout))
    is_all_bare = all(piece.is_bare or is_bare(piece.text) for piece in pieces)
    return [piece._replace(is_bare=False, is_lead=False) for piece in pieces] if is_all_bare else pieces


def _chosen(
    body: str, pieces: Sequence[_Piece], wanted: Mapping[str, int], found: Place, room: int
) -> list[Place]:
    """Return the place of the best passage, and then the other places to show."""

    def fits(passage: Sequence[int], others: Iterable[int]) -> bool:
        return len(_text(body, [*_joined(pieces, passage), *_joined(pieces, others)], room)) <= room

    passage = _passage(pieces, wanted, found, room)
    lines = [index for index, piece in enumerate(pieces) if not piece.is_bare]
    near = {index for index, piece in enumerate(pieces) if piece.start < found[1] and found[0] < piece.end}
    near = {index for index in near if not pieces[index].text.lstrip().startswith(_FENCES)}
    if not near.issubset(lines) or sum(len(pieces[index].text) for index in near) > room // 2:
        near = set()
    present = frozenset[str]().union(*(pieces[index].terms for index in {*passage, *near}))
    headed = {
        i: pieces[i - 1].terms for i in {*lines} - {0, 1, *passage} if HEADING.match(pieces[i - 1].text)
    }
    missing = {index: (pieces[index].terms | headed.get(index, present)) - present for index in lines}
    telling = max(lines, key=lambda index: _worth(missing[index], wanted))
    if missing[telling]:
        near |= {telling, telling - (missing[telling] > pieces[telling].terms - present)}  # with its heading
    ends = range(len(passage), 0, -1)
    end = next((end for end in ends if fits(passage[:end], near.difference(passage[:end]))), 0)
    passage, others = passage[: end or None], near.difference(passage[:end]) if end else set()
    titled = range(max(passage[0] - 1, 0), passage[-1] + 1)  # with the title of a callout above
    if pieces[titled[0]].is_lead and not pieces[titled[0]].is_bare and fits(titled, others):
        passage, others = titled, others.difference(titled)
    for index in range(passage[0] - 1, -1, -1):
        is_text = index in lines and not pieces[index].text.lstrip().startswith(_FENCES)
        if not is_text or pieces[passage[0]].text.startswith("|") or not fits(passage, {*others, index}):
            break
        others.add(index)
    return [*_joined(pieces, passage), *_joined(pieces, others)]


def _passage(pieces: Sequence[_Piece], wanted: Mapping[str, int], found: Place, room: int) -> Sequence[int]:
    """Return the indexes of the best passage."""
    fences = (piece.text.lstrip().startswith(_FENCES) for piece in pieces)
    is_code = [count % 2 == 1 for count in accumulate(fences)]
    none = above = frozenset[str]()
    best, passage, last = (-1, 0, False), range(1), 0
    for index, piece in enumerate(pieces):
        if piece.is_bare:
            above = above if piece.is_inner or is_delimiter(piece.text) else piece.terms
            continue
        last = max(last, index)
        while last + 1 < len(pieces) and pieces[last + 1].end - piece.start <= room:
            following = pieces[last + 1]
            is_row = piece.text.startswith("|") and not is_delimiter(following.text)
            if is_row or (following.is_bare and not following.is_inner):
                break
            last += 1
        stop = last
        while is_code[stop] and stop > index:
            code = "".join(piece.text for piece in pieces[index : stop + 1])
            if sum(map(code.count, "([{")) <= sum(map(code.count, ")]}")):
                break  # not inside brackets, which is inside a statement
            stop -= 1
        while pieces[stop].is_lead and stop > index:
            stop -= 1
        inside = none.union(*(piece.terms for piece in pieces[index : stop + 1]))
        worth = _worth(inside, wanted) + _worth(above - inside, wanted) // 2
        is_found = piece.start < found[1] and found[0] < pieces[stop].end
        score = worth - (piece.text.startswith("#") and not is_found), _worth(piece.terms, wanted), is_found
        if score > best:
            best, passage = score, range(index, stop + 1)
    first, end = passage.start, pieces[passage[-1]].end
    while is_code[first] and pieces[first].text[:1].isspace() and end - pieces[first - 1].start <= room:
        first -= 1  # to the beginning of a statement
    return range(first, passage.stop)


def _worth(terms: Iterable[str], wanted: Mapping[str, int]) -> int:
    return sum(map(wanted.__getitem__, terms))


def _joined(pieces: Sequence[_Piece], indexes: Iterable[int]) -> list[Place]:
    """Return the places of the pieces in order; those side by side are one."""
    every = sorted(indexes)
    firsts = [index for index in every if index - 1 not in every]
    lasts = [index for index in every if index + 1 not in every]
    return [(pieces[first].start, pieces[last].end) for first, last in zip(firsts, lasts, strict=True)]


def _text(body: str, places: Iterable[Place], room: int) -> str:
    """Return the texts of *places*, rows of a table below its header."""
    texts = []
    for start, end in places:
        text = body[start:end].rstrip()
        header = ("|" in text.partition("\n")[0] and header_at(body, start)) or ()
        texts.append("\n".join((*header, text)) if sum(map(len, header)) < room // 2 else text)
    return GAP.join(texts)


def excerpt(body: str, places: Sequence[Place], max_length: int, first_line: int) -> Snippet:
    """Return the snippet of the first of *places* in *body*, followed by the others; arguments as of `snippet`."""
    start, end = places[0]
    lines = body.removesuffix("\n").split("\n")
    first, last = (min(body.count("\n", 0, at), len(lines) - 1) for at in (start, max(start, end)))
    lead = ELLIPSIS if body[:start].rpartition("\n")[2].strip() else ""
    whole = text = lead + _text(body, places[:1], max_length)
    if body[end:].partition("\n")[0].strip() or len(text) > max_length:
        text = text[: max_length - len(ELLIPSIS)] + ELLIPSIS
    count = last - first + 1 - whole.count("\n") + text.count("\n")
    shown = GAP.join(filter(None, (text, _text(body, places[1:], max_length))))
    return Snippet(shown, first_line + first, count)


def is_bare(line: str) -> bool:
    """Whether *line* is a heading, or contains only tags, or what a program wrote for itself."""
    parts = line.replace(",", " ").split() if "#" in line else ["-"]
    is_tags = all(part[0] == "#" and len(part) > 1 for part in parts)
    return is_tags or HEADING.match(line) is not None or is_machine_text(line)
