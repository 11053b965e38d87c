"""Modules of fitted weights: the only place that contains them, written by the script that fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DIGITS = 4  # significant digits of a weight

HEAD = '''"""Fitted weights. Written by `{script}`; do not edit."""

from __future__ import annotations

from types import MappingProxyType

from {source} import {names}
'''


def text_of_module(script: str, source: str, values: Mapping[str, Any]) -> str:
    """
    Return a module that defines *values*: weights, or mappings of names to weights.

    Args:
        script: Path of the script that fitted them.
        source: Module of the classes of the weights.
        values: Values by the name of the constant.
    """
    weights = [
        one
        for value in values.values()
        for one in (value.values() if isinstance(value, Mapping) else [value])
    ]
    names = ", ".join(sorted({type(one).__name__ for one in weights}))
    constants = (f"{name} = {_text(value)}  # fmt: skip\n" for name, value in values.items())
    return "\n".join([HEAD.format(script=script, source=source, names=names), *constants])


def write(module: str, text: str) -> None:
    """Write *text* as the file of *module*."""
    (ROOT / f"{module.removeprefix('clawmem.').replace('.', '/')}.py").write_text(text, "utf-8")


def fitted_weights(kind: Any, model: Sequence[float]) -> Any:
    """Return *model*, bias and slopes, as weights of class *kind*."""
    return kind(*(float(f"{value:.{DIGITS}g}") for value in model))


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        rows = "".join(f'    "{name}": {_text(one)},\n' for name, one in value.items())
        return f"MappingProxyType({{\n{rows}}})"
    slopes = ", ".join(f"{name}={weight}" for name, weight in value._asdict().items())
    return f"{type(value).__name__}({slopes})"
