"""The LanceDB indexes in a bucket of MinIO; the default run asks a server of its own instead (contracts/test_lancedb_s3)."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from clawmem.adapters.lancedb.backend import BACKEND
from clawmem.contracts.samples import all_of, any_of, entry, unit_vector, vector_of
from clawmem.ports.backend import IndexPlace
from clawmem.ports.errors import IndexUnavailable
from clawmem.ports.records import Grain, Marker

pytestmark = pytest.mark.slow

HERE, LATER = Marker("vault-1", 7, "e7"), Marker("vault-1", 8, "e8")
EAST = unit_vector(1, 0, 0)


@pytest.fixture(scope="module")
def options() -> Iterator[dict[str, str]]:
    """How to reach the bucket ``indexes`` of a MinIO in a container."""
    docker = shutil.which("docker")
    if not docker or subprocess.run([docker, "info"], check=False, capture_output=True).returncode:
        pytest.skip("no Docker that answers")
    minio = pytest.importorskip("testcontainers.minio", reason="pip install 'testcontainers[minio]'")
    with minio.MinioContainer() as container:
        container.get_client().make_bucket("indexes")
        reach = container.get_config()
        yield {
            "uri": "s3://indexes/team",
            "endpoint": f"http://{reach['endpoint']}",
            "region": "us-east-1",
            "access_key_id": reach["access_key"],
            "secret_access_key": reach["secret_key"],
        }


@pytest.fixture
def place(options: dict[str, str], tmp_path: Path) -> IndexPlace:
    """A generation of its own for every test."""
    return IndexPlace(str(tmp_path), tmp_path.name, options=options)


def test_words(place: IndexPlace) -> None:
    """Entries are put, replaced, removed and found; a second handle follows; the marker is that of the commit."""
    assert BACKEND.lexical
    index, other = BACKEND.lexical(place), BACKEND.lexical(place)

    with index.committing(HERE):
        index.put([entry(number, "spring budget") for number in range(200)])
    with index.committing(LATER):
        index.remove(7)
        index.put([entry(8, "autumn harbour")])
    index.optimize()

    assert other.marker() == LATER
    assert len(other.search(all_of("spring", "budget"), Grain.PASSAGE, 500)) == 198
    assert [hit.key.document_id for hit in other.search(any_of("harbour"), Grain.PASSAGE, 5)] == [8]
    assert other.faults() == []


def test_vectors(place: IndexPlace) -> None:
    """Vectors are put, removed and found; a discarded generation is gone."""
    assert BACKEND.vectors
    index, other = BACKEND.vectors(place), BACKEND.vectors(place)

    with index.committing(HERE):
        index.put(vector_of(number, 0, unit_vector(1, number, 0)) for number in range(200))
    index.remove(0)

    assert [hit.key.document_id for hit in other.search(EAST, 3)] == [1, 2, 3]
    BACKEND.discard(place)
    assert BACKEND.vectors(place).count() == 0


def test_wrong_keys(place: IndexPlace) -> None:
    """A store that does not let us in is out of reach, not damaged: nothing is made anew."""
    assert BACKEND.lexical
    options = {**place.options, "secret_access_key": "wrong"}

    with pytest.raises(IndexUnavailable):
        BACKEND.lexical(IndexPlace(place.folder, place.name, options=options))
