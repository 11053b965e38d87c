"""Plots of the report, one file per question."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from clawmem.ports.analytics import Question, VaultReport
from clawmem.ports.errors import InvalidInput

Records = list[dict[str, Any]]
Series = Mapping[str, Sequence[float]]

NAMED = 15  # rows that stay legible
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


def draw(report: VaultReport, folder: str, kind: str) -> list[str]:
    """
    Write the plots ``growth``, ``recalled``, ``questions`` and ``speed``, except empty ones.

    Args:
        folder: An existing folder. Files of the same name are replaced.
        kind: ``png`` or ``svg``.

    Returns:
        The paths written.

    Raises:
        InvalidInput: a file cannot be written there.
    """
    paths = []
    with rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # a path with characters that the font lacks
        for name, (question, plot) in _PLOTS.items():
            if not (records := report.tables[question]):
                continue
            path = Path(folder) / f"{name}.{kind}"
            try:
                plot(report, records).savefig(path, dpi=120)
            except OSError as error:
                raise InvalidInput("INVALID_PATH", f"{path} cannot be written: {error.strerror}.") from error
            paths.append(str(path))
    return paths


# -- documents ------------------------------------------------------------------------------------------


def _growth(report: VaultReport, records: Records) -> Figure:
    """Draw stacked areas: each total holds until the next month listed, the last one until the day of the report."""
    records = [r for r in records if r["basis"] == "authored"]
    figure = _figure(6.4)
    counts, sizes = figure.subplots(2, 1, sharex=True)
    unit, length = ("megabytes", 1e6) if max(r["bytes_total"] for r in records) >= 1e6 else ("kilobytes", 1e3)
    months = sorted({str(r["month"]) for r in records})
    days = [date.fromisoformat(f"{month}-01") for month in months]
    end = max(date.fromisoformat(report.now[:10]), days[-1] + timedelta(days=FEWEST_DAYS))
    for axes, column, divisor in ((counts, "documents_total", 1.0), (sizes, "bytes_total", length)):
        totals = {(r["month"], r["collection"]): r[column] / divisor for r in records}
        series: dict[str, list[float]] = {name: [0.0] for _, name in sorted(totals)}
        for name, values in series.items():
            for month in months:
                values.append(totals.get((month, name), values[-1]))
        folded = _folded({name: [*values[1:], values[-1]] for name, values in series.items()})
        places: list[Any] = [*days, end]  # matplotlib accepts dates, but its type hints only numbers
        axes.stackplot(places, *folded.values(), labels=[*folded], colors=COLOURS, step="post", alpha=0.9)
        axes.set_ylim(bottom=0)
        _day_axis(axes)
    counts.set(title="Documents, by the month they were written in", ylabel="documents")
    sizes.set(title="Their size", ylabel=unit)
    _legend(counts, reverse=True)
    return figure


# -- recalls --------------------------------------------------------------------------------------------


def _recalled(report: VaultReport, records: Records) -> Figure:
    """Draw horizontal bars with the first document at the top."""
    names = [str(r["document"]) for r in records[:NAMED]]
    figure = _figure(1.3 + 0.3 * len(names))
    axes = figure.subplots()
    rows = range(len(names))  # positions instead of names: two shortened names may be equal
    axes.barh(rows, [r["recalls"] for r in records[:NAMED]], color=COLOURS[0])
    # The end of a long path is more specific than its beginning.
    axes.set_yticks(rows, [n if len(n) <= LONGEST_NAME else f"…{n[1 - LONGEST_NAME :]}" for n in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(visible=True, axis="x")
    axes.grid(visible=False, axis="y")
    axes.set(title=f"Recalled most, {_period(report)}", xlabel="answers it was in")
    return figure


def _questions(report: VaultReport, records: Records) -> Figure:
    """Draw stacked bars, one for each day."""
    figure = _figure()
    axes = figure.subplots()
    days = sorted({str(r["day"]) for r in records})
    counts = {(r["day"], r["verb"]): r["recalls"] for r in records}
    series = _folded({verb: [counts.get((day, verb), 0) for day in days] for verb in _verbs(records)})
    places: list[Any] = [date.fromisoformat(day) for day in days]
    below = [0.0] * len(days)
    for (verb, values), colour in zip(series.items(), COLOURS, strict=False):
        axes.bar(places, values, bottom=below, color=colour, label=verb)
        below = [low + value for low, value in zip(below, values, strict=True)]
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    _legend(axes, reverse=True)
    _day_axis(axes)
    axes.set(title=f"Questions a day, {_period(report)}", ylabel="questions")
    return figure


def _speed(report: VaultReport, records: Records) -> Figure:
    figure = _figure()
    axes = figure.subplots()
    for number, verb in enumerate(_verbs(records)):
        own = [r for r in records if r["verb"] == verb]
        days: list[Any] = [date.fromisoformat(r["day"]) for r in own]
        for column, form, share in (("p50_ms", "o-", "half"), ("p95_ms", "o:", "95 %")):
            values, colour = [r[column] for r in own], COLOURS[number % len(COLOURS)]
            axes.plot(days, values, form, ms=4, color=colour, label=f"{verb}: {share} are faster")
    axes.set(title=f"Time to an answer, {_period(report)}", ylabel="milliseconds", ylim=(0, None))
    _day_axis(axes)
    _legend(axes)
    return figure


_PLOTS: Mapping[str, tuple[Question, Callable[[VaultReport, Records], Figure]]] = {
    "growth": (Question.GROWTH, _growth),
    "recalled": (Question.MOST_RECALLED, _recalled),
    "questions": (Question.DAYS, _questions),
    "speed": (Question.DAYS, _speed),
}


def _period(report: VaultReport) -> str:
    return f"{report.since[:10]} to {report.now[:10]}" if report.since else f"until {report.now[:10]}"


def _verbs(records: Records) -> list[str]:
    return sorted({str(r["verb"]) for r in records})


# -- drawing --------------------------------------------------------------------------------------------


def _figure(height: float = 4.0) -> Figure:
    return Figure(figsize=(9, height), layout="constrained")


def _day_axis(axes: Axes) -> None:
    """Show days along the axis, at least `FEWEST_DAYS` of them."""
    first, last = axes.get_xlim()
    axes.set_xlim(min(first, last - FEWEST_DAYS), last)
    locator = AutoDateLocator(minticks=3, maxticks=9)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


def _legend(axes: Axes, *, reverse: bool = False) -> None:
    """Place the legend to the right of the plot; *reverse* its order for stacked series."""
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), reverse=reverse)


def _folded(series: Series) -> dict[str, list[float]]:
    """Return the largest series up to the number of colours, and the sum of the others as one series."""
    largest = sorted(series, key=lambda name: -sum(series[name]))
    shown = largest if len(largest) <= len(COLOURS) else largest[: len(COLOURS) - 1]
    folded = {name: [*series[name]] for name in series if name in shown}
    if len(shown) < len(largest):
        rest = [series[name] for name in largest[len(shown) :]]
        folded[OTHERS] = [sum(values) for values in zip(*rest, strict=True)]
    return folded
