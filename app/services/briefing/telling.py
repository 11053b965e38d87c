"""What a session may be told that did not ask."""

from __future__ import annotations

from clawmem.domain.capture.own_collection import OWN_COLLECTION
from clawmem.domain.security.origin import Origin, origin_of
from clawmem.domain.surfacing.visible import is_private
from clawmem.ports.records import Document


def is_told(document: Document, now: str) -> bool:
    """
    Whether a document may be told unasked: it is neither private nor snoozed, nor from outside.

    *now* is a moment as documents carry it.
    """
    if is_private(document.display_path) or document.is_snoozed(now):
        return False
    return (
        origin_of(document.tags, by_machine=document.collection == OWN_COLLECTION) is not Origin.TOOL_OUTSIDE
    )
