from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from programs import run_program

from clawmem.adapters.models import local
from clawmem.adapters.models.local import StaticEmbedder
from clawmem.ports.errors import EmbeddingError

TEXTS = [
    "We moved the session store from Redis to Postgres.",
    "redis",
    " ",
    "\n\n",
    "Größe, naïve café, 東京で会いましょう, 😀👍🏽, \u202eabc",
    "<s> special </s> <unk> tokens",
    "src/app/cli/main.py --force=1_000",
    "word " * 700,
    "Two wooden boats lay in the harbour. " * 70,
]


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    return StaticEmbedder()


def package() -> Path:
    spec = find_spec("wordllama")
    assert spec
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])


def array(vectors: list[bytes]) -> npt.NDArray[np.float32]:
    return np.frombuffer(b"".join(vectors), dtype="<f4").reshape(-1, 256)


@pytest.mark.filterwarnings("ignore")
def test_equals_the_packages_own_embedding(embedder: StaticEmbedder) -> None:
    """The vectors are those of the package itself, to a millionth."""
    from wordllama import WordLlama

    theirs = WordLlama.load(cache_dir=package(), disable_download=True)
    expected = np.vstack([theirs.embed(text, norm=True) for text in TEXTS])

    np.testing.assert_allclose(array(embedder.embed_documents(TEXTS)), expected, rtol=0, atol=1e-6)


def test_another_process_gives_the_same_bytes(embedder: StaticEmbedder) -> None:
    """Nothing of a process goes into a vector or the fingerprint."""
    code = (
        "from clawmem.adapters.models.local import StaticEmbedder as E;"
        "e = E(); print(e.fingerprint, e.embed_query('redis sessions').hex())"
    )
    assert run_program(code).stdout.split() == [
        embedder.fingerprint,
        embedder.embed_query("redis sessions").hex(),
    ]


def test_fingerprint_names_the_weights(embedder: StaticEmbedder) -> None:
    """The fingerprint names package, model and length, and twelve digits of a hash."""
    *name, digits = embedder.fingerprint.split(":")

    assert name == ["wordllama", "l2_supercat", "256"]
    assert len(bytes.fromhex(digits)) == 6


@pytest.mark.parametrize("place", [0, 20_000, -1])
def test_other_weights_have_another_fingerprint(tmp_path: Path, place: int) -> None:
    """A changed header, row or end of the weights changes the fingerprint."""
    folder = copied(tmp_path)
    before = StaticEmbedder(folder).fingerprint
    weights = folder / local._WEIGHTS
    raw = bytearray(weights.read_bytes())
    raw[place] ^= 1
    weights.write_bytes(raw)

    assert StaticEmbedder(folder).fingerprint != before


def test_needs_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package the error says what to install."""
    monkeypatch.setattr(local, "find_spec", lambda name: None)

    with pytest.raises(EmbeddingError, match=r"not installed\. Run: pip install"):
        StaticEmbedder()


@pytest.mark.parametrize("damage", ["truncated", "dtype"])
def test_damaged_weights_are_refused(tmp_path: Path, damage: str) -> None:
    """A table of another size or kind is never read as numbers."""
    folder = copied(tmp_path)
    weights = folder / local._WEIGHTS
    raw = weights.read_bytes()
    header = json.dumps({"embedding.weight": {"dtype": "F32"}}).encode()
    damaged = {
        "truncated": raw[:-2],
        "dtype": len(header).to_bytes(8, "little") + header + raw[96:],
    }
    weights.write_bytes(damaged[damage])

    with pytest.raises(EmbeddingError, match="damaged"):
        StaticEmbedder(folder).embed_query("redis")


def copied(folder: Path) -> Path:
    for name in (local._WEIGHTS, local._TOKENIZER):
        (folder / name).parent.mkdir()
        (folder / name).write_bytes((package() / name).read_bytes())
    return folder
