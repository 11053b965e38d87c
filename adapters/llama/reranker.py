from __future__ import annotations

import math
import time
from collections.abc import Sequence

from clawmem.adapters.llama.engine import LlamaModel
from clawmem.adapters.llama.gguf_model import NAMING_TIMEOUT_S, fitted, sendable
from clawmem.adapters.llama.loading import Llama
from clawmem.adapters.llama.refusals import checked
from clawmem.ports.errors import ModelAnswerInvalid

MAX_DOCUMENT_CHARS = 4000
_SHARES = "qwen3"  # the architecture for which llama.cpp returns the probability of "yes" against "no"
_STEEPEST = 500.0  # beyond this value exp() overflows, and the score is 0 or 1 anyway


class LlamaReranker(LlamaModel):
    """
    ``Reranker`` in this process. Scores each document separately, and equal documents once.

    For most models the raw output is mapped to the range from 0 to 1 by the logistic function.
    """

    max_document_chars = MAX_DOCUMENT_CHARS

    @property
    def fingerprint(self) -> str:
        weights = self._model.known(NAMING_TIMEOUT_S).sha256[:12]
        scale = "logistic" if self._is_raw() else "as-is"
        return f"llama.cpp:{self._model.name}:{weights}:{scale}:{self.max_document_chars}"

    def rerank(self, query: str, documents: Sequence[str], *, timeout_s: float) -> list[float]:
        if not documents:
            return []
        until = time.monotonic() + timeout_s
        self._model.known(timeout_s)
        read = [sendable(document[: self.max_document_chars]) for document in documents]
        asked = sendable(query)
        scores = {text: self._score(asked, text, until) for text in dict.fromkeys(read)}
        return [scores[text] for text in read]

    def _score(self, query: str, text: str, until: float) -> float:
        return self.engine.ask(
            lambda llama, cancelled: fitted(
                text, lambda beginning: self._scored_by_model(llama, query, beginning)
            ),
            timeout_s=until - time.monotonic(),
        )

    def _scored_by_model(self, llama: Llama, query: str, text: str) -> float:
        answer = checked(self._model.label, llama.handle_rerank({"query": query, "documents": [text]}))
        try:
            score = float(answer["results"][0]["relevance_score"])
        except (LookupError, TypeError, ValueError) as error:
            raise ModelAnswerInvalid(self._model.label, "it holds no score") from error
        if not math.isfinite(score):
            raise ModelAnswerInvalid(self._model.label, "its score is not a number")
        return _scaled(score) if self._is_raw() else max(0.0, min(1.0, score))

    def _is_raw(self) -> bool:
        return self._model.known().architecture != _SHARES


def _scaled(raw: float) -> float:
    return 1 / (1 + math.exp(-max(-_STEEPEST, min(_STEEPEST, raw))))
