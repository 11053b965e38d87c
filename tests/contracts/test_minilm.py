"""The embedder contract, and what is MiniLM's own, against a made-up model of its shape; offline."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import tiny_minilm as tiny
from programs import run_program

from clawmem.adapters.models.minilm.build import build, write
from clawmem.adapters.models.minilm.embedder import MiniLmEmbedder
from clawmem.adapters.models.minilm.precision import EXACT, INT8, Precision, by_row
from clawmem.adapters.models.minilm.store import MODEL, TOKENIZER
from clawmem.contracts.embedder import BEES, TEXTS, EmbedderContract
from clawmem.ports.errors import EmbeddingError

SAMPLES = [*TEXTS, "bees", "who designs ticket machines?", "10.0.0.7 timed out " * 30]
LONG = "the bees left the hive " * 200

Floats = npt.NDArray[np.float32]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built model."""
    folder = tmp_path_factory.mktemp("models") / "minilm"
    build(tiny.published(), folder)
    return folder


@pytest.fixture(scope="module")
def embedder(stored: Path) -> MiniLmEmbedder:
    return MiniLmEmbedder(stored)


@pytest.fixture(scope="module")
def with_precision(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Precision], MiniLmEmbedder]:
    """The same model, calculated as asked."""

    def make(precision: Precision) -> MiniLmEmbedder:
        folder = tmp_path_factory.mktemp("models") / "model"
        write(tiny.published(), folder, precision, "some", {})
        return MiniLmEmbedder(folder)

    return make


def array(vector: bytes) -> Floats:
    return np.frombuffer(vector, dtype="<f4")


class TestMiniLmEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self, stored: Path) -> MiniLmEmbedder:
        return MiniLmEmbedder(stored)


def test_the_exact_graph_is_the_published_calculation(
    with_precision: Callable[[Precision], MiniLmEmbedder],
) -> None:
    """Texts and tokens have the vectors that the formulas give, to a ten-thousandth."""
    found = with_precision(EXACT).token_vectors(SAMPLES)

    for text, one in zip(SAMPLES, found, strict=True):
        pooled, tokens = tiny.forward(tiny.weights(), tiny.token_ids(text))
        np.testing.assert_allclose(array(one.pooled), pooled, rtol=0, atol=1e-4)
        np.testing.assert_allclose(one.vectors, tokens[1:-1], rtol=0, atol=1e-4)


def test_bytes_lose_little(with_precision: Callable[[Precision], MiniLmEmbedder]) -> None:
    """Vectors calculated with bytes point where the exact ones do, of texts and of tokens."""
    exact, rounded = (with_precision(precision).token_vectors(SAMPLES) for precision in (EXACT, INT8))

    for one, other in zip(exact, rounded, strict=True):
        assert array(one.pooled) @ array(other.pooled) >= 0.99
        assert np.sum(one.vectors * other.vectors, axis=1).min() >= 0.98


def test_a_row_of_bytes_is_within_half_a_step() -> None:
    """Each row has its own step; a row of zeros stays zero."""
    weight = np.array([[0.5, -1.0, 0.001], [100.0, 3.0, -7.0], [0.0, 0.0, 0.0]], dtype=np.float32)

    stored, steps = by_row(weight)

    assert np.abs(stored).max(axis=1).tolist() == [127, 127, 0]
    assert (np.abs(stored * steps[:, None] - weight) <= steps[:, None] / 2 + 1e-6).all()


def test_both_ways_give_the_same_vector(embedder: MiniLmEmbedder) -> None:
    """The vector that comes with the tokens is the one that comes alone, byte by byte."""
    assert [one.pooled for one in embedder.token_vectors(SAMPLES)] == embedder.embed_documents(SAMPLES)


def test_tokens_know_their_place(embedder: MiniLmEmbedder) -> None:
    """There is a vector for each piece of the text, in order, without the marks at either end."""
    (found,) = embedder.token_vectors([BEES])

    assert [
        BEES[start:end].lower() for start, end in found.spans
    ] == "the bees left the hive at noon .".split()
    assert found.vectors.shape == (8, embedder.dimensions)
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1.0, rtol=0, atol=1e-5)


