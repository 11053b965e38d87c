from __future__ import annotations

from typing import Any

from index_vaults import OverIndex

from clawmem.adapters.tantivy.lexical_index import TantivyLexicalIndex
from clawmem.contracts.base import assert_canonical
from clawmem.contracts.derived_index import LexicalCommitContract
from clawmem.contracts.lexical_index import LexicalContract
from clawmem.ports.indexes import IndexPlace


class InTantivy(OverIndex):
    def opened(self, place: IndexPlace) -> dict[str, Any]:
        return {"lexical": TantivyLexicalIndex(place.folder)}


class TestLexical(InTantivy, LexicalContract): ...


class TestLexicalCommit(InTantivy, LexicalCommitContract): ...


def test_tantivy_is_canonical() -> None:
    """The tantivy index lacks no capability in any suite."""
    assert len(InTantivy.__subclasses__()) == 2
    for suite in InTantivy.__subclasses__():
        assert_canonical(suite)
