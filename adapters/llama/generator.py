from __future__ import annotations

import time
from typing import Any

from clawmem.adapters.llama.engine import IsCancelled, LlamaModel
from clawmem.adapters.llama.gguf_model import NAMING_TIMEOUT_S, sendable
from clawmem.adapters.llama.loading import Json, Llama
from clawmem.adapters.llama.refusals import checked, unavailable
from clawmem.ports.errors import ModelAnswerInvalid
from clawmem.ports.generator import JsonSchema
from clawmem.ports.model_profiles import without_thoughts


class LlamaGenerator(LlamaModel):
    """``Generator`` in this process: one message in, one message out, generated token by token."""

    @property
    def fingerprint(self) -> str:
        return f"llama.cpp:{self._model.name}:{self._model.known(NAMING_TIMEOUT_S).sha256[:12]}"

    def generate(
        self,
        prompt: str,
        *,
        timeout_s: float,
        max_tokens: int,
        temperature: float = 0.0,
        schema: JsonSchema | None = None,
    ) -> str:
        until = time.monotonic() + timeout_s
        body: Json = {
            "messages": [{"role": "user", "content": self._worded(prompt, timeout_s)}],
            "temperature": temperature,
            "max_tokens": max_tokens,
            "stream": True,  # a stream can be stopped
            "cache_prompt": False,  # earlier prompts do not influence the result
            "chat_template_kwargs": {"enable_thinking": False},
            **(_shape(schema) if schema is not None else {}),
        }
        return self.engine.ask(
            lambda llama, cancelled: self._written(llama, body, cancelled), timeout_s=until - time.monotonic()
        )

    def _worded(self, prompt: str, timeout_s: float) -> str:
        known = self._model.known(timeout_s)
        return sendable(without_thoughts(f"{self._model.name} {known.architecture}", prompt))

    def _written(self, llama: Llama, body: Json, cancelled: IsCancelled) -> str:
        pieces: list[Json] = []

        def take(piece: Json) -> bool:
            pieces.append(piece)
            return cancelled()

        llama.handle_chat_completions(body, take)
        if cancelled():
            raise unavailable(self._model.label, "it was stopped before the end")
        return "".join(self._text(checked(self._model.label, piece)) for piece in pieces)

    def _text(self, piece: Any) -> str:
        try:
            return "".join(choice["delta"].get("content") or "" for choice in piece["choices"])
        except (LookupError, TypeError, AttributeError) as error:
            raise ModelAnswerInvalid(self._model.label, "it holds no message") from error


def _shape(schema: JsonSchema) -> Json:
    wanted = {"name": "answer", "schema": dict(schema)}
    return {"response_format": {"type": "json_schema", "json_schema": wanted}}
