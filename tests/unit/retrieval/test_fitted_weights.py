"""Fitted weights: the script writes the module, and computes the probabilities that the module computes."""

from __future__ import annotations

import random
from importlib import import_module
from pathlib import Path

import fit_confidence
import numpy as np
import pytest
from weights_file import ROOT, fitted_weights, text_of_module

from clawmem.domain.retrieval import relevance
from clawmem.domain.retrieval.relevance import Evidence, answer_features

STATIC = "wordllama:l2_supercat"


def test_the_module_is_what_the_script_writes() -> None:
    """Nothing in it was added or arranged by hand."""
    module = import_module(fit_confidence.WEIGHTS)
    values = {name: getattr(module, name) for name in vars(module) if name.isupper()}

    text = text_of_module(fit_confidence.SCRIPT, values)

    path = ROOT / f"{fit_confidence.WEIGHTS.removeprefix('clawmem.').replace('.', '/')}.py"
    assert Path(str(module.__file__)).resolve() == path.resolve()
    assert path.read_text("utf-8") == text


def test_a_fitted_question_gets_the_probability_of_the_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The features that are fitted are those that are weighed."""
    facts = [sample(number) for number in range(60)]
    model = fit_confidence.fit_answered(facts)
    weights = fitted_weights(answer_features(evidence_of(facts[0])), model.tolist())
    monkeypatch.setattr(relevance, "ANSWERED", {STATIC: weights})

    expected = fit_confidence.sigmoid(fit_confidence.features(facts) @ model[1:] + model[0])
    computed = [relevance.answer_probability(evidence_of(fact), STATIC) for fact in facts]

    assert computed == pytest.approx(expected.tolist(), abs=0.01)
    assert np.ptp(computed) > 0.5


def sample(number: int) -> dict[str, object]:
    """Return what was found for an invented question; every other one has an answer."""
    draw, answered = random.Random(number), number % 2 == 0
    evidence = {
        "shared": draw.uniform(0.4, 1) if answered else draw.uniform(0, 0.7),
        "miss": draw.uniform(0, 15) if answered else draw.uniform(5, 30),
        "specificity": draw.uniform(5, 60),
        "entries": draw.randint(20, 9_000),
        "cosine": draw.uniform(0.2, 0.8),
        "is_task": not answered and draw.random() < 0.5,
    }
    about = {"collection": "invented", "unit": "document", "kind": "judged", "answered": answered}
    return {**about, "evidence": evidence, "judged": [1]}


def evidence_of(fact: dict[str, object]) -> Evidence:
    return Evidence(**fact["evidence"])  # type: ignore[arg-type]
