"""Forgetting of the documents that were imported from one source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from clawmem.app.operations.operation import Result
from clawmem.app.operations.output import Part
from clawmem.ports.address_errors import ConfirmationMissing
from clawmem.ports.errors import NotFound

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.ports.records import Document


class ForgottenSource(Result):
    """A source that was forgotten: its documents, memories derived from them, and the findings of each probe."""

    source: str
    documents: int
    derived: int
    left: str = Field(default="", description="Why bytes may remain in free space; empty if none do.")
    probes: dict[str, list[str]]


def forget_source(
    services: Services, source: str, collection: str, *, confirm: bool | None
) -> ForgottenSource:
    """
    Forget the documents of *source* in *collection*, by default in every one; archived ones as well.

    Raises:
        ConfirmationMissing: ``confirm`` is not true.
        NotFound: there is no such source.
    """
    from clawmem.app.services.conversations.sources import documents_of_source, imported_sources, read_again

    configured = services.settings.collections
    imported = documents_of_source(services.vault.documents, configured, source)
    documents = [one for one in imported if collection in ("", one.collection)]
    if not documents:
        listed = imported_sources(services.vault.documents, configured)
        known = {one.source for one in listed if collection in ("", one.collection)}
        remark = f"Only the collection {collection} was searched." if collection else ""
        raise NotFound("source", source, suggestions=sorted(known), remark=remark)
    if confirm is not True:
        raise _confirmation(source, documents)
    with services.progress("Forgetting"):
        done = services.forgetting(documents, services.caller, f"source {source}")
        probes = services.prove(done)
    read_again(services.vault, {one.collection for one in documents})
    return ForgottenSource(
        source=source,
        documents=len(documents),
        derived=len(done.documents) - len(documents),
        left=done.left,
        probes=probes,
    )


def _confirmation(source: str, documents: Sequence[Document]) -> ConfirmationMissing:
    """Return the error that names what would be forgotten."""
    size, days = sum(one.body_length for one in documents), [one.authored_at[:10] for one in documents]
    choices = {
        "pinned": sum(one.is_pinned for one in documents),
        "not served": sum(one.inactive is not None for one in documents),
    }
    chosen = "".join(f", {count:,} of them {what}" for what, count in choices.items() if count)
    line = (
        f"{counted(len(documents), 'document')} from {source} in "
        f"{' and '.join(sorted({one.collection for one in documents}))}{chosen}, {size:,} characters, "
        f"written {min(days)} to {max(days)}, and every memory derived from that."
    )
    return ConfirmationMissing(
        f"Nothing was forgotten. This would forget {line}",
        {"source": source, "documents": len(documents), "characters": size},
        remedy="To forget it, repeat with confirm: true.",
        preview=[line],
        question="Forget this for good?",
        confirmed={"confirm": True},
    )


def forgotten_text(one: ForgottenSource) -> list[Part]:
    """Return the lines about a forgotten source."""
    derived = f", and {one.derived:,} derived memories" if one.derived else ""
    lines: list[Part] = [f"Forgotten: {counted(one.documents, 'document')} from {one.source}{derived}."]
    lines += [f"  {probe}: {'; '.join(found) or 'nothing'}" for probe, found in one.probes.items()]
    if one.left:
        lines.append(
            f"Bytes may still lie in the vault's free space: {one.left} Then run: clawmem lifecycle purge"
        )
    return lines


def counted(count: int, noun: str) -> str:
    """Return *count* with *noun* in the singular or plural."""
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}s"
