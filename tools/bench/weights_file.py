"""Modules of fitted weights: the only place that contains them, written by the script that fits."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DIGITS = 4  # significant digits of a weight

HEAD = '''"""Fitted weights. Written by `{script}`; do not edit."""

from __future__ import annotations

from types import MappingProxyType
'''


def text_of_module(script: str, values: Mapping[str, Any]) -> str:
    """
    Return a module that defines *values*: weights, or mappings of names to weights.

    Args:
        script: Path of the script that fitted them.
        values: Values by the name of the constant.
    """
    constants = (f"{name} = {_text(value)}  # fmt: skip\n" for name, value in values.items())
    return "\n".join([HEAD.format(script=script), *constants])


def write(module: str, text: str) -> None:
    """Write *text* as the file of *module*."""
    (ROOT / f"{module.removeprefix('clawmem.').replace('.', '/')}.py").write_text(text, "utf-8")


def fitted_weights(features: Iterable[str], model: Sequence[float]) -> dict[str, float]:
    """Return *model*, bias and the slopes of *features*, as weights by name."""
    rounded = (float(f"{value:.{DIGITS}g}") for value in model)
    return dict(zip(("bias", *features), rounded, strict=True))


def _text(value: Mapping[str, Any]) -> str:
    if "bias" not in value:
        rows = "".join(f'    "{name}": {_text(weights)},\n' for name, weights in value.items())
        return f"MappingProxyType({{\n{rows}}})"
    return json.dumps(value)
