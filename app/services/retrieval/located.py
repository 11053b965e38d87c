"""Spans of hits, looked up once for all stages."""

from __future__ import annotations

from collections.abc import Iterable

from clawmem.app.services.retrieval.work import Work
from clawmem.domain.retrieval import grains
from clawmem.ports.records import FragmentKey
from clawmem.ports.vault import Vault

WIDER = (grains.PASSAGE, grains.VECTOR)


def lines_located(vault: Vault, work: Work) -> Work:
    """Return *work* with the spans of its line hits, of adjacent lines, and of wider hits in the same documents."""
    lines = work.legs.get(grains.LINE, ())
    documents = {hit.key.document_id for hit in lines}
    wider = (
        hit.key for name, hits in work.legs.items() if grains.retriever_of(name) in WIDER for hit in hits
    )
    return located(
        vault, work, {*grains.neighbours(lines), *(key for key in wider if key.document_id in documents)}
    )


def located(vault: Vault, work: Work, keys: Iterable[FragmentKey]) -> Work:
    """Return *work* with the spans of *keys*; fragments that no longer exist are left out."""
    missing = [key for key in keys if key not in work.spans]
    return work._replace(spans={**work.spans, **vault.documents.spans(missing)}) if missing else work
