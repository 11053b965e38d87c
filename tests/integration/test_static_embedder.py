from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from programs import run_program

from clawmem.adapters.models import static
from clawmem.adapters.models.static import StaticEmbedder
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


def test_long_texts_are_not_rounded_away(embedder: StaticEmbedder) -> None:
    """A hundred thousand tokens, added in float32, stay within a hundred-thousandth of the exact mean."""
    text = "a much longer one, " * 20_000
    table, tokenizer = static._loaded(*embedder._files)
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    exact = np.bincount(ids, minlength=32_000) @ table.astype(np.float64)

    (vector,) = array([embedder.embed_query(text)])

    assert len(ids) > 100_000
    np.testing.assert_allclose(vector, exact / np.linalg.norm(exact), rtol=0, atol=1e-5)


def test_the_batch_does_not_matter(embedder: StaticEmbedder) -> None:
    """A text has the same bytes alone, in any batch and in any order."""
    alone = [embedder.embed_query(text) for text in TEXTS]

    assert embedder.embed_documents(TEXTS) == alone
    assert embedder.embed_documents(TEXTS[::-1] * 300) == alone[::-1] * 300


def test_another_process_gives_the_same_bytes(embedder: StaticEmbedder) -> None:
    """Nothing of a process goes into a vector or the fingerprint."""
    code = (
        "from clawmem.adapters.models.static import StaticEmbedder as E;"
        "e = E(); print(e.fingerprint, e.embed_query('redis sessions').hex())"
    )
    assert run_program(code).stdout.split() == [
        embedder.fingerprint,
        embedder.embed_query("redis sessions").hex(),
    ]


def test_a_text_of_a_megabyte(embedder: StaticEmbedder) -> None:
    """A very long text has the direction of its words, without rounding away."""
    once, often = array(embedder.embed_documents(["redis sessions,", "redis sessions, " * 70_000]))

    assert np.linalg.norm(often) == pytest.approx(1, abs=1e-5)
    assert float(once @ often) > 0.97


def test_half_a_surrogate_pair_is_no_crash(embedder: StaticEmbedder) -> None:
    """What UTF-8 cannot hold counts as a question mark."""
    assert embedder.embed_query("caf\udce9") == embedder.embed_query("caf?")


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
    weights = folder / static._WEIGHTS
    raw = bytearray(weights.read_bytes())
    raw[place] ^= 1
    weights.write_bytes(raw)

    assert StaticEmbedder(folder).fingerprint != before


def test_another_tokenizer_has_another_fingerprint(tmp_path: Path) -> None:
    """The tokenizer changes the numbers as much as the weights do."""
    folder = copied(tmp_path)
    before = StaticEmbedder(folder).fingerprint
    with (folder / static._TOKENIZER).open("a") as file:
        file.write(" ")

    assert StaticEmbedder(folder).fingerprint != before


def test_needs_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package the error says what to install."""
    monkeypatch.setattr(static, "find_spec", lambda name: None)

    with pytest.raises(EmbeddingError, match=r"not installed\. Run: pip install"):
        StaticEmbedder()


@pytest.mark.parametrize("name", [static._WEIGHTS, static._TOKENIZER])
def test_needs_both_files(tmp_path: Path, name: str) -> None:
    """A package without one of the files is named with the file and the way out."""
    folder = copied(tmp_path)
    (folder / name).unlink()

    with pytest.raises(EmbeddingError, match=rf"{name} does not exist\. Run: pip install"):
        StaticEmbedder(folder)


@pytest.mark.parametrize("damage", ["truncated", "empty", "dtype", "text", "header"])
def test_damaged_weights_are_refused(tmp_path: Path, damage: str) -> None:
    """A table of another size or kind is never read as numbers."""
    folder = copied(tmp_path)
    weights = folder / static._WEIGHTS
    raw = weights.read_bytes()
    header = json.dumps({"embedding.weight": {"dtype": "F32"}}).encode()
    damaged = {
        "truncated": raw[:-2],
        "empty": b"",
        "dtype": len(header).to_bytes(8, "little") + header + raw[96:],
        "text": b"<!DOCTYPE html>" * 100,
        "header": (5).to_bytes(8, "little") + b"[1,2]" + raw[96:],
    }
    weights.write_bytes(damaged[damage])

    with pytest.raises(EmbeddingError, match="damaged"):
        StaticEmbedder(folder).embed_query("redis")


def test_a_damaged_tokenizer_is_refused(tmp_path: Path) -> None:
    """A tokenizer file that is none is an EmbeddingError with the way out."""
    folder = copied(tmp_path)
    (folder / static._TOKENIZER).write_text("{}")

    with pytest.raises(EmbeddingError, match="damaged"):
        StaticEmbedder(folder).embed_query("redis")


def test_the_package_is_not_imported() -> None:
    """The files of wordllama are read without importing it."""
    code = (
        "import sys; from clawmem.adapters.models.static import StaticEmbedder;"
        "StaticEmbedder().embed_query('a'); print('wordllama' in sys.modules)"
    )
    assert run_program(code).stdout == "False\n"


def copied(folder: Path) -> Path:
    for name in (static._WEIGHTS, static._TOKENIZER):
        (folder / name).parent.mkdir()
        (folder / name).write_bytes((package() / name).read_bytes())
    return folder
