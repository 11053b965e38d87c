"""
The whole configuration: environment and config file, for commands, the server and hooks, and for each named vault.

Model servers are configured in the environment alone, because a key does not belong in a config file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    AnyHttpUrl,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails

from clawmem.app.environment.places import (
    HOOK_SETTINGS,
    OptionalHook,
    agent_vaults,
    below_home,
    config_folder,
    default_vault,
    is_there,
    models_folder,
    real_path,
    topics_folder,
    usual_vault,
    variable_shown,
)
from clawmem.app.environment.private_files import files_of_vault, log_error
from clawmem.app.settings.config_file import config_of, fault_of_name, read_config, set_value
from clawmem.domain.documents.eligibility import check_pattern, is_collection_name, path_context
from clawmem.domain.lifecycle.policy import AFTER_DAYS, ArchivePolicy
from clawmem.domain.maintenance.contradiction_gate import LEAST_CONFIDENCE, Policy
from clawmem.domain.maintenance.merge_gate import NORMAL, STRICT
from clawmem.domain.maintenance.schedule import HEAVY_LIMIT, LIGHT_LIMIT, MOST_QUESTIONS, LaneName
from clawmem.domain.surfacing.profiles import LEAST_BUDGET, MOST_BUDGET, NUDGE_INTERVAL
from clawmem.ports.errors import ConfigError, InvalidInput, NotFound

MOST_DAYS = 36_500  # of a retention: a hundred years
MOST_NUMBER = 1_000_000_000  # seconds or prompts: larger ones do not fit into times


def _without_nul(text: str) -> str:
    if "\0" in text:  # the system refuses it in every path and command
        raise ValueError("must not contain a NUL character")
    return text


def _absolute(path: Path) -> Path:
    path = Path(os.path.expanduser(_without_nul(str(path))))  # noqa: PTH111  which accepts an unknown user
    if not path.is_absolute():
        raise ValueError("must be an absolute path")
    return path


def _inside(folder: str) -> str:
    if ".." in Path(folder).parts:
        raise ValueError("must not contain '..'")
    return os.path.expanduser(_without_nul(folder)) if folder.strip() else ""  # noqa: PTH111


def _glob(pattern: str) -> str:
    try:
        check_pattern(pattern)
    except InvalidInput as error:
        raise ValueError(str(error)) from error
    return pattern


def _valid_name(name: str, what: str) -> str:
    if fault := fault_of_name(name, what):
        raise ValueError(f"{fault} Rename the {what}")
    return name


def unknown_key(key: object, known: Iterable[str]) -> str:
    """Return the fault of a *key* that is none of the *known* ones, as the user wrote it."""
    written = f"[{', '.join(map(str, key))}]" if isinstance(key, tuple) else key
    return f"the key '{written}' is not known. Remove it, or use one of: {', '.join(sorted(known))}"


CollectionName = Annotated[str, AfterValidator(partial(_valid_name, what="collection"))]
VaultName = Annotated[str, AfterValidator(partial(_valid_name, what="vault"))]
AbsolutePath = Annotated[Path, AfterValidator(_absolute)]
Days = Annotated[float, Field(gt=0, strict=True)]
Hour = Annotated[int, Field(ge=0, le=23)]
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Hooks = Annotated[list[OptionalHook], BeforeValidator(lambda names: names.replace(",", " ").split())]


class Section(BaseModel):
    """Part of the configuration, which knows its keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _known(cls, values: Any) -> Any:
        for key in values if isinstance(values, Mapping) else ():
            if key not in cls.model_fields:
                raise ValueError(unknown_key(key, cls.model_fields))
        return values


