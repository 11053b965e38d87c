"""Classification of error responses: temporary, permanent, or text too long."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from clawmem.adapters.http.addresses import shown
from clawmem.adapters.http.exchange import Reply
from clawmem.ports.errors import InputTooLong, ModelError, ModelRefused, ModelUnavailable

EXCERPT = 200  # maximum characters of a server's message

_LATER = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
# These codes come with status 429, which is otherwise temporary.
_OUT_OF_MONEY = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_TOO_LONG = re.compile(
    r"too large to process|exceeds? the (?:available|maximum) context|maximum context length"
    r"|exceed_context_size|context_length_exceeded|maximum input length|too many tokens",
    re.IGNORECASE,
)
# Messages of llama.cpp for embeddings and for chat, and of OpenAI.
_NUMBERS = (
    re.compile(r"\((?P<tokens>\d+) tokens\).{0,300}?batch size: (?P<limit>\d+)", re.DOTALL),
    re.compile(r"\((?P<tokens>\d+) tokens\).{0,300}?context size \((?P<limit>\d+)", re.DOTALL),
    re.compile(r"length is (?P<limit>\d+) tokens.{0,300}?requested (?P<tokens>\d+)", re.DOTALL),
)
_MEANINGS = {
    401: "the API key is missing or wrong",
    403: "the API key may not do this",
    404: "there is no such model or address",
    501: "the server was not started for this",
}


def refusal(model: str, reply: Reply, secrets: Sequence[str] = ()) -> ModelError:
    """Return the error for *reply*, which is not a success; *secrets* are not quoted."""
    said = words_of(reply.body, secrets)
    if reply.status >= 400 and _TOO_LONG.search(said):
        tokens, limit = _token_counts(said)
        return InputTooLong(model, tokens=tokens, limit=limit)
    reason = f"HTTP {reply.status}, {_MEANINGS.get(reply.status, '')}: {said}".replace(", :", ":").rstrip(
        ": "
    )
    if reply.status in _LATER and not any(word in said for word in _OUT_OF_MONEY):
        return ModelUnavailable(model, reason)
    if 300 <= reply.status < 400:
        return ModelRefused(
            model, f"it redirects to {shown(reply.headers.get('location', 'another address'))!r}"
        )
    return ModelRefused(model, reason)


def words_of(body: bytes, secrets: Sequence[str] = ()) -> str:
    """
    Return the error message of a server: the message in its JSON, or the beginning of the body.

    Some servers and proxies repeat the rejected key or address, so *secrets* are replaced by asterisks.
    """
    text = body.decode("utf-8", "replace")
    with suppress(ValueError, RecursionError):
        text = _message(json.loads(text)) or text
    for secret in secrets:
        text = text.replace(secret, "***")
    return " ".join(text.split())[:EXCERPT].rstrip(".")


def _message(data: Any) -> str:
    if not isinstance(data, Mapping):
        return ""
    inner = data.get("error")
    if isinstance(inner, Mapping):
        parts = (inner.get("message"), inner.get("code"), inner.get("type"))
        return " ".join(part for part in parts if isinstance(part, str))
    found = (inner, data.get("message"), data.get("detail"))
    return next((part for part in found if isinstance(part, str)), "")


def _token_counts(said: str) -> tuple[int | None, int | None]:
    for pattern in _NUMBERS:
        if found := pattern.search(said):
            return int(found["tokens"]), int(found["limit"])
    return None, None
