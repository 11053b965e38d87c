"""The whole configuration: environment and config file, read once at startup."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from clawmem.app.environment.places import config_folder, default_vault, home_folder, models_folder
from clawmem.app.settings.config_file import fault_of_name, find_config, read_config
from clawmem.app.settings.plain import MOST_DAYS
from clawmem.app.settings.sections import (
    CollectionSettings,
    EmbedServer,
    LaneSettings,
    LifecycleSettings,
    ModelServer,
    RerankServer,
    absolute_folder,
    expanded,
    servers_in,
)
from clawmem.app.settings.vaults import read_vaults
from clawmem.domain.documents.path_context import path_context
from clawmem.ports.errors import ConfigError, VaultError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Environment = Mapping[str, str]

_LANES = {  # environment variables of the lanes, and their keys in the config file
    "CLAWMEM_ENABLE_AMEM": "enrich",
    "CLAWMEM_ENABLE_CONSOLIDATION": "light",
    "CLAWMEM_CONSOLIDATION_INTERVAL": "light_interval",
    "CLAWMEM_HEAVY_LANE": "heavy",
    "CLAWMEM_HEAVY_LANE_INTERVAL": "heavy_interval",
    "CLAWMEM_HEAVY_LANE_WINDOW_START": "window_start",
    "CLAWMEM_HEAVY_LANE_WINDOW_END": "window_end",
    "CLAWMEM_HEAVY_LANE_MAX_USAGES": "max_usages",
    "CLAWMEM_HEAVY_LANE_OBS_LIMIT": "obs_limit",
    "CLAWMEM_HEAVY_LANE_DED_LIMIT": "ded_limit",
    "CLAWMEM_HEAVY_LANE_SURPRISAL": "surprisal",
    "CLAWMEM_MERGE_GUARD_DRY_RUN": "dry_run",
    "CLAWMEM_MERGE_SCORE_NORMAL": "merge_normal",
    "CLAWMEM_MERGE_SCORE_STRICT": "merge_strict",
    "CLAWMEM_CONTRADICTION_POLICY": "contradictions",
    "CLAWMEM_CONTRADICTION_MIN_CONFIDENCE": "min_confidence",
}
_TRUE = frozenset({"1", "true", "yes", "on"})


class Settings(BaseModel):
    """All settings; services receive single values, never this object."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    vault: Path = Field(description="The vault file.")
    named: str | None = Field(default=None, description="The name of the vault, if it is not the usual one.")
    home: Path = Field(default_factory=Path.home, description="Home folder of the user.")
    config_file: Path = Field(description="The config file in effect, there or not.")
    backend: str | None = Field(
        default=None, min_length=1, description="Engine of the indexes; by default the one in use."
    )
    backend_options: dict[str, str] = Field(
        default_factory=dict, description="Options of the backend: for lancedb uri, endpoint and others."
    )
    embedder: Literal["auto", "static", "minilm", "embeddinggemma"] = Field(
        default="auto",
        description="Model of the vectors; auto: that of the vectors, else the best installed.",
    )
    models: Path = Field(
        default_factory=lambda: models_folder(os.environ), description="Folder of added models."
    )
    embed_server: EmbedServer | None = Field(
        default=None, description="Makes the vectors: CLAWMEM_EMBED_URL."
    )
    llm_server: ModelServer | None = Field(default=None, description="Writes text: CLAWMEM_LLM_URL.")
    rerank_server: RerankServer | None = Field(
        default=None, description="Compares answers with the question: CLAWMEM_RERANK_URL."
    )
    ranking: Literal["calibrated", "published", "openclaw"] = Field(
        default="calibrated", description="Policy that combines relevance and metadata into one score."
    )
    telemetry: bool = Field(default=True, description="Whether questions are recorded, without their text.")
    retention_days: int = Field(
        default=90, ge=1, le=MOST_DAYS, description="For how long recorded questions are kept."
    )
    receipts: bool = Field(
        default=True, description="Whether receipts of answers are kept, with the question's text."
    )
    receipt_days: int = Field(default=30, ge=1, le=MOST_DAYS, description="For how long receipts are kept.")
    read_only: bool = Field(default=False, description="Never change the vault.")
    no_local_models: bool = Field(
        default=False, description="Neither download a model nor run a large one in this process."
    )
    download_models: bool = Field(
        default=False,
        description="Download a large model when a command that changes the vault first needs it.",
    )
    profile: Literal["speed", "balanced", "deep"] = Field(
        default="balanced", description="Time that an answer may take."
    )
    server: Literal["auto", "manual"] = Field(
        default="manual", description="Whether the first hook that finds no server starts one."
    )
    collections: dict[str, CollectionSettings] = Field(
        default_factory=dict, description="The folders that are remembered, by name."
    )

    @field_validator("collections", mode="before")
    @classmethod
    def _names(cls, collections: Any) -> Any:
        for name in collections if isinstance(collections, Mapping) else ():
            if fault := fault_of_name(str(name)):
                raise ValueError(f"{fault} Rename the collection")
        return collections

    inbox: str = Field(
        default="",
        description="Folder of notes that `remember` writes: below a collection, or absolute in one of them.",
    )

    @field_validator("inbox")
    @classmethod
    def _inbox(cls, inbox: str) -> str:
        path = expanded(Path(inbox))
        if ".." in path.parts:
            raise ValueError("must not contain ..")
        return str(path) if inbox.strip() else ""

    global_context: str = Field(default="", description="Description of all collections.")
    vaults: dict[str, Path] = Field(default_factory=dict, description="Further vaults by name.")
    sync_folders: list[Path] = Field(
        default_factory=list,
        description="Further folders that programs may read into named vaults, with their subfolders.",
    )
    lifecycle: LifecycleSettings | None = Field(
        default=None,
        description="When idle documents are archived; previewed only, unless it says dry_run: false.",
    )
    lanes: LaneSettings | None = Field(
        default=None, description="Schedule and limits of the maintenance lanes."
    )
    autoEmbed: bool | None = Field(  # noqa: N815
        default=None,
        description="Whether reading any folder ends with the vectors that are missing; by default after `update` if a "
        "model of this machine makes them in a minute.",
    )

    @field_validator("lifecycle", mode="before")
    @classmethod
    def _no_policy(cls, section: Any) -> Any:
        return section or None

    @field_validator("sync_folders")
    @classmethod
    def _absolute(cls, folders: list[Path]) -> list[Path]:
        return [absolute_folder(folder) for folder in folders]

    @property
    def roots(self) -> dict[str, str]:
        """The folder of each configured collection."""
        return {name: str(one.path) for name, one in self.collections.items()}

    def context_of(self, collection: str, path: str) -> str | None:
        """Return the descriptions of everything, and of the folders above *path*; ``None`` without any."""
        configured = self.collections.get(collection)
        return path_context(path, configured.context if configured else {}, self.global_context)

    def embeds(self, collections: Iterable[str]) -> bool | None:
        """Return whether reading *collections* ends with the missing vectors; ``None`` if nothing says so."""
        said = {self.collections[name].autoEmbed for name in collections if name in self.collections}
        if self.autoEmbed or True in said:
            return True
        return False if self.autoEmbed is False or False in said else None

    @property
    def kept_receipt_days(self) -> int:
        """Days for which receipts are stored; 0 stores none."""
        return self.receipt_days if self.receipts else 0

    @property
    def own_files(self) -> list[Path]:
        """The files of clawmem itself, which are never read into a vault."""
        return [self.vault, *self.vaults.values(), self.config_file]

    @property
    def folders_for_programs(self) -> list[Path]:
        """The folders that a program may read into a named vault, including their subfolders."""
        return [*(one.path for one in self.collections.values()), *self.sync_folders]