class CollectionSettings(Section):
    """One folder of notes."""

    path: AbsolutePath  # absolute path of the folder; `~` is the home folder
    # Whether its files are read, or the commit messages of the repository.
    kind: Literal["files", "git"] = "files"
    pattern: Annotated[str, AfterValidator(_glob)] = "**/*.md"  # glob of the files that are read
    exclude: list[str] = []  # patterns of files that are not read, as in .gitignore
    include: list[str] = []  # folders that built-in rules exclude, by name or path, such as `vendor`
    gitignore: bool = True  # whether .gitignore files exclude files
    context: dict[str, str] = {}  # descriptions of folders and files, by their path in the collection
    project: str = ""  # the project of its notes that name none; `update --all` changes known notes
    # Shell command of `update --pull`, run in the folder.
    update: Annotated[str, AfterValidator(_without_nul)] | None = None
    # Trust in its notes; those that are shared or from outside are quoted in prompts.
    trust: Literal["user", "assistant", "shared", "outside"] = "user"
    # Whether its notes are kept out of prompts, profile, briefings and questions to models.
    private: bool = False
    # Whether reading the folder ends with the vectors that are missing.
    autoEmbed: bool | None = None  # noqa: N815

    @property
    def root(self) -> str:
        """The folder that is read; for commits a name that no folder of files has."""
        return f"{self.path}/.git" if self.kind == "git" else str(self.path)


