"""Templates and the notes that only mention placeholders."""

from __future__ import annotations

import pytest

from clawmem.domain.documents.frontmatter import split
from clawmem.domain.documents.markdown import Markdown
from clawmem.domain.documents.templates import template_mark


@pytest.mark.parametrize(
    ("text", "line", "mark"),
    [
        ("---\ncreated: '{{date}} {{time}}'\n---\nNotes\n", 2, "{{date}}"),
        ("## Log of {{date:dddd}}\n", 1, "{{date:dddd}}"),
        ("Agenda\n\n- **Day**: [[{{DATE}}]]\n", 3, "{{DATE}}"),
        ("- [ ] Review {{x}}\n\n> {{title}} {{time}}\n", 3, "{{title}}"),
        ("A page.\n\nMade by <% tp.file.title %> today\n", 3, "<% tp.file.title"),
        ("<%* const day = tp.date.now() %>\n", 1, "<%* const day = tp.date.now()"),
    ],
)
def test_templates(text: str, line: int, mark: str) -> None:
    """Placeholders in front matter, headings, fields and links, and the commands of Templater."""
    parts = split(text)
    found = template_mark(Markdown(parts.body, parts.body_line), parts.text)

    assert found and (found.line, found.pattern) == (line, mark)


@pytest.mark.parametrize(
    "text",
    [
        "# Templates\n\nWrite `{{date}}`, and Obsidian puts in the day.\n",
        "Obsidian replaces {{title}} by the name of the note.\n",
        "| placeholder | meaning |\n|---|---|\n| {{date}} | the day |\n",
        "```\n# {{title}}\n<% tp.date.now() %>\n```\n",
        "A page of Jinja: {{ title }} and {{ user.name }}, <% if x %>.\n",
        "%% {{title}} %%\n\n$${{title}}$$\n",
        "Ratio {{alpha}} and {{date\n}}\n",
    ],
)
def test_notes_about_placeholders(text: str) -> None:
    """A sentence, a table, code, comments and other languages make no template."""
    assert template_mark(Markdown(text)) is None


def test_a_long_line_takes_no_long_time() -> None:
    """Runs of marks and of half placeholders are read once."""
    for text in ("- " * 50_000 + "{{title}", "{{date:" * 20_000, "- " * 50_000 + "{{date}} x"):
        assert template_mark(Markdown(text)) is None
