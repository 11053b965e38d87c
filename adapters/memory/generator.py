from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from clawmem.ports.errors import InputTooLong, ModelUnavailable
from clawmem.ports.models import JsonSchema

MODEL = "scripted"
MAX_PROMPT_CHARS = 100_000

_PLAIN: Mapping[str, Any] = {
    "string": "", "integer": 0, "number": 0.0, "boolean": False, "null": None, "array": []
}  # fmt: skip


class ScriptedGenerator:
    """
    Reference ``Generator`` without a model, also used as a test double.

    It returns the result of *script*; without a script the last line of the prompt or, with a schema, the
    smallest value that fits the schema. A token is a word.
    """

    fingerprint = f"{MODEL}-1"

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
            raise ModelUnavailable(MODEL, "no time is left")
        if len(prompt) > MAX_PROMPT_CHARS:
            raise InputTooLong(MODEL)
        if self._script:
            text = self._script(prompt)
        elif schema is not None:
            text = json.dumps(_smallest(schema))
        else:
            text = next(iter(prompt.splitlines()[-1:]), "")
        return " ".join(text.split(" ")[:max_tokens])


def _smallest(schema: JsonSchema) -> Any:
    """Return the smallest value that fits *schema*."""
    if "enum" in schema:
        return schema["enum"][0]
    if schema["type"] != "object":
        return _PLAIN[schema["type"]]
    properties = schema.get("properties", {})
    return {name: _smallest(properties[name]) for name in schema.get("required", ())}
