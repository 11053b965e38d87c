"""OpenClaw: the memory of one agent in a vault of its own, and policies for programs that keep a conversation."""

from __future__ import annotations

import os
from collections import Counter
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from clawmem.app.bootstrap.services import Services
from clawmem.app.environment.places import agent_vaults, below_home, real_path
from clawmem.app.environment.private_files import write_whole
from clawmem.app.operations.documents import Text, text_of
from clawmem.app.operations.fields import FromLine, Limit, MaxLines
from clawmem.app.operations.indexing import COUNTED
from clawmem.app.operations.operation import Effect, Opening, Option, Result, argument, operation
from clawmem.app.operations.output import Verbatim, records_table
from clawmem.app.operations.search import QuestionText
from clawmem.app.services.models import STATIC
from clawmem.app.services.openclaw import AgentMemory, AgentSettings, MemoryHit, source_of, stored_settings
from clawmem.app.services.retrieval.request import Ranking, Unit, read_request
from clawmem.app.settings.model import Settings
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.openclaw import (
    CACHE_TTL_MS,
    FOLDER,
    LARGEST_TRANSCRIPT,
    LEAST_SCORE,
    LEAST_SCORES,
    MOST_RESULTS,
    NO_REPLY,
    PROMPT,
    RESERVE_TOKENS,
    SOFT_TOKENS,
    SYSTEM_PROMPT,
    Message,
    Pruned,
    flush_threshold,
    is_flush_due,
    prune,
)
from clawmem.ports.errors import EmbeddingError, ModelError

WINDOW = 200_000  # tokens
NOTHING_FOUND = "Nothing found."
MORE = "A model finds more. Run: clawmem models add bge-small, then: clawmem openclaw index --agent "

Tokens = Annotated[int, Field(ge=0, le=10**9)]
ContextWindow = Annotated[Tokens, Field(description="Tokens of the context window.")]
PathText = Annotated[str, Field(min_length=1, max_length=4_000)]
without_vault = partial(operation, any_vault=False, opens=Opening.NOTHING)


class FlushPlan(Result):
    """Whether to let the agent save its memory now, from how many tokens on, and with which words."""

    is_due: bool
    threshold_tokens: int
    soft_threshold_tokens: int = SOFT_TOKENS
    reserve_tokens_floor: int = RESERVE_TOKENS
    force_flush_transcript_bytes: int = LARGEST_TRANSCRIPT
    relative_path: str = Field(description="The file of today in the workspace.")
    prompt: str
    system_prompt: str = SYSTEM_PROMPT
    silent_reply: str = Field(default=NO_REPLY, description="An answer that begins so is not shown.")


@without_vault(Effect.READS, route="/openclaw/flush-plan", command="openclaw flush-plan")
def flush_plan(
    services: Services,
    context_window: ContextWindow = WINDOW,
    total_tokens: Annotated[Tokens, "Tokens of the conversation."] = 0,
    compactions: Annotated[Tokens, "Compactions so far."] = 0,
    flushed_at: Annotated[Tokens | None, "Compactions at the last flush."] = None,
    transcript_bytes: Annotated[Tokens, "Size of the transcript."] = 0,
    reserve_tokens: Annotated[Tokens, "Tokens that the program keeps free."] = 0,
    compacts_at: Annotated[Tokens, "Tokens at which it compacts; 0: unknown."] = 0,
) -> FlushPlan:
    """Return when and how an agent saves its memory before a compaction; once for each compaction."""
    threshold = flush_threshold(context_window, reserve_tokens=reserve_tokens, compacts_at=compacts_at)
    file = f"{FOLDER}/{iso_utc(services.clock.now_ms())[:10]}.md"
    return FlushPlan(
        is_due=is_flush_due(total_tokens, threshold, compactions, flushed_at, transcript_bytes),
        threshold_tokens=threshold,
        relative_path=file,
        prompt=PROMPT.format(file=file),
    )


