"""Errors about documents that an address names exactly and that a command still does not change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clawmem.ports.errors import InvalidInput, NotFound
from clawmem.ports.records import Candidate, Document


class NotServed(NotFound):
    """
    The address of a document that was forgotten, archived, superseded, or whose file was removed.

    ``successors`` are served in its place.
    """

    def __init__(self, document: Document, remedy: str, successors: Sequence[Candidate] = ()) -> None:
        super().__init__("document", document.display_path, candidates=successors)
        self.code = "NOT_SERVED"
        self.document = document
        named = f"{document.display_path} ({document.title})" if document.title else document.display_path
        self.args = (f"{named} is {document.inactive} and not served. {remedy}",)

    @property
    def details(self) -> Mapping[str, Any]:
        """The file and the state of the document, and its successors."""
        place = {"file": self.document.display_path, "state": str(self.document.inactive)}
        return {**place, **super().details}


class ConfirmationMissing(InvalidInput):
    """
    Something that cannot be undone was asked for without being confirmed; nothing was changed.

    ``would_remove`` describes it for programs.
    """

    def __init__(self, message: str, would_remove: Mapping[str, Any]) -> None:
        super().__init__("CONFIRMATION_REQUIRED", message)
        self.would_remove = would_remove

    @property
    def details(self) -> Mapping[str, Any]:
        """The description of the removal."""
        return {"would_remove": self.would_remove}
