"""Tags, properties and open tasks of notes, in their front matter and in their text; conditions on properties."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from unicodedata import normalize

from clawmem.domain.documents.diary import day_sections
from clawmem.domain.documents.frontmatter import values
from clawmem.domain.documents.markdown import Markdown
from clawmem.domain.documents.names import file_name, folded
from clawmem.domain.text.likeness import without_conflict
from clawmem.domain.text.words import MARKS
from clawmem.domain.text.written_dates import day_in, day_named, opening_fields
from clawmem.ports.documents import TAGS, Property, PropertyFilter
from clawmem.ports.errors import InvalidInput
from clawmem.ports.records import Document

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
_ALIAS_NAMES = frozenset({"alias", "aliases"})
# They style a page, or are written by a program for itself.
_OMITTED = frozenset({"cssclass", "cssclasses", "css-class", "id", "collapsed"})
MAX_FIELDS = 1000  # tags or inline fields of one note; a note with more is a generated list or a log
MAX_VALUE = 500  # characters of a value; a longer one is a text

_NAME = rf"[^\W_][\w{MARKS} -]{{0,60}}?"
_FIELD = re.compile(
    rf"^[ \t]*(?:[-*+][ \t]+)?(?P<mark>[*_]{{0,2}})(?P<name>{_NAME})(?P=mark)::[ \t]+(?P<value>\S[^\n]*)$"
    rf"|(?<!\[)[\[(](?P<inner>{_NAME})::[ \t]*(?P<part>[^\[\]()\n]+)[\])]",
    re.MULTILINE,
)
# A tag stands after a blank and has a letter. #[[two words]] is a tag in Logseq.
TAG = re.compile(
    r"#(?<!\S#)(?:\[\[([^\[\]\n]+)\]\]"
    r"|(?=[\d/-]*[^\W\d]|[\d/-]*[^\x00-\x7f])((?:[\w/-]|[^\x00-\x7f\s\u2000-\u206f\u3000-\u303f])+))"
)
_NO_TEXT = re.compile(r"(?<!#)\[\[[^\[\]\n]*\]\]|</?[a-zA-Z][^<>\n]*>")
_TASK = re.compile(
    r"^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\{\{)?(?:\[\[)?"  # {{[[TODO]]}} in Roam
    r"(?:\[[ /!?<>*]\]|(?:TODO|DOING|NOW|LATER|WAIT(?:ING)?|IN-PROGRESS|STARTED)\b"
    r"|(?P<closed>\[[xX-]\]|(?:DONE|CANCELL?ED)\b))(?:\]\])?(?:\}\})?[ \t]+(?P<text>\S[^\n]*)"
    r"(?P<below>(?:\n[ \t]*(?:DEADLINE|SCHEDULED):[^\n]*)*)",
    re.MULTILINE,
)
# As Logseq and the plugins Tasks, Dataview and Kanban of Obsidian write them. Signs without a day or of a priority, and
# the name of the block, are no part of the text.
_DAY = re.compile(
    r"(?:(?P<due>[📅📆🗓]\ufe0f?|[(\[]?\bdue:{0,2}|\bDEADLINE:|@(?=[{\[]))|[⏳⌛]\ufe0f?|[(\[]?\bscheduled:{0,2}"
    r"|\bSCHEDULED:)\s*(?:[<{]|\[{1,2})?(?P<day>\d{4}-\d\d-\d\d)(?:\]\([^()\n]*\)|\]{1,3}|[)}])?|[📅📆🗓⏳⌛🔺⏫🔼🔽⏬]\ufe0f?"
    r"|\[#[ABC]\]|(?<=\s)\^[\w-]+\s*\Z",
    re.IGNORECASE,
)


def note_tags(declared: Iterable[str], note: Markdown) -> tuple[str, ...]:
    """
    Return the tags of a note, each once in its first spelling: those of its front matter, then those in its text.

    A tag in a text is ``#tag`` or ``#above/below`` after a blank, with at least one letter. A tag in code, a formula,
    a comment, a link or an HTML element is none.
    """
    inline = TAG.finditer(_NO_TEXT.sub(" ", note.prose)) if TAG.search(note.body) else ()
    tags: dict[str, str] = {}
    for tag in filter(None, map(bare_tag, (*declared, *(match[1] or match[2] for match in inline)))):
        tags.setdefault(folded(tag), normalize("NFC", tag))
    return tuple(tags.values())[:MAX_FIELDS]


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


def inline_fields(note: Markdown) -> list[tuple[str, str]]:
    """
    Return names and values of the fields ``name:: value`` of a line, and ``[name:: value]`` within one; none in code or comments.

    Each tag is a field ``tags``, each alias a field ``aliases``.
    The day of a task that is not finished is its field ``due`` or ``scheduled``; that of a finished one is no field.
    """
    lists = (text for name, text in opening_fields(note.body) if name.casefold() in TAG_PROPERTIES)
    fields = [(TAGS, tag.strip("[] ")) for text in lists for tag in text.split(",") if "#" not in tag]
    tasks = [*_TASK.finditer(note.prose)]
    closed = [task.span() for task in tasks if task["closed"]]
    days = (day for task in tasks if not task["closed"] for day in _DAY.finditer(task[0]) if day["day"])
    fields += [("due" if day["due"] else "scheduled", day["day"]) for day in days]
    for match in _FIELD.finditer(note.prose):
        name, value = (match["name"] or match["inner"]).strip(), (match["value"] or match["part"]).strip()
        if name.casefold() in ("due", "scheduled") and any(a <= match.start() < z for a, z in closed):
            continue
        if name.casefold() in TAG_PROPERTIES | _ALIAS_NAMES:
            listed = TAGS if name.casefold() in TAG_PROPERTIES else "aliases"
            fields += [(listed, part) for part in map(_unlinked, value.split(",")) if part]
        else:
            fields.append((name, value))
    return fields[:MAX_FIELDS]


def note_properties(
    raw: Mapping[str, object], inline: Iterable[tuple[str, str]], tags: Iterable[str], aliases: Iterable[str]
) -> list[Property]:
    """
    Return the properties of a note in order: of its front matter *raw*, its text, its *aliases* and *tags*.

    A list has one property for each value, an empty value an empty one. A tag below others counts as these, too. Of a
    long value the beginning is kept. ``cssclasses`` and the like are omitted.
    """
    left_out = TAG_PROPERTIES | _ALIAS_NAMES | _OMITTED
    declared = [(name, value) for name, several in raw.items() for value in values(several) or ("",)]
    pairs = [pair for pair in (*declared, *inline) if pair[0].casefold() not in left_out]
    pairs += [("aliases", alias) for alias in aliases]
    pairs += [(TAGS, above) for tag in tags for above in with_tags_above(tag)]
    unique = dict.fromkeys((name.strip(" :"), value[:MAX_VALUE]) for name, value in pairs if name.strip(" :"))
    return [Property(normalize("NFC", name), value, property_key(value)) for name, value in unique]


def property_key(value: str) -> str:
    """Return the form in which values are compared: days in ISO 8601, no case, brackets of a link, or leading ``#``."""
    return folded(day_named(_unlinked(value).removeprefix("#")))


