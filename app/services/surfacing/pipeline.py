"""``surfacing``: what a prompt finds, as one row of stages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from clawmem.app.services.retrieval.legs.ask_all import AskAll, Leg
from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.stages.cut import cut
from clawmem.app.services.retrieval.stages.fuse import fuse
from clawmem.app.services.retrieval.stages.precise_first import precise_first
from clawmem.app.services.retrieval.stages.score import score
from clawmem.app.services.retrieval.work import Stage
from clawmem.app.services.surfacing.choices import Choices
from clawmem.app.services.surfacing.discovery import legs_of
from clawmem.app.services.surfacing.files import about_named_files
from clawmem.app.services.surfacing.settling import (
    IsRefused,
    activated,
    confident,
    focused,
    guarded,
    judged_alone,
    threshold,
    varied,
    visible,
)
from clawmem.ports.embedder import Embedder
from clawmem.ports.late_interaction import LateInteraction
from clawmem.ports.vault import Vault


class Means(NamedTuple):
    """
    What there is to find with; of the models none need be there.

    ``confidence`` is the stage that makes scores absolute.
    """

    is_refused: IsRefused = lambda text: False
    embedder: Embedder | None = None
    late: LateInteraction | None = None
    confidence: Stage = confident


def surfacing(vault: Vault, means: Means, choices: Choices) -> Pipeline:
    """
    The retrieval of `query`, or of `search` where no model may be loaded, for lines; then what is said of it.

    A vault without anything to compare by meaning costs no more than words.
    """
    profile = choices.profile
    by_meaning = profile.by_meaning and vault.embeddings.fingerprint() is not None
    embedder = means.embedder if by_meaning else None
    return Pipeline(
        vault,
        {
            "search": AskAll(legs_of(vault, embedder, choices), profile.deadline_s),
            "fuse": fuse(vault),
            **(_compared(vault, means.late) if profile.by_meaning else {}),
            "precise first": precise_first(vault),
            "named files": about_named_files(vault),
            "judge": judged_alone(vault, _alone(vault, embedder, choices)),
            "score": score(vault),
            "confident": means.confidence,
            "visible": visible(vault),
            "focused": focused(vault, choices.topic),
            "threshold": threshold(profile, choices.mode),
            "activated": activated(vault),
            "varied": varied(vault),
            "cut": cut,
            "guarded": guarded(vault, means.is_refused),
        },
    )


def _alone(vault: Vault, embedder: Embedder | None, choices: Choices) -> Mapping[str, Leg]:
    """The legs of the prompt alone; none where it was asked alone already."""
    return legs_of(vault, embedder, choices._replace(asked="")) if choices.looks_back else {}


def _compared(vault: Vault, late: LateInteraction | None) -> dict[str, Stage]:
    if late is None:
        return {}
    from clawmem.app.services.retrieval.stages.compare import compare

    return {"compare": compare(vault, late)}
