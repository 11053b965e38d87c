from __future__ import annotations

import math
import struct
from base64 import b64decode
from collections.abc import Sequence

from clawmem.adapters.llama.engine import LlamaModel
from clawmem.adapters.llama.gguf_model import fitted, sendable
from clawmem.adapters.llama.loading import Llama
from clawmem.adapters.llama.refusals import checked
from clawmem.ports.errors import BadVector, ModelAnswerInvalid
from clawmem.ports.model_profiles import Prompts, prompts_of
from clawmem.ports.records import Vector

MAX_CHARS = 6000  # maximum length of a text
QUERY_TIMEOUT_S = 10.0  # includes loading the model
TEXT_TIMEOUT_S = 60.0  # per text


class LlamaEmbedder(LlamaModel):
    """
    ``Embedder`` in this process.

    Each text is computed separately, so that its vector depends on nothing but the text, and so that a query
    does not wait for a long batch of documents. A text that is too long for the model is shortened until it
    fits.
    """

    @property
    def fingerprint(self) -> str:
        weights = self._model.known(QUERY_TIMEOUT_S).sha256[:12]
        return f"llama.cpp:{self._model.name}:{weights}:{self._prompts().name}:{self.dimensions}"

    @property
    def dimensions(self) -> int:
        return self._model.known(QUERY_TIMEOUT_S).width

    def embed_query(self, text: str) -> Vector:
        self._model.known(QUERY_TIMEOUT_S)
        return self._vector(self._prompts().query, text, QUERY_TIMEOUT_S)

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        if not texts:
            return []
        self._model.known()  # downloads the model if needed, without a time limit
        prompt = self._prompts().document
        return [self._vector(prompt, text, TEXT_TIMEOUT_S) for text in texts]

    def _prompts(self) -> Prompts:
        known = self._model.known()
        return prompts_of(f"{known.architecture} {known.title}")

    def _vector(self, prompt: str, text: str, timeout_s: float) -> Vector:
        if not text.strip():
            return bytes(4 * self.dimensions)
        prepared = sendable(prompt + text[:MAX_CHARS])
        return self.engine.ask(
            lambda llama, cancelled: fitted(prepared, lambda beginning: self._read(llama, beginning)),
            timeout_s=timeout_s,
        )

    def _read(self, llama: Llama, text: str) -> Vector:
        answer = checked(
            self._model.label, llama.handle_embeddings({"input": text, "encoding_format": "base64"})
        )
        try:
            raw = b64decode(answer["data"][0]["embedding"])
        except (LookupError, TypeError, ValueError) as error:
            raise ModelAnswerInvalid(self._model.label, "it holds no vector") from error
        return _unit(raw, self.dimensions)


def _unit(raw: bytes, dimensions: int) -> Vector:
    """Return *raw*, little-endian float32, scaled to unit length."""
    if len(raw) != 4 * dimensions:
        raise BadVector(f"the model returned {len(raw) // 4} numbers instead of {dimensions}")
    numbers = struct.unpack(f"<{dimensions}f", raw)
    length = math.hypot(*numbers)
    if not math.isfinite(length):
        raise BadVector("the model returned a number that is not finite")
    return struct.pack(f"<{dimensions}f", *(number / (length or 1.0) for number in numbers))
