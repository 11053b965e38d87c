"""Fitted weights. Written by `tests/bench/fit_answerability.py`; do not edit."""

from __future__ import annotations

from types import MappingProxyType

from clawmem.domain.retrieval.requested import Shortfall
from clawmem.domain.surfacing.answerability_model import Weights

BY_WORDS = Weights(bias=3.422, line=1.742, unknown=0.0969, entries=0.9797, task=3.315, general=1.664, pointing=1.381, ours=1.824, own=1.154, identifier=1.49, name=0.8006, whole=1.913, cosine=0.0, coverage=2.614, unmet=Shortfall(words=1.605, names=2.17, number=2.932, slot=1.927))  # fmt: skip

BY_FAMILY = MappingProxyType({
    "wordllama:l2_supercat": Weights(bias=2.41, line=0.6059, unknown=0.322, entries=0.971, task=3.444, general=1.765, pointing=1.341, ours=1.986, own=1.04, identifier=2.216, name=0.389, whole=2.569, cosine=12.88, coverage=1.571, unmet=Shortfall(words=1.108, names=2.083, number=3.769, slot=2.108)),
    "minilm:384": Weights(bias=-1.541, line=0.5585, unknown=0.3911, entries=0.3861, task=2.865, general=1.61, pointing=1.059, ours=1.5, own=1.25, identifier=1.593, name=0.0, whole=3.893, cosine=12.28, coverage=1.066, unmet=Shortfall(words=1.875, names=1.743, number=3.128, slot=1.634)),
})  # fmt: skip
