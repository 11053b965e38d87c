"""Text to vectors by the stored model."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from clawmem.adapters.models.minilm.sketch import sketch_of
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

MAX_TOKENS = 256  # what the model was trained to read, with the two that mark beginning and end

IDS, POOLED, TOKENS = "ids", "pooled", "tokens"  # what goes into the model and comes out

QUESTIONS_KEPT = 4  # a question is embedded, and sketched a moment later

_THREADS = min(2, os.cpu_count() or 1)
_UNKNOWN = "[UNK]"
_ERRORS_ONLY = 3


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """
    A text's vector, and those of its tokens, beginning and end left out.

    ``spans`` are the places of the tokens in the text, in characters; ``vectors`` (n, dimensions) float32 of
    unit length. Empty for a text without a known token.
    """

    pooled: Vector
    spans: tuple[tuple[int, int], ...]
    vectors: Floats


class MiniLmEmbedder:
    """
    ``Embedder`` that runs a small transformer: texts are cut at 256 tokens, vectors are their mean.

    Every text is a run of its own, so that nothing but the text decides about its vector: a batch would save
    nothing on a CPU, and cost what it is padded with. Two texts are worked on at a time.
    """

    def __init__(self, folder: Path) -> None:
        """
        Nothing but the manifest is read before the first use.

        Raises:
            EmbeddingError: there is no model in *folder*.
            ExtraMissing: what runs it is not installed.
        """
        if find_spec("onnxruntime") is None:  # finds, does not import
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
        """The vectors of *texts* and of their tokens, in their order, by one run each."""
        if len(texts) == 1:
            return [self._question(texts[0])]
        return self._each(self._with_tokens, self._encodings(texts))

    @property
    def sketcher(self) -> Sketcher:
        """Itself: what tells its embedder that it has vectors for words too."""
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
        """Whether there is more than marks and pieces that are in no vocabulary."""
        return any(
            not special and piece != _UNKNOWN
            for piece, special in zip(encoding.tokens, encoding.special_tokens_mask, strict=True)
        )

    @cached_property
    def _session(self) -> InferenceSession:
        from onnxruntime import InferenceSession, SessionOptions

        options = SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1  # one core a text
        options.log_severity_level = _ERRORS_ONLY
        try:
            return InferenceSession(str(self._folder / MODEL), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the library has a dozen kinds without a common root
            raise unusable(self._folder, f"{MODEL} is damaged or of another kind") from error

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(str(self._folder / TOKENIZER))
        except Exception as error:  # the library raises nothing narrower
            raise unusable(self._folder, f"{TOKENIZER} is damaged or of another kind") from error
        tokenizer.no_padding()
        tokenizer.enable_truncation(MAX_TOKENS)
        return tokenizer


def _text(text: str) -> str:
    """*text* with what UTF-8 cannot hold (half a surrogate pair) as question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
