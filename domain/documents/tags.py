"""Tags of notes: those in their text, and the tags below a tag."""

from __future__ import annotations

from collections.abc import Iterable

from clawmem.domain.documents.address import folded
from clawmem.domain.documents.markup import NOT_PROSE, blanked
from clawmem.domain.security.patterns import Pattern

MAX_TAGS = 1000  # of one note; a note with more is a generated list

# A tag stands after a blank. #[[two words]] is a tag in Logseq.
_TAG = Pattern(r"(?<!\S)#(?:\[\[([^\[\]\n]+)\]\]|((?:[\w/-]|[^\x00-\x7f\s\u2000-\u206f\u3000-\u303f])+))")
_NO_TEXT = Pattern(r"(?<!#)\[\[[^\[\]\n]*\]\]|</?[a-zA-Z][^<>\n]*>")


def note_tags(declared: Iterable[str], body: str) -> tuple[str, ...]:
    """
    Return the tags of a note, each once in its first spelling: those of its front matter, then those in its text.

    A tag in a text is ``#tag`` or ``#above/below`` after a blank, with at least one letter. A tag in code, a formula,
    a comment, a link or an HTML element is none.
    """
    found: dict[str, str] = {}
    for tag in (*map(bare_tag, declared), *_inline_tags(body)):
        found.setdefault(folded(tag), tag)
        if len(found) > MAX_TAGS:
            break
    return tuple(filter(None, found.values()))[:MAX_TAGS]


def bare_tag(tag: str) -> str:
    """Return *tag* without a leading ``#`` and without slashes at its ends."""
    return tag.strip().removeprefix("#").strip("/ ")


def tags_below(wanted: str, known: Iterable[str]) -> frozenset[str]:
    """Return the tags among *known* that are *wanted* or below it, as ``a/b`` is below ``a``; case does not count."""
    above = folded(bare_tag(wanted))
    return (
        frozenset(one for one in known if f"{folded(one)}/".startswith(f"{above}/")) if above else frozenset()
    )


def with_tags_above(tag: str) -> list[str]:
    """Return *tag* and the tags that it is below: ``a/b`` and ``a``."""
    parts = tag.split("/")
    return ["/".join(parts[:count]) for count in range(len(parts), 0, -1)]


def _inline_tags(body: str) -> Iterable[str]:
    if not _TAG.compiled.search(body):
        return
    text = _NO_TEXT.compiled.sub(" ", blanked(body, NOT_PROSE))
    for match in _TAG.compiled.finditer(text):
        tag = bare_tag(match[1] or match[2])
        if any(not sign.isdecimal() and sign not in "/-_" for sign in tag):
            yield tag