class LifecycleSettings(Section):
    """When idle documents are archived and forgotten."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    archive_after_days: Days = AFTER_DAYS  # idle days until a document is archived
    type_overrides: dict[str, Days | None] = {}  # the same for single content types; null is never
    purge_after_days: Days | None = None  # days until an archived document is forgotten; by default never
    exempt_collections: list[str] = []  # collections whose documents are never archived
    dry_run: bool = Field(default=True, strict=True)  # whether they are only previewed


class LaneSettings(Section):
    """Schedule, batch sizes and permitted changes of the maintenance lanes."""

    light: bool = False  # whether servers and watchers run the light lane
    heavy: bool = False  # whether servers and watchers run the heavy lane
    enrich: bool = True  # whether the light lane enriches documents
    dry_run: bool = False  # whether the light lane only reports merges
    surprisal: bool = False  # process the most unusual notes first
    window_start: Hour | None = None  # first hour of the heavy lane, local time
    window_end: Hour | None = None  # hour in which the heavy lane ends
    # Milliseconds between two ticks.
    light_interval: int = Field(default=LaneName.LIGHT.interval_ms, ge=LaneName.LIGHT.least_interval_ms)
    heavy_interval: int = Field(default=LaneName.HEAVY.interval_ms, ge=LaneName.HEAVY.least_interval_ms)
    max_usages: Count = MOST_QUESTIONS  # questions within ten minutes, above which the heavy lane pauses
    light_limit: Count = LIGHT_LIMIT  # documents per tick of the light lane
    obs_limit: Count = HEAVY_LIMIT  # observations per tick of the heavy lane
    ded_limit: Count = 40  # deductions per tick of the heavy lane
    enrich_limit: Count = 3  # documents that a model enriches per tick
    daily_calls: Count = 500  # calls of models a day
    merge_normal: Share = NORMAL  # cosine from which notes about the same names are merged
    merge_strict: Share = STRICT  # cosine from which notes are merged whose names cannot be compared
    min_confidence: Share = LEAST_CONFIDENCE  # confidence from which a contradiction counts
    contradictions: Policy = Policy.LINK  # treatment of contradicting notes

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.window_start is None) != (self.window_end is None):
            raise ValueError("must have window_start and window_end, or neither of them")
        if self.window_start == self.window_end is not None:
            raise ValueError("must have a window_end other than window_start, or the heavy lane never runs")
        if self.merge_normal > self.merge_strict:
            raise ValueError("must have a merge_strict of at least merge_normal")
        return self

    @property
    def hosted(self) -> tuple[LaneName, ...]:
        """The lanes that servers and watchers run automatically."""
        return tuple(lane for lane in LaneName if getattr(self, lane))

    def interval_ms(self, lane: LaneName) -> int:
        """Return the pause between two ticks of *lane* in milliseconds."""
        return self.heavy_interval if lane is LaneName.HEAVY else self.light_interval


class ModelServer(Section):
    """A server that was chosen instead of a model in this process."""

    url: str = Field(default="", repr=False)  # address, with a password if the server needs one
    model: str | None = None  # model; by default that of the provider
    api_key: str | None = Field(default=None, repr=False)  # API key

    @field_validator("url")
    @classmethod
    def _address(cls, url: str) -> str:
        try:
            AnyHttpUrl(url)
        except ValidationError:  # its text may hold a password
            raise ValueError("is no address of a model server. Write it like http://localhost:8088") from None
        return url


class EmbedServer(ModelServer):
    """A server that makes the vectors."""

    dimensions: int | None = Field(default=None, gt=0)  # dimensions of the vectors
    max_chars: int = Field(default=6000, gt=0)  # maximum characters of a text; the rest is cut off
    tpm_limit: int = Field(default=100_000, gt=0)  # rate limit of the provider


_SERVERS = {"embed_server": EmbedServer, "llm_server": ModelServer, "rerank_server": ModelServer}
_SECRET = frozenset({*_SERVERS, "backend_options"})  # no message has their values
# Environment variables, and the fields of the settings that they set.
VARIABLES: Mapping[str, tuple[str, ...]] = {
    **{variable: (field,) for variable, field in HOOK_SETTINGS.items()},
    "CLAWMEM_NO_LOCAL_MODELS": ("no_local_models",),
    **{
        f"CLAWMEM_{server.removesuffix('server')}{field}".upper(): (server, field)
        for server, kind in _SERVERS.items()
        for field in kind.model_fields
    },
    "CLAWMEM_ENABLE_AMEM": ("lanes", "enrich"),
    "CLAWMEM_ENABLE_CONSOLIDATION": ("lanes", "light"),
    "CLAWMEM_CONSOLIDATION_INTERVAL": ("lanes", "light_interval"),
    "CLAWMEM_HEAVY_LANE": ("lanes", "heavy"),
    "CLAWMEM_HEAVY_LANE_INTERVAL": ("lanes", "heavy_interval"),
    **{
        f"CLAWMEM_HEAVY_LANE_{field.upper()}": ("lanes", field)
        for field in ("window_start", "window_end", "max_usages", "obs_limit", "ded_limit", "surprisal")
    },
    "CLAWMEM_MERGE_GUARD_DRY_RUN": ("lanes", "dry_run"),
    "CLAWMEM_MERGE_SCORE_NORMAL": ("lanes", "merge_normal"),
    "CLAWMEM_MERGE_SCORE_STRICT": ("lanes", "merge_strict"),
    "CLAWMEM_CONTRADICTION_POLICY": ("lanes", "contradictions"),
    "CLAWMEM_CONTRADICTION_MIN_CONFIDENCE": ("lanes", "min_confidence"),
}


class Settings(BaseModel):
    """All settings; services receive single values, never this object."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    vault: Path  # the vault file
    named: str | None = None  # the name of the vault, if it is not the usual one
    home: Path = Field(default_factory=Path.home)  # home folder of the user
    config_file: Path  # the config file in effect, there or not
    # Engine of the indexes; by default the one in use.
    backend: str | None = Field(default=None, min_length=1)
    backend_options: dict[str, str] = {}  # options of the backend: for lancedb uri, endpoint and others
    # Model of the vectors; auto: that of the vectors, else the best installed.
    embedder: Literal["auto", "static", "bge-small", "multilingual-e5", "embeddinggemma"] = "auto"
    models: Path = Field(default_factory=lambda: models_folder(os.environ))  # folder of added models
    embed_server: EmbedServer | None = None  # makes the vectors: CLAWMEM_EMBED_URL
    llm_server: ModelServer | None = None  # writes text: CLAWMEM_LLM_URL
    rerank_server: ModelServer | None = None  # compares answers with the question: CLAWMEM_RERANK_URL

    @field_validator(*_SERVERS)
    @classmethod
    def _with_address(cls, server: ModelServer | None) -> ModelServer | None:
        return server if server and server.url else None

    # Policy that combines relevance and metadata into one score.
    ranking: Literal["calibrated", "published", "openclaw"] = "calibrated"
    telemetry: bool = True  # whether questions are recorded, without their text
    retention_days: int = Field(default=90, ge=1, le=MOST_DAYS)  # for how long recorded questions are kept
    # For how long receipts of answers are kept, with the question's text; 0 keeps none.
    receipt_days: int = Field(default=30, ge=0, le=MOST_DAYS)
    # Megabytes of archived transcripts, without the oldest beyond it; 0 keeps none.
    transcripts_mb: int = Field(default=200, ge=0, le=MOST_NUMBER)
    read_only: bool = False  # never change the vault
    no_local_models: bool = False  # run no large model in this process
    profile: Literal["speed", "balanced", "deep"] = "balanced"  # time that an answer may take
    server: Literal["auto", "manual"] = "auto"  # whether the first hook that finds no server starts one
    collections: dict[CollectionName, CollectionSettings] = {}  # the folders that are remembered, by name
    # Folder of notes that `remember` writes: below a collection, or absolute in one of them.
    inbox: Annotated[str, AfterValidator(_inside)] = ""
    global_context: str = ""  # description of all collections
    vaults: dict[VaultName, AbsolutePath] = {}  # further vaults by name
    # Further folders that programs may read into named vaults, with their subfolders.
    sync_folders: list[AbsolutePath] = []
    # When idle documents are archived; previewed only, unless it says dry_run: false.
    lifecycle: LifecycleSettings | None = None
    lanes: LaneSettings = LaneSettings()  # schedule and limits of the maintenance lanes
    # Whether any reading ends with the missing vectors; by default `update` makes those that take a minute here.
    autoEmbed: bool | None = None  # noqa: N815

    # Tokens of a block, instead of the profile's.
    token_budget: int | None = Field(default=None, ge=LEAST_BUDGET, le=MOST_BUDGET)
    heartbeat_patterns: str = ""  # further patterns of heartbeat prompts, separated by commas
    with_heartbeats: bool = False  # whether heartbeat prompts get a block
    # Time within which a repeated prompt of a session gets no block.
    dedupe_seconds: float = Field(default=600.0, ge=-MOST_NUMBER, le=MOST_NUMBER)
    # Blocks without curation of the memory until a reminder; 0 disables it.
    nudge_interval: int = Field(default=NUDGE_INTERVAL, ge=0, le=MOST_NUMBER)
    optional_hooks: Hooks = []  # those that run with their event
    topic: str = ""  # topic of sessions that have none of their own
    # Folder of the topics of sessions.
    topics: Path = Field(default_factory=lambda: topics_folder(os.environ))

    @property
    def archive_policy(self) -> ArchivePolicy | None:
        """The policy of the section ``lifecycle``; ``None`` without one."""
        return ArchivePolicy(**dict(self.lifecycle)) if self.lifecycle else None

    @property
    def roots(self) -> dict[str, str]:
        """The folder of each configured collection."""
        return {name: folder.root for name, folder in self.collections.items()}

    def context_of(self, collection: str, path: str) -> str | None:
        """Return the descriptions of everything, and of the folders above *path*; ``None`` without any."""
        configured = self.collections.get(collection)
        return path_context(path, configured.context if configured else {}, self.global_context)

    def embeds(self, collections: Iterable[str]) -> bool | None:
        """Return whether reading *collections* ends with the missing vectors; ``None`` if nothing says so."""
        chosen = {self.collections[name].autoEmbed for name in collections if name in self.collections}
        wishes = {self.autoEmbed, *chosen} - {None}
        return True in wishes if wishes else None

    @property
    def own_files(self) -> list[Path]:
        """The files and folders of clawmem itself, which are never read into a vault, and never replaced by an export."""
        vaults = [self.vault, default_vault(os.environ), *self.vaults.values(), self.config_file]
        return [*vaults, config_folder(os.environ), self.models, self.topics, agent_vaults(os.environ)]

    def fault_of_collection(self, name: str, folder: Path, pattern: str, kind: str) -> str:
        """Return why *name* cannot be the collection of *folder*, a path without links; empty if it can."""
        if fault := fault_of_name(name):
            return f"{fault} Choose another with --name."
        known = self.collections.get(name)
        if known and known.path.is_dir() and (real_path(known.path), known.kind) != (folder, kind):
            return f"Collection {name!r} is the folder {known.path}. Choose another name with --name."
        for other, configured in self.collections.items():
            place = (real_path(configured.path), configured.pattern, configured.kind)
            if other != name and place == (folder, pattern, kind):
                return f"{folder} is already the collection {other!r} ({pattern}). For others: clawmem collection add PATH --pattern GLOB"
        return ""

    def owns(self, place: Path) -> bool:
        """
        Return whether *place*, without links, belongs to clawmem, its vaults or its collections.

        It is, or is inside of, a file or folder of clawmem, or is its folder ``clawmem``, or inside of or above a collection.
        """
        own = [real_path(path) for file in self.own_files for path in files_of_vault(file)]
        roots = [*map(real_path, self.roots.values())] if place.is_dir() else []
        inner = [*roots, *(own if place.name == "clawmem" else ())]
        is_around = any(path.is_relative_to(place) for path in inner)
        return is_around or any(map(place.is_relative_to, [*own, *roots]))

    @property
    def folders_for_programs(self) -> list[Path]:
        """The folders that a program may read into a named vault, including their subfolders."""
        return [*(folder.path for folder in self.collections.values()), *self.sync_folders]


