"""Vectors of the texts, and the upkeep of the indexes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from clawmem.app.operations.operation import Effect, Option, Result, operation
from clawmem.app.services.indexing.embed import EmbedReport
from clawmem.domain.maintenance.embedding_policy import EmbeddingPace
from clawmem.ports.errors import EmbeddingError, ModelError, ModelMismatch

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services

MODEL_FAILED = 6
MOST_CAPTURED = 100  # texts; a session leaves about forty, which the default model embeds within a second

Force = Annotated[bool, Field(description="Start over."), Option(("-f", "--force"), tool=None)]


class Upkeep(Result):
    """Changes of the vault; ``lagging`` are the indexes that could not be updated, with reasons."""

    lagging: dict[str, str] = Field(default_factory=dict)
    warnings: list[str] = Field(default_factory=list, description="Sentences about the vault as a whole.")

    @property
    def remarks(self) -> Sequence[str]:
        """Return sentences about the vault and its indexes."""
        return [*self.warnings, *lag_sentences(self.lagging)]


class Embedded(Upkeep):
    """
    One run of the embedder: texts embedded, failed and waiting, and unused vectors that were deleted.

    ``replaced`` is the model whose vectors were replaced, ``waiting_for`` one whose vectors could not be.
    """

    embedded: int
    failed: int
    pending: int
    cleaned: int
    sketched: int
    error: str | None = None
    replaced: str | None = None
    waiting_for: str | None = None

    @property
    def exit_code(self) -> int:
        """Return 6 where the vectors of another model go on answering."""
        return MODEL_FAILED if self.waiting_for else 0


def embed_texts(services: Services, *, force: bool = False) -> EmbedReport:
    """Embed the texts without vectors, or all with *force*."""
    with services.progress("Embedding") as step:
        return services.embed(force=force, progress=step)


def embed_after(
    services: Services, collections: Iterable[str], *, asked: bool | None = None
) -> EmbedReport | None:
    """
    Embed the texts without vectors after documents of *collections* changed.

    If *asked* and the settings of the collections say nothing, it is done where it is quick: see `embed_quickly`.
    """
    return embed_as(services, services.settings.embeds(collections) if asked is None else asked)


def embed_as(services: Services, wanted: bool | None) -> EmbedReport | None:
    """Embed the texts without vectors if that is *wanted*; ``None`` leaves it to `embed_quickly`."""
    return embed_quickly(services) if wanted is None else embed_texts(services) if wanted else None


def embed_quickly(services: Services) -> EmbedReport | None:
    """
    Embed the texts without vectors if a model of this machine does so within a minute; the second batch shows its pace.

    Return ``None`` without such texts, for a model server, which may charge for them, and if the vault has vectors of
    another model.
    """
    if services.settings.embed_server or not pending_texts(services):
        return None
    clock = services.clock
    pace = EmbeddingPace(clock.now_ms())
    try:
        embed = services.embed
        if not embed.serves:
            return None
        with services.progress("Embedding") as step:
            return embed(progress=step, go_on=lambda done, total: pace.is_quick(done, total, clock.now_ms()))
    except (EmbeddingError, ModelError):  # the texts wait, and the answer says so
        return None


def embed_new(services: Services) -> str:
    """
    Embed the texts without vectors if the vault has vectors; return why they could not be embedded, if so.

    A change to another model is left to `embed`: it takes long. As after `update`, a model server makes them only where the config file says autoEmbed.
    """
    if services.vault.embeddings.fingerprint() is None:
        return ""
    if services.settings.embed_server and not services.settings.embeds(services.settings.collections):
        return "A model server makes vectors only on request. Next: clawmem embed"
    try:
        with services.progress("Embedding") as step:
            failed = services.embed.add(progress=step).error
    except ModelMismatch as error:
        return str(error)  # names its own remedy
    except (EmbeddingError, ModelError) as error:
        failed = str(error)
    return f"{failed.rstrip('.')}. Next: clawmem embed" if failed else ""


def embed_captured(services: Services) -> None:
    """Embed what was captured now, if the vault has vectors; many texts wait, because a client waits for a hook."""
    if 0 < pending_texts(services) <= MOST_CAPTURED:
        embed_new(services)


def pending_texts(services: Services) -> int:
    """Return how many texts wait for vectors."""
    return services.vault.embeddings.counts().pending


def lagging_indexes(services: Services) -> dict[str, str]:
    """Update the indexes from the records; return the reason for each index that still lags."""
    if not services.settings.read_only:
        with services.progress("Indexing") as step:
            services.indexes.keep_up(step)
    return {str(role): reason for role, reason in services.indexes.lagging.items()}


def lag_sentences(lagging: Mapping[str, str]) -> list[str]:
    """Return a sentence for each index that could not be brought up to date."""
    return [
        f"The {role} index lags, what is new is found all the same: {reason}"
        for role, reason in lagging.items()
    ]


def model_failed(report: EmbedReport | None) -> bool:
    """Whether texts got no vectors because the model failed."""
    return report is not None and bool(report.stopped or report.failed)


def embed_line(report: EmbedReport | Embedded) -> str:
    """Return the result of one embedding run as a line."""
    failed = f", {report.failed} attempts failed ({report.error})" if report.failed else ""
    sketched = f", and sketches of {report.sketched} lines" if report.sketched else ""
    cleaned = f", {report.cleaned} no longer needed" if report.cleaned else ""
    done = f"Vectors: {report.embedded} made{sketched}{cleaned}{failed}"
    if isinstance(report, EmbedReport) and report.stopped:
        why = (report.error or "").rstrip(".")
        return f"{done}, then it ended: {why}. What was made is kept. To go on, run: clawmem embed"
    if report.waiting_for:
        still = f"Those of {report.waiting_for!r} go on answering: {report.error}."
        return f"{done}. {still} Look with: clawmem doctor"
    return f"{done}. They took the place of those of {report.replaced!r}." if report.replaced else f"{done}."


@operation(Effect.REPEATABLE, text=embed_line, route="/embed")
def embed(services: Services, force: Force = False) -> Embedded:
    """
    Embed new and changed text, so that it is found by meaning; with force, embed all of it again.

    Vectors of another model, or of a run with force, replace the old vectors when they are complete.
    """
    report = embed_texts(services, force=force)
    if report.stopped:
        raise EmbeddingError(embed_line(report))
    counts = {name: getattr(report, name) for name in Embedded.model_fields if hasattr(report, name)}
    return Embedded(**counts, pending=pending_texts(services), lagging=lagging_indexes(services))
