"""Reference models that need no weights."""

import json
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from clawmem.ports.errors import InputTooLong, ModelUnavailable
from clawmem.ports.indexes import surfaces
from clawmem.ports.models import JsonSchema
from clawmem.ports.records import Vector

DIMENSIONS = 64
MAX_PROMPT_CHARS = 100_000

_PLAIN: Mapping[str, Any] = {
    "string": "", "integer": 0, "number": 0.0, "boolean": False, "null": None, "array": []
}  # fmt: skip


class HashingEmbedder:
    """
    Reference ``Embedder`` without a model: texts are near each other if they share words.

    Each word adds or subtracts 1 at a position chosen by its hash; the sum is scaled to unit length.
    """

    fingerprint = f"hashing-{DIMENSIONS}-1"
    dimensions = DIMENSIONS

    def embed_query(self, text: str) -> Vector:
        sums = [0.0] * DIMENSIONS
        for word in surfaces(text):
            # Not hash(), which differs between processes.
            place, sign = blake2b(word.encode(), digest_size=2).digest()
            sums[place % DIMENSIONS] += 1.0 if sign % 2 else -1.0
        length = math.hypot(*sums) or 1.0
        return struct.pack(f"<{DIMENSIONS}f", *(number / length for number in sums))

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        return [self.embed_query(text) for text in texts]


class OverlapReranker:
    """Reference ``Reranker`` without a model: the score is the share of the query's words in a document."""

    fingerprint = "overlap-1"

    def rerank(self, query: str, documents: Sequence[str], *, timeout_s: float) -> list[float]:
        if timeout_s <= 0:
            raise ModelUnavailable("overlap", "no time is left")
        wanted = set(surfaces(query))
        matches = (wanted & set(surfaces(document)) for document in documents)
        return [len(words) / max(len(wanted), 1) for words in matches]


class ScriptedGenerator:
    """
    Reference ``Generator`` without a model, also used as a test double.

    It returns the result of *script*; without a script the last line of the prompt or, with a schema, the
    smallest value that fits the schema. A token is a word.
    """

    fingerprint = "scripted-1"

    def __init__(self, script: Callable[[str], str] | None = None) -> None:
        self._script = script

    def generate(
        self,
        prompt: str,
        *,
        timeout_s: float,
        max_tokens: int,
        temperature: float = 0.0,
        schema: JsonSchema | None = None,
    ) -> str:
        if timeout_s <= 0:
            raise ModelUnavailable("scripted", "no time is left")
        if len(prompt) > MAX_PROMPT_CHARS:
            raise InputTooLong("scripted")
        if self._script:
            text = self._script(prompt)
        elif schema is not None:
            text = json.dumps(_smallest(schema))
        else:
            text = next(iter(prompt.splitlines()[-1:]), "")
        return " ".join(text.split(" ")[:max_tokens])


def _smallest(schema: JsonSchema) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    if schema["type"] != "object":
        return _PLAIN[schema["type"]]
    properties = schema.get("properties", {})
    return {name: _smallest(properties[name]) for name in schema.get("required", ())}
