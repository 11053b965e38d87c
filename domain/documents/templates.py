"""Recognition of templates, from which editors make notes."""

from __future__ import annotations

import re

from clawmem.domain.documents.ignoring import Exclusion
from clawmem.domain.documents.markdown import Markdown

TEMPLATES = "the rule for templates"
_PLACEHOLDER = r"\{\{(?:date|time|title)(?::[^{}\n]{0,100})?\}\}"
_SIMPLE = re.compile(_PLACEHOLDER, re.IGNORECASE)
# A command of Templater counts everywhere, a placeholder of Obsidian in a heading, and alone in a line or behind a label.
_MARK = re.compile(
    r"<%[-_]?(?:\*|\s*tp\.)[^%\n]{0,100}"
    rf"|^ {{0,3}}#{{1,6}}[ \t][^\n]*?{_PLACEHOLDER}"
    rf"|^[^\w\n]{{0,20}}(?:[^:{{}}\n]{{1,40}}::?)?[^\w\n]{{0,5}}{_PLACEHOLDER}(?:[^\w\n{{]|{_PLACEHOLDER})*$",
    re.IGNORECASE | re.MULTILINE,
)


def template_mark(note: Markdown, front_matter: str = "") -> Exclusion | None:
    """
    Return the first placeholder that shows a file to be a template; ``None`` for a note.

    A placeholder such as ``{{date}}`` counts in the front matter, in a heading, and alone in a line, apart from a
    label; a command of Templater counts everywhere. In code, a formula or a comment nothing counts.
    """
    if match := _SIMPLE.search(front_matter) or _MARK.search(front_matter):
        return Exclusion(TEMPLATES, 2 + front_matter.count("\n", 0, match.start()), match[0].strip())
    if ("{{" in note.body or "<%" in note.body) and (match := _MARK.search(note.prose)):
        placeholder = _SIMPLE.search(match[0])
        return Exclusion(TEMPLATES, note.line_at(match.start()), (placeholder or match)[0].strip())
    return None
