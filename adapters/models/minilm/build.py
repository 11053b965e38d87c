"""Conversion of the published files to the stored model."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from safetensors.numpy import load

from clawmem.adapters.models.minilm.embedder import MAX_TOKENS, MiniLmEmbedder
from clawmem.adapters.models.minilm.graph import encoder
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