# The keys allowed in a config file; all others come from the environment and the command line.
_CONFIG_KEYS = frozenset(Settings.model_fields) - {
    *("vault", "named", "home", "config_file", "models", "topics", "read_only", "no_local_models", *_SERVERS),
    *(set(HOOK_SETTINGS.values()) - {"profile"}),
}


Report = Callable[[ConfigError], object] | None  # gets a fault of settings, which is raised without it


def load_settings(
    *,
    vault: Path | None = None,
    backend: str | None = None,
    environ: Mapping[str, str] | None = None,
    lenient: bool = False,
    report: Report = None,
) -> Settings:
    """
    Read the environment and the config file; *vault* and *backend* take precedence over both.

    Only the config file of the user is read, never one of the working folder: a cloned repository must not configure the
    user's memory. Nor is a file next to the usual vault, which another user may have written. Raises `ConfigError` for a
    wrong key or value; *report* gets it instead, and *lenient* logs it, so that no prompt fails.
    """
    env = os.environ if environ is None else environ
    report = partial(log_error, default_vault(env), "settings") if lenient else report
    path, other = (config_folder(env) / name for name in ("config.yaml", "index.yml"))
    if other.is_file() and not path.is_file():
        path = other

    def refuse(error: ConfigError) -> None:
        if report is None:
            raise error
        report(error)

    try:
        values = read_config(path)
    except ConfigError as error:
        refuse(error)
        values = {}
    for key in sorted(values.keys() - _CONFIG_KEYS, key=str):
        refuse(ConfigError(f"{path}: {unknown_key(key, _CONFIG_KEYS)}."))
        del values[key]
    if text := env.get("CLAWMEM_VAULTS"):
        try:
            values["vaults"] = {**values.get("vaults", {}), **json.loads(text)}
        except (ValueError, TypeError, RecursionError):
            name = variable_shown("CLAWMEM_VAULTS", env)
            refuse(ConfigError(f'{name} must be JSON such as {{"work": "/path/to/work.sqlite"}}.'))
    for variable, (field, *inner) in VARIABLES.items():
        if text := env.get(variable):
            section = values.get(field, {}) if inner else text
            if isinstance(section, Mapping):  # else the section of the file is refused below
                section = {**section, inner[0]: text}
            values[field] = section
    values |= {"vault": below_home(vault) if vault else default_vault(env), "config_file": path}
    values |= {"home": below_home("~", env), "models": models_folder(env), "topics": topics_folder(env)}
    values |= {"backend": backend} if backend else {}
    while True:
        try:
            settings = Settings.model_validate(values)
            is_usual = real_path(settings.vault) == real_path(usual_vault(env))
            has_own = not is_usual and is_there(config_of(settings.vault))
            return of_file(settings, settings.vault, report=report) if has_own else settings
        except ValidationError as error:
            refuse(ConfigError(_message(error, path, env)))
            for fault in error.errors():
                values.pop(str(fault["loc"][0]), None)


