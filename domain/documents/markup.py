"""Parts of a Markdown text that are not prose: comments, code and formulas."""

import re
from collections.abc import Collection, Iterator
from enum import Enum, auto
from typing import NamedTuple

_OPENING = re.compile(
    r"^ {0,3}(?:(?P<tick>`{3,})[^`\n]*|(?P<tilde>~{3,})[^\n]*)$|(?P<code>`+)|<!--|%%|\$\$", re.MULTILINE
)
_BLANK_LINE = re.compile(r"\n[ \t]*(?:\n|\Z)")
_NO_LINE_FEED = re.compile(r"[^\n]")


class Markup(Enum):
    """Kind of a part that is not prose."""

    CODE = auto()  # fenced, or between backticks
    FORMULA = auto()  # between $$
    COMMENT = auto()  # <!-- --> or %% %%


class MarkupSpan(NamedTuple):
    """A part of a text that is not prose, with its delimiters."""

    kind: Markup
    start: int
    end: int


COMMENTS = frozenset({Markup.COMMENT})
NOT_PROSE = frozenset(Markup)


def markup_spans(text: str) -> Iterator[MarkupSpan]:
    """
    Yield the comments, code and formulas of *text* in order; they do not overlap.

    The part that begins first wins: a comment in code is code. An unclosed fence extends to the end. An unclosed
    comment, formula or run of backticks is prose, so that no text is lost.
    """
    closings, place = _Closings(text), 0
    while opening := _OPENING.search(text, place):
        kind, end = closings.of(opening)
        if kind is not None:
            yield MarkupSpan(kind, opening.start(), end)
        place = max(end, opening.end())


def blanked(text: str, kinds: Collection[Markup]) -> str:
    """Return *text* with the parts of these kinds replaced by blanks; lengths and line numbers do not change."""
    parts, place = [], 0
    for span in markup_spans(text):
        if span.kind in kinds:
            parts += [text[place : span.start], _NO_LINE_FEED.sub(" ", text[span.start : span.end])]
            place = span.end
    return "".join([*parts, text[place:]]) if parts else text


def without_comments(text: str) -> str:
    """Return *text* without its comments; line numbers do not change."""
    if "<!--" not in text and "%%" not in text:
        return text
    parts, place = [], 0
    for span in markup_spans(text):
        if span.kind is Markup.COMMENT:
            parts += [text[place : span.start], "\n" * text.count("\n", span.start, span.end)]
            place = span.end
    return "".join([*parts, text[place:]])


class _Closings:
    """Ends of the parts of one text; an end that is missing once is not looked for again."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._missing: set[str] = set()

    def of(self, opening: re.Match[str]) -> tuple[Markup | None, int]:
        """Return the kind and the end of the part that *opening* begins; no kind if nothing closes it."""
        if fence := opening["tick"] or opening["tilde"]:
            return Markup.CODE, self._fence_end(opening.end(), fence)
        if ticks := opening["code"]:
            return self._found(Markup.CODE, self._ticks_end(opening.end(), ticks))
        if opening[0] == "<!--":
            return self._found(Markup.COMMENT, self._end(opening.end(), "-->"))
        if opening[0] == "%%":
            return self._found(Markup.COMMENT, self._end(opening.end(), "%%"))
        return self._found(Markup.FORMULA, self._end(opening.end(), "$$"))

    def _found(self, kind: Markup, end: int) -> tuple[Markup | None, int]:
        return (kind, end) if end > 0 else (None, 0)

    def _end(self, start: int, closing: str) -> int:
        if closing in self._missing:
            return 0
        found = self._text.find(closing, start)
        if found < 0:
            self._missing.add(closing)
            return 0
        return found + len(closing)

    def _fence_end(self, start: int, fence: str) -> int:
        closing = re.compile(rf"^ {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$", re.MULTILINE)
        found = closing.search(self._text, start)
        return found.end() if found else len(self._text)

    def _ticks_end(self, start: int, ticks: str) -> int:
        # Code between backticks ends in its paragraph.
        paragraph = _BLANK_LINE.search(self._text, start)
        found = re.compile(rf"(?<!`){ticks}(?!`)").search(
            self._text, start, paragraph.start() if paragraph else len(self._text)
        )
        return found.end() if found else 0
