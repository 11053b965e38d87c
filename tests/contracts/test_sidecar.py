from __future__ import annotations

from typing import Any

from index_vaults import OverIndex, VectorSuites

from clawmem.adapters.sidecar.vector_index import SidecarVectorIndex
from clawmem.contracts.base import assert_canonical
from clawmem.contracts.derived_index import VectorCommitContract
from clawmem.ports.backend import IndexPlace


class InSidecar(OverIndex):
    exact_rows = 100_000

    def opened(self, place: IndexPlace) -> dict[str, Any]:
        return {"vectors": SidecarVectorIndex(place.folder, exact_rows=self.exact_rows)}


class BeyondExact(InSidecar):
    """The same where every search is too large to be exact: what is small keeps all of its promises."""

    exact_rows = 0


class TestVectors(InSidecar, VectorSuites): ...


class TestVectorCommit(InSidecar, VectorCommitContract): ...


class TestVectorsBeyondExact(BeyondExact, VectorSuites): ...


def test_the_sidecar_is_canonical() -> None:
    """It lacks no capability where it is exact; beyond that `Capability.EXACT` is what `exact_rows` says."""
    for suite in InSidecar.__subclasses__():
        if suite is not BeyondExact:
            assert_canonical(suite)
