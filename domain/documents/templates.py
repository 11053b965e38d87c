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
# A line of placeholders only, after an optional label; a sentence about placeholders is longer.
_FIELD = re.compile(
    rf"[\s>*+-]*(?:\[.\]\s*)?(?:[^:\n]{{1,40}}::?[*_\s]*)?\W{{0,3}}(?:{_PLACEHOLDER}\W{{0,3}})+",
    re.IGNORECASE,
)


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
        if found and (
            not found["simple"] or number <= above or HEADING.match(line) or _FIELD.fullmatch(line)
        ):
            return Exclusion(TEMPLATES, number, found[0].strip())
    return None
