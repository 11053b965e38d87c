"""Tags of notes: those in their text, and the tags below a tag."""

from __future__ import annotations

import re
from collections.abc import Iterable

from clawmem.domain.documents.address import folded
from clawmem.domain.documents.markdown import Markdown

MAX_TAGS = 1000  # of one note; a note with more is a generated list

# A tag stands after a blank and has a letter. #[[two words]] is a tag in Logseq.
_TAG = re.compile(
    r"(?<!\S)#(?:\[\[([^\[\]\n]+)\]\]|(?=[\d/-]*[^\W\d]|[\d/-]*[^\x00-\x7f])((?:[\w/-]|[^\x00-\x7f\s\u2000-\u206f\u3000-\u303f])+))"
)
_NO_TEXT = re.compile(r"(?<!#)\[\[[^\[\]\n]*\]\]|</?[a-zA-Z][^<>\n]*>")


def note_tags(declared: Iterable[str], note: Markdown) -> tuple[str, ...]:
    """
    Return the tags of a note, each once in its first spelling: those of its front matter, then those in its text.

    A tag in a text is ``#tag`` or ``#above/below`` after a blank, with at least one letter. A tag in code, a formula,
    a comment, a link or an HTML element is none.
    """
    inline = _TAG.finditer(_NO_TEXT.sub(" ", note.prose)) if _TAG.search(note.body) else ()
    tags: dict[str, str] = {}
    for tag in map(bare_tag, (*declared, *(match[1] or match[2] for match in inline))):
        if tag:
            tags.setdefault(folded(tag), tag)
    return tuple(tags.values())[:MAX_TAGS]


def bare_tag(tag: str) -> str:
    """Return *tag* without a leading ``#`` and without slashes at its ends."""
    return tag.strip().removeprefix("#").strip("/ ")


def tags_below(wanted: str, known: Iterable[str]) -> frozenset[str]:
    """Return the tags among *known* that are *wanted* or below it, as ``a/b`` is below ``a``; case does not count."""
    above = folded(bare_tag(wanted))
    return frozenset(tag for tag in known if above and f"{folded(tag)}/".startswith(f"{above}/"))


def with_tags_above(tag: str) -> list[str]:
    """Return *tag* and the tags that it is below: ``a/b`` and ``a``."""
    parts = tag.split("/")
    return ["/".join(parts[:count]) for count in range(len(parts), 0, -1)]
