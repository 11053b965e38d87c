"""The block that a prompt carries: which elements, in which order, and in which words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clawmem.domain.documents.tokens import token_count
from clawmem.domain.security.patterns import Pattern
from clawmem.domain.security.quoting import quotation, quoted_title
from clawmem.domain.surfacing.packing import SEPARATOR
from clawmem.ports.display import one_line
from clawmem.ports.named_tuple import NamedTuple

# Worded as a fact: a text that gives orders from outside of the conversation is taken for an attack by models.
INSTRUCTION = (
    "These notes come from the memory of the person who writes and are background that is already known here. "
    "They may be out of date; what the person says now counts more."
)
MOST_RELATIONS = 10
PLAIN_TYPE = "note"

_INSTRUCTION = f"<instruction>{INSTRUCTION}</instruction>"
# Lines of a text that would read as the head of an entry, as a separator or as a lead are indented by a blank.
_LIKE_GRAMMAR = Pattern(r"\A(?:\*\*|-{3,}[ \t]*$|Quoted from )")
_OPENING = ("<vault-context>", _INSTRUCTION, "<facts>")
_CLOSING = "</vault-context>"
RELATIONS_FRAME = "<relationships>\n</relationships>"
FACTS_FRAME = "<vault-facts>\n</vault-facts>"


class Entry(NamedTuple):
    """
    One memory as it is shown, cleaned already.

    ``written`` is a day: what is injected may be read again later. ``age`` and ``source`` say that it is old and
    that it is not the user's own, where that is so; ``successor`` marks a superseded one. With a ``lead`` nobody here stands behind it: that
    sentence introduces the text, and title and text are quoted line by line.
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
    """A relation between two documents that are shown, by their titles."""

    source: str
    kind: str
    target: str


def entry_text(entry: Entry) -> str:
    """
    Title, type unless it is a note, place, day, age, source and successor on one line; the text below it.

    No title, type, place or text adds a line that reads as an entry, a tag or a separator.
    """
    title = quoted_title(entry.title) if entry.lead else one_line(entry.title)
    kind = "" if entry.content_type == PLAIN_TYPE else f" ({entry.content_type})"
    placed = f"**{title}**{kind} {entry.place}"
    facts = (placed, entry.written, entry.age, entry.source, entry.successor)
    head = one_line(", ".join(filter(None, facts)))
    return "\n".join([head, *_told(entry)]) if entry.text else head


def _told(entry: Entry) -> list[str]:
    if entry.lead:
        return quotation(entry.lead, entry.text)
    lines = entry.text.split("\n")
    return [f" {line}" if _LIKE_GRAMMAR.compiled.match(line) else line for line in lines]


def edge_line(edge: Edge) -> str:
    """One relation as a line."""
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
    The whole block; empty where there are no *entries*, whatever else there is to say.

    Every element opens and closes on a line of its own, so that a client that must cut it can cut between
    lines; what has nothing in it is left out.
    """
    if not entries:
        return ""
    return "\n".join(
        [
            *([f"<vault-routing>{hint}</vault-routing>"] if hint else ()),
            *_OPENING,
            SEPARATOR.join(entries),
            "</facts>",
            *_element("relationships", relations),
            *_element("vault-facts", map(one_line, facts)),
            _CLOSING,
            *([f"<vault-nudge>{nudge}</vault-nudge>"] if nudge else ()),
        ]
    )


def frame_tokens(hint: str = "", nudge: str = "") -> int:
    """What a block pays before anything is told in it, with what stands around it."""
    return token_count(block([""], hint=hint, nudge=nudge))


def _element(name: str, lines: Iterable[str]) -> list[str]:
    content = [*lines]
    return [f"<{name}>", *content, f"</{name}>"] if content else []
