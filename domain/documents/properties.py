"""Properties of notes: in their front matter and in their text, which of them are technical, and conditions on them."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from clawmem.domain.documents.address import folded
from clawmem.domain.documents.frontmatter import values
from clawmem.domain.documents.markdown import Markdown
from clawmem.domain.documents.tags import with_tags_above
from clawmem.ports.documents import TAGS, Property, PropertyFilter
from clawmem.ports.errors import InvalidInput

# These properties relate a note to others, date it, or configure a program; none describes its subject.
TECHNICAL_PROPERTIES = frozenset(
    """
    supersedes superseded_by content_type confidence pinned review_by
    date created modified updated changed created_at updated_at modified_at
    date-created date-modified date_created date_modified lastmod last_modified
    cssclass cssclasses css-class publish published draft permalink slug layout template type_id
    id uid uuid position order weight banner icon kanban-plugin excalidraw-plugin linter-yaml-title-alias
    """.split()
)
TAG_PROPERTIES = frozenset({"tag", TAGS})
_KEY = re.compile(r"\A(?P<key>[^\s:#-][^:\n]{0,200}):(?:\s|$)")


_ALIAS_NAMES = frozenset({"alias", "aliases"})
# They style a page, or are written by a program for itself.
_OMITTED = frozenset({"cssclass", "cssclasses", "css-class", "id", "collapsed"})
MAX_FIELDS = 1000  # inline fields of one note; a note with more is a log
MAX_VALUE = 500  # characters of a value; a longer one is a text

_NAME = r"[^\W_][\w -]{0,60}?"
_FIELD = re.compile(
    rf"^[ \t]*(?:[-*+][ \t]+)?(?P<mark>[*_]{{0,2}})(?P<name>{_NAME})(?P=mark)::[ \t]+(?P<value>\S[^\n]*)$"
    rf"|(?<!\[)[\[(](?P<inner>{_NAME})::[ \t]*(?P<part>[^\[\]()\n]+)[\])]",
    re.MULTILINE,
)
_WRITTEN_LINK = re.compile(r"\A!?\[\[([^\[\]|]*)(?:\|[^\[\]]*)?\]\]\Z")
_COMPARISON = re.compile(r"[<>~]")
_NUMBER = re.compile(r"\A[+-]?\d{1,30}(?:\.\d{1,30})?\Z", re.ASCII)
_FILTER = re.compile(r"\A\s*(?P<name>[^=!]+?)\s*(?:(?P<sign>!?=)(?P<value>.*))?\Z", re.DOTALL)


class InlineFields(NamedTuple):
    """Fields in the text of a note, as Dataview and Logseq write them; its tags and aliases are apart."""

    fields: tuple[tuple[str, str], ...] = ()
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


def without_properties(front_matter: str, names: frozenset[str]) -> str:
    """Return *front_matter* with the lines of the properties *names* blanked; line numbers do not change."""
    lines: list[str] = []
    is_omitted = False
    for line in front_matter.split("\n"):
        if match := _KEY.match(line):
            is_omitted = match["key"].strip(" \t\"'").casefold() in names
        lines.append("" if is_omitted else line)
    return "\n".join(lines)


def inline_fields(note: Markdown) -> InlineFields:
    """Return the fields ``name:: value`` of a line, and ``[name:: value]`` within one; none in code or comments."""
    if "::" not in note.body:
        return InlineFields()
    fields: list[tuple[str, str]] = []
    names: dict[bool, list[str]] = {True: [], False: []}
    for match in _FIELD.finditer(note.prose):
        name, value = (match["name"] or match["inner"]).strip(), (match["value"] or match["part"]).strip()
        if name.casefold() in TAG_PROPERTIES | _ALIAS_NAMES:
            names[name.casefold() in TAG_PROPERTIES] += filter(None, map(_unlinked, value.split(",")))
        elif name.casefold() not in _OMITTED and len(fields) < MAX_FIELDS:
            fields.append((name, value))
    return InlineFields(tuple(fields), tags=tuple(names[True]), aliases=tuple(names[False]))


def note_properties(
    raw: Mapping[str, object], inline: InlineFields, tags: Iterable[str], aliases: Iterable[str]
) -> list[Property]:
    """
    Return the properties of a note in order: of its front matter *raw*, its text, its *aliases* and *tags*.

    A list has one property for each value, an empty value an empty one. A tag below others counts as these, too. Of a
    long value the beginning is kept. ``cssclasses`` and the like are omitted.
    """
    left_out = TAG_PROPERTIES | _ALIAS_NAMES | _OMITTED
    declared = [(name, value) for name, several in raw.items() for value in values(several) or ("",)]
    pairs = [pair for pair in (*declared, *inline.fields) if pair[0].casefold() not in left_out]
    pairs += [("aliases", alias) for alias in aliases]
    pairs += [(TAGS, above) for tag in tags for above in with_tags_above(tag)]
    unique = dict.fromkeys((name.strip(), value[:MAX_VALUE]) for name, value in pairs if name.strip())
    return [Property(name, value, property_key(value)) for name, value in unique]


def property_key(value: str) -> str:
    """Return the form in which values are compared: without case, brackets of a link, and a leading ``#``."""
    return folded(_unlinked(value).removeprefix("#"))


def sort_key(values: Iterable[Property]) -> tuple[int, float, str]:
    """Return the key that sorts notes by the first of *values*: numbers, then texts and dates, then notes without one."""
    key = next((value.key for value in values if value.key), None)
    if key is None:
        return (2, 0.0, "")
    return (0, float(key), key) if _NUMBER.match(key) else (1, 0.0, key)


def read_filter(text: str) -> PropertyFilter:
    """
    Return the condition that *text* states: ``name=value``, ``name!=value``, or ``name`` for any value.

    Raises:
        InvalidInput: *text* names no property.
    """
    match = _FILTER.match(text)
    if match is None or _COMPARISON.search(match["name"]):
        raise InvalidInput(
            "INVALID_INPUT",
            f"{text!r} is no condition on a property. Write NAME=VALUE, NAME!=VALUE or NAME, such as status=active.",
        )
    key = None if match["sign"] is None else property_key(match["value"][:MAX_VALUE])
    return PropertyFilter(match["name"], key, match["sign"] == "!=")


def _unlinked(value: str) -> str:
    """Return *value*; of a link its target."""
    link = _WRITTEN_LINK.match(value.strip())
    return link[1].strip() if link else value.strip()