def sort_key(values: Iterable[Property]) -> tuple[int, float, str]:
    """Return the key that sorts notes by the least of *values*: numbers, texts and dates, then notes without one."""
    keys = (value.key for value in values if value.key)
    number = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
    sorting = ((0, float(key), key) if re.fullmatch(number, key) else (1, 0.0, key) for key in keys)
    return min(sorting, default=(2, 0.0, ""))


def read_filter(text: str) -> PropertyFilter:
    """
    Return the condition that *text* states: ``name=value``, ``name!=value``, or ``name`` for any value.

    Raises:
        InvalidInput: *text* names no property.
    """
    condition = re.fullmatch(r"(?s)([^=!<>~]*[^=!<>~\s])\s*(?:(!?)=(.*))?", normalize("NFC", text.strip()))
    if not condition:
        raise InvalidInput(
            "INVALID_INPUT",
            f"{text!r} is no condition on a property. Write NAME=VALUE, NAME!=VALUE or NAME, such as status=active; for "
            "days: clawmem list --tasks --until DAY, or list --sort NAME.",
        )
    name, denial, value = condition.groups()
    return PropertyFilter(name, None if value is None else property_key(value[:MAX_VALUE]), bool(denial))


def _unlinked(value: str) -> str:
    value = value.strip()
    link = re.fullmatch(r"!?\[\[([^\[\]|]*)[^\[\]]*\]\]", value)
    return link[1].strip() if link else value


class TaskLine(NamedTuple):
    """
    An open task at a line of the file, without the signs of its days, priority and block; the days are ISO 8601, or empty.

    Up to ``last_line`` are its days in Logseq; ``span`` is the text as written, ``above`` are the headings. ``days`` are
    those of the line, the day ``due`` first, or the one of a heading above, the front matter, or the name of the file.
    """

    line: int
    last_line: int
    span: tuple[int, int]
    text: str
    above: str
    due: str
    days: Sequence[str]


def open_tasks(document: Document, body: str) -> Iterator[TaskLine]:
    """Yield the open tasks in *body*, the text of *document*, in its order; none in code."""
    if not _TASK.search(body):
        return
    note = Markdown(body, document.body_line)
    sections = [*day_sections(document, note)][::-1]
    declared = (line for line in document.front_matter.splitlines() if re.match("due *[:=]", line.lower()))
    of_note = next(map(day_in, declared), "")
    for task in (task for task in _TASK.finditer(note.prose) if not task["closed"]):
        line, text = note.line_at(task.start("text")), body[slice(*task.span("text"))]
        signed = sorted(_DAY.finditer(text + task["below"]), key=lambda day: not day["due"])
        own = [*filter(None, (day["day"] for day in signed))]
        own = own or [*filter(None, map(day_in, re.findall(r"\[\[([^\[\]|]+)", text)))]
        of_sections = [span.label for span in sections if span.start_line <= line <= span.end_line]
        of_file = day_in(file_name(without_conflict(document.path)))
        days = own or [next(filter(None, [*of_sections, of_note, of_file]), "")]
        above = next((block.above for block in note.blocks if block.start_line <= line <= block.end_line), "")
        text = " ".join(_DAY.sub("", text).split())
        due, end = (own or [of_note])[0], note.line_at(task.end())
        yield TaskLine(line, end, task.span("text"), text, above, due, days)
