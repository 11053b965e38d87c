from __future__ import annotations

from typing import Any

from index_vaults import LexicalSuites, OverIndex

from clawmem.adapters.tantivy.lexical_index import TantivyLexicalIndex
from clawmem.contracts.base import assert_canonical
from clawmem.contracts.derived_index import LexicalCommitContract, LexicalWriterContract
from clawmem.ports.indexes import IndexPlace


class InTantivy(OverIndex):
    def opened(self, place: IndexPlace) -> dict[str, Any]:
        return {"lexical": TantivyLexicalIndex(place.folder)}


class TestLexical(InTantivy, LexicalSuites): ...


class TestLexicalCommit(InTantivy, LexicalCommitContract): ...


class TestLexicalWriter(InTantivy, LexicalWriterContract): ...


def test_tantivy_is_canonical() -> None:
    """The tantivy index lacks no capability in any suite."""
    assert len(InTantivy.__subclasses__()) == 3
    for suite in InTantivy.__subclasses__():
        assert_canonical(suite)
