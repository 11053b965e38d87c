"""
The sections ``lifecycle`` and ``lanes`` of the configuration. A key without a value has its default.

Their validators are built once, as part of `Settings`: ``defer_build`` saves 2 ms of every start.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def _not_a_boolean(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError(f"must be a number, not {value}")  # noqa: TRY004  pydantic reports ValueError alone
    return value


Days = Annotated[float, Field(gt=0, strict=True)]
Hour = Annotated[int, Field(ge=0, le=23), BeforeValidator(_not_a_boolean)]
Count = Annotated[int, Field(ge=0), BeforeValidator(_not_a_boolean)]
Share = Annotated[float, Field(ge=0, le=1), BeforeValidator(_not_a_boolean)]


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
