"""The LanceDB indexes in MinIO, in a container where Docker answers."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from clawmem.adapters.lancedb.backend import BACKEND
from clawmem.adapters.lancedb.lexical_index import LanceLexicalIndex
from clawmem.adapters.lancedb.vector_index import LanceVectorIndex
from clawmem.contracts.samples import any_of, entry, unit_vector, vector_of
from clawmem.ports.errors import IndexUnavailable
from clawmem.ports.indexes import IndexPlace
from clawmem.ports.records import Grain, Marker

HERE, LATER = Marker("vault-1", 7, "e7"), Marker("vault-1", 8, "e8")
EAST = unit_vector(1, 0, 0)


@pytest.fixture(scope="module")
def server() -> Iterator[dict[str, str]]:
    docker = shutil.which("docker")
    if not docker or subprocess.run([docker, "info"], check=False, capture_output=True).returncode:
        pytest.skip("test_lancedb_object_store needs a Docker that answers")
    containers = pytest.importorskip("testcontainers.minio", reason="pip install 'testcontainers[minio]'")
    with containers.MinioContainer() as container:
        container.get_client().make_bucket("indexes")
        config = container.get_config()
        yield {
            "endpoint": f"http://{config['endpoint']}",
            "access_key_id": config["access_key"],
            "secret_access_key": config["secret_key"],
        }


@pytest.fixture
def place(server: dict[str, str], tmp_path: Path) -> IndexPlace:
    """A generation of its own for every test."""
    # thirty seconds, because a busy machine is no unreachable store
    options = {"uri": "s3://indexes/team", "region": "us-east-1", "timeout": "30s", **server}
    return IndexPlace(str(tmp_path / "no-folder"), tmp_path.name, options=options)


def test_words(place: IndexPlace) -> None:
    """Entries are put, replaced, removed and found; a second handle follows; nothing is written to the folder."""
    index, other = LanceLexicalIndex(place), LanceLexicalIndex(place)

    with index.committing(HERE):
        index.put([entry(number, "spring budget") for number in range(200)])
    with index.committing(LATER):
        index.remove(7)
        index.put([entry(8, "autumn harbour")])
    index.optimize()

    assert other.marker() == LATER
    assert len(other.search(any_of("spring", "budget")._replace(every=True), Grain.PASSAGE, 500)) == 198
    assert [hit.key.document_id for hit in other.search(any_of("harbour"), Grain.PASSAGE, 5)] == [8]
    assert other.faults() == []
    assert not Path(place.folder).exists()


def test_vectors(place: IndexPlace) -> None:
    """Vectors are put, removed and found; a discarded generation is gone."""

    index, other = LanceVectorIndex(place), LanceVectorIndex(place)

    with index.committing(HERE):
        index.put(vector_of(number, 0, unit_vector(1, number, 0)) for number in range(200))
    index.remove(0)

    assert [hit.key.document_id for hit in other.search(EAST, 3)] == [1, 2, 3]
    BACKEND.discard(place)
    assert LanceVectorIndex(place).count() == 0


def test_a_wrong_key(place: IndexPlace) -> None:
    """A store that refuses access is unavailable, not damaged, so nothing is rebuilt."""
    options = {**place.options, "secret_access_key": "wrong"}

    with pytest.raises(IndexUnavailable):
        LanceLexicalIndex(place._replace(options=options))
