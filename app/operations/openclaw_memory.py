"""Memory of one agent of OpenClaw: its memory files and sessions, in a vault of its own, ranked as OpenClaw does."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from clawmem.app.environment.private_files import make_folder, write_whole
from clawmem.app.operations.embedding import embed_texts
from clawmem.app.operations.operation import (
    Command,
    Effect,
    Opening,
    Operation,
    Option,
    Request,
    Result,
    operation,
)
from clawmem.app.operations.output import Verbatim, plural
from clawmem.app.services.openclaw import AgentSources, MemoryHit
from clawmem.app.services.retrieval.request import Ranking, Unit, read_request
from clawmem.domain.openclaw.chunks import CHUNK_TOKENS, OVERLAP_TOKENS
from clawmem.domain.openclaw.ranking import LEAST_SCORE, MOST_RESULTS
from clawmem.domain.retrieval.query_forms import MAX_QUERY
from clawmem.ports.errors import ConfigError, EmbeddingError, InvalidInput, ModelError, NotFound

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.openclaw import AgentMemory
    from clawmem.app.settings.model import Settings

Q = TypeVar("Q", bound=Request)
R = TypeVar("R", bound=Result)

STATE_VARIABLE = "OPENCLAW_STATE_DIR"
UNCHOSEN: Mapping[str, object] = {
    "collections": {},
    "named": None,
    "global_context": "",
    "backend": None,
    "ranking": "openclaw",
}


class Chunking(BaseModel):
    """Size and overlap of chunks, in tokens of four characters."""

    model_config = ConfigDict(frozen=True)

    tokens: int = CHUNK_TOKENS
    overlap: int = OVERLAP_TOKENS


class AgentMemorySettings(BaseModel):
    """
    Settings of the memory of one agent.

    ``indexed`` is the chunking of the whole index; ``None`` until a pass with the current one was completed.
    """

    workspace: Path
    extra: list[Path] = Field(default_factory=list)
    sessions: bool = False
    chunking: Chunking = Chunking()
    indexed: Chunking | None = None


class AgentFiles(NamedTuple):
    """The files of the memory of ``agent``: its own vault, and its settings."""

    agent: str
    vault: Path
    settings: Path

    def read(self) -> AgentMemorySettings | None:
        """Return the settings; ``None`` if the agent has no memory yet. Raises `ConfigError` for a damaged file."""
        try:
            return AgentMemorySettings.model_validate_json(self.settings.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as error:
            why = str(error).partition("\n")[0]
            raise ConfigError(
                f"Cannot read the settings of the agent's memory, {self.settings}: {why}. Delete the file, and run: "
                "clawmem openclaw index --workspace FOLDER"
            ) from error

    def known(self) -> AgentMemorySettings:
        """Return the settings; raise `NotFound` if there are none."""
        if settings := self.read():
            return settings
        remedy = f"Run: clawmem openclaw index --agent {self.agent} --workspace FOLDER"
        raise NotFound("memory of the agent", self.agent, remark=remedy)

    def changed(self, request: IndexAgent) -> AgentMemorySettings:
        """
        Return the settings with the values that *request* gives.

        Raises:
            NotFound: There are no settings, and no workspace is given.
            InvalidInput: A path does not exist, or the overlap is as large as a chunk.
        """
        workspace, extra = request.workspace, request.extra
        is_new = workspace and not self.read()
        before = AgentMemorySettings(workspace=Path(workspace)) if is_new else self.known()
        tokens = request.chunk_tokens or before.chunking.tokens
        overlap = before.chunking.overlap if request.chunk_overlap is None else request.chunk_overlap
        if overlap >= tokens:
            raise InvalidInput(
                "OUT_OF_BOUNDS",
                f"A chunk of {tokens} tokens cannot overlap by {overlap}. Choose --chunk-overlap below {tokens}.",
            )
        changes = {
            "workspace": _existing(workspace, is_folder=True) if workspace else before.workspace,
            "extra": before.extra if extra is None else [_existing(text) for text in extra if text],
            "sessions": before.sessions if request.sessions is None else request.sessions,
            "chunking": Chunking(tokens=tokens, overlap=overlap),
        }
        return before.model_copy(update=changes)

    def write(self, settings: AgentMemorySettings) -> None:
        """Write the settings in one step."""
        make_folder(self.settings.parent)
        write_whole(self.settings, settings.model_dump_json(indent=2).encode())


def state_of_openclaw(settings: Settings) -> Path:
    """Return the folder in which OpenClaw keeps its agents."""
    chosen = os.environ.get(STATE_VARIABLE)
    return Path(chosen).expanduser() if chosen else settings.home / ".openclaw"


def files_of_agent(settings: Settings, agent: str) -> AgentFiles:
    """Return the files of the memory of *agent*. No two agents share one: an id has no capital letters."""
    folder = state_of_openclaw(settings) / "clawmem"
    return AgentFiles(agent, folder / f"{agent}.sqlite", folder / f"{agent}.json")


def _existing(text: str, *, is_folder: bool = False) -> Path:
    place = Path(text).expanduser().resolve()
    if not (place.is_dir() or (place.is_file() and not is_folder)):
        kind = "folder" if is_folder else "file or folder"
        raise InvalidInput("INVALID_PATH", f"{text} is not a {kind}. Create it, or give the path of one.")
    return place


_AGENT = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


def _as_agent(text: str) -> str:
    """Return the id of an agent; raise `ValueError` for a text that cannot be the name of a file of its own."""
    if not _AGENT.fullmatch(text):
        raise ValueError(
            f"{text[:80]!r} is no id of an agent: small letters, digits, '-' and '_', at most 64"
        )
    return text


Agent = Annotated[
    str, Field(description="Id of the agent; its memory is its own."), AfterValidator(_as_agent)
]
MOST_RESULTS_ASKED = 50


class AgentRequest(Request):
    """The agent whose memory is meant."""

    agent: Agent = "main"


class IndexAgent(AgentRequest):
    """The sources of the memory; without a value as in the last pass."""

    workspace: Annotated[
        str, Field(description="Folder of the agent, with MEMORY.md and memory/; needed once.")
    ] = ""
    extra: Annotated[
        list[str] | None, Field(description="More files or folders of notes; may be repeated.")
    ] = None
    sessions: Annotated[
        bool | None,
        Field(description="Whether the agent's sessions are indexed; at first not."),
        Option(("--sessions/--no-sessions",)),
    ] = None
    all_sessions: Annotated[
        bool,
        Field(description="Read every changed session, not only those that grew by 100 kB or 50 messages."),
    ] = False
    chunk_tokens: Annotated[
        int | None, Field(ge=50, le=8_000, description=f"Tokens of a chunk; at first {CHUNK_TOKENS}.")
    ] = None
    chunk_overlap: Annotated[
        int | None, Field(ge=0, le=4_000, description="Tokens shared with the chunk before; at first 80.")
    ] = None


class IndexedAgent(Result):
    """One pass over the sources of an agent. ``rebuilt`` tells that all files were split again."""

    agent: str
    vault: str
    added: int
    updated: int
    unchanged: int
    removed: int
    embedded: int
    rebuilt: bool
    warnings: list[str]

    @property
    def remarks(self) -> Sequence[str]:
        """Return sentences about what could not be indexed."""
        return self.warnings


class SearchAgent(AgentRequest):
    """A question to the memory of an agent."""

    query: Annotated[
        str,
        Field(min_length=1, max_length=MAX_QUERY, description="The question."),
        Option(metavar="QUESTION...", is_argument=True),
    ]
    limit: Annotated[
        int,
        Field(ge=1, le=MOST_RESULTS_ASKED, description="Maximum number of results."),
        Option(("-n", "--limit")),
    ] = MOST_RESULTS
    min_score: Annotated[float, Field(ge=0, le=1, description="Leave out what scores less.")] = LEAST_SCORE
    source: Annotated[
        Literal["all", "memory", "sessions"], Field(description="Search only memory files, or only sessions.")
    ] = "all"


class AgentAnswer(Result):
    """The best chunks; ``degraded`` names searches that could not take part, with reasons."""

    results: list[MemoryHit]
    model: str | None
    degraded: dict[str, str]


class GetOfAgent(AgentRequest):
    """A file of the memory of an agent."""

    path: Annotated[
        str,
        Field(min_length=1, max_length=4_000, description="The path as a search reports it."),
        Option(metavar="PATH", is_argument=True),
    ]
    from_line: Annotated[
        int | None, Field(ge=1, description="Begin with this line."), Option(("--from",))
    ] = None
    lines: Annotated[int | None, Field(ge=1, description="At most so many lines.")] = None


class AgentFile(Result):
    """Lines of a memory file."""

    path: str
    text: str
    start_line: int
    total_lines: int


class AgentStatus(Result):
    """Sources and content of the memory of an agent."""

    agent: str
    vault: str
    workspace: str
    extra: list[str]
    sessions: bool
    chunk_tokens: int
    chunk_overlap: int
    files: dict[str, int] = Field(description="Number of files by source.")
    chunks: int
    pending: int = Field(description="Chunks without a vector.")
    model: str | None


def settings_of_agent(settings: Settings, request: AgentRequest, caller: str) -> Settings:
    """Return the settings of the vault of the agent; raise `NotFound` if it has no memory and none can be made."""
    files = files_of_agent(settings, request.agent)
    if isinstance(request, IndexAgent):
        files.changed(request)
    else:
        files.known()
    return settings.model_copy(update={**UNCHOSEN, "vault": files.vault})


def _synced(
    services: Services, files: AgentFiles, settings: AgentMemorySettings, *, all_sessions: bool = False
) -> tuple[AgentMemory, IndexedAgent]:
    """Index what changed, and make the missing vectors; a model that fails leaves the texts for the next pass."""
    chunks = settings.chunking
    memory = services.agent_memory(
        sources=AgentSources(
            settings.workspace, settings.extra, settings.sessions, chunks.tokens, chunks.overlap
        ),
        sessions=services.agent_sessions(str(state_of_openclaw(services.settings)), files.agent),
    )
    rebuilt = settings.indexed not in (None, settings.chunking)
    passes = memory.sync(force=rebuilt, all_sessions=all_sessions)
    if settings.indexed != settings.chunking:
        files.write(settings.model_copy(update={"indexed": settings.chunking}))
    warnings, embedded = [problem for report in passes for problem in report.problems], 0
    try:
        report = embed_texts(services)
        embedded = report.embedded
        warnings += filter(None, [report.error])
    except (EmbeddingError, ModelError) as error:
        warnings.append(str(error))
    return memory, IndexedAgent(
        agent=files.agent,
        vault=str(files.vault),
        added=sum(report.added for report in passes),
        updated=sum(report.updated for report in passes),
        unchanged=sum(report.unchanged for report in passes),
        removed=sum(report.removed for report in passes),
        embedded=embedded,
        rebuilt=rebuilt,
        warnings=warnings,
    )


def _source(collection: str) -> str:
    return "sessions" if collection == "sessions" else "memory"


def _indexed_text(result: IndexedAgent) -> str:
    counts = f"{result.added} added, {result.updated} updated, {result.removed} removed, {result.unchanged} unchanged"
    again = " Every file was split again." if result.rebuilt else ""
    return f"Memory of {result.agent}: {counts}; {plural(result.embedded, 'chunk')} embedded.{again}"


def _answer_text(answer: AgentAnswer) -> str:
    if not answer.results:
        return "Nothing in the memory scores high enough."
    lines = []
    for hit in answer.results:
        lines += [f"{hit.path}:{hit.start_line}-{hit.end_line}  {hit.score:.2f}", hit.snippet.strip(), ""]
    return "\n".join(lines).rstrip()


def _operation_of_agent(
    word: str, **spelling: Any
) -> Callable[[Callable[[Services, Q], R]], Operation[[Q], R]]:
    """Return a decorator for an operation over the vault of an agent; all but the status index what changed before."""
    is_status = word == "status"
    return operation(
        Effect.READS if is_status else Effect.REPEATABLE,
        commands=(Command(f"openclaw {word}"),),
        is_tool=False,
        any_vault=False,
        in_own_process=is_status,
        opens=Opening.EXISTING if is_status else Opening.CREATED,
        settings=settings_of_agent,
        **spelling,
    )


@_operation_of_agent("index", text=_indexed_text)
def index_agent(services: Services, request: IndexAgent) -> IndexedAgent:
    """
    Index the memory files of an agent, and its sessions if it has them chosen, in a vault of this agent alone.

    Changed files are read; other chunk sizes than before split every file again. Unchanged text keeps its vectors.
    """
    files = files_of_agent(services.settings, request.agent)
    settings = files.changed(request)
    files.write(settings)
    return _synced(services, files, settings, all_sessions=request.all_sessions)[1]


@_operation_of_agent("search", text=_answer_text)
def search_agent(services: Services, request: SearchAgent) -> AgentAnswer:
    """Search the memory of an agent as OpenClaw does, after indexing changed files. No other agent's memory is read."""
    files = files_of_agent(services.settings, request.agent)
    memory, synced = _synced(services, files, files.known())
    names = services.vault.documents.collections()
    wanted = [name for name in names if request.source == "all" or _source(name) == request.source]
    asked = read_request(
        request.query,
        now_ms=services.clock.now_ms(),
        zone=services.clock.zone(),
        limit=request.limit,
        min_score=request.min_score,
        collections=wanted or [request.source],
        unit=Unit.LINE,
        ranking=Ranking.OPENCLAW,
    )
    found = services.openclaw(asked)
    degraded = {**found.trace.degraded, **({"sync": " ".join(synced.warnings)} if synced.warnings else {})}
    return AgentAnswer(
        results=memory.hits(found), model=services.vault.embeddings.fingerprint(), degraded=degraded
    )


