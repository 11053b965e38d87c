"""The output of commands: plain text in a pipe, tables and colour on a terminal, JSON on request."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer
from pydantic_core import to_jsonable_python

from clawmem.app.operations.output import Part, Table, Verbatim, encodable, printable

# C1 controls, line separators, and marks of direction or of no width, which JSON allows as they are.
_UNSHOWN = re.compile(
    "[\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
Progress = Callable[[int, int], None]  # completed, total


def json_text(value: object, *, indent: int | None = 2) -> str:
    """
    Return *value* as JSON, dataclasses included; NaN and infinities become null.

    Characters that end lines, move the cursor or reorder text are escaped.
    """
    plain = to_jsonable_python(value, inf_nan_mode="null", fallback=dict)
    text = encodable(json.dumps(plain, ensure_ascii=False, indent=indent))
    return _UNSHOWN.sub(lambda match: json.dumps(match[0])[1:-1], text)


def show_json(value: object) -> None:
    """Print *value* as JSON, see `json_text`."""
    show_part(json_text(value))


def show(text: str) -> None:
    """Print a line of text without the terminal escapes that a note may contain."""
    show_part(printable(text))


def show_part(part: Part) -> None:
    """Print one part of the output; in a pipe the columns of a table are aligned with blanks."""
    is_terminal, colour = sys.stdout.isatty(), False if os.environ.get("NO_COLOR") else None
    if isinstance(part, Verbatim):
        typer.echo(printable(part.text) if is_terminal else encodable(part.text).encode())
    elif isinstance(part, str):
        typer.echo(part, color=colour)
    elif is_terminal:
        _show_rich_table(part)
    else:
        typer.echo("\n".join(part.lines()))


def _show_rich_table(part: Table) -> None:
    from rich.console import Console
    from rich.table import Column
    from rich.table import Table as RichTable
    from rich.text import Text

    # Cells are folded, not truncated, so that paths can be copied.
    columns = [Column(name, overflow="fold") for name in part.columns]
    table = RichTable(*columns, box=None, header_style="bold", pad_edge=False)
    for row in part.rows:
        table.add_row(*map(Text, row))
    Console(no_color=bool(os.environ.get("NO_COLOR"))).print(table)


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


def stop_event() -> threading.Event:
    """Return an event that SIGINT and SIGTERM set; installed early, because a signal may arrive during startup."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    return stop
