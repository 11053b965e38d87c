"""What is known by way of documents stays known when one document stands for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clawmem.ports.relations import RelationKind
from clawmem.ports.vault import Vault

_MOST_RELATIONS = 1000  # of each document


def carry_over(vault: Vault, document_ids: Sequence[int], to: int) -> None:
    """
    Let *to* say what served documents say of things, and be the cause and the effect that they are.

    Theirs stay with them: they say it again when they are served again. Inside `Vault.writing`, before they are
    withdrawn.
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
