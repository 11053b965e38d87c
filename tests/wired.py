"""Use cases of the container over an open vault, as tests need them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import Any

from dependency_injector import providers

from clawmem.adapters.files.front_matter import parse_front_matter
from clawmem.adapters.files.transcripts import DiskTranscripts
from clawmem.adapters.memory.clock import ManualClock
from clawmem.app.bootstrap.container import Clawmem
from clawmem.app.services.capture.memories import Memories
from clawmem.app.services.capture.session import RedactedTranscripts
from clawmem.app.services.conversations.mining import MineConversations
from clawmem.app.services.indexing.embed import EmbedPending
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.indexing.publish import Publisher
from clawmem.app.services.indexing.source import ParseFrontMatter
from clawmem.app.services.indexing.update import UpdateCollection
from clawmem.app.services.knowledge.asking import CALLS_A_DAY, Ask
from clawmem.app.services.knowledge.enriching import Enrich
from clawmem.app.services.leases import WorkLease
from clawmem.app.services.maintenance.consolidation import Consolidation
from clawmem.app.services.maintenance.doctor import Verify
from clawmem.app.services.maintenance.lanes import Lanes, Phases, Synthesis
from clawmem.app.services.maintenance.status import StatusReport
from clawmem.app.settings.model import LaneSettings, Settings
from clawmem.ports.clock import Clock
from clawmem.ports.files import FileSource
from clawmem.ports.imports import ConversationExports
from clawmem.ports.models import Embedder, Generator
from clawmem.ports.vault import Vault

USUAL = LaneSettings()


def wired(vault: Vault, clock: Clock | None = None, **gateways: object) -> Any:
    """Return the use cases of the container over *vault*; *gateways* take the place of those of the program."""
    container = Clawmem(settings=Settings(vault=Path("vault.sqlite"), config_file=Path("none.yaml")))
    chosen = {"vault": vault, "clock": clock or ManualClock(), "generator": None, **gateways}
    for name, gateway in chosen.items():
        part = container.gateways if hasattr(container.gateways, name) else container.use_cases
        getattr(part, name).override(providers.Object(gateway))
    return container.use_cases


def session_cases(vault: Vault, clock: Clock, generator: Generator | None = None) -> Any:
    """Return the use cases over *vault* that read transcripts."""
    return wired(vault, clock, transcripts=RedactedTranscripts(DiskTranscripts()), generator=generator)


def answers_by_purpose(vault: Vault) -> dict[str, int]:
    """Return how many answers of models are stored."""
    return dict(vault.answers._db.rows("select purpose, count(*) from model_answers group by purpose"))


def publisher(vault: Vault) -> Publisher:
    return Publisher(vault)


def memory_writer(vault: Vault, clock: Clock) -> Memories:
    writer: Memories = wired(vault, clock).memories()
    return writer


def update_collection(
    vault: Vault, files: FileSource, clock: Clock, parse_front_matter: ParseFrontMatter
) -> UpdateCollection:
    """Return the pass over a folder of *files*."""
    update: UpdateCollection = wired(vault, clock).update_alone(
        files=files, parse_front_matter=parse_front_matter
    )
    return update


def embed_pending(vault: Vault, embedder: Embedder) -> EmbedPending:
    embed: EmbedPending = wired(vault, embedder=embedder).embed(of_vault=lambda: embedder)
    return embed


def ask_of(
    vault: Vault, clock: Clock, generator: Generator | None, calls_a_day: int = CALLS_A_DAY
) -> Ask | None:
    ask: Ask | None = wired(vault, clock, generator=generator).ask_of(calls_a_day=calls_a_day)
    return ask


def enriching(
    vault: Vault, clock: Clock, generator: Generator | None = None, *, calls_a_day: int = CALLS_A_DAY
) -> Enrich:
    enrich: Enrich = wired(vault, clock).enrich(ask=ask_of(vault, clock, generator, calls_a_day))
    return enrich


def consolidation(
    vault: Vault,
    clock: Clock,
    generator: Generator | None = None,
    *,
    calls_a_day: int = CALLS_A_DAY,
    **options: Any,
) -> Consolidation:
    """Return the consolidation by *generator*, or by rules."""
    cases = wired(vault, clock, ask=ask_of(vault, clock, generator, calls_a_day))
    consolidate: Consolidation = cases.consolidation(**options)
    return consolidate


def synthesis(vault: Vault, clock: Clock, generator: Generator) -> Synthesis:
    conclude: Synthesis = wired(vault, clock, generator=generator).synthesis()
    return conclude


def mine_conversations(vault: Vault, clock: Clock, exports: ConversationExports) -> MineConversations:
    mine: MineConversations = wired(vault, clock, exports=exports).mining()
    return mine


def status(vault: Vault, clock: Clock | None = None) -> Callable[[], StatusReport]:
    return partial(wired(vault, clock).status, collections=[], roles=[])


def verify(vault: Vault, files: FileSource, folders: Sequence[Folder]) -> list[str]:
    """Return the differences between *files*, records and indexes."""
    names = ("documents", "storage", "lexical", "vectors", "embeddings", "forgotten_texts")
    return Verify(*(getattr(vault, name) for name in names), files, folders, parse_front_matter)()


def phases(
    vault: Vault, clock: Clock, plan: LaneSettings = USUAL, generator: Generator | None = None, **options: Any
) -> Phases:
    work: Phases = wired(vault, clock, plan=plan, generator=generator).phases(**options)
    return work


def lanes_of(
    vault: Vault,
    clock: Clock,
    lane_of: Callable[..., WorkLease],
    work: Phases,
    hour: int,
    plan: LaneSettings = USUAL,
) -> Lanes:
    """Return the lanes of *vault*, whose clock shows *hour*."""
    ahead = hour - datetime.fromtimestamp(clock.now_ms() / 1000, UTC).hour
    clock._zone = timezone(timedelta(hours=ahead))
    return Lanes(vault.journal, vault.telemetry, clock, lane_of, work, plan)
