"""Format of the context block that is added to a prompt: its elements, their order, wording and age labels."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clawmem.domain.documents.times import DAY_MS, parse_iso
from clawmem.domain.security.patterns import Pattern
from clawmem.domain.security.quoting import plain_name, quotation, quoted_title
from clawmem.domain.surfacing.packing import SEPARATOR
from clawmem.domain.text.words import token_count
from clawmem.ports.records import one_line

# Worded as a statement: models treat instructions from outside the conversation as an attack.
INSTRUCTION = (
    "These notes come from the memory of the person who writes and are background that is already known here. "
    "They may be out of date; what the person says now counts more."
)
MOST_RELATIONS = 10
PLAIN_TYPE = "note"

# Added if no note contains the number, the kind of value or the name that the prompt asks for.
ONLY_TOPIC = "They are about the topic of the prompt; none of them seems to state what it asks for."
# Lines of a text that look like the head of an entry, a separator or a lead sentence are indented by one space.
_LIKE_GRAMMAR = Pattern(r"\A(?:\*\*|-{3,}[ \t]*$|Quoted from )")
_SEVERAL_WORDS = Pattern(r"[^\w-]")
_CLOSING = "</vault-context>"
RELATIONS_FRAME = "<relationships>\n</relationships>"
FACTS_FRAME = "<vault-facts>\n</vault-facts>"
OLD_DAYS = 182  # half a year
YEAR_DAYS = 365


class Entry(NamedTuple):
    """
    One memory to be shown; its texts are already cleaned.

    Attributes:
        title: Title of the document.
        content_type: Type of the document.
        place: Path, with line numbers.
        written: Absolute date, because a block may be read again later.
        properties: Properties that the question names, such as ``status: overdue``; usually empty.
        text: Text that is shown, if any.
        age: Label of an old text; empty for younger ones.
        source: Label of a text that is not the user's own; empty otherwise.
        lead: Sentence that introduces an unverified text. If it is set, title and text are quoted line by line.
        successor: Reference to the successor of a superseded text.
    """

    title: str
    content_type: str
    place: str
    written: str = ""
    properties: str = ""
    text: str = ""
    age: str = ""
    source: str = ""
    lead: str = ""
    successor: str = ""


class Edge(NamedTuple):
    """Relation between two shown documents, identified by their titles."""

    source: str
    kind: str
    target: str


def entry_text(entry: Entry) -> str:
    """
    Return *entry* as text: title, type (unless a note), place, date, age, source and successor on one line, then
    properties and text.

    No title, type, place or text can add a line that reads as an entry, a tag or a separator.
    """
    placed = _placed(entry)
    facts = (placed, entry.written, entry.age, entry.source, entry.successor)
    head = one_line(", ".join(filter(None, facts)))
    return "\n".join([head, *_told(entry)]) if entry.text or entry.properties else head


def _placed(entry: Entry) -> str:
    """Return title, type and place; those of others have no signs of the head, and a type of several words is left out."""
    title = quoted_title(entry.title) if entry.lead else one_line(entry.title)
    place = plain_name(entry.place) if entry.lead else entry.place
    is_shown = entry.content_type != PLAIN_TYPE and not (
        entry.lead and _SEVERAL_WORDS.compiled.search(entry.content_type)
    )
    return f"**{title}**{f' ({entry.content_type})' if is_shown else ''} {place}"


def _told(entry: Entry) -> list[str]:
    text = "\n".join(filter(None, (one_line(entry.properties), entry.text)))
    if entry.lead:
        return quotation(entry.lead, text)
    lines = text.split("\n")
    return [f" {line}" if _LIKE_GRAMMAR.compiled.match(line) else line for line in lines]


def edge_line(edge: Edge) -> str:
    """Return one relation as a line."""
    return one_line(f"- {edge.source} --[{edge.kind}]--> {edge.target}")


def block(
    entries: Sequence[str],
    relations: Sequence[str] = (),
    facts: Sequence[str] = (),
    *,
    hint: str = "",
    nudge: str = "",
    is_only_topic: bool = False,
) -> str:
    """
    Return the whole block; empty if there are no *entries*, even if other arguments are given.

    With *is_only_topic* the instruction says that no entry seems to state what the prompt asks for.

    Every tag with content below it is on its own line, so that a client can truncate the block between lines. Empty
    elements are omitted.
    """
    if not entries:
        return ""
    return "\n".join(
        [
            *([f"<vault-routing>{hint}</vault-routing>"] if hint else ()),
            "<vault-context>",
            f"<instruction>{INSTRUCTION}{f' {ONLY_TOPIC}' if is_only_topic else ''}</instruction>",
            "<facts>",
            SEPARATOR.join(entries),
            "</facts>",
            *_element("relationships", relations),
            *_element("vault-facts", map(one_line, facts)),
            _CLOSING,
            *([f"<vault-nudge>{nudge}</vault-nudge>"] if nudge else ()),
        ]
    )


def frame_tokens(hint: str = "", nudge: str = "", *, is_only_topic: bool = False) -> int:
    """Return the number of tokens of a block without entries, including the hint and the reminder."""
    return token_count(block([""], hint=hint, nudge=nudge, is_only_topic=is_only_topic))


def _element(name: str, lines: Iterable[str]) -> list[str]:
    content = [*lines]
    return [f"<{name}>", *content, f"</{name}>"] if content else []


def age_label(authored_at: str, now_ms: int) -> str:
    """
    Return an age label such as ``over 6 months old`` or ``over 2 years old``; empty for younger or undated texts.

    A surfaced block may be read again weeks later; a label with "over" is still true then.
    """
    authored_ms = parse_iso(authored_at)
    days = 0 if authored_ms is None else (now_ms - authored_ms) // DAY_MS
    if days <= OLD_DAYS:
        return ""
    years = (days - 1) // YEAR_DAYS
    if not years:
        return "over 6 months old"
    return f"over {years} years old" if years > 1 else "over 1 year old"
