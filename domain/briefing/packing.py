"""Packing of lines into a token budget."""

from __future__ import annotations

from collections.abc import Iterable

from clawmem.domain.text.words import token_count

ELLIPSIS = "…"

_CHARACTERS_A_TOKEN = 4  # the estimate that all budgets use

WORTH_CUTTING = 20  # tokens; in less remaining room a cut line is not useful


def packed(lines: Iterable[str], budget: int) -> list[str]:
    """Return the first *lines* that fit into *budget* tokens, the last of them cut after a word if necessary."""
    fitting: list[str] = []
    for line in lines:
        if token_count("\n".join([*fitting, line])) > budget:
            room = budget - token_count("\n".join([*fitting, ""]))
            return (
                [*fitting, shortened(line, room * _CHARACTERS_A_TOKEN)] if room >= WORTH_CUTTING else fitting
            )
        fitting.append(line)
    return fitting


def shortened(line: str, most: int) -> str:
    """
    Return *line* with at most *most* characters: a longer one is cut after a word and ends with an ellipsis.

    A line without blanks is cut at any character.
    """
    if len(line) <= most:
        return line
    room = most - len(ELLIPSIS)
    whole_words = line[: room + 1].rpartition(" ")[0]
    return (whole_words or line[:room]) + ELLIPSIS


def section(heading: str, lines: Iterable[str], budget: int) -> str:
    """Return *lines* under *heading* within *budget* tokens, heading included; empty if no line fits."""
    whole = packed([heading, *lines], budget)
    return "\n".join(whole) if len(whole) > 1 else ""


def block(tag: str, introduction: str, sections: Iterable[str], budget: int) -> str:
    """
    Return *sections* as one XML element, separated by blank lines; empty if there are none or none fits.

    The introduction is never cut. Sections that exceed the budget are cut from the end.
    """
    parts = [part for part in sections if part]
    if not parts:
        return ""
    shell = f"<{tag}>\n{introduction}\n\n\n</{tag}>"
    lines = packed("\n\n".join(parts).split("\n"), budget - token_count(shell))
    return "\n".join([f"<{tag}>", introduction, "", *lines, f"</{tag}>"]) if lines else ""
