"""Conversion of the published files to the stored model, and the encoder as an ONNX graph."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from importlib.metadata import version
from io import BytesIO
from itertools import count, takewhile
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt
from onnx import TensorProto, helper, save_model
from safetensors.numpy import load

from clawmem.adapters.models.minilm.embedder import IDS, MAX_TOKENS, POOLED, TOKENS, MiniLmEmbedder
from clawmem.adapters.models.minilm.nodes import MICROSOFT, Nodes
from clawmem.adapters.models.minilm.precision import EXACT, INT8, Precision
from clawmem.adapters.models.minilm.store import MODEL, TOKENIZER, Manifest, store
from clawmem.adapters.models.minilm.weights import WEIGHTS

# The exact vectors of these texts are stored, to measure the quantization error on any processor and with any
# release.
REFERENCE_TEXTS = (
    "We moved the login sessions from Redis to Postgres on the ninth of June.",
    "Who designs the ticket machines?",
    "Error: connection to 10.0.0.7:5432 timed out after 30 s (attempt 3 of 5).",
    "The bees left the hive at noon, and the two wooden boats were still lying in the harbour.",
)


def build(published: Mapping[str, bytes], folder: Path) -> None:
    """
    Write the quantized model of the *published* files into *folder*, with its reference vectors.

    Raises:
        EmbeddingError: the folder cannot be written.
    """
    with TemporaryDirectory(prefix="clawmem-") as place:
        exact = Path(place) / "exact"
        write(published, exact, EXACT, "exact", {})
        vectors = MiniLmEmbedder(exact).embed_documents(REFERENCE_TEXTS)
    reference = {text: vector.hex() for text, vector in zip(REFERENCE_TEXTS, vectors, strict=True)}
    write(published, folder, INT8, "int8", reference)


def write(
    published: Mapping[str, bytes],
    folder: Path,
    precision: Precision,
    called: str,
    reference: Mapping[str, str],
) -> None:
    """Write the model with *precision*, whose name in the fingerprint is *called*."""
    weights = load(published[WEIGHTS])
    dimensions = weights["embeddings.LayerNorm.bias"].shape[0]
    origin = sha256(published[WEIGHTS]).hexdigest()[:12]
    vocabulary = sha256(published[TOKENIZER]).hexdigest()[:8]
    files = {MODEL: encoder(weights, precision), TOKENIZER: published[TOKENIZER]}
    manifest = Manifest(
        fingerprint=f"minilm:{dimensions}:{called}:mean-of-{MAX_TOKENS}:{origin}:{vocabulary}",
        dimensions=dimensions,
        files={name: sha256(content).hexdigest() for name, content in files.items()},
        made_with={name: version(name) for name in ("onnx", "onnxruntime")},
        reference=reference,
    )
    store(folder, files, manifest)


Tensors = Mapping[str, npt.NDArray[np.float32]]

HEADS = 12

_EPSILON = 1e-12
_OPSET, _IR = 20, 10


def encoder(weights: Tensors, precision: Precision) -> bytes:
    """
    Build a model for one text at a time: ids (t,) to its vector (d,) and the vectors of its tokens (t, d).

    All vectors have unit length; ``pooled`` is the normalized mean of the token vectors before their
    normalization.
    """
    drawing = _Encoder(weights, precision)
    x = drawing.embeddings()
    for number in drawing.layers():
        x = drawing.layer(x, f"encoder.layer.{number}")
    nodes = drawing.nodes
    mean = nodes.apply("ReduceMean", x, nodes.integers(0), keepdims=0)
    nodes.result(nodes.apply("LpNormalization", mean, axis=-1, p=2), POOLED)
    nodes.result(nodes.apply("LpNormalization", x, axis=-1, p=2), TOKENS)
    return _model(nodes, drawing.dimensions)


class _Encoder:
    """Builder of the graph. Methods take and return names of values; comments show shapes."""

    def __init__(self, weights: Tensors, precision: Precision) -> None:
        self.nodes = Nodes()
        self._weights = weights
        self._precision = precision
        self._words = weights["embeddings.word_embeddings.weight"]  # (v, d)
        self.dimensions = self._words.shape[1]

    def layers(self) -> list[int]:
        """Return the numbers of the layers in the weights."""
        return list(takewhile(lambda n: f"encoder.layer.{n}.output.dense.bias" in self._weights, count()))

    def embeddings(self) -> str:
        """Return the sum of word and position embeddings; every token has the first type."""
        nodes, name = self.nodes, "embeddings"
        types = self._weights[f"{name}.token_type_embeddings.weight"]  # (2, d)
        # the first rows of 512
        places = self._weights[f"{name}.position_embeddings.weight"][:MAX_TOKENS] + types[0]
        zero = nodes.integers(0)
        place = nodes.apply("Slice", nodes.constant(places), zero, nodes.apply("Shape", IDS), zero)  # (t, d)
        word = self._precision.look_up(nodes, IDS, self._words)  # (t, d)
        return self._normalised(nodes.apply("Add", word, place), f"{name}.LayerNorm")

    def layer(self, x: str, name: str) -> str:
        """Return the output of one layer: attention and two dense layers, each with a residual connection."""
        attended = self._dense(self._attention(x, f"{name}.attention.self"), f"{name}.attention.output.dense")
        x = self._normalised(self.nodes.apply("Add", attended, x), f"{name}.attention.output.LayerNorm")
        wide = self.nodes.apply("Gelu", self._dense(x, f"{name}.intermediate.dense"))  # (t, 4d)
        narrow = self._dense(wide, f"{name}.output.dense")
        return self._normalised(self.nodes.apply("Add", narrow, x), f"{name}.output.LayerNorm")

    def _attention(self, x: str, name: str) -> str:
        nodes, parts = self.nodes, [f"{name}.{part}" for part in ("query", "key", "value")]
        # One product instead of three, so that the activations are quantized once.
        all_three = self._dense(x, *parts)  # (t, 3d)
        batch_of_one = nodes.apply("Unsqueeze", all_three, nodes.integers(0))
        asked_kept_told = nodes.split("Split", batch_of_one, into=3, axis=-1, num_outputs=3)
        attended = nodes.apply("MultiHeadAttention", *asked_kept_told, domain=MICROSOFT, num_heads=HEADS)
        return nodes.apply("Squeeze", attended, nodes.integers(0))  # (t, d)

    def _dense(self, x: str, *names: str) -> str:
        """Return the concatenated outputs of the layers *names*."""
        weight = np.concatenate([self._weights[f"{name}.weight"] for name in names])
        bias = np.concatenate([self._weights[f"{name}.bias"] for name in names])
        product = self._precision.multiply(self.nodes, x, weight)
        return self.nodes.apply("Add", product, self.nodes.constant(bias))

    def _normalised(self, x: str, name: str) -> str:
        scale, shift = (self.nodes.constant(self._weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.nodes.apply("LayerNormalization", x, scale, shift, axis=-1, epsilon=_EPSILON)


def _model(nodes: Nodes, dimensions: int) -> bytes:
    graph = helper.make_graph(
        nodes.operators,
        "minilm",
        [helper.make_tensor_value_info(IDS, TensorProto.INT64, ["t"])],
        [
            helper.make_tensor_value_info(POOLED, TensorProto.FLOAT, [dimensions]),
            helper.make_tensor_value_info(TOKENS, TensorProto.FLOAT, ["t", dimensions]),
        ],
        nodes.constants,
    )
    versions = [helper.make_opsetid("", _OPSET), helper.make_opsetid(MICROSOFT, 1)]
    model = helper.make_model(graph, opset_imports=versions, ir_version=_IR, producer_name="clawmem")
    written = BytesIO()
    save_model(model, written)
    return written.getvalue()