# Sections whose keys are known, and whose values contain no secrets.
_SECTIONS: Mapping[str, type[BaseModel]] = {
    "collections": CollectionSettings,
    "lifecycle": LifecycleSettings,
    "lanes": LaneSettings,
}

# The keys allowed in a config file; all others come from the environment and the command line.
_CONFIG_KEYS = frozenset(Settings.model_fields) - {
    "vault",
    "named",
    "home",
    "config_file",
    "models",
    "embed_server",
    "llm_server",
    "rerank_server",
    "read_only",
    "no_local_models",
}


def load_settings(
    *, vault: Path | None = None, backend: str | None = None, environ: Environment | None = None
) -> Settings:
    """
    Read the environment and the config file; *vault* and *backend* take precedence over both.

    Args:
        environ: The environment; by default that of this process.

    Raises:
        ConfigError: A file cannot be parsed, a key is unknown, or a value has the wrong type.
    """
    env = os.environ if environ is None else environ
    path = find_config(config_folder(env))
    chosen = _from_file(path)
    chosen |= _from_environment(env, chosen)
    chosen |= {"vault": vault_file(expanded(vault) if vault else default_vault(env)), "config_file": path}
    chosen |= {"home": home_folder(env), "models": models_folder(env)}
    chosen |= {"backend": backend} if backend else {}
    return _validated(chosen, path)


