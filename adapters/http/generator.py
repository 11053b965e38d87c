from __future__ import annotations

from typing import Any

from clawmem.adapters.http.providers import Provider, provider_at, provider_named, server_root
from clawmem.adapters.http.retry import TimeLeft, deadline
from clawmem.adapters.http.served_model import NAMING_TIMEOUT_S, ServedModelQuery
from clawmem.adapters.http.transport import Json, Transport
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ModelAnswerInvalid
from clawmem.ports.generator import GeneratedText, JsonSchema
from clawmem.ports.model_profiles import without_thoughts

DEFAULT_MODEL = "qwen3"
_PATH = "/v1/chat/completions"


class HttpGenerator:
    """``Generator`` behind HTTP: one message in, one message out."""

    def __init__(self, transport: Transport, provider: Provider, *, model: str) -> None:
        self._transport = transport
        self._provider = provider
        self._model = model
        self._served = ServedModelQuery(transport, model, is_named=not provider.is_own_server)

    @property
    def fingerprint(self) -> str:
        return f"{self._provider.name}:{self._served(NAMING_TIMEOUT_S)}@{self._transport.base_url}"

    def generate(
        self,
        prompt: str,
        *,
        timeout_s: float,
        max_tokens: int,
        temperature: float = 0.0,
        schema: JsonSchema | None = None,
    ) -> str:
        left = deadline(timeout_s)
        body = {
            "model": self._model,
            "messages": [{"role": "user", "content": self._worded(prompt, left)}],
            "temperature": temperature,
            self._provider.max_tokens_name: max_tokens,
            **self._template_options(),
            **(_shape(schema) if schema is not None else {}),
        }
        return self._text(self._transport.post(_PATH, body, timeout_s=left()))

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def _worded(self, prompt: str, left: TimeLeft) -> str:
        if not self._provider.is_own_server:
            return prompt
        return without_thoughts(self._served(left()).name, prompt)

    def _template_options(self) -> Json:
        """Return parameters that disable thinking in chat templates; other templates and servers ignore them."""
        return {"chat_template_kwargs": {"enable_thinking": False}} if self._provider.is_own_server else {}

    def _text(self, answer: Json) -> str:
        try:
            text: Any = answer["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError):
            text = None
        if not isinstance(text, str):
            raise ModelAnswerInvalid(self._transport.label, "it holds no message")
        return GeneratedText(text, *_token_counts(answer.get("usage")))


def http_generator(
    url: str,
    clock: Clock,
    *,
    model: str | None = None,
    api_key: str | None = None,
    provider: str | None = None,
) -> HttpGenerator:
    """
    Return a generator for the server at *url*: llama-server, OpenAI, or a server with a compatible API.

    Raises:
        ConfigError: the address, provider or key is invalid.
    """
    chosen = provider_named(provider) if provider else provider_at(url)
    name = model or DEFAULT_MODEL
    transport = Transport(server_root(url), model=name, clock=clock, api_key=api_key)
    return HttpGenerator(transport, chosen, model=name)


def _token_counts(usage: Any) -> tuple[int | None, int | None]:
    """Return the number of tokens of prompt and answer, as far as the server reports them."""
    said = usage if isinstance(usage, dict) else {}
    prompt, answer = (said.get(name) for name in ("prompt_tokens", "completion_tokens"))
    return _number(prompt), _number(answer)


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _shape(schema: JsonSchema) -> Json:
    wanted = {"name": "answer", "schema": dict(schema)}
    return {"response_format": {"type": "json_schema", "json_schema": wanted}}