class SavedSession(Result):
    """The note of a session; ``path`` is empty for a session without messages."""

    path: str


@without_vault(Effect.REPEATABLE, command="openclaw session-note")
def session_note(
    services: Services,
    transcript: Annotated[PathText, "Absolute path of the transcript, a .jsonl file."],
    workspace: Annotated[ExistingFolder, "Folder of the agent."],
) -> SavedSession:
    """Save the last 15 messages of a session, once, as memory/YYYY-MM-DD-SLUG.md of a workspace."""
    return SavedSession(path=services.save_session(transcript, workspace))


@without_vault(Effect.READS, route="/context/prune", by_post=True, command="")
def prune_context(
    services: Services,
    messages: Annotated[list[Message], Field(max_length=10_000, description="Oldest first.")],
    context_window: ContextWindow = WINDOW,
    last_request_at: Annotated[int | None, "Time of the last request, in ms since 1970.", Field(ge=0)] = None,
) -> Pruned:
    """
    Shorten old tool results of a request if the prompt cache of the provider has expired, after five minutes.

    Long results keep their beginning and end; in a full window the oldest are cleared. Results after the third-last
    answer stay. Without the time of the last request the cache counts as expired.
    """
    if last_request_at is None or services.clock.now_ms() - last_request_at >= CACHE_TTL_MS:
        return prune(messages, context_window)
    size = sum(len(message.text) for message in messages)
    return Pruned({}, size, size)


def _existing(text: str, *, is_folder: bool = True) -> str:
    path, kind = real_path(below_home(text)), "folder" if is_folder else "file or folder"
    if not (path.is_dir() or (path.is_file() and not is_folder)):
        raise ValueError(f"{text} is no {kind}. Create it, or give another path")
    return str(path)


ExistingFolder = Annotated[PathText, AfterValidator(_existing)]
ExistingPath = Annotated[PathText, AfterValidator(partial(_existing, is_folder=False))]
Agent = Annotated[  # without capitals no two agents share a file
    str, Field(pattern="^[a-z0-9][a-z0-9_-]{0,63}$", description="Id of the agent; its memory is its own.")
]


class AgentStatus(AgentSettings):
    """Sources and content of the memory of an agent; ``changes`` counts what a pass over the sources did."""

    vault: str
    files: dict[str, int] = Field(description="Number of files by source.")
    chunks: int
    pending: int = Field(description="Chunks without a vector.")
    changes: dict[str, int]
    remarks: list[str]


class AgentAnswer(Result):
    """The best chunks; ``degraded`` names searches that could not take part, with reasons."""

    results: list[MemoryHit]
    degraded: dict[str, str]


def _vault_of(settings: Settings, request: Any, caller: str) -> Settings:
    """Return the settings of the vault of an agent; raise `NotFound` if it has no memory and none can be made."""
    vault = agent_vaults(os.environ) / f"{request.agent}.sqlite"
    stored_settings(vault, workspace=getattr(request, "workspace", None))
    own: dict[str, Any] = {"collections": {}, "named": None, "global_context": "", "backend": None}
    return settings.model_copy(update={**own, "vault": vault, "ranking": "openclaw"})


def _synced(
    services: Services, *, all_sessions: bool = False, **given: Any
) -> tuple[AgentMemory, dict[str, int], list[str]]:
    """Index what changed and embed it; return the memory, counts of changes, and sentences about what failed."""
    vault = services.settings.vault
    settings = stored_settings(vault, **given)
    sessions = services.agent_sessions(str(vault.parent.parent), vault.stem)
    memory = services.agent_memory(settings=settings, sessions=sessions)
    passes = memory.sync(all_sessions=all_sessions)
    if given:
        write_whole(vault.with_suffix(".json"), settings.model_dump_json(indent=2).encode())
    changes = {name: sum(getattr(report, name) for report in passes) for name in COUNTED}
    problems = [problem for report in passes for problem in report.problems]
    try:
        embed = services.embed
        is_older = bool(given) and embed.of_vault().fingerprint != embed.embedder.fingerprint
        with services.progress("Embedding") as step:
            report = embed(force=is_older, progress=step)
        changes["embedded"] = report.embedded
        problems += filter(None, [report.error])
    except (EmbeddingError, ModelError) as error:  # the texts wait for the next pass
        problems.append(str(error))
    return memory, changes, problems


