"""An ONNX graph while it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx import NodeProto, TensorProto, helper, numpy_helper

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MICROSOFT = "com.microsoft"  # operators that onnxruntime adds to the standard's


class Nodes:
    """Operators and constants, in the order of their calculation; every value is known by a made-up name."""

    def __init__(self) -> None:
        self.operators: list[NodeProto] = []
        self.constants: list[TensorProto] = []

    def constant(self, value: npt.NDArray[Any] | np.generic) -> str:
        """A value that is stored with the model."""
        import numpy as np

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value).reshape(value.shape), name))
        return name

    def integers(self, *values: int) -> str:
        """A stored list of integers, as shapes and axes are given."""
        import numpy as np

        return self.constant(np.array(values, dtype=np.int64))

    def split(self, operator: str, *inputs: str, into: int, **attributes: Any) -> list[str]:
        """Apply an operator that has *into* results."""
        names = [f"{operator}_{len(self.operators)}_{number}" for number in range(into)]
        self.operators.append(helper.make_node(operator, list(inputs), names, **attributes))
        return names

    def apply(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Apply an operator that has one result."""
        return self.split(operator, *inputs, into=1, **attributes)[0]

    def result(self, value: str, name: str) -> None:
        """Give *value* the *name* under which the caller asks for it."""
        self.operators.append(helper.make_node("Identity", [value], [name]))
