"""Embedder that runs the stored MiniLM model."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from clawmem.adapters.models.minilm.store import MODEL, TOKENIZER, read_manifest, unusable
from clawmem.ports.errors import ExtraMissing
from clawmem.ports.records import Vector
from clawmem.ports.sketches import Sketch, Sketcher

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

    Floats = npt.NDArray[np.float32]

Made = TypeVar("Made")

MAX_TOKENS = 256  # tokens the model was trained for, including the start and end tokens

IDS, POOLED, TOKENS = "ids", "pooled", "tokens"  # names of the input and of the outputs of the model

QUESTIONS_KEPT = 4  # a query is embedded, and soon afterwards its sketch is computed

_THREADS = min(2, os.cpu_count() or 1)
_UNKNOWN = "[UNK]"
_ERRORS_ONLY = 3


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """
    The vector of a text, and the vectors of its tokens without start and end token.

    ``spans`` are the character positions of the tokens in the text; ``vectors`` (n, dimensions) is float32
    with unit length. Empty for a text without a known token.
    """

    pooled: Vector
    spans: tuple[tuple[int, int], ...]
    vectors: Floats


class MiniLmEmbedder:
    """
    ``Embedder`` that runs a small transformer on the first 256 tokens of a text and averages the token
    vectors.

    Each text is a separate run, so that its vector depends on nothing but the text. On a CPU a batch would
    save nothing and add the cost of padding. Two texts are processed in parallel.
    """

    def __init__(self, folder: Path) -> None:
        """
        Read the manifest; everything else is loaded on first use.

        Raises:
            EmbeddingError: *folder* contains no model.
            ExtraMissing: the packages that run the model are not installed.
        """
        if find_spec("onnxruntime") is None:  # finds the package without importing it
            raise ExtraMissing("onnxruntime", extra="minilm")
        self._folder = folder
        self._manifest = read_manifest(folder)
        self._question = lru_cache(QUESTIONS_KEPT)(self._read)

    @property
    def fingerprint(self) -> str:
        return self._manifest.fingerprint

    @property
    def dimensions(self) -> int:
        return self._manifest.dimensions

    def embed_query(self, text: str) -> Vector:
        return self._question(text).pooled

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        return self._each(self._pooled, self._encodings(texts))

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return the vectors of *texts* and of their tokens, in order, with one run per text."""
        if len(texts) == 1:
            return [self._question(texts[0])]
        return self._each(self._with_tokens, self._encodings(texts))

    @property
    def sketcher(self) -> Sketcher:
        """The embedder itself, which marks that it also computes vectors of words."""
        return self

    def sketch(self, texts: Sequence[str], without: Collection[str] = ()) -> list[Sketch]:
        return [
            sketch_of(text, vectors, without)
            for text, vectors in zip(texts, self.token_vectors(texts), strict=True)
        ]

    def _read(self, text: str) -> TokenVectors:
        return self._with_tokens(self._encodings([text])[0])

    def _each(self, run: Callable[[Encoding], Made], encodings: Sequence[Encoding]) -> list[Made]:
        with ThreadPoolExecutor(_THREADS) as threads:
            return list(threads.map(run, encodings))

    def _encodings(self, texts: Sequence[str]) -> list[Encoding]:
        return self._tokenizer.encode_batch([_text(text) for text in texts])

    def _pooled(self, encoding: Encoding) -> Vector:
        if not self._is_known(encoding):
            return bytes(4 * self.dimensions)
        (pooled,) = self._run(encoding, [POOLED])
        return pooled.astype("<f4").tobytes()

    def _with_tokens(self, encoding: Encoding) -> TokenVectors:
        import numpy as np

        if not self._is_known(encoding):
            return TokenVectors(bytes(4 * self.dimensions), (), np.zeros((0, self.dimensions), np.float32))
        pooled, tokens = self._run(encoding, [POOLED, TOKENS])
        return TokenVectors(pooled.astype("<f4").tobytes(), tuple(encoding.offsets[1:-1]), tokens[1:-1])

    def _run(self, encoding: Encoding, results: list[str]) -> Sequence[Floats]:
        import numpy as np

        ids = np.array(encoding.ids, dtype=np.int64)
        return cast("Sequence[Floats]", self._session.run(results, {IDS: ids}))

    def _is_known(self, encoding: Encoding) -> bool:
        """Whether the text has tokens besides special ones and unknown ones."""
        return any(
            not special and piece != _UNKNOWN
            for piece, special in zip(encoding.tokens, encoding.special_tokens_mask, strict=True)
        )

    @cached_property
    def _session(self) -> InferenceSession:
        from onnxruntime import InferenceSession, SessionOptions

        options = SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1  # one core per text
        options.log_severity_level = _ERRORS_ONLY
        try:
            return InferenceSession(str(self._folder / MODEL), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime raises a dozen exceptions without a common base class
            raise unusable(self._folder, f"{MODEL} is damaged or has another format") from error

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        """-"""
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(str(self._folder / TOKENIZER))
        except Exception as error:  # tokenizers raises nothing more specific
            raise unusable(self._folder, f"{TOKENIZER} is damaged or has another format") from error
        tokenizer.no_padding()
        tokenizer.enable_truncation(MAX_TOKENS)
        return tokenizer


def _text(text: str) -> str:
    """Return *text* with question marks for characters that UTF-8 cannot encode (unpaired surrogates)."""
    return text.encode("utf-8", "replace").decode("utf-8")


MOST_WORDS = 64  # tokens per sketch; further tokens cost space without a measurable gain


def sketch_of(text: str, vectors: TokenVectors, without: Collection[str]) -> Sketch:
    """
    Return the signs of the text vector and of its first tokens except *without*, 48 bytes each.

    The result is empty if the model knows no token of the text.
    """
    import numpy as np

    telling = [
        nth for nth, (start, end) in enumerate(vectors.spans) if _tells(text[start:end].lower(), without)
    ]
    if not len(vectors.spans):
        return b""
    whole = np.frombuffer(vectors.pooled, dtype="<f4")
    return np.packbits(np.vstack([whole, vectors.vectors[telling[:MOST_WORDS]]]) > 0, axis=1).tobytes()


def _tells(token: str, without: Collection[str]) -> bool:
    return token not in without and any(map(str.isalnum, token))