def of_file(settings: Settings, vault: Path, name: str | None = None, report: Report = None) -> Settings:
    """
    Return the settings for a *vault* in a file of its own, of this *name* if it has one; a wrong file is left out as a whole.

    The config file beside it, ``FILE.yaml``, has its collections, and other settings that differ for it. The
    collections of the usual vault are not read into it; programs may read their folders into a named one.
    """
    config = config_of(vault)
    places = {field: getattr(settings, field) for field in ("home", "models", "topics")}
    values = {**places, "vault": vault, "config_file": config}
    try:
        given = Settings.model_validate({**read_config(config), **values})
    except (ConfigError, ValidationError) as error:
        fault = error if isinstance(error, ConfigError) else ConfigError(_message(error, config, {}))
        if report is None:
            raise fault from error
        report(fault)
        given = Settings.model_validate(values)
    changes: dict[str, Any] = {"collections": {}, "global_context": ""}
    changes |= {field: getattr(given, field) for field in given.model_fields_set}
    if name:
        changes |= {"named": name, "sync_folders": [*settings.folders_for_programs, *given.sync_folders]}
    return settings.model_copy(update=changes)


PLAIN_WORDS = {  # for pydantic's types of errors
    "missing": "is missing",
    "extra_forbidden": "is not known",
    "int": "must be a whole number",
    "int_parsing_size": "is too large",
    "float": "must be a number",
    "bool_parsing": "must be on or off",
    "bool": "must be true or false",
    **dict.fromkeys(("dict", "model", "model_attributes"), "must be a mapping"),
    "path": "must be the path of a file or folder",
}


