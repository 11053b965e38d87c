"""The same suites over an object store: a server that speaks S3, on this machine's loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen
from uuid import uuid4

import pytest
from index_vaults import LexicalSuites, OverIndex

from clawmem.adapters.lancedb.lexical_index import LanceLexicalIndex
from clawmem.adapters.lancedb.vector_index import LanceVectorIndex
from clawmem.contracts.derived_index import LexicalCommitContract, VectorCommitContract
from clawmem.contracts.vector_index import VectorSearchContract, VectorUpkeepContract
from clawmem.ports.backend import IndexPlace

moto = pytest.importorskip("moto.server", reason="needs an S3 server: pip install 'moto[server]'")


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """The address of a server that lives as long as this file's tests."""
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def place(endpoint: str, tmp_path: Path) -> Iterator[IndexPlace]:
    """A place in a new bucket; the server lists a bucket slowly that holds what other tests left."""
    bucket = uuid4().hex
    with urlopen(Request(f"{endpoint}/{bucket}", method="PUT")):
        options = {
            "uri": f"s3://{bucket}/team/indexes",
            "endpoint": endpoint,
            "region": "us-east-1",
            "access_key_id": "anyone",
            "secret_access_key": "anything",
            "timeout": "30",  # seconds; a busy machine is no unreachable store
        }
    yield IndexPlace(str(tmp_path / "never-made"), "generation-1", options=options)
    assert not (tmp_path / "never-made").exists()


# Hundreds of commits, of which each takes a second once the server has thousands of files to list. What these
# suites are about, words, scores and conditions, is decided before anything reaches a store; `test_lancedb.py` runs them.
commits_by_the_hundred = pytest.mark.slow


class LexicalInBucket(OverIndex):
    def opened(self, place: IndexPlace) -> dict[str, Any]:
        return {"lexical": LanceLexicalIndex(place)}


class VectorsInBucket(OverIndex):
    def opened(self, place: IndexPlace) -> dict[str, Any]:
        return {"vectors": LanceVectorIndex(place)}


@commits_by_the_hundred
class TestLexical(LexicalInBucket, LexicalSuites): ...


class TestLexicalCommit(LexicalInBucket, LexicalCommitContract): ...


class TestVectorSearch(VectorsInBucket, VectorSearchContract): ...


@commits_by_the_hundred
class TestVectorUpkeep(VectorsInBucket, VectorUpkeepContract): ...


class TestVectorCommit(VectorsInBucket, VectorCommitContract): ...
