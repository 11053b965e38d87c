"""Plots of the report, one file per question."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
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

NAMED = 15  # rows that stay legible

_AGES = {
    "future": "in the future",
    "under_7": "under 7 days",
    "under_30": "7 to 29 days",
    "under_90": "30 to 89 days",
    "under_365": "90 to 364 days",
    "older": "a year or more",
}


def draw(report: VaultReport, folder: str, kind: str) -> list[str]:
    """
    Write the plots ``growth``, ``age``, ``coverage``, ``recalled``, ``questions`` and ``speed``, except empty ones.

    Args:
        folder: An existing folder. Files of the same name are replaced.
        kind: ``png`` or ``svg``.

    Returns:
        The paths written.

    Raises:
        InvalidInput: a file cannot be written there.
    """
    with styled():
        figures = {name: plot(report) for name, plot in _PLOTS.items()}
        return [_save(figure, Path(folder) / f"{name}.{kind}") for name, figure in figures.items() if figure]


def _save(figure: Figure, path: Path) -> str:
    try:
        figure.savefig(path, dpi=120)
    except OSError as error:
        raise InvalidInput("INVALID_PATH", f"{path} cannot be written: {error.strerror}.") from error
    return str(path)


# -- documents ------------------------------------------------------------------------------------------


def _growth(report: VaultReport) -> Figure | None:
    records = [r for r in report.tables[Question.GROWTH].records() if r["basis"] == "authored"]
    if not records:
        return None
    figure = new_figure(6.4)
    counts, sizes = figure.subplots(2, 1, sharex=True)
    until = date.fromisoformat(report.now[:10])
    pile_up(counts, *_totals(records, "documents_total", 1), until)
    unit, length = _unit(max(r["bytes_total"] for r in records))
    pile_up(sizes, *_totals(records, "bytes_total", length), until)
    counts.set(title="Documents, by the month they were written in", ylabel="documents")
    sizes.set(title="Their size", ylabel=unit)
    legend(counts, reverse=True)
    return figure


def _age(report: VaultReport) -> Figure | None:
    records = report.tables[Question.AGES].records()
    if not records:
        return None
    shown = [column for column in _AGES if column != "future" or any(r["future"] for r in records)]
    figure = new_figure()
    axes = figure.subplots()
    bars(
        axes,
        [_AGES[column] for column in shown],
        {r["collection"]: [r[column] for column in shown] for r in records},
    )
    axes.set(title=f"How old the documents are on {report.now[:10]}", ylabel="documents")
    legend(axes, reverse=True)
    return figure


def _coverage(report: VaultReport) -> Figure | None:
    records = report.tables[Question.COVERAGE].records()
    if not records or not report.recalls:
        return None
    records = sorted(records, key=lambda r: -int(r["documents"]))[:NAMED]
    names = [f"{r['collection']} · {r['content_type']}" for r in records]
    recalled = [r["recalled"] for r in records]
    never = [r["documents"] - r["recalled"] for r in records]
    figure, axes = ladder(names, {"recalled": recalled, "never recalled": never})
    axes.set(title=f"Documents that were recalled, {_period(report)}", xlabel="documents")
    legend(axes)
    return figure


# -- recalls --------------------------------------------------------------------------------------------


def _recalled(report: VaultReport) -> Figure | None:
    records = report.tables[Question.MOST_RECALLED].records()[:NAMED]
    if not records:
        return None
    names = [str(r["document"]) for r in records]
    figure, axes = ladder(names, {"recalls": [r["recalls"] for r in records]})
    axes.set(title=f"Recalled most, {_period(report)}", xlabel="answers it was in")
    return figure


def _questions(report: VaultReport) -> Figure | None:
    records = report.tables[Question.DAYS].records()
    if not records:
        return None
    days = sorted({str(r["day"]) for r in records})
    counts = {(r["day"], r["verb"]): r["recalls"] for r in records}
    series = {verb: [counts.get((day, verb), 0) for day in days] for verb in _verbs(records)}
    figure = new_figure()
    axes = figure.subplots()
    bars(axes, [date.fromisoformat(day) for day in days], series)
    day_axis(axes)
    axes.set(title=f"Questions a day, {_period(report)}", ylabel="questions")
    legend(axes, reverse=True)
    return figure


def _speed(report: VaultReport) -> Figure | None:
    records = report.tables[Question.DAYS].records()
    if not records:
        return None
    figure = new_figure()
    axes = figure.subplots()
    for number, verb in enumerate(_verbs(records)):
        own = [r for r in records if r["verb"] == verb]
        days: list[Any] = [date.fromisoformat(r["day"]) for r in own]
        colour = COLOURS[number % len(COLOURS)]
        axes.plot(
            days, [r["p50_ms"] for r in own], "o-", ms=4, color=colour, label=f"{verb}: half are faster"
        )
        axes.plot(
            days, [r["p95_ms"] for r in own], "o:", ms=3, color=colour, label=f"{verb}: 95 % are faster"
        )
    axes.set(title=f"Time to an answer, {_period(report)}", ylabel="milliseconds", ylim=(0, None))
    day_axis(axes)
    legend(axes)
    return figure


_PLOTS: Mapping[str, Callable[[VaultReport], Figure | None]] = {
    "growth": _growth,
    "age": _age,
    "coverage": _coverage,
    "recalled": _recalled,
    "questions": _questions,
    "speed": _speed,
}


def _period(report: VaultReport) -> str:
    return f"{report.since[:10]} to {report.now[:10]}" if report.since else f"until {report.now[:10]}"


def _unit(size: int) -> tuple[str, float]:
    return ("megabytes", 1e6) if size >= 1e6 else ("kilobytes", 1e3)


def _verbs(records: Records) -> list[str]:
    return sorted({str(r["verb"]) for r in records})


def _totals(records: Records, column: str, unit: float) -> tuple[list[date], dict[str, list[float]]]:
    """Return the months with additions, and the total of each collection at the end of each of them."""
    months = sorted({str(r["month"]) for r in records})
    added = {(r["month"], r["collection"]): r[column] / unit for r in records}
    series: dict[str, list[float]] = {}
    for name in sorted({str(r["collection"]) for r in records}):
        series[name] = []
        for month in months:
            before = series[name][-1] if series[name] else 0.0
            series[name].append(added.get((month, name), before))
    return [date.fromisoformat(f"{month}-01") for month in months], series


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
