"""Drawing primitives of the report."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, timedelta
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

Series = Mapping[str, Sequence[float]]

COLOURS = ("#3465a4", "#e08a1e", "#4e9a52", "#b5443c", "#7b5fa6", "#8a6d4f", "#4aa3b5", "#9a9a9a")
OTHERS = "others"
LONGEST_NAME = 48  # characters of a label; longer ones leave no room for the bar
FEWEST_DAYS = 10  # on a shorter axis matplotlib labels hours

_STYLE: dict[Any, Any] = {
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#e4e4e4",
    "legend.frameon": False,
    "text.parse_math": False,  # dollar signs in paths are literal
    "svg.fonttype": "none",  # text that can be searched and copied
}


@contextmanager
def styled() -> Iterator[None]:
    """Apply the common style to all drawing inside the block."""
    with rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # a path with characters that the font lacks
        yield


def new_figure(height: float = 4.0) -> Figure:
    """Return an empty figure, nine inches wide."""
    return Figure(figsize=(9, height), layout="constrained")


def bars(axes: Axes, places: Sequence[Any], series: Series) -> None:
    """Draw stacked bars of the series at *places*, which are labels or days."""
    below = [0.0] * len(places)
    for (name, values), colour in zip(_folded(series).items(), COLOURS, strict=False):
        axes.bar(places, values, bottom=below, color=colour, label=name)
        below = [low + value for low, value in zip(below, values, strict=True)]
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))


def pile_up(axes: Axes, days: Sequence[date], series: Series, until: date) -> None:
    """Draw stacked areas; each value holds until the next day listed, the last until *until* or a little later."""
    end = max(until, days[-1] + timedelta(days=FEWEST_DAYS))
    folded = _folded(series)
    held = [[*values, values[-1]] for values in folded.values()]
    places: list[Any] = [*days, end]  # matplotlib accepts dates, but its type hints only numbers
    axes.stackplot(places, *held, labels=[*folded], colors=COLOURS, step="post", alpha=0.9)
    axes.set_ylim(bottom=0)
    _count_days(axes)


def ladder(names: Sequence[str], series: Series) -> tuple[Figure, Axes]:
    """Return a figure of stacked horizontal bars with the first name at the top, and its axes."""
    figure = new_figure(1.3 + 0.3 * len(names))
    axes = figure.subplots()
    rows = range(len(names))  # positions instead of names: two shortened names may be equal
    left = [0.0] * len(names)
    for (name, values), colour in zip(series.items(), (COLOURS[0], "#d0d0d0"), strict=False):
        axes.barh(rows, values, left=left, color=colour, label=name)
        left = [low + value for low, value in zip(left, values, strict=True)]
    axes.set_yticks(rows, [_shortened(name) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(visible=True, axis="x")
    axes.grid(visible=False, axis="y")
    return figure, axes


def day_axis(axes: Axes) -> None:
    """Show days along the axis, at least `FEWEST_DAYS` of them."""
    first, last = axes.get_xlim()
    missing = max(0.0, FEWEST_DAYS - (last - first))
    axes.set_xlim(first - missing, last)
    _count_days(axes)


def legend(axes: Axes, *, reverse: bool = False) -> None:
    """Place the legend to the right of the plot; *reverse* its order for stacked series."""
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), reverse=reverse)


def _count_days(axes: Axes) -> None:
    locator = AutoDateLocator(minticks=3, maxticks=9)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


def _folded(series: Series) -> dict[str, list[float]]:
    """Keep the largest series up to the number of colours, and add up the others in one series."""
    largest = sorted(series, key=lambda name: -sum(series[name]))
    kept = largest if len(largest) <= len(COLOURS) else largest[: len(COLOURS) - 1]
    found = {name: [*series[name]] for name in series if name in kept}
    if len(kept) < len(largest):
        rest = [series[name] for name in largest[len(kept) :]]
        found[OTHERS] = [sum(values) for values in zip(*rest, strict=True)]
    return found


def _shortened(name: str) -> str:
    """Return the end of a long path, which is more specific than its beginning."""
    return name if len(name) <= LONGEST_NAME else f"…{name[1 - LONGEST_NAME :]}"
