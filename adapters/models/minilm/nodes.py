"""Builder for the nodes of an ONNX graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx import NodeProto, TensorProto, helper, numpy_helper

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MICROSOFT = "com.microsoft"  # operator domain of onnxruntime, in addition to the standard operators


class Nodes:
    """Operators and constants in execution order; every value gets a generated name."""

    def __init__(self) -> None:
        self.operators: list[NodeProto] = []
        self.constants: list[TensorProto] = []

    def constant(self, value: npt.NDArray[Any] | np.generic) -> str:
        """Add a constant that is stored with the model."""
        import numpy as np

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value).reshape(value.shape), name))
        return name

    def integers(self, *values: int) -> str:
        """Add a constant list of integers, the form in which ONNX takes shapes and axes."""
        import numpy as np

        return self.constant(np.array(values, dtype=np.int64))

    def split(self, operator: str, *inputs: str, into: int, **attributes: Any) -> list[str]:
        """Add an operator with *into* results and return their names."""
        names = [f"{operator}_{len(self.operators)}_{number}" for number in range(into)]
        self.operators.append(helper.make_node(operator, list(inputs), names, **attributes))
        return names

    def apply(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add an operator with one result and return its name."""
        return self.split(operator, *inputs, into=1, **attributes)[0]

    def result(self, value: str, name: str) -> None:
        """Make *value* an output of the graph called *name*."""
        self.operators.append(helper.make_node("Identity", [value], [name]))
