"""Fitted weights. Written by `tests/bench/fit_answerability.py`; do not edit."""

from __future__ import annotations

from types import MappingProxyType

from clawmem.domain.retrieval.requested import Shortfall
from clawmem.domain.surfacing.answerability_model import Weights

BY_WORDS = Weights(bias=3.367, line=1.746, unknown=0.1224, entries=0.9702, task=3.305, general=1.673, pointing=1.375, ours=1.859, own=1.142, identifier=1.495, name=0.8146, whole=1.921, cosine=0.0, coverage=2.589, unmet=Shortfall(words=1.636, names=2.101, number=2.557, slot=1.929))  # fmt: skip

BY_FAMILY = MappingProxyType({
    "wordllama:l2_supercat": Weights(bias=2.299, line=0.6161, unknown=0.3704, entries=0.9537, task=3.422, general=1.781, pointing=1.334, ours=2.022, own=1.009, identifier=2.214, name=0.41, whole=2.579, cosine=12.78, coverage=1.554, unmet=Shortfall(words=1.108, names=1.986, number=3.349, slot=2.116)),
    "minilm:384": Weights(bias=-1.604, line=0.5633, unknown=0.4664, entries=0.3771, task=2.856, general=1.638, pointing=1.054, ours=1.522, own=1.23, identifier=1.59, name=0.0, whole=3.91, cosine=12.32, coverage=1.038, unmet=Shortfall(words=1.886, names=1.533, number=2.638, slot=1.629)),
})  # fmt: skip
