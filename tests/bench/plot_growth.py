"""
Growth curves from the figures of ``test_sizes.py``: ``python tests/bench/plot_growth.py FIGURES.jsonl GROWTH.svg``.

One panel a leg, one line an engine, CPU milliseconds over fragments, both logarithmic; a published target is a
short dashed mark at its size, in its engine's colour. Of several figures for the same point the last one counts.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

Figure = Mapping[str, Any]

LEGS = ("keyword", "keyword, frequent words", "vectors", "hybrid")
COLOURS = {
    "sqlite": "#0072b2",
    "tantivy": "#d55e00",
    "lancedb": "#009e73",
    "exact scan": "#999999",
}
NAMES = {
    "sqlite": "SQLite",
    "tantivy": "tantivy",
    "lancedb": "LanceDB",
    "exact scan": "scan (numpy)",
}
COLUMNS = 2
WIDTH, HEIGHT = 3.6, 2.8  # of a panel, inches


def main(figures: str, picture: str) -> None:
    """Read the figures and write the picture; its ending says in which format."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "clawmem", "font.size": 9})
    from matplotlib import pyplot

    latest = read(Path(figures))
    legs = [leg for leg in LEGS if any(figure["leg"] == leg for figure in latest)]
    rows = -(-len(legs) // COLUMNS)
    size = (WIDTH * COLUMNS, HEIGHT * rows)
    canvas, panels = pyplot.subplots(
        rows, COLUMNS, figsize=size, sharex=True, sharey=True, squeeze=False, layout="constrained"
    )
    for axes, leg in zip(panels.flat, legs, strict=False):
        draw(axes, leg, [figure for figure in latest if figure["leg"] == leg])
    for axes in panels.flat[len(legs) :]:
        axes.set_visible(False)
    canvas.supxlabel("fragments", fontsize=9)
    canvas.supylabel("CPU ms a question, median", fontsize=9)
    explain(canvas)
    canvas.savefig(picture, metadata={"Date": None} if picture.endswith(".svg") else None, dpi=110)


def read(path: Path) -> list[Figure]:
    """The last figure of every leg, engine and size."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]
    return list({(row["leg"], row["engine"], row["fragments"]): row for row in rows}.values())


def draw(axes: Axes, leg: str, figures: Iterable[Figure]) -> None:
    """One panel: a line from size to size for each engine."""
    by_size = sorted(figures, key=lambda figure: figure["fragments"])
    for engine, colour in COLOURS.items():
        mine = [figure for figure in by_size if figure["engine"] == engine]
        if mine:
            draw_engine(axes, engine, colour, mine)
    axes.set(xscale="log", yscale="log", xlim=(6_000, 1_700_000), ylim=(0.25, 150))
    axes.set_title(leg, fontsize=10)
    axes.set_xticks([10_000, 100_000, 1_000_000], ["10 k", "100 k", "1 M"])
    axes.set_yticks([0.3, 1, 3, 10, 30, 100], ["0.3", "1", "3", "10", "30", "100"])
    axes.minorticks_off()
    axes.grid(color="#e5e5e5", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def draw_engine(axes: Axes, engine: str, colour: str, figures: list[Figure]) -> None:
    """A line of medians, and a dashed mark at each target."""
    sizes = [figure["fragments"] for figure in figures]
    medians = [figure["median"] for figure in figures]
    axes.plot(sizes, medians, "o-", color=colour, label=NAMES[engine], markersize=4)
    for figure in figures:
        if figure["target"] is not None:
            ends = [figure["fragments"] / 1.6, figure["fragments"] * 1.6]
            axes.plot(ends, [figure["target"]] * 2, "--", color=colour, linewidth=1.4)


def explain(canvas: Canvas) -> None:
    """One legend above all panels: every engine once, and what a dashed mark is."""
    from matplotlib.lines import Line2D

    lines = {line.get_label(): line for axes in canvas.axes for line in axes.get_lines()}
    named = {name: lines[name] for name in NAMES.values() if name in lines}
    target = Line2D([], [], linestyle="--", color="#555555", linewidth=1.4)
    canvas.legend(
        [*named.values(), target],
        [*named, "target"],
        loc="outside upper center",
        ncols=6,
        frameon=False,
        fontsize=8,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
