"""The passage of a document that shows why it matched, with its line numbers, and the part that a reranker reads."""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from clawmem.domain.documents.markdown import HEADING, header_at, is_delimiter, is_field, is_machine_text
from clawmem.domain.text.vocabulary import STOP_WORDS

MAX_LENGTH = 300
ELLIPSIS = "..."
CHUNK_CHARS, OVERLAP_CHARS = 4000, 200  # of the text that a reranker reads

Place = tuple[int, int]  # character offsets: the first one, and the one after the last

# Integer weights, so that equal scores compare as equal: a term counts 1, an intent term 0.3, the found fragment 2.
_TERM, _INTENT_TERM, _FOUND = 100, 30, 200
# The target of a link that is shown by another text, and a canvas: their words say little about the line.
_UNSHOWN = re.compile(r"\[\[[^\[\]|\n]*(?:\||\.canvas\]\])|(?<=\])\([^()\s]*\)")
_SENTENCE_END = re.compile(r"[.!?;:…]\W{0,3}(?=\s)\s+")


class Snippet(NamedTuple):
    """
    Lines of a file. ``start_line`` is 1-based; ``before`` and ``after`` count the other lines of the file.

    ``line_count`` counts the lines shown, including a cut one, without the header of a table that comes above its row.
    """

    text: str
    start_line: int
    line_count: int
    before: int
    after: int

    @property
    def end_line(self) -> int:
        """The last line shown."""
        return self.start_line + self.line_count - 1

    @property
    def header(self) -> str:
        """Position of the lines, like the head of a diff hunk: ``@@ -12,4 @@ (11 before, 30 after)``."""
        return f"@@ -{self.start_line},{self.line_count} @@ ({self.before} before, {self.after} after)"


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
    Return the passage of at most *max_length* characters that holds most of the terms.

    A passage begins with a line (a sentence, if a line is longer) and takes whole lines or sentences while there is
    room, up to the next heading; code ends with a statement. It scores 1 for each distinct term and 0.3 for each intent
    term in it (as a substring, ignoring case), half of that for those in the heading above alone, and 2 if it overlaps
    the fragment that was *found*. Of equal passages the one with the most terms in its first line wins, then the first
    one. A heading or a line of tags begins a passage only if it was found, or there is no other line. A field ``name::
    value`` of tags, or without a term, neither begins nor ends one, and the title of a callout ends none. A task of Logseq
    is shown with its days. Before a row of a table comes the header of the table, if it takes at most half of *max_length*.
    ``...`` stands for a missing part of a line.

    Args:
        found: Offsets of the matching fragment.
        within: The part of the body to search; the whole body if it has no text.
        first_line: Line of the file on which the body begins, > 1 after front matter.
    """
    wanted = {term.lower(): _INTENT_TERM for term in intent_terms if term.strip()}
    wanted |= {term.lower(): _TERM for term in terms if term.strip()}
    start, end = within if within and body[slice(*within)].strip() else (0, len(body))
    pieces = [*_pieces(body, start, end, max_length)]
    chosen = _best(body, pieces, wanted, found, max_length)
    return excerpt(body, *chosen, max_length, first_line)


def _pieces(body: str, start: int, end: int, most: int) -> Iterator[Place]:
    """Yield the lines of *body* from *start* to *end* that have text; long ones in sentences, long sentences at spaces."""
    for line in body[start:end].split("\n"):
        at, stop = start, start + len(line.rstrip())
        start += len(line) + 1
        if stop - at <= most:
            if stop > at:
                yield at, stop
            continue
        ends = [match.end() for match in _SENTENCE_END.finditer(body, at, stop)]
        for sentence_end in (*ends, stop):
            while sentence_end - at > most:
                space = body.rfind(" ", at + 1, at + most) + 1 or at + most
                yield at, space
                at = space
            if sentence_end > at:
                yield at, sentence_end
            at = sentence_end


def _best(
    body: str, pieces: Sequence[Place], wanted: dict[str, int], found: Place | None, room: int
) -> tuple[int, int]:
    """Return the offsets of the best passage."""
    lowered, above = body.lower(), 0
    if len(lowered) != len(body):  # a few capitals have two small letters
        lowered = body
    lowered = _UNSHOWN.sub(lambda match: " " * len(match[0]), lowered)
    if found and _worth(lowered, wanted) and not _worth(lowered[slice(*found)], wanted):
        found = None  # found by its meaning, while others hold the words
    texts = [body[start:end] for start, end in pieces]
    fields = [
        is_field(text)
        and not is_bare(text)
        and (is_field(text, "tags") or not _worth(lowered[start:end], wanted))
        for text, (start, end) in zip(texts, pieces, strict=True)
    ]
    bare, leads, inner = list[bool](), list[bool](), list[bool]()
    for place, text, below, field in zip(pieces, texts, [*texts, ""][1:], fields, strict=True):
        leads.append(field or (text.lstrip("> \t").startswith("[!") and below.lstrip().startswith(">")))
        is_header = is_delimiter(text) or (is_delimiter(below) and "|" in text)
        bare.append(field or is_header or (is_bare(text) and place != found))
        inner.append(field or text.lstrip().startswith(("DEADLINE:", "SCHEDULED:")))  # of the task above
    fences = [text.lstrip().startswith(("```", "~~~")) for text in texts]
    is_code = [count % 2 == 1 for count in accumulate(fences)]
    is_all_bare = all(bare)
    best, place = (-1, -1), pieces[0] if pieces else (0, len(body))
    last = 0
    for index, (start, end) in enumerate(pieces):
        if bare[index] and not is_all_bare:
            if not (fields[index] or is_delimiter(texts[index])):
                above = _worth(lowered[start:end], wanted)
            continue
        last = max(last, index)
        while last + 1 < len(pieces) and pieces[last + 1][1] - start <= room:
            is_end = (bare[last + 1] and not inner[last + 1]) or texts[index].startswith("|")
            if is_end and not is_all_bare:
                break
            last += 1
        shown = last
        while is_code[shown] and shown > index:
            code = body[start : pieces[shown][1]]
            if sum(map(code.count, "([{")) <= sum(map(code.count, ")]}")):
                break  # not inside brackets, which is inside a statement
            shown -= 1
        while leads[shown] and shown > index and not is_all_bare:
            shown -= 1
        stop = pieces[shown][1]
        inside = _worth(lowered[start:stop], wanted)
        worth = inside + max(0, above - inside) // 2
        first = _worth(lowered[start:end], wanted)
        if found and start < found[1] and found[0] < stop:
            worth += _FOUND
            first = first or int(found[0] < end)
        score = worth, first
        if score > best:
            best, place = score, (start, stop)
    return place


def _worth(text: str, wanted: dict[str, int]) -> int:
    return sum(weight for term, weight in wanted.items() if term in text)


def excerpt(body: str, start: int, end: int, max_length: int, first_line: int) -> Snippet:
    """Return the snippet of *body* from *start* to *end*, below the header of its table; arguments as of `snippet`."""
    lines = body.removesuffix("\n").split("\n")
    first, last = body.count("\n", 0, start), body.count("\n", 0, max(start, end))
    first, last = min(first, len(lines) - 1), min(last, len(lines) - 1)
    header = "".join(f"{line}\n" for line in header_at(body, start) or ())
    if len(header) > max_length // 2:
        header = ""
    lead = ELLIPSIS if body[:start].rpartition("\n")[2].strip() else ""
    text = lead + body[start:end].rstrip()
    cut = body[end:].partition("\n")[0].strip() or len(header) + len(text) > max_length
    if cut:
        text = text[: max_length - len(header) - len(ELLIPSIS)] + ELLIPSIS
    count, before = text.count("\n") + 1, first_line + first - 1
    return Snippet(header + text, before + 1, count, before, len(lines) - first - count)


def holds_any(text: str, terms: Sequence[str]) -> bool:
    """Whether *text* contains one of *terms*, as a substring, ignoring case."""
    lower = text.lower()
    return any(term.lower() in lower for term in terms if term.strip())


def is_bare(line: str) -> bool:
    """Whether *line* is a heading, or contains only tags, or what a program wrote for itself."""
    parts = line.replace(",", " ").split() if "#" in line else ["-"]
    is_tags = all(part[0] == "#" and len(part) > 1 for part in parts)
    return is_tags or HEADING.match(line) is not None or is_machine_text(line)


def choose_chunk(
    body: str,
    terms: Sequence[str],
    intent_terms: Sequence[str] = (),
    *,
    around: tuple[int, int] | None = None,
    chars: int = CHUNK_CHARS,
    overlap: int = OVERLAP_CHARS,
) -> str:
    """
    Return *body* if it is short enough, else the window of *chars* characters most useful to a reranker.

    That is the window around the matching fragment (*around*, its offsets), if it is known, else the beginning. With
    *intent_terms*, windows that overlap by *overlap* characters are candidates too. A window scores 1.0 for each
    distinct query term in it (as a substring, ignoring case) and 0.5 for each intent term; of equal windows the first
    wins.
    """
    if len(body) <= chars:
        return body
    first = 0
    if around:
        start, end = (min(place, len(body)) for place in around)
        # Centred on the fragment; a fragment longer than a window is read from its beginning.
        first = max(0, min(start - max(0, chars - (end - start)) // 2, len(body) - chars))
    starts = [first, *range(0, len(body) - overlap, chars - overlap)] if intent_terms else [first]
    wanted, intended = ({term.lower() for term in some if term.strip()} for some in (terms, intent_terms))

    windows = [body[start : start + chars] for start in starts]
    lowered = [window.lower() for window in windows]
    scores = [
        2 * sum(term in text for term in wanted) + sum(term in text for term in intended) for text in lowered
    ]
    return windows[scores.index(max(scores))]  # the first of equals


def intent_terms(intent: str) -> tuple[str, ...]:
    """
    Return the words of an intent that can distinguish windows: lower case, no stop words or single characters.

    The intent is split at white space; only letters, digits and hyphens of each word are kept.
    """
    typed = intent.lower().split()
    bare = ("".join(sign for sign in word if sign.isalnum() or sign == "-") for word in typed)
    return tuple(dict.fromkeys(word for word in bare if len(word) > 1 and word not in STOP_WORDS))
