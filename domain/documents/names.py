"""Names of a note: its title, its file name, the aliases that it declares, and the folders of its path."""

import re
from collections.abc import Iterable
from urllib.parse import unquote

from clawmem.domain.documents.markdown import Markdown
from clawmem.domain.text.words import words
from clawmem.ports.records import Document

READABLE = (".md", ".markdown", ".txt", ".canvas", ".pdf", ".docx", ".htm", ".html")
LONGEST_TITLE = 200  # characters; a longer heading is a text without line breaks
EXTENSION = re.compile(r"\.(?:md|markdown|txt)\Z", re.IGNORECASE)


def title(declared: str | None, note: Markdown, path: str) -> str:
    """
    Return the title of a document: *declared*, else its first heading of level 1, else its file name without .md or .txt.

    Empty and blank sources are skipped. The result is one line, trimmed, at most `LONGEST_TITLE` characters long and never
    empty: a file called ``.md`` keeps that name, and a path without a name gives ``Untitled``.
    """
    heading = next((heading.label for heading in note.headings if heading.level == 1), "")
    page = unquote(file_name(path).replace("___", "/"))  # as Logseq names its files
    names = (declared or "", heading, page, path.rstrip("/").rpartition("/")[2])
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
    folders = document.path.rstrip("/").split("/")[:-1]
    return (*document_names(document), *reversed(folders))


def with_names(text: str, names: Iterable[str]) -> str:
    """
    Append each of *names* that adds a new word to *text*.

    A name is appended whole. A name without a new word is left out, because repeated words would count twice.
    """
    known, parts = set(words(text)), [text]
    for name in names:
        added = words(name)
        if not known.issuperset(added):
            known.update(added)
            parts.append(name)
    return " ".join(filter(None, parts))
