"""Names of the notes that candidates belong to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from clawmem.domain.documents.names import document_names
from clawmem.domain.documents.tokens import words
from clawmem.domain.retrieval.late_interaction import name_contributions
from clawmem.ports.records import FragmentKey
from clawmem.ports.vault import Vault

Names = Mapping[int, tuple[str, ...]]


def names_of(vault: Vault, keys: Iterable[FragmentKey]) -> Names:
    """Return the names of the documents of *keys*, by document id."""
    documents = vault.documents.many({key.document_id for key in keys})
    return {number: document_names(one) for number, one in documents.items()}


def lent_words(question: Iterable[str], names: Names) -> dict[int, list[float]]:
    """Return the contribution of *names* to each word of *question*, by document id; see `name_contributions`."""
    held = {number: frozenset(words(" ".join(some))) for number, some in names.items()}
    return name_contributions(tuple(question), held)