@_operation_of_agent("get", text=lambda file: [Verbatim(file.text)])
def get_of_agent(services: Services, request: GetOfAgent) -> AgentFile:
    """Read a memory file of an agent, or lines of it. A path outside of its memory is not found."""
    files = files_of_agent(services.settings, request.agent)
    memory, _ = _synced(services, files, files.known())
    address = memory.find(request.path).display_path
    excerpt = services.lookup.get(address, from_line=request.from_line, max_lines=request.lines)
    return AgentFile(
        path=memory.path_of(excerpt.document),
        text=excerpt.text,
        start_line=excerpt.start_line,
        total_lines=excerpt.total_lines,
    )


@_operation_of_agent("status")
def status_of_agent(services: Services, request: AgentRequest) -> AgentStatus:
    """Show the sources of the memory of an agent, and the number of indexed files."""
    settings = files_of_agent(services.settings, request.agent).known()
    files: dict[str, int] = {}
    for name, count in services.vault.documents.collections().items():
        files[_source(name)] = files.get(_source(name), 0) + count
    counts = services.vault.embeddings.counts()
    return AgentStatus(
        agent=request.agent,
        vault=str(services.settings.vault),
        workspace=str(settings.workspace),
        extra=[*map(str, settings.extra)],
        sessions=settings.sessions,
        chunk_tokens=settings.chunking.tokens,
        chunk_overlap=settings.chunking.overlap,
        files=files,
        chunks=counts.stored + counts.pending + counts.failed,
        pending=counts.pending,
        model=services.vault.embeddings.fingerprint(),
    )
