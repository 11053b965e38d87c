"""Recognition of templates, from which editors make notes."""

from __future__ import annotations

import re

from clawmem.domain.documents.ignoring import Exclusion
from clawmem.domain.documents.markup import NOT_PROSE, blanked
from clawmem.domain.documents.title import HEADING

TEMPLATES = "the rule for templates"
_PLACEHOLDER = r"\{\{(?:date|time|title)(?::[^{}\n]{0,100})?\}\}"
# Obsidian and QuickAdd write the first form, Templater the second one.
_MARK = re.compile(rf"(?P<simple>{_PLACEHOLDER})|<%[-_]?(?:\*|\s*tp\.)[^%\n]{{0,100}}", re.IGNORECASE)
_SIMPLE = re.compile(_PLACEHOLDER, re.IGNORECASE)
MOST_LABEL = 40  # characters; a sentence about placeholders is longer
MOST_SIGNS = 3  # around a placeholder, such as brackets


def template_mark(body: str, front_matter: str = "") -> Exclusion | None:
    """
    Return the first placeholder that shows a file to be a template; ``None`` for a note.

    A placeholder such as ``{{date}}`` counts in the front matter, in a heading, and alone in a line, apart from a
    label; a command of Templater counts everywhere. In code, a formula or a comment nothing counts.
    """
    text = f"---\n{front_matter}---\n{body}" if front_matter else body
    if "{{" not in text and "<%" not in text:
        return None
    above = text.count("\n") - body.count("\n")
    for number, line in enumerate(blanked(text, NOT_PROSE).split("\n"), start=1):
        found = _MARK.search(line)
        if found and (not found["simple"] or number <= above or HEADING.match(line) or _is_field(line)):
            return Exclusion(TEMPLATES, number, found[0].strip())
    return None


def _is_field(line: str) -> bool:
    """Whether *line* has only placeholders, after an optional label such as ``- [ ] Due::``."""
    label, *between = _SIMPLE.split(line)
    if not between or not all(map(_are_signs, between)):
        return False
    label = label.lstrip(" \t>*+-")
    if label.startswith("[") and label[2:3] == "]":  # the box of a task
        label = label[3:].lstrip()
    name, colon, rest = label.partition(":")
    is_named = (
        bool(colon) and 1 <= len(name) <= MOST_LABEL and _are_signs(rest.removeprefix(":").lstrip("*_ \t"))
    )
    return is_named or _are_signs(label)


def _are_signs(text: str) -> bool:
    return len(text) <= MOST_SIGNS and not any(sign.isalnum() or sign == "_" for sign in text)
