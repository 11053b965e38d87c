"""Names of a note: title, file name, aliases and folders; addresses: paths, docids, names, wikilinks, printed places."""

import posixpath
import re
import unicodedata
from typing import NamedTuple
from urllib.parse import unquote

from clawmem.domain.documents.identity import check_path, docid_digits
from clawmem.domain.documents.markdown import Markdown, is_machine_text
from clawmem.domain.text.written_dates import day_named
from clawmem.ports.errors import InvalidInput
from clawmem.ports.records import Document

OWN_COLLECTION = "_clawmem"
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»"}
_LINK = re.compile(r"!?\[\[(?P<target>(?:(?!\]\]|\[\[).)*)\]\]", flags=re.DOTALL)
READABLE = ".md .markdown .mdx .qmd .rmd .org .rst .adoc .txt .csv .canvas .pdf .docx .htm .html"
LONGEST_TITLE = 200  # characters; a longer heading is a text without line breaks
EXTENSION = re.compile(r"\.(?:md|markdown|txt)\Z", re.IGNORECASE)


def title(declared: str | None, note: Markdown, path: str) -> str:
    """
    Return the title of a document: *declared*, a first line ``Title: ...``, the first heading of level 1, or the file name.

    Empty and blank sources are skipped, and headings in a list or quotation. The result is one line, trimmed, at most
    `LONGEST_TITLE` characters long and never empty: a file called ``.md`` keeps that name, no name gives ``Untitled``.
    """
    titles = (h.label for h in note.headings if h.level == 1 and note.body[h.start] not in "-*+>")
    page = file_name(path.removesuffix(".textbundle/text.md"))
    # Excalidraw writes the headings of a drawing.
    heading = "" if page.endswith(".excalidraw") else next((t for t in titles if not is_machine_text(t)), "")
    page = unquote(page.removesuffix(".excalidraw").replace("___", "/"))  # as Logseq does
    # Of MultiMarkdown; a file of Joplin begins with its title.
    name = "" if re.fullmatch(r"[0-9a-f]{32}", page) else r"title:[ \t]+"
    stated = re.match(rf"\s*{name}(\S.*)", note.body, re.IGNORECASE)
    names = (declared or "", stated[1] if stated else "", heading, page, path.rstrip("/").rpartition("/")[2])
    chosen = next(filter(None, (" ".join(name.split()) for name in names)), "Untitled")
    return chosen if len(chosen) <= LONGEST_TITLE else f"{chosen[: LONGEST_TITLE - 1].rstrip()}…"


def file_name(path: str) -> str:
    """Return the last part of *path* without ``.md`` or ``.txt``."""
    return EXTENSION.sub("", path.rstrip("/").rpartition("/")[2])


def document_names(document: Document) -> tuple[str, ...]:
    """Return the title, the file name and the aliases of *document*, each once, ignoring case."""
    names: dict[str, str] = {}
    for name in (document.title, file_name(document.path), *document.aliases):
        names.setdefault(name.casefold(), name)
    return tuple(filter(None, names.values()))


def searchable_names(document: Document) -> tuple[str, ...]:
    """Return the names of *document*, then the folders of its path, innermost first."""
    return (*document_names(document), *reversed(document.path.rstrip("/").split("/")[:-1]))


class Address(NamedTuple):
    """One interpretation of a text as the address of a note; ``name`` excludes quotes, brackets and line numbers."""

    name: str
    lines: tuple[int, int | None] | None = None  # the first, from 1, and the last one
    is_link: bool = False
    part: str = ""  # the heading, or ``^`` and the id of the block, of a link

    @property
    def paths(self) -> tuple[str, ...]:
        """The name as a path; for a link, also with the extensions that links omit."""
        if self.is_link and not EXTENSION.search(self.name):
            return (f"{self.name}.md", f"{self.name}.txt", self.name)
        return (self.name,)

    @property
    def docid(self) -> str:
        """The digits of the docid that the name is; empty if it is none."""
        digits = self.name.partition(" ")[0] if self.name.startswith("#") else self.name
        return "" if self.is_link else docid_digits(digits)


def read_address(text: str, folder: str | None = None) -> tuple[Address, ...]:
    """
    Return the interpretations of *text* as an address, the most literal first.

    Surrounding blanks and one pair of quotes are dropped. ``[[target#heading|shown]]`` and ``[[target^block]]`` are
    read as their target, with the heading or block as ``part``. A text that ends with ``:12`` or ``:13-34`` is also
    read without this line range.

    Args:
        folder: The folder of the note that contains *text*, where a path that begins with ``./`` or ``../`` begins.

    Raises:
        InvalidInput: ``INVALID_INPUT`` if *text* names nothing; otherwise as `check_path`.
    """
    bare = _unquoted(text)
    link = _LINK.fullmatch(bare)
    # A table escapes the bar of a link.
    target = re.split(r"\\?\|", link["target"], maxsplit=1)[0] if link else ""
    name, part = with_part(target) if link else (bare, "")
    if folder is not None and name.replace("\\", "/").startswith(("./", "../")):
        name = posixpath.normpath(posixpath.join(folder, name.replace("\\", "/")))
    check_path(name)
    if not name:
        raise InvalidInput(
            "INVALID_INPUT",
            f"{text!r} names no note. Give a path, a #docid, a title, an alias or a [[link]].",
        )
    before, _, lines = name.rpartition(":")
    first, dash, last = lines.partition("-")
    if link or not before or not first.isdecimal() or (dash and not last.isdecimal()):
        return (Address(name, is_link=link is not None, part=part),)
    return Address(name), Address(_unquoted(before), (int(first), int(last) if dash else None))


def with_part(target: str, marks: str = "#^") -> tuple[str, str]:
    """Return the name in *target*, and the heading or the ``^id`` of the block behind it."""
    place = min((at for mark in marks if (at := target.find(mark)) >= 0), default=len(target))
    return target[:place].strip(), target[place:].removeprefix("#").strip()


def unicode_forms(name: str) -> tuple[str, ...]:
    """Return the distinct spellings among *name*, its NFC form and its NFD form; file systems use both forms."""
    return tuple(dict.fromkeys((name, *(unicodedata.normalize(form, name) for form in ("NFC", "NFD")))))


def is_called(address: Address, document: Document) -> bool:
    """
    Whether the name of *address* is the title, the file name or an alias of *document*.

    Case and the format of a day do not count. A link also matches the end of the document's path, without its extension.
    """
    if folded(day_named(address.name)) in (folded(day_named(name)) for name in document_names(document)):
        return True
    path, end = (EXTENSION.sub("", folded(name)) for name in (document.display_path, address.name))
    return address.is_link and f"/{path}".endswith(f"/{end.removeprefix('/')}")


def folded(name: str) -> str:
    """Return *name* in the form in which names are compared: case-folded, composed, with single blanks."""
    composed = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
    return " ".join(composed.split())


def _unquoted(text: str) -> str:
    bare = text.strip()
    if len(bare) > 1 and _QUOTES.get(bare[0]) == bare[-1]:
        bare = bare[1:-1].strip()
    return bare
