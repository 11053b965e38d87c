"""What a prompt finds, as two rows of stages: what is found, and what of that is said; models may come between."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

from clawmem.app.services.retrieval.legs.ask_all import AskAll, Leg
from clawmem.app.services.retrieval.pipelines.with_models import NO_MODELS, Models
from clawmem.app.services.retrieval.stages.cut import cut
from clawmem.app.services.retrieval.stages.fuse import fuse
from clawmem.app.services.retrieval.stages.precise_first import precise_first
from clawmem.app.services.retrieval.stages.score import score
from clawmem.app.services.retrieval.stages.successors_first import successors_first
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

    ``confidence`` is the stage that makes scores absolute. ``models`` opens those that a deep profile asks, when it
    does.
    """

    is_refused: IsRefused = lambda text: False
    embedder: Embedder | None = None
    late: LateInteraction | None = None
    confidence: Stage = confident
    models: Callable[[], AbstractContextManager[Models]] = lambda: nullcontext(NO_MODELS)


def finding(vault: Vault, means: Means, choices: Choices) -> dict[str, Stage]:
    """
    The retrieval of `query`, or of `search` where no model may be loaded, for lines; nothing where nothing answers.

    A vault without anything to compare by meaning costs no more than words.
    """
    profile = choices.profile
    by_meaning = profile.by_meaning and vault.embeddings.fingerprint() is not None
    embedder = means.embedder if by_meaning else None
    return {
        "search": AskAll(legs_of(vault, embedder, choices), profile.deadline_s),
        "fuse": fuse(vault),
        **(_compared(vault, means.late, embedder) if profile.by_meaning else {}),
        "precise first": precise_first(vault),
        "named files": about_named_files(vault),
        "judge": judged_alone(vault, _alone(vault, embedder, choices)),
    }


def settling(vault: Vault, means: Means, choices: Choices) -> dict[str, Stage]:
    """What of it is said, and in which order."""
    return {
        "score": score(vault),
        "confident": means.confidence,
        "successors first": successors_first(vault, of_lines=True),
        "visible": visible(vault, choices),
        "focused": focused(vault, choices.topic),
        "threshold": threshold(choices.profile, choices.mode),
        "activated": activated(vault),
        "varied": varied(vault),
        "cut": cut,
        "guarded": guarded(vault, means.is_refused),
    }


def _alone(vault: Vault, embedder: Embedder | None, choices: Choices) -> Mapping[str, Leg]:
    """The legs of the prompt alone; none where it was asked alone already."""
    return legs_of(vault, embedder, choices._replace(asked="")) if choices.looks_back else {}


def _compared(vault: Vault, late: LateInteraction | None, embedder: Embedder | None) -> dict[str, Stage]:
    if late is None:
        return {}
    from clawmem.app.services.retrieval.stages.compare import compare

    return {"compare": compare(vault, late, embedder)}