of_agent = partial(operation, Effect.REPEATABLE, any_vault=False, opens=Opening.CREATED, settings=_vault_of)


@of_agent(command="openclaw index")
def index_agent(
    services: Services,
    agent: Agent = "main",
    workspace: Annotated[ExistingFolder | None, "Its folder with MEMORY.md and memory/; needed once."] = None,
    extra: Annotated[list[ExistingPath] | None, "More files or folders of notes; may be repeated."] = None,
    sessions: Annotated[bool | None, "Index its sessions.", Option(("--sessions/--no-sessions",))] = None,
    all_sessions: Annotated[bool, "Read every changed session, not only those that grew much."] = False,
) -> AgentStatus:
    """Index changed files and sessions of an agent, from the last sources if none are given; by the best model."""
    given = {"workspace": workspace, "extra": extra, "sessions": sessions}
    memory, changes, problems = _synced(services, all_sessions=all_sessions, **given)
    files = Counter[str]()
    for name, count in services.vault.documents.collections().items():
        files[source_of(name)] += count
    counts = services.vault.embeddings.counts()
    return AgentStatus(
        **memory.settings.model_dump(),
        vault=str(services.settings.vault),
        files=files,
        chunks=counts.stored + counts.pending + counts.failed,
        pending=counts.pending,
        changes=changes,
        remarks=problems,
    )


@of_agent(
    command="openclaw search",
    text=lambda answer: records_table(answer.results, "path start_line=line score snippet") or NOTHING_FOUND,
)
def search_agent(
    services: Services,
    query: QuestionText,
    agent: Agent = "main",
    limit: Limit = MOST_RESULTS,
    min_score: Annotated[float | None, "Leave out what scores less.", Field(ge=0, le=1)] = None,
    source: Annotated[Literal["all", "memory", "sessions"], "Only memory files, or only sessions."] = "all",
) -> AgentAnswer:
    """Search the memory of an agent as OpenClaw does, after indexing changed files. No other agent's memory is read."""
    memory, _, problems = _synced(services)
    names = services.vault.documents.collections()
    model = services.vault.embeddings.fingerprint() or ""
    if min_score is None:
        min_score = next((least for name, least in LEAST_SCORES.items() if name in model), LEAST_SCORE)
    request = read_request(
        query,
        now_ms=services.clock.now_ms(),
        zone=services.clock.zone(),
        limit=limit,
        min_score=min_score,
        collections=[name for name in names if source in ("all", source_of(name))] or [source],
        unit=Unit.LINE,
        ranking=Ranking.OPENCLAW,
    )
    answer = services.openclaw(request)
    if problems:
        answer.trace.degraded["sync"] = " ".join(problems)
    if model.startswith(STATIC) and not answer.results:
        answer.trace.degraded["model"] = MORE + agent
    return AgentAnswer(results=memory.hits(answer), degraded=answer.trace.degraded)


@of_agent(command="openclaw get", text=lambda file: [Verbatim(file.text)])
def get_of_agent(
    services: Services,
    path: Annotated[PathText, "As a search reports it.", argument("PATH")],
    agent: Agent = "main",
    from_line: FromLine = None,
    max_lines: MaxLines = None,
) -> Text:
    """Read a memory file of an agent, or lines of it. A path outside of its memory is not found."""
    memory, _, _ = _synced(services)
    excerpt = services.lookup.get(memory.find(path).display_path, from_line=from_line, max_lines=max_lines)
    file = memory.path_of(excerpt.document)
    return text_of(excerpt, is_numbered=False).model_copy(update={"file": file})