def vault_file(path: Path) -> Path:
    """Return *path*; raise `VaultError` for the root of the file system, beside which no file can be."""
    if path.name:
        return path
    reason = f"{path} is not a clawmem vault: it is a folder, and a vault is a file."
    raise VaultError(str(path), f"{reason} Choose another INDEX_PATH, or another --vault.")


def _from_file(path: Path) -> dict[str, Any]:
    data = {key: value for key, value in read_config(path).items() if value is not None}
    if data.pop("directoryContext", False):
        raise ConfigError(
            f"{path}: directoryContext is on, but clawmem writes no CLAUDE.md into folders. Remove the key; "
            "the hooks add recent decisions to sessions."
        )
    for key in data.keys() - _CONFIG_KEYS:
        known = ", ".join(sorted(_CONFIG_KEYS))
        raise ConfigError(f"{path}: the key {key!r} is not known. Remove it, or use one of: {known}.")
    return data


def _from_environment(env: Environment, chosen: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"no_local_models": env.get("CLAWMEM_NO_LOCAL_MODELS", "").lower() in _TRUE}
    if profile := env.get("CLAWMEM_PROFILE"):
        found["profile"] = profile
    if said := env.get("CLAWMEM_DOWNLOAD_MODELS"):
        found["download_models"] = said.lower() in _TRUE
    found |= servers_in(env)
    vaults = read_vaults(chosen.get("vaults", {}), env)
    if text := env.get("CLAWMEM_VAULTS"):
        vaults |= read_vaults(_vaults(text), env)
    found["vaults"] = vaults
    lanes = {key: env[name] for name, key in _LANES.items() if env.get(name)}
    section = chosen.get("lanes", {})
    if lanes and isinstance(section, Mapping):
        found["lanes"] = {**section, **lanes}
    return found


def _vaults(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError('CLAWMEM_VAULTS must be JSON such as {"work": "/path/to/work.sqlite"}.') from error


def _validated(chosen: dict[str, Any], path: Path) -> Settings:
    try:
        return Settings.model_validate(chosen)
    except ValidationError as error:
        from clawmem.app.settings.faults import fault_of

        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        fault = f"{fault_of(first)}{_remedy(first)}"
        raise ConfigError(f"{where} in {path} or the environment: {fault}.") from error


def _remedy(error: ErrorDetails) -> str:
    """Return the known keys of a section where one is unknown, and a value that may be shown where it is wrong."""
    section = _SECTIONS.get(str(error["loc"][0]))
    if section and error["type"] == "extra_forbidden":
        return f". Use one of: {', '.join(section.model_fields)}"
    return f", not {error['input']!r}" if section and error["type"] not in ("missing", "value_error") else ""