def fault_of(error: ErrorDetails) -> str:
    """Return the fault of one value, such as "must be greater than 0": in pydantic's words, if they are plain."""
    subject, should, demand = error["msg"].removeprefix("Value error, ").rstrip(".").partition(" should ")
    demand = f"must {demand}" if should and " " not in subject else f"{subject}{should}{demand}"
    kind = error["type"].removesuffix("_parsing").removesuffix("_type")
    return PLAIN_WORDS.get(error["type"]) or PLAIN_WORDS.get(kind, demand)


def _message(error: ValidationError, path: Path, env: Mapping[str, str]) -> str:
    """Return the first fault with its place, and the value if it is no secret."""
    fault = error.errors()[0]
    where = f"{'.'.join(str(part) for part in fault['loc'] if part != '[key]')} in {path} or the environment"
    for variable, place in VARIABLES.items():
        if place == fault["loc"][: len(place)] and env.get(variable):
            where = variable_shown(variable, env)
    given = repr(fault["input"]) if isinstance(fault["input"], str) else fault["input"]  # days as written
    is_unknown = fault["type"] == "extra_forbidden"  # a section has refused its own before
    is_hidden = is_unknown or fault["type"] in ("missing", "value_error") or fault["loc"][0] in _SECRET
    reason = unknown_key(fault["loc"][-1], _CONFIG_KEYS) if is_unknown else fault_of(fault)
    return f"{where}: {reason}{'' if is_hidden else f', not {given}'}."


def of_vault(settings: Settings, name: str, report: Report = None) -> Settings:
    """Return the settings for the vault *name*, see `of_file`; raise `NotFound` if no vault has this name."""
    if name not in settings.vaults:
        remedy = "To use a file, give its path."
        if is_collection_name(name):
            remedy = f"To make it, run: clawmem vault sync {name} FOLDER. {remedy}"
        raise NotFound("vault", name, suggestions=sorted(settings.vaults), remark=remedy)
    if real_path(settings.vaults[name]) == real_path(usual_vault(os.environ)):
        fault = f"vaults.{name} is the usual vault, which has no name. Leave --vault out, or give it another file."
        raise ConfigError(f"{settings.config_file}: {fault}")
    return of_file(settings, settings.vaults[name], name, report)


def at_vault(settings: Settings, vault: Path, report: Report = None) -> Settings:
    """
    Return the settings for a vault given by its name or its path; a name takes precedence over a path.

    The path of a named vault is equivalent to its name. Raises `NotFound` for a bare word that is neither a name nor a
    file: a typing error does not create an empty vault.
    """
    name = str(vault)
    if name in settings.vaults or (is_collection_name(name) and not is_there(vault)):
        return of_vault(settings, name, report)
    place = below_home(name, {"HOME": str(settings.home)})
    for known, path in settings.vaults.items():
        if place == path:
            return of_vault(settings, known, report)
    is_same = place.absolute() == settings.vault.absolute()
    return settings if is_same else of_file(settings, place, report=report)


def set_apart(settings: Settings) -> None:
    """Write the config file of a vault with its own collections, if it is missing, so that every process reads it."""
    if settings.config_file == config_of(settings.vault) and not settings.config_file.exists():
        set_value(settings.config_file, ["collections"], {})


def refuse_named(settings: Settings, what: str) -> None:
    """Raise `InvalidInput` if *settings* are for a named vault: *what*, a command on folders, needs the usual one."""
    if settings.named:
        remedy = f"Leave --vault out, or fill this one with: clawmem vault sync {settings.named} FOLDER"
        raise InvalidInput("INVALID_INPUT", f"{what} is for the usual vault. {remedy}")
