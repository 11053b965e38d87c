from __future__ import annotations

import math
from collections.abc import Sequence

from clawmem.adapters.http.limits import Limits
from clawmem.adapters.http.model import NAMING_TIMEOUT_S, HttpModel
from clawmem.adapters.http.providers import provider_for, scores_in
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ConfigError, InputTooLong, ModelAnswerInvalid

MAX_DOCUMENT_CHARS = 4000
SHORT_DOCUMENT_CHARS = 400  # fits the smallest context that servers are started with
# models for which llama.cpp already returns the probability of "yes"
_PROBABILITIES = ("qwen3-reranker", "zerank")
_STEEPEST = 500.0  # beyond this value exp() overflows, and the score is 0 or 1 anyway


class HttpReranker(HttpModel):
    """
    ``Reranker`` behind HTTP.

    Equal documents are sent once. Providers return scores from 0 to 1. A local server returns the raw output
    of most models, which the logistic function maps to that range.
    """

    def __init__(
        self,
        url: str,
        clock: Clock,
        *,
        model: str | None = None,
        api_key: str | None = None,
        provider: str | None = None,
        max_document_chars: int = MAX_DOCUMENT_CHARS,
    ) -> None:
        """
        Create the reranker without sending a request; *model* None is the provider's default.

        Raises:
            ConfigError: the address, provider or key is invalid, or the provider does not rerank.
        """
        api = provider_for(url, provider)
        if not api.rerank_path:
            raise ConfigError(
                f"{api.name} does not rerank. Leave CLAWMEM_RERANK_URL out, or give another server."
            )
        super().__init__(url, clock, api, model or api.rerank_model or "reranker", api_key)
        self.max_document_chars = max_document_chars

    @property
    def fingerprint(self) -> str:
        served = self.served(Limits(NAMING_TIMEOUT_S))
        scale = "logistic" if self._is_raw(served.name) else "as-is"
        return f"{self._provider.name}:{served}:{scale}:{self.max_document_chars}"

    def rerank(self, query: str, documents: Sequence[str], *, timeout_s: float) -> list[float]:
        if not documents:
            return []
        limits = Limits(timeout_s)
        is_raw = self._is_raw(self.served(limits).name)
        beginnings = [document[: self.max_document_chars] for document in documents]
        texts = list(dict.fromkeys(beginnings))
        scores: dict[str, float] = {}
        for start in range(0, len(texts), self._provider.max_documents):
            batch = texts[start : start + self._provider.max_documents]
            try:
                raw = self._send(query, batch, limits)
            except InputTooLong:
                short = [text[:SHORT_DOCUMENT_CHARS] for text in batch]
                if short == batch:
                    raise
                raw = self._send(query, short, limits)
            scores.update(zip(batch, raw, strict=True))
        return [_scaled(scores[text], is_raw) for text in beginnings]

    def _send(self, query: str, batch: list[str], limits: Limits) -> list[float]:
        body = self._provider.rerank_body(query, batch, self._name)
        answer = self._transport.post(self._provider.rerank_path, body, limits)
        try:
            return scores_in(answer, len(batch))
        except ValueError as error:
            raise ModelAnswerInvalid(self._transport.label, str(error)) from error

    def _is_raw(self, served: str) -> bool:
        return self._provider.is_own_server and not any(mark in served.lower() for mark in _PROBABILITIES)


def _scaled(raw: float, is_raw: bool) -> float:
    if is_raw:
        return 1 / (1 + math.exp(-max(-_STEEPEST, min(_STEEPEST, raw))))
    return max(0.0, min(1.0, raw))
