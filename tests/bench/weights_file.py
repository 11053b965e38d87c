"""Modules of fitted weights: the only place that contains them, written by the scripts that fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DIGITS = 4  # significant digits of a weight

HEAD = '''"""Fitted weights. Written by `{script}`; do not edit."""

from __future__ import annotations

from types import MappingProxyType

{imports}
'''


def text_of_module(script: str, source: str, values: Mapping[str, Any]) -> str:
    """
    Return a module that defines *values*: weights, or mappings of names to weights.

    Args:
        script: Path of the script that fitted them.
        source: Module of the classes of the weights.
        values: Values by the name of the constant.
    """
    some = [
        one
        for value in values.values()
        for one in (value.values() if isinstance(value, Mapping) else [value])
    ]
    names = ", ".join(sorted({type(one).__name__ for one in some}))
    imports = sorted(
        [f"from {source} import {names}", "from clawmem.domain.retrieval.requested import Shortfall"]
    )
    constants = (f"{name} = {_text(value)}  # fmt: skip\n" for name, value in values.items())
    return "\n".join([HEAD.format(script=script, imports="\n".join(imports)), *constants])


def write(module: str, text: str) -> None:
    """Write *text* as the file of *module*."""
    (ROOT / f"{module.removeprefix('clawmem.').replace('.', '/')}.py").write_text(text, "utf-8")


def fitted_weights(kind: Any, names: Sequence[str], model: Sequence[float], leniency: float = 0.0) -> Any:
    """
    Return *model* (bias and slopes of the features *names*) as weights of class *kind*.

    The slopes ``unmet …`` become its `Shortfall`. *leniency* is added to the bias.
    """
    from clawmem.domain.retrieval.requested import Shortfall

    bias, *slopes = (_rounded(value) for value in (model[0] + leniency, *model[1:]))
    lacks = {
        n.removeprefix("unmet "): s for n, s in zip(names, slopes, strict=True) if n.startswith("unmet ")
    }
    others = {n: s for n, s in zip(names, slopes, strict=True) if not n.startswith("unmet ")}
    more = {"unmet": Shortfall(**lacks)} if lacks else {}
    return kind(bias=bias, **others, **more)


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        rows = "".join(f'    "{name}": {_text(one)},\n' for name, one in value.items())
        return f"MappingProxyType({{\n{rows}}})"
    slopes = ", ".join(
        f"{name}={_text(one) if isinstance(one, tuple) else one}" for name, one in value._asdict().items()
    )
    return f"{type(value).__name__}({slopes})"
