"""Errors about documents that an address names exactly but that the command refuses to return or change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from clawmem.ports.errors import InvalidInput, NotFound
from clawmem.ports.records import Candidate, Document


class NotServed(NotFound):
    """
    An address names a document that was forgotten, archived or superseded, or whose file was removed.

    ``successors`` are the documents that are served instead.

    Args:
        shown_title: The title for messages, see `Candidate`.
    """

    def __init__(
        self, document: Document, shown_title: str, remedy: str, successors: Sequence[Candidate] = ()
    ) -> None:
        super().__init__("document", document.display_path, candidates=successors)
        self.code = "NOT_SERVED"
        self.document = document
        named = f"{document.display_path} ({shown_title})" if document.title else document.display_path
        self.args = (f"{named} is {document.inactive} and not served. {remedy}",)

    @property
    def details(self) -> Mapping[str, Any]:
        """Return the file and the state of the document, and its successors."""
        place = {"file": self.document.display_path, "state": str(self.document.inactive)}
        return {**place, **super().details}


class ConfirmationMissing(InvalidInput):
    """
    An irreversible operation was requested without confirmation; nothing was changed.

    Args:
        would_remove: What would be removed, for programs.
        remedy: The sentence that says how to confirm.
        preview: What would be removed, as sentences.
        question: The question for a person who can confirm.
        confirmed: The parameters that confirm the request.
    """

    def __init__(
        self,
        message: str,
        would_remove: Mapping[str, Any],
        *,
        remedy: str = "",
        preview: Sequence[str] = (),
        question: str = "",
        confirmed: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        super().__init__("CONFIRMATION_REQUIRED", f"{message} {remedy}".strip())
        self.message = message
        self.would_remove = would_remove
        self.preview = preview
        self.question = question
        self.confirmed = confirmed

    @property
    def details(self) -> Mapping[str, Any]:
        """Return the description of the removal."""
        return {"would_remove": self.would_remove}
