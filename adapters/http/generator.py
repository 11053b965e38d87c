from __future__ import annotations

from typing import Any

from clawmem.adapters.http.limits import Limits
from clawmem.adapters.http.model import NAMING_TIMEOUT_S, HttpModel
from clawmem.adapters.http.providers import provider_for
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ModelAnswerInvalid
from clawmem.ports.model_profiles import without_thoughts
from clawmem.ports.models import GeneratedText, JsonSchema

DEFAULT_MODEL = "qwen3"


class HttpGenerator(HttpModel):
    """``Generator`` behind HTTP: one message in, one message out."""

    def __init__(
        self,
        url: str,
        clock: Clock,
        *,
        model: str | None = None,
        api_key: str | None = None,
        provider: str | None = None,
    ) -> None:
        """
        Create the generator without sending a request: llama-server, OpenAI, or a server with a compatible API.

        Raises:
            ConfigError: the address, provider or key is invalid.
        """
        super().__init__(url, clock, provider_for(url, provider), model or DEFAULT_MODEL, api_key)

    @property
    def fingerprint(self) -> str:
        return f"{self._provider.name}:{self.served(Limits(NAMING_TIMEOUT_S))}@{self._transport.base_url}"

    def generate(
        self,
        prompt: str,
        *,
        timeout_s: float,
        max_tokens: int,
        temperature: float = 0.0,
        schema: JsonSchema | None = None,
    ) -> str:
        limits = Limits(timeout_s)
        body: dict[str, Any] = {
            "model": self._name,
            "temperature": temperature,
            self._provider.max_tokens_name: max_tokens,
        }
        if self._provider.is_own_server:
            prompt = without_thoughts(self.served(limits).name, prompt)
            # Disables thinking in chat templates; other templates and servers ignore it.
            body["chat_template_kwargs"] = {"enable_thinking": False}
        body["messages"] = [{"role": "user", "content": prompt}]
        if schema is not None:
            shape = {"name": "answer", "schema": dict(schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": shape}
        answer = self._transport.post("/v1/chat/completions", body, limits)
        try:
            text: Any = answer["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError):
            text = None
        if not isinstance(text, str):
            raise ModelAnswerInvalid(self._transport.label, "it holds no message")
        usage = answer.get("usage")
        counts = usage if isinstance(usage, dict) else {}
        return GeneratedText(
            text, _count(counts.get("prompt_tokens")), _count(counts.get("completion_tokens"))
        )


def _count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None
