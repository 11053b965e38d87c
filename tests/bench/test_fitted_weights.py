"""Fitted weights: the scripts write the modules, and compute the probabilities that the modules compute."""

from __future__ import annotations

import random
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import fit_answerability
import fit_relevance
import numpy as np
import pytest
from weights_file import ROOT, fitted_weights, text_of_module

from clawmem.domain.retrieval import relevance
from clawmem.domain.retrieval.relevance import Evidence
from clawmem.domain.retrieval.relevance_model import AnsweredWeights
from clawmem.domain.retrieval.requested import Shortfall
from clawmem.domain.surfacing import answerability
from clawmem.domain.surfacing.answerability import PromptMatch
from clawmem.domain.surfacing.answerability_model import Weights
from clawmem.domain.surfacing.prompt_form import PromptForm

STATIC = "wordllama:l2_supercat"


@pytest.mark.parametrize("script", [fit_relevance, fit_answerability])
def test_a_module_is_what_its_script_writes(script: Any) -> None:
    """Nothing in it was added or arranged by hand."""
    module = import_module(script.WEIGHTS)
    names = [name for name in vars(module) if name.isupper()]

    text = text_of_module(script.SCRIPT, script.SOURCE, {name: getattr(module, name) for name in names})

    assert (
        Path(str(module.__file__)).resolve()
        == (ROOT / f"{script.WEIGHTS[8:].replace('.', '/')}.py").resolve()
    )
    assert Path(str(module.__file__)).read_text("utf-8") == text


def test_every_family_is_fitted_on_its_own() -> None:
    """No weights of one embedder are copies of those of another."""
    for script, name in ((fit_relevance, "ANSWERED"), (fit_answerability, "BY_FAMILY")):
        families: Mapping[str, Any] = getattr(import_module(script.WEIGHTS), name)

        static, minilm = (families[one] for one in (STATIC, "minilm:384"))
        assert sum(a == b for a, b in zip(static, minilm, strict=True)) <= 2


def test_a_fitted_question_gets_the_probability_of_the_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The features that are fitted are those that are weighed."""
    facts = [sample(number) for number in range(60)]
    model = fit_relevance.fit_answered(facts, fit_relevance.ANSWERED)
    weights = fitted_weights(AnsweredWeights, fit_relevance.ANSWERED, model.tolist())
    monkeypatch.setattr(relevance, "ANSWERED", {STATIC: weights})

    expected = fit_relevance.predicted(model, fit_relevance.evidence_rows(facts, fit_relevance.ANSWERED))
    found = [relevance.answer_probability(evidence_of(fact), STATIC) for fact in facts]

    assert found == pytest.approx(expected.tolist(), abs=0.01)
    assert np.ptp(found) > 0.5


def test_a_fitted_prompt_gets_the_probability_of_the_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for prompts, with their form and their matches."""
    draw = random.Random(2)
    form, match = PromptForm(task=True, own=True), PromptMatch(name=True)
    model = np.array([0.3, *(draw.uniform(0, 2) for _ in fit_answerability.NAMES)])
    weights = fitted_weights(Weights, fit_answerability.NAMES, model.tolist())
    monkeypatch.setattr(answerability, "BY_FAMILY", {STATIC: weights})

    for number in range(20):
        evidence = evidence_of(sample(number))
        signs = np.array(fit_answerability.signs(evidence, form, match))
        expected = 1 / (1 + np.exp(-(model[0] + signs @ model[1:])))

        assert answerability.answerability(evidence, form, match, STATIC) == pytest.approx(expected, abs=0.01)


def sample(number: int) -> dict[str, Any]:
    """Return what was found for an invented question; every other one has an answer."""
    draw, real = random.Random(number), number % 2 == 0
    evidence = {
        "line": draw.uniform(4, 12) if real else draw.uniform(0, 7),
        "unknown": draw.uniform(0, 0.3) if real else draw.uniform(0, 0.9),
        "entries": draw.randint(400, 9_000),
        "cosine": draw.uniform(0.2, 0.8),
        "coverage": draw.uniform(0.3, 2),
        "words": draw.randint(1, 9),
        "unmet": [draw.uniform(0, 0.6), draw.choice([0, 1]), 0, 0 if real else draw.choice([0, 1])],
    }
    about = {"collection": "invented", "embedder": "static", "unit": "document", "withheld": False}
    return {**about, "real": real, "evidence": evidence, "places": [{"judged": 1}]}


def evidence_of(fact: Mapping[str, Any]) -> Evidence:
    return Evidence(**{**fact["evidence"], "unmet": Shortfall(*fact["evidence"]["unmet"])})
