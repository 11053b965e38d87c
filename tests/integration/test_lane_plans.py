"""The plan of the lanes in the config file and in variables."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from clawmem.app.settings.model import LaneSettings, load_settings
from clawmem.domain.maintenance.contradiction_gate import Policy
from clawmem.ports.errors import ConfigError


@pytest.mark.parametrize(
    ("section", "plan"),
    [
        ({}, LaneSettings()),
        ({"window_start": 22, "window_end": "6", "max_usages": 5}, LaneSettings(window_start=22, window_end=6, max_usages=5)),
        ({"obs_limit": 7, "ded_limit": 8, "dry_run": True}, LaneSettings(obs_limit=7, ded_limit=8, dry_run=True)),
        ({"contradictions": "supersede"}, LaneSettings(contradictions=Policy.SUPERSEDE)),
        ({"merge_normal": ".9", "merge_strict": 1, "min_confidence": 0.7},
         LaneSettings(merge_normal=0.9, merge_strict=1.0, min_confidence=0.7)),
        ({"light_interval": 15_000, "heavy_interval": "60000", "enrich": "off", "surprisal": True},
         LaneSettings(light_interval=15_000, heavy_interval=60_000, enrich=False, surprisal=True)),
        ({"light": "off", "heavy": "TRUE"}, LaneSettings(heavy=True)),
    ],
)  # fmt: skip
def test_the_plan_is_what_the_owner_chose(
    tmp_path: Path, section: dict[str, Any], plan: LaneSettings
) -> None:
    """Missing keys keep their defaults; variables of the environment give numbers as text."""
    assert plan_of(tmp_path, section) == plan


@pytest.mark.parametrize(
    ("section", "fault"),
    [
        ({"window_start": 24}, "lanes.window_start in .*: must be less than or equal to 23, not 24"),
        ({"window_start": 22}, "lanes in .*: must have window_start and window_end, or neither of them"),
        ({"light_interval": 1}, "lanes.light_interval in .*: must be greater than or equal to 15000, not 1"),
        ({"window_end": -1}, "lanes.window_end in .*: must be greater than or equal to 0, not -1"),
        ({"obs_limit": "many"}, "lanes.obs_limit in .*: must be a whole number, not 'many'"),
        ({"hours": 3}, "lanes in .*: the key 'hours' is not known. Remove it, or use one of: .*"),
        ({"contradictions": "both"}, "lanes.contradictions in .*: must be 'link' or 'supersede', not 'both'"),
        ({"dry_run": "maybe"}, "lanes.dry_run in .*: must be on or off, not 'maybe'"),
        ({"merge_normal": 1.1}, "lanes.merge_normal in .*: must be less than or equal to 1, not 1.1"),
        ({"min_confidence": "sure"}, "lanes.min_confidence in .*: must be a number, not 'sure'"),
        (7, "lanes in .*: must be a mapping, not 7"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(tmp_path: Path, section: object, fault: str) -> None:
    """The sentence names the key, the file and the value."""
    with pytest.raises(ConfigError) as refused:
        plan_of(tmp_path, section)

    assert re.fullmatch(rf"{fault}\.", str(refused.value))


def plan_of(folder: Path, section: object) -> LaneSettings:
    (folder / "config.yaml").write_text(json.dumps({"lanes": section}), "utf-8")
    return load_settings(environ={"CLAWMEM_CONFIG_DIR": str(folder)}).lanes