@pytest.mark.parametrize("text", ["", "  \n", "😀", "東京 😀"])
def test_nothing_known_has_neither_vector_nor_tokens(embedder: MiniLmEmbedder, text: str) -> None:
    """A text of pieces that are in no vocabulary is as empty as an empty one."""
    (found,) = embedder.token_vectors([text])

    assert not any(found.pooled)
    assert (found.spans, found.vectors.shape) == ((), (0, embedder.dimensions))
    assert not any(embedder.embed_query(text))


def test_only_the_beginning_of_a_long_text_counts(embedder: MiniLmEmbedder) -> None:
    """254 pieces and the two marks are read; what comes behind them changes nothing."""
    (found,) = embedder.token_vectors([LONG])

    assert len(found.spans) == 254
    assert embedder.embed_query(LONG) == embedder.embed_query(LONG + "two wooden boats " * 50)


def test_half_a_surrogate_pair_is_a_question_mark(embedder: MiniLmEmbedder) -> None:
    """Text that UTF-8 cannot hold is embedded all the same."""
    assert embedder.embed_query("bees \ud800") == embedder.embed_query("bees ?")


def test_another_process_gives_the_same_bytes(embedder: MiniLmEmbedder, stored: Path) -> None:
    """Nothing of this process is in a vector."""
    code = (
        "from pathlib import Path; import sys\n"
        "from clawmem.adapters.models.minilm.embedder import MiniLmEmbedder\n"
        "print(MiniLmEmbedder(Path(sys.argv[1])).embed_query(sys.argv[2]).hex())"
    )

    assert bytes.fromhex(run_program(code, stored, BEES).stdout) == embedder.embed_query(BEES)


def test_the_fingerprint_follows_weights_and_words(tmp_path: Path) -> None:
    """Other weights, another vocabulary or another precision are another space; a rebuild is the same one."""
    files = tiny.published()
    changed = [
        (files, INT8, "int8"),
        (files, INT8, "int8"),
        (files, EXACT, "exact"),
        ({**files, "model.safetensors": tiny.stored(tiny.weights(seed=8))}, INT8, "int8"),
        ({**files, "tokenizer.json": files["tokenizer.json"] + b" "}, INT8, "int8"),
    ]

    for number, (published, precision, called) in enumerate(changed):
        write(published, tmp_path / str(number), precision, called, {})
    first, again, *others = [MiniLmEmbedder(tmp_path / str(n)).fingerprint for n in range(len(changed))]

    assert first == again
    assert len({first, *others}) == 4
    assert first.startswith("minilm:48:int8:mean-of-256:")


@pytest.mark.parametrize("name", [MODEL, TOKENIZER])
def test_a_damaged_file_is_one_sentence(tmp_path: Path, name: str) -> None:
    """What cannot be loaded names its folder and the way out, and no library's error."""
    write(tiny.published(), tmp_path / "m", INT8, "int8", {})
    (tmp_path / "m" / name).write_bytes(b"not a model")

    with pytest.raises(EmbeddingError, match=rf"{name} is damaged.*clawmem models add minilm"):
        MiniLmEmbedder(tmp_path / "m").embed_query(BEES)


@pytest.mark.parametrize("manifest", [None, "", "[]", '{"format": 1}', "{"])
def test_no_model_is_one_sentence(tmp_path: Path, manifest: str | None) -> None:
    """A folder without a manifest that can be read is no model."""
    if manifest is not None:
        (tmp_path / "manifest.json").write_text(manifest, "utf-8")

    with pytest.raises(EmbeddingError, match="clawmem models add minilm"):
        MiniLmEmbedder(tmp_path)


def test_what_a_later_version_wrote_is_refused(stored: Path, tmp_path: Path) -> None:
    """A format that is not known is not guessed at."""
    text = (stored / "manifest.json").read_text("utf-8")
    (tmp_path / "manifest.json").write_text(text.replace('"format": 1', '"format": 2'), "utf-8")

    with pytest.raises(EmbeddingError, match="format is 2, not 1"):
        MiniLmEmbedder(tmp_path)
