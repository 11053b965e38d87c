"""Transfer of facts and causal relations from merged documents to the document that replaces them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clawmem.ports.relations import RelationKind
from clawmem.ports.vault import Vault

_MOST_RELATIONS = 1000  # of each document


def transfer_facts(vault: Vault, document_ids: Sequence[int], to: int) -> None:
    """
    Copy the facts and causal relations of the served documents *document_ids* to the document *to*.

    The originals keep theirs, so that they are complete when they are served again. To be called inside
    `Vault.writing`, before the originals are withdrawn.
    """
    said = (one for number in document_ids for one in vault.triples.of_document(number))
    vault.triples.add([replace(one, document_id=to) for one in said])
    kinds = {RelationKind.CAUSAL}
    effects = vault.relations.outbound(document_ids, kinds, limit=_MOST_RELATIONS)
    causes = vault.relations.inbound(document_ids, kinds, limit=_MOST_RELATIONS)
    inside = {to, *document_ids}
    vault.relations.put(
        [
            *(one._replace(source=to) for one in effects if one.target not in inside),
            *(one._replace(target=to) for one in causes if one.source not in inside),
        ]
    )
