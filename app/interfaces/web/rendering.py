"""Templates, and the text of notes as HTML in which nothing of a note runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any
from urllib.parse import urlencode, urlsplit

import nh3
from jinja2 import ChainableUndefined, Environment, PackageLoader
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markupsafe import Markup

from clawmem.app.operations.output import plural, size
from clawmem.app.version import VERSION
from clawmem.domain.documents.times import parse_iso
from clawmem.domain.security.quoting import label_of_others
from clawmem.domain.text.written_dates import age

ELEMENTS = frozenset(
    """
    a blockquote br code del em h1 h2 h3 h4 h5 h6 hr li ol p pre s span strong table tbody td th thead tr ul
    """.split()
)
ATTRIBUTES = {"a": {"href", "title"}, "*": {"id", "class"}, "ol": {"start"}}
SCHEMES = {"http", "https", "mailto"}
_CLASSES = frozenset({"image", "wiki", "missing", "task"})
_TASK = re.compile(r"\[([ xX])\]\s+")
_WIKILINK = re.compile(r"(!?)\[\[([^\[\]\n|]+)(?:\|([^\[\]\n]*))?\]\]")


def address(path: str, **query: object) -> str:
    """Return the address of a page; empty parameters are left out."""
    given = {name: value for name, value in query.items() if value not in ("", None, False)}
    return f"/ui{path}" + (f"?{urlencode(given)}" if given else "")


def note_address(file: str, line: int | None = None) -> str:
    """Return the address of the page of a note, or of a line of it."""
    return address("/note", file=file) + (f"#L{line}" if line else "")


def _wikilink(state: StateInline, silent: bool) -> bool:
    match = _WIKILINK.match(state.src, state.pos)
    if match is None:
        return False
    if not silent:
        state.push("link_open", "a", 1).attrs = {"href": match[2].strip(), "class": "wiki"}
        state.push("text", "", 0).content = (match[3] or match[2]).strip()
        state.push("link_close", "a", -1)
    state.pos = match.end()
    return True


def _lines(state: StateCore) -> None:
    """Give the first block of each line an anchor, and draw the boxes of tasks."""
    first, seen, tokens = state.env["first"], set[int](), state.tokens
    for index, token in enumerate(tokens):
        if first and token.map and token.nesting >= 0 and token.type != "inline" and token.map[0] not in seen:
            seen.add(token.map[0])
            token.attrSet("id", f"L{first + token.map[0]}")
        is_item = token.type == "inline" and index > 1 and tokens[index - 2].type == "list_item_open"
        if is_item and token.children and (box := _TASK.match(token.children[0].content)):
            text = token.children[0].content[box.end() :]
            token.children[0].content = f"{'☐' if box[1] == ' ' else '☑'} {text}"


def _image(self: Any, tokens: list[Token], index: int, options: Any, env: Any) -> str:
    """Show an image as its description: the page loads nothing from elsewhere."""
    token = tokens[index]
    text = str(Markup.escape(token.content or str(token.attrGet("src") or "")))
    return f'<span class="image">{text}</span>'


@cache
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    markdown.inline.ruler.before("link", "wikilink", _wikilink)
    markdown.core.ruler.push("lines", _lines)
    markdown.add_render_rule("image", _image)
    return markdown


def note_html(
    text: str,
    first_line: int = 0,
    target_of: Callable[[str], str | None] = lambda written: None,
    title: str | None = None,
) -> Markup:
    """
    Return the Markdown *text* as HTML whose blocks have the anchors ``L1``, ``L2``, ....

    Args:
        first_line: The number of the first line; 0 for no anchors.
        target_of: Returns the address of the page that a link between notes leads to; ``None`` if there is none.
        title: The heading above the text, which a first heading of the same words would repeat.
    """
    markdown, env = _markdown(), {"first": first_line}
    tokens = markdown.parse(text, env)
    if title and len(tokens) > 2 and tokens[0].type == "heading_open" and tokens[1].content.strip() == title:
        del tokens[:3]
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"  # the title of the page is above them
        for child in token.children or ():
            href = str(child.attrGet("href") or "")
            is_outside = href.startswith(("//", "#")) or urlsplit(href).scheme
            if child.type == "link_open" and (child.attrGet("class") or not is_outside):
                target = target_of(href)
                child.attrSet("href", target or "")
                if target is None:
                    child.attrSet("class", "missing")
    html = markdown.renderer.render(tokens, markdown.options, env)
    return Markup(
        nh3.clean(
            html,
            tags=set(ELEMENTS),
            attributes={name: set(names) for name, names in ATTRIBUTES.items()},
            attribute_filter=_checked,
            url_schemes=SCHEMES,
            link_rel="noopener noreferrer",
        )
    )


def _checked(element: str, name: str, value: str) -> str | None:
    if name == "id":
        return value if value[:1] == "L" and value[1:].isdecimal() else None
    if name == "class":
        return value if value in _CLASSES else None
    if element == "a" and name == "href" and not value:
        return None
    return value


def ago(moment: str | None, now: str) -> str:
    """Return how long before *now* a time is, in words."""
    first, last = parse_iso(moment or ""), parse_iso(now)
    return "" if first is None or last is None else age((last - first) / 86_400_000)


# The commands that advice may name, and what a button runs instead.
REMEDIES = {"embed": "embed", "update": "reindex", "rebuild": "rebuild", "maintain enrich": "enrich"}
_COMMAND = re.compile(rf"clawmem ({'|'.join(REMEDIES)})\b(?! [A-Z-])")


def remedy(advice: str) -> str:
    """Return the operation that a button below *advice* runs; empty if no button can."""
    command = _COMMAND.search(advice)
    return REMEDIES[command[1]] if command else ""


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("clawmem.app.interfaces.web"),
        autoescape=True,
        undefined=ChainableUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"address": address, "note_address": note_address, "version": VERSION, "nav": {}}
    environment.filters |= {
        "ago": ago,
        "size": size,
        "plural": plural,
        "others": label_of_others,
        "markdown": note_html,
        "remedy": remedy,
    }
    return environment


def rendered(template: str, *, csrf: str = "", here: str = "/ui/", **values: object) -> str:
    """Return the page of *template*; its forms have the secret *csrf*, and lead back to *here*."""
    secrets = Markup(
        '<input type="hidden" name="csrf" value="{}"><input type="hidden" name="back" value="{}">'
    )
    shared = {"path": "", "messages": (), "csrf": csrf, "here": here, "secrets": secrets.format(csrf, here)}
    return _environment().get_template(template).render({**shared, **values})
