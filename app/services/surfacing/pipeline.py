"""What a prompt finds, as two rows of stages: what is found, and what of that is said; models may come between."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from clawmem.app.services.retrieval.legs.ask_all import RunRetrievers
from clawmem.app.services.retrieval.legs.threads import NamedThreads
from clawmem.app.services.retrieval.pipelines.with_models import NO_MODELS, Models
from clawmem.app.services.retrieval.stages.cut import cut_by_note
from clawmem.app.services.retrieval.stages.fuse import fuse
from clawmem.app.services.retrieval.stages.precise_first import precise_first
from clawmem.app.services.retrieval.stages.score import score
from clawmem.app.services.retrieval.stages.successors_first import successors_first
from clawmem.app.services.retrieval.work import Stage
from clawmem.app.services.surfacing.answering import answering
from clawmem.app.services.surfacing.choices import Choices
from clawmem.app.services.surfacing.discovery import legs_of
from clawmem.app.services.surfacing.files import about_named_files
from clawmem.app.services.surfacing.settling import (
    IsRefused,
    activated,
    confident,
    focused,
    guarded,
    threshold,
    varied,
    visible,
)
from clawmem.app.services.surfacing.superseded import successors_above
from clawmem.app.services.surfacing.wishing import wished
from clawmem.domain.retrieval.grains import VECTOR
from clawmem.ports.embedder import Embedder
from clawmem.ports.late_interaction import LateInteraction
from clawmem.ports.named_tuple import NamedTuple
from clawmem.ports.vault import Vault


class Means(NamedTuple):
    """
    What there is to find with; of the models none need be there.

    ``confidence`` is the stage that makes scores absolute. ``models`` opens those that a deep profile asks, when it
    does. ``threads`` are those of a process that stays, for its legs.
    """

    is_refused: IsRefused = lambda text: False
    embedder: Embedder | None = None
    late: LateInteraction | None = None
    confidence: Stage = confident
    models: Callable[[], AbstractContextManager[Models]] = lambda: nullcontext(NO_MODELS)
    threads: NamedThreads | None = None


def finding(vault: Vault, means: Means, choices: Choices) -> dict[str, Stage]:
    """
    The retrieval of `query`, or of `search` where no model may be loaded, for lines; nothing where nothing answers.

    A vault without anything to compare by meaning costs no more than words.
    """
    profile = choices.profile
    by_meaning = profile.by_meaning and vault.embeddings.fingerprint() is not None
    embedder = means.embedder if by_meaning else None
    return {
        "search": _asking(vault, means, embedder, choices),
        "fuse": fuse(vault),
        **(_compared(vault, means.late, embedder) if profile.by_meaning else {}),
        "precise first": precise_first(vault),
        "named files": about_named_files(vault),
        "judge": answering(vault, choices.prompt),
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
        "wished": wished(vault),
        "successors above": successors_above(vault),
        "cut": cut_by_note,
        "guarded": guarded(vault, means.is_refused),
    }


def _asking(vault: Vault, means: Means, embedder: Embedder | None, choices: Choices) -> Stage:
    profile = choices.profile
    return RunRetrievers(
        legs_of(vault, embedder, profile),
        profile.deadline_s,
        patience_s={VECTOR: profile.vector_s},
        threads=means.threads,
    )


def _compared(vault: Vault, late: LateInteraction | None, embedder: Embedder | None) -> dict[str, Stage]:
    if late is None:
        return {}
    from clawmem.app.services.retrieval.stages.compare import compare

    return {"compare": compare(vault, late, embedder)}
