"""The models that run in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from clawmem.app.bootstrap.models import SETS
from clawmem.app.bootstrap.services import Services
from clawmem.app.operations.operation import Effect, Opening, Result, argument, operation
from clawmem.app.operations.output import size
from clawmem.app.services.models import ModelState
from clawmem.app.settings.config_file import set_value
from clawmem.ports.errors import InvalidInput

Name = Annotated[str, "Its name; see clawmem models list.", argument("NAME")]


class ChosenModel(Result):
    """The embedding model that the config file names now."""

    embedder: str
    config: str
    next: str = Field(default="clawmem embed --force", description="Command for a vault with other vectors.")


@operation(
    Effect.READS,
    columns="name=model role=for there in_use=used dimensions size_bytes=size origin=from summary=what",
    items="models",
    in_own_process=True,
    opens=Opening.NOTHING,
)
def models_list(services: Services) -> list[ModelState]:
    """List the known models: installed or not, and which one is used."""
    return services.model_selection.states()


@operation(Effect.REPEATABLE, opens=Opening.NOTHING)
def models_add(
    services: Services,
    name: Name,
    source: Annotated[Path | None, "A GGUF file, or a folder with model.onnx.", argument("FILE")] = None,
) -> ModelState:
    """
    Download a model and check its published hash, or take a file. A repetition continues where it stopped.

    A vault keeps the model of its vectors; to change it, run: clawmem embed --force
    """
    model, _ = services.model_selection.known(name)
    if source and not source.exists():
        raise InvalidInput("INVALID_PATH", f"There is no {source}. Without a path the model is downloaded.")
    with services.progress("Reading" if source else f"Downloading {size(model.download_bytes)}"):
        model.add(source)
    return services.model_selection.known(name)[1]  # the settings may select the new model


@operation(Effect.DESTROYS, opens=Opening.NOTHING)
def models_remove(services: Services, name: Name) -> ModelState:
    """Delete an installed model that is not in use; its vectors stay, until: clawmem embed --force"""
    model, state = services.model_selection.installed(name)
    if state.in_use and state.dimensions and state.size_bytes:
        message = f"{name!r} is in use. Choose another first: clawmem models use static"
        raise InvalidInput("INVALID_INPUT", message)
    model.remove()
    return services.model_selection.known(name)[1]


@operation(
    Effect.REPEATABLE,
    opens=Opening.NOTHING,
    text=lambda made: [
        f"{made.config}: embedder: {made.embedder}. A vault with other vectors keeps them until: {made.next}"
    ],
)
def models_use(
    services: Services,
    name: Annotated[str, "better, multilingual, the name of a model, or auto.", argument("NAME")],
) -> ChosenModel:
    """
    Set the embedding model in the config file; a missing one is added first.

    better is an English model that also compares the first results with the question (70 MB); multilingual finds notes
    in other languages than the question (135 MB). auto is the best installed model for a vault without vectors; other
    vaults keep the model of theirs, until: clawmem embed --force
    """
    selection, names = services.model_selection, SETS.get(name, (name,))
    for member in names if name != "auto" else ():
        model, state = selection.known(member)
        if not state.there:
            with services.progress(f"Downloading {size(model.download_bytes)}"):
                model.add(None)
    if name != "auto":
        model, state = selection.installed(names[0])
        if not state.dimensions:
            raise InvalidInput(
                "INVALID_INPUT",
                f"{name!r} makes no vectors; it is used as soon as it is installed. "
                f"To stop using it: clawmem models remove {name}",
            )
        model.opened()
    config = services.settings.config_file
    set_value(config, ["embedder"], names[0])
    return ChosenModel(embedder=names[0], config=str(config))
