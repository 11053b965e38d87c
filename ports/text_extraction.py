"""Extraction of text from files that are no text themselves."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class ExtractedText(NamedTuple):
    """
    The text of a file as Markdown, with a heading for each place: a page, a card or a heading of its own.

    ``name`` is the title that the file declares, and ``date`` its day in ISO 8601; empty if it declares none.
    ``has_links`` is whether the text links to notes as Markdown does. ``warning`` describes missing text.
    """

    body: str
    name: str = ""
    date: str = ""
    has_links: bool = False
    warning: str | None = None


class TextExtractor(Protocol):
    """Reader of files by the ending of their names."""

    def __call__(self, path: str, data: bytes) -> ExtractedText | None:
        """
        Return the text of the file *path* with the content *data*; ``None`` for a file that is text itself.

        Raises:
            SourceUnreadable: the content is damaged, encrypted, or needs a package that is not installed.
        """
