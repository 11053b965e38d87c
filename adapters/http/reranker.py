from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from clawmem.adapters.http.providers import Provider, provider_at, provider_named, scores_in, server_root
from clawmem.adapters.http.retry import TimeLeft, deadline
from clawmem.adapters.http.served_model import NAMING_TIMEOUT_S, ServedModelQuery
from clawmem.adapters.http.transport import Transport
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ConfigError, InputTooLong, ModelAnswerInvalid

MAX_DOCUMENT_CHARS = 4000
SHORT_DOCUMENT_CHARS = 400  # fits the smallest context that servers are started with
# models for which llama.cpp already returns the probability of "yes"
_PROBABILITIES = ("qwen3-reranker", "zerank")
_STEEPEST = 500.0  # beyond this value exp() overflows, and the score is 0 or 1 anyway


class HttpReranker:
    """
    ``Reranker`` behind HTTP.

    Equal documents are sent once. Providers return scores from 0 to 1. A local server returns the raw output
    of most models, which the logistic function maps to that range.
    """

    def __init__(
        self,
        transport: Transport,
        provider: Provider,
        *,
        model: str,
        max_document_chars: int = MAX_DOCUMENT_CHARS,
    ) -> None:
        self._transport = transport
        self._provider = provider
        self._model = model
        self._served = ServedModelQuery(transport, model, is_named=not provider.is_own_server)
        self.max_document_chars = max_document_chars

    @property
    def fingerprint(self) -> str:
        served = self._served(NAMING_TIMEOUT_S)
        scale = "logistic" if self._is_raw(served.name) else "as-is"
        return f"{self._provider.name}:{served}:{scale}:{self.max_document_chars}"

    def rerank(self, query: str, documents: Sequence[str], *, timeout_s: float) -> list[float]:
        if not documents:
            return []
        left = deadline(timeout_s)
        is_raw = self._is_raw(self._served(left()).name)
        read = [document[: self.max_document_chars] for document in documents]
        texts = list(dict.fromkeys(read))
        scores = dict(zip(texts, self._scores(query, texts, left), strict=True))
        return [_scaled(scores[text], is_raw) for text in read]

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def _scores(self, query: str, texts: list[str], left: TimeLeft) -> Iterator[float]:
        for start in range(0, len(texts), self._provider.max_documents):
            batch = texts[start : start + self._provider.max_documents]
            yield from self._accepted(query, batch, left)

    def _accepted(self, query: str, batch: list[str], left: TimeLeft) -> list[float]:
        try:
            return self._send(query, batch, left)
        except InputTooLong:
            short = [text[:SHORT_DOCUMENT_CHARS] for text in batch]
            if short == batch:
                raise
            return self._send(query, short, left)

    def _send(self, query: str, batch: list[str], left: TimeLeft) -> list[float]:
        body = self._provider.rerank_body(query, batch, self._model)
        answer = self._transport.post(self._provider.rerank_path, body, timeout_s=left())
        try:
            return scores_in(answer, len(batch))
        except ValueError as error:
            raise ModelAnswerInvalid(self._transport.label, str(error)) from error

    def _is_raw(self, served: str) -> bool:
        return self._provider.is_own_server and not any(mark in served.lower() for mark in _PROBABILITIES)


def http_reranker(
    url: str,
    clock: Clock,
    *,
    model: str | None = None,
    api_key: str | None = None,
    provider: str | None = None,
    max_document_chars: int = MAX_DOCUMENT_CHARS,
) -> HttpReranker:
    """
    Return a reranker for the server at *url*.

    Args:
        model: None for the provider's default.

    Raises:
        ConfigError: the address, provider or key is invalid, or the provider does not rerank.
    """
    chosen = provider_named(provider) if provider else provider_at(url)
    if not chosen.rerank_path:
        raise ConfigError(
            f"{chosen.name} does not rerank. Leave CLAWMEM_RERANK_URL out, or give another server."
        )
    name = model or chosen.rerank_model or "reranker"
    transport = Transport(server_root(url), model=name, clock=clock, api_key=api_key)
    return HttpReranker(transport, chosen, model=name, max_document_chars=max_document_chars)


def _scaled(raw: float, is_raw: bool) -> float:
    if is_raw:
        return 1 / (1 + math.exp(-max(-_STEEPEST, min(_STEEPEST, raw))))
    return max(0.0, min(1.0, raw))
