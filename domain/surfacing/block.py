"""Format of the context block that is added to a prompt: its elements, their order, wording and age labels."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clawmem.domain.documents.times import DAY_MS, parse_iso
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
# Lines of a text that look like the head of an entry, a separator or a lead sentence are indented by one space.
_LIKE_GRAMMAR = re.compile(r"\A(?:\*\*|-{3,}[ \t]*$|Quoted from )")
_SEVERAL_WORDS = re.compile(r"[^\w-]")
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
    Return *entry* as text: title, type (unless a note), place, date, age, source and successor on one line, then the text.

    No title, type, place or text can add a line that reads as an entry, a tag or a separator.
    """
    title = quoted_title(entry.title) if entry.lead else one_line(entry.title)
    place = plain_name(entry.place) if entry.lead else entry.place
    # A type of several words, of a text of others, may read as a sentence.
    is_typed = entry.content_type != PLAIN_TYPE and not (
        entry.lead and _SEVERAL_WORDS.search(entry.content_type)
    )
    placed = f"**{title}**{f' ({entry.content_type})' if is_typed else ''} {place}"
    head = one_line(
        ", ".join(filter(None, (placed, entry.written, entry.age, entry.source, entry.successor)))
    )
    text = entry.text
    if not text:
        return head
    if entry.lead:
        return "\n".join([head, *quotation(entry.lead, text)])
    return "\n".join(
        [head, *(f" {line}" if _LIKE_GRAMMAR.match(line) else line for line in text.split("\n"))]
    )


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
) -> str:
    """
    Return the whole block; empty if there are no *entries*, even if other arguments are given.

    Every tag with content below it is on its own line, so that a client can truncate the block between lines. Empty
    elements are omitted.
    """
    if not entries:
        return ""
    return "\n".join(
        [
            *([f"<vault-routing>{hint}</vault-routing>"] if hint else ()),
            "<vault-context>",
            f"<instruction>{INSTRUCTION}</instruction>",
            "<facts>",
            SEPARATOR.join(entries),
            "</facts>",
            *_element("relationships", relations),
            *_element("vault-facts", map(one_line, facts)),
            _CLOSING,
            *([f"<vault-nudge>{nudge}</vault-nudge>"] if nudge else ()),
        ]
    )


def frame_tokens(hint: str = "", nudge: str = "") -> int:
    """Return the number of tokens of a block without entries, including the hint and the reminder."""
    return token_count(block([""], hint=hint, nudge=nudge))


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
