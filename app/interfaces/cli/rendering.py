"""The output of answers: plain text in a pipe, tables and colour on a terminal, JSON on request."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any, NamedTuple

from clawmem.app.operations.output import STYLE, Part, Verbatim, printable, table

# C1 controls, line separators, and marks of direction or of no width, which JSON allows as they are.
_UNSHOWN = re.compile(
    "[\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


class CommandOutput(NamedTuple):
    """
    The output of a command.

    ``degraded`` maps each part of the search that could not be used to the reason. ``asides`` are sentences for
    stderr, such as those about documents that were left out.
    """

    parts: list[Part]
    degraded: Mapping[str, str] = {}
    asides: Sequence[str] = ()


def show_json(value: object) -> None:
    """Print *value* as JSON, see `json_part`."""
    show_part(json_part(value))


def json_part(value: object, *, indent: int | None = 2) -> str:
    """
    Return *value* as JSON, dataclasses included; NaN and infinities become null.

    Characters that end lines, move the cursor or reorder text are escaped.
    """
    text = json.dumps(_plain(value), ensure_ascii=False, indent=indent)
    return _UNSHOWN.sub(lambda found: json.dumps(found[0])[1:-1], text)


def show(text: str) -> None:
    """Print a line of text without the terminal escapes that a note may contain."""
    show_part(printable(text))


def show_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; in a pipe its columns are aligned with blanks."""
    show_part(table(columns, rows))


def show_part(part: Part) -> None:
    """Print one part of the output."""
    if isinstance(part, str):
        _show_line(part)
    elif isinstance(part, Verbatim):
        _show_verbatim(part.text)
    elif sys.stdout.isatty():
        _show_rich_table(part.columns, part.rows)
    else:
        for line in part.lines():
            _show_line(line)


def show_said(said: CommandOutput) -> None:
    """Print the output of a command; degraded parts and asides go to stderr in every format."""
    for part in said.parts:
        show_part(part)
    for leg, reason in said.degraded.items():
        sys.stderr.write(f"degraded: {leg}: {printable(reason)}\n")
    for aside in said.asides:
        sys.stderr.write(f"clawmem: {printable(aside)}\n")


def _show_line(text: str) -> None:
    if str(sys.stdout.encoding).lower() == "utf-8" and not sys.stdout.isatty():
        sys.stdout.write(f"{STYLE.sub('', text)}\n")
        sys.stdout.flush()
        return
    import typer  # importing typer takes longer than every other step of a served question

    typer.echo(text, color=_colour())


def _show_verbatim(text: str) -> None:
    if sys.stdout.isatty():
        _show_line(printable(text))
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(f"{text}\n".encode())
    sys.stdout.buffer.flush()


def _show_rich_table(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    # Cells are folded, not truncated, so that paths can be copied.
    folded = [Column(name, overflow="fold") for name in columns]
    table = Table(*folded, box=None, header_style="bold", pad_edge=False)
    for row in cells:
        table.add_row(*map(Text, row))
    Console(no_color=_colour() is False).print(table)


def _colour() -> bool | None:
    """Return False if NO_COLOR is set; None lets typer decide by whether stdout is a terminal."""
    return False if os.environ.get("NO_COLOR") else None


def _plain(value: Any) -> Any:
    from dataclasses import asdict, is_dataclass

    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    return str(value) if isinstance(value, PurePath) else value


Progress = Callable[[int, int], None]  # completed, total


@contextmanager
def progress(label: str) -> Iterator[Progress]:
    """Yield a callback that draws a bar on stderr, if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def interruption_explained() -> Iterator[None]:
    """Write the notes of an interrupt, which report the work done until then, to stderr."""
    try:
        yield
    except KeyboardInterrupt as interruption:
        for note in getattr(interruption, "__notes__", ()):
            sys.stderr.write(f"{note}\n")
        raise


def stop_event() -> threading.Event:
    """Return an event that SIGINT and SIGTERM set; installed early, because a signal may arrive during startup."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    return stop
