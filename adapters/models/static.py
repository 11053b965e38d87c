"""Static word vectors: a text is the mean of one stored vector for each of its tokens."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property, lru_cache
from hashlib import sha256
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from clawmem.ports.errors import EmbeddingError
from clawmem.ports.models import WordSimilarities
from clawmem.ports.records import Vector

Floats = npt.NDArray[np.float32]

ROWS, DIMENSIONS = 32_000, 256
MOST_WORDS = 12_000  # words whose vectors are cached, about 16 MB

_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_EDGE = 64 * 1024  # bytes that are hashed at each end of a file


class StaticEmbedder:
    """
    ``Embedder`` without running a model: the mean of one stored vector per token.

    Reads the weights in the ``wordllama`` package and never imports the package. Files are opened on first
    use.
    """

    dimensions = DIMENSIONS
    in_process = True

    def __init__(self, folder: Path | None = None) -> None:
        """
        Find the files of the package.

        Args:
            folder: Folder of the installed package; None to find it.

        Raises:
            EmbeddingError: the package or one of its files is missing.
        """
        package = folder or _package()
        self._files = package / _WEIGHTS, package / _TOKENIZER
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
        """
        Create the comparison; the vectors are loaded on first use.

        Args:
            embedder: Embedder whose vectors are compared; None for the installed one.
            most_words: Maximum number of cached words.
        """
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
        sums: Floats = self._embedder.token_sums([f" {word}"])[0]
        return sums


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
    """Return the error for a file of the package that is missing or damaged."""
    return EmbeddingError(
        f"The static vectors cannot be loaded: {reason}. Run: pip install --force-reinstall wordllama"
    )


def _package() -> Path:
    spec = find_spec("wordllama")  # finds the package without importing it
    if spec is None or not spec.submodule_search_locations:
        raise _missing("the wordllama package is not installed")
    return Path(spec.submodule_search_locations[0])
