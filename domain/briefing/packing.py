"""Texts within a budget of tokens."""

from __future__ import annotations

from collections.abc import Iterable

from clawmem.domain.documents.tokens import token_count

ELLIPSIS = "…"

_CHARACTERS_A_TOKEN = 4  # by which every budget here counts


WORTH_CUTTING = 20  # tokens of room that are left; in less than that no line says anything


def packed(lines: Iterable[str], budget: int) -> list[str]:
    """The first of *lines* that fit into *budget* tokens together, the last of them cut after a word if need be."""
    kept: list[str] = []
    for line in lines:
        if token_count("\n".join([*kept, line])) > budget:
            room = budget - token_count("\n".join([*kept, ""]))
            return [*kept, _cut(line, room)] if room >= WORTH_CUTTING else kept
        kept.append(line)
    return kept


def _cut(line: str, budget: int) -> str:
    """The words of *line* that fit, with an ellipsis; a line without blanks is cut anywhere."""
    most = budget * _CHARACTERS_A_TOKEN - len(ELLIPSIS)
    whole_words = line[: most + 1].rpartition(" ")[0]
    return (whole_words or line[:most]) + ELLIPSIS


def section(heading: str, lines: Iterable[str], budget: int) -> str:
    """*lines* under *heading*, the heading counted; empty when not one line fits."""
    whole = packed([heading, *lines], budget)
    return "\n".join(whole) if len(whole) > 1 else ""


def block(tag: str, introduction: str, sections: Iterable[str], budget: int) -> str:
    """
    *sections* as one element, a blank line between them; empty when there are none.

    The introduction is always there, and what of the rest does not fit any more is left out from its end.
    """
    parts = [part for part in sections if part]
    if not parts:
        return ""
    shell = f"<{tag}>\n{introduction}\n\n\n</{tag}>"
    lines = packed("\n\n".join(parts).split("\n"), budget - token_count(shell))
    return "\n".join([f"<{tag}>", introduction, "", *lines, f"</{tag}>"]) if lines else ""
