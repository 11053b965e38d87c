"""Model servers configured in the environment only, because a key does not belong in a config file."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field


class ModelServer(BaseModel):
    """A server that was chosen instead of a model in this process."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str = Field(
        min_length=1, repr=False, description="Address, with a password if the server needs one."
    )
    model: str | None = Field(default=None, description="Model; by default that of the provider.")
    api_key: str | None = Field(default=None, repr=False, description="API key.")


class EmbedServer(ModelServer):
    """A server that makes the vectors."""

    dimensions: int | None = Field(default=None, gt=0, description="Dimensions of the vectors.")
    max_chars: int = Field(
        default=6000, gt=0, description="Maximum characters of a text; the rest is cut off."
    )
    tokens_per_minute: int = Field(default=100_000, gt=0, description="Rate limit of the provider.")


class RerankServer(ModelServer):
    """A server that compares each answer with the question."""

    max_document_chars: int = Field(default=4000, gt=0, description="Maximum characters of each document.")


# For each field of the settings: the prefix of its variables, and the suffix of each variable.
_COMMON = {"url": "URL", "model": "MODEL", "api_key": "API_KEY"}
_VARIABLES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "embed_server": (
        "CLAWMEM_EMBED_",
        {
            **_COMMON,
            "dimensions": "DIMENSIONS",
            "max_chars": "MAX_CHARS",
            "tokens_per_minute": "TPM_LIMIT",
        },
    ),
    "llm_server": ("CLAWMEM_LLM_", _COMMON),
    "rerank_server": ("CLAWMEM_RERANK_", {**_COMMON, "max_document_chars": "MAX_DOC_CHARS"}),
}


def servers_in(env: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the unvalidated settings of each server whose URL is in *env*, by field of the settings."""
    found = {}
    for server, (prefix, fields) in _VARIABLES.items():
        said = {field: env[prefix + end] for field, end in fields.items() if env.get(prefix + end)}
        if "url" in said:
            found[server] = said
    return found
