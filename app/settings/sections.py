"""
Sections of the configuration: collections, the lifecycle, the lanes, and the model servers.

Model servers are configured in the environment alone, because a key does not belong in a config file. The validators of
``lifecycle`` and ``lanes`` are built once, as part of `Settings`: ``defer_build`` saves 2 ms of every start.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AnyHttpUrl,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
)

from clawmem.domain.documents.eligibility import check_pattern
from clawmem.ports.errors import InvalidInput


def _not_a_boolean(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError(f"must be a number, not {value}")  # noqa: TRY004  pydantic reports ValueError alone
    return value


Days = Annotated[float, Field(gt=0, strict=True)]
Hour = Annotated[int, Field(ge=0, le=23), BeforeValidator(_not_a_boolean)]
Count = Annotated[int, Field(ge=0), BeforeValidator(_not_a_boolean)]
Share = Annotated[float, Field(ge=0, le=1), BeforeValidator(_not_a_boolean)]


def expanded(path: Path) -> Path:
    """Return *path* with ``~`` expanded; raise `ValueError` if it names a user who does not exist."""
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise ValueError(f"{path.parts[0]} is the home folder of no user. Write the path in full") from error


def absolute_folder(path: Path) -> Path:
    """Return *path* with ``~`` expanded; raise `ValueError` if it is relative."""
    path = expanded(path)
    if not path.is_absolute():
        raise ValueError("must be an absolute folder")
    return path


class CollectionSettings(BaseModel):
    """One folder of notes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: Path = Field(description="Absolute path of the folder; `~` is the home folder.")
    pattern: str = Field(default="**/*.md", description="Glob of the files that are read.")
    exclude: list[str] = Field(
        default_factory=list, description="Patterns of files that are not read, as in .gitignore."
    )
    gitignore: bool = Field(default=True, description="Whether .gitignore files exclude files.")
    context: dict[str, str] = Field(
        default_factory=dict,
        description="Descriptions of folders and files, by their path in the collection.",
    )
    update: str | None = Field(
        default=None, description="Shell command of `update --pull`, run in the folder."
    )
    trust: Literal["user", "shared", "outside"] = Field(
        default="user", description="Trust in its notes; notes of any level but `user` are quoted in prompts."
    )
    autoEmbed: bool | None = Field(  # noqa: N815
        default=None, description="Whether reading the folder ends with the vectors that are missing."
    )

    @field_validator("path")
    @classmethod
    def _absolute(cls, path: Path) -> Path:
        return absolute_folder(path)

    @field_validator("pattern")
    @classmethod
    def _pattern(cls, pattern: str) -> str:
        if not pattern.strip() or "[" in pattern or "{" in pattern:
            try:
                check_pattern(pattern)
            except InvalidInput as error:
                raise ValueError(str(error).rstrip(".")) from error
        return pattern


class LifecycleSettings(BaseModel):
    """When idle documents are archived and forgotten."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, coerce_numbers_to_str=True)

    archive_after_days: Days | None = Field(
        default=None, description="Idle days until a document is archived."
    )
    type_overrides: dict[str, Days | None] | None = Field(
        default=None, description="The same for single content types; null is never."
    )
    purge_after_days: Days | None = Field(
        default=None, description="Days until an archived document is forgotten; by default never."
    )
    exempt_collections: list[str] | None = Field(
        default=None, description="Collections whose documents are never archived."
    )
    dry_run: bool | None = Field(default=None, strict=True, description="Only preview, unless this is false.")


class LaneSettings(BaseModel):
    """Schedule and limits of the maintenance lanes. Variables of the environment are numbers and switches as text."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    light: bool | None = Field(default=None, description="Whether servers run the light lane.")
    heavy: bool | None = Field(default=None, description="Whether servers run the heavy lane.")
    enrich: bool | None = Field(default=None, description="Whether the light lane enriches documents.")
    dry_run: bool | None = Field(default=None, description="Whether the light lane only reports merges.")
    surprisal: bool | None = Field(default=None, description="Process the most unusual notes first.")
    window_start: Hour | None = Field(default=None, description="First hour of the heavy lane, local time.")
    window_end: Hour | None = Field(default=None, description="Hour in which the heavy lane ends.")
    light_interval: Count | None = Field(default=None, description="Milliseconds between two ticks.")
    heavy_interval: Count | None = Field(default=None, description="Milliseconds between two ticks.")
    max_usages: Count | None = Field(
        default=None, description="Questions within ten minutes, above which the heavy lane pauses."
    )
    light_limit: Count | None = Field(default=None, description="Documents per tick of the light lane.")
    obs_limit: Count | None = Field(default=None, description="Observations per tick of the heavy lane.")
    ded_limit: Count | None = Field(default=None, description="Deductions per tick of the heavy lane.")
    enrich_limit: Count | None = Field(default=None, description="Documents enriched per tick.")
    daily_calls: Count | None = Field(default=None, description="Calls of models a day.")
    merge_normal: Share | None = Field(
        default=None, description="Cosine from which notes about the same names are merged."
    )
    merge_strict: Share | None = Field(
        default=None, description="Cosine from which notes are merged whose names cannot be compared."
    )
    min_confidence: Share | None = Field(
        default=None, description="Confidence from which a contradiction counts."
    )
    contradictions: Literal["link", "supersede"] | None = Field(
        default=None, description="Treatment of contradicting notes."
    )


class ModelServer(BaseModel):
    """A server that was chosen instead of a model in this process."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str = Field(
        min_length=1, repr=False, description="Address, with a password if the server needs one."
    )
    model: str | None = Field(default=None, description="Model; by default that of the provider.")
    api_key: str | None = Field(default=None, repr=False, description="API key.")

    @field_validator("url")
    @classmethod
    def _address(cls, url: str) -> str:
        try:
            AnyHttpUrl(url)
        except ValidationError:  # its text may hold a password
            raise ValueError("is no address of a model server. Write it like http://localhost:8088") from None
        return url


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
