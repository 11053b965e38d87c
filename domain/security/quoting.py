"""Presentation of texts and titles to an assistant: those of others are quoted and stripped of orders."""

import re
from functools import lru_cache

from clawmem.domain.security.escaping import escape
from clawmem.domain.security.injections import find_injections, has_injection
from clawmem.domain.security.origin import LEADS, SOURCES, is_verified
from clawmem.domain.security.redaction import redact
from clawmem.ports.records import Document, Origin, one_line

# Signs that could end the quotation of a name, or begin markup, and harmless ones that look alike.
_PLAIN = str.maketrans({**dict.fromkeys('"“”„‟«»″‶❝❞〝〞〟＂`´', "’"), "*": "∗", "＊": "∗"})

LEFT_OUT = "[left out: an order to an assistant]"
PLACEHOLDER = "[content filtered for security]"
MOST_CHARACTERS = 10_000  # above the limit of any block


def safe(text: str) -> str:
    """Return *text* escaped and redacted, or a placeholder if it gives orders to the reader."""
    return _safe(text[:MOST_CHARACTERS])


@lru_cache(1024)  # titles and kinds recur within a block and from block to block
def _safe(shown: str) -> str:
    return PLACEHOLDER if has_injection(shown) else escape(redact(shown))


def quotation(lead: str, text: str) -> list[str]:
    """Return *lead*, followed by every line of *text* as a quotation."""
    return [lead, *(f"> {line}" for line in text.splitlines())]


def quoted_title(title: str) -> str:
    """Return *title* on one line and in quotation marks, which nothing in it ends."""
    return f"“{plain_name(title)}”"


def plain_name(name: str) -> str:
    """Return *name*, which others chose, on one line, without quotation marks, emphasis, code marks and rules."""
    return re.sub("-{3,}", "—", one_line(name).translate(_PLAIN))


def lines_to_read(text: str, origin: Origin) -> list[str]:
    """Return *text* as lines; a text of others is quoted below a sentence that names its origin."""
    return text.split("\n") if is_verified(origin) else quotation(LEADS[origin], text)


def title_to_read(title: str, origin: Origin) -> str:
    """Return *title*; a title of others is quoted and names its origin."""
    label = label_of_others(origin)
    return f"{quoted_title(title)} ({label})" if label else title


def shown_title(document: Document) -> str:
    """Return the title of *document* for display; a title of others is quoted, labelled and stripped of orders."""
    return title_to_read(without_orders(document.title, document.origin), document.origin)


def label_of_others(origin: Origin) -> str:
    """Return a label for *origin*; empty for texts of the user or of an assistant."""
    return "" if is_verified(origin) else SOURCES[origin]


def without_orders(text: str, origin: Origin) -> str:
    """Return *text*; if others wrote it, each line of an order is replaced by `LEFT_OUT`. Line numbers do not change."""
    if is_verified(origin):
        return text
    orders = list(find_injections(text))
    if not orders:
        return text
    lines, end = [], 0
    for line in text.splitlines(keepends=True):
        start, end = end, end + len(line)
        content = line.splitlines()[0]
        is_ordered = any(order.start < start + len(content) and start < order.end for order in orders)
        lines.append(LEFT_OUT + line[len(content) :] if content.strip() and is_ordered else line)
    return "".join(lines)
