"""Single-line settings of the config file, for hooks: loading all settings would exceed their time budget."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress

from clawmem.app.places import config_place, text_in

CONFIG_FILES = ("config.yaml", "index.yml")
_SCALAR = r"(?m)^(\w+):[ \t]+([^#\s{\[|>&*!][^#\n]*?)[ \t]*(?:[ \t]#.*)?$"


def plain_settings(env: Mapping[str, str]) -> dict[str, str]:
    """Return the top-level ``key: value`` lines of the config file, without nested values."""
    for name in CONFIG_FILES:
        with suppress(OSError, UnicodeDecodeError):
            found = re.findall(_SCALAR, text_in(f"{config_place(env)}/{name}"))
            return {key: value.strip("'\"") for key, value in found}
    return {}
