"""The tables of ``docs/benchmarks.md``, as lines of Markdown, from what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from artefacts import Table, read_facts, read_table

from clawmem.app.bench.retrieval import interval, mean

SHOWN = ("recall@5", "recall@10", "ndcg@10", "mrr@10")
TITLES = {"ndcg@10": "nDCG@10", "mrr@10": "MRR@10"}
COLLECTIONS = {
    "locomo": "LoCoMo",
    "beam": "BEAM",
    "cranfield": "Cranfield",
    "qmd": "qmd",
    "biologist": "biologist",
    "sde": "sde",
    "ownervault": "the owner's notes",
}
UNITS = {
    "locomo.doc": "session",
    "beam.doc": "session",
    "cranfield.doc": "document",
    "qmd.doc": "document",
    "biologist.doc": "note",
    "sde.doc": "note",
    "locomo.turn": "turn",
    "beam.turn": "turn",
}
WAYS = {"scoped": "within a conversation", "pooled": "in one vault"}
SYSTEMS = {
    "plain BM25": "plain BM25",
    "search": "`search`",
    "query static": "`query`",
    "query bge-small": "`query`, better",
    "query multilingual-e5": "`query`, multilingual",
}
SURFACED = ("speed", "balanced", "deep")
FIGURES = (
    "right note first",
    "right note first, in another language",
    "excerpt holds the answer",
    "not trapped",
    "answer in the block",
    "words of the right note in the block",
    "words of a block, median",
    "unanswerable, not confident",
    "unanswerable, no block",
    "offtopic, no block",
)
LEADING = {"doc": "ndcg@10", "turn": "recall@10"}  # the measure by which the ablation compares


def quality(folder: Path) -> Iterator[str]:
    """What the figures rest on, then one table of every setting and system."""
    facts = read_facts(folder / "quality.json")
    tables = _tables(folder / "quality")
    yield from _made_with(facts)
    yield from _data(facts, tables)
    yield _row(("", "n", *map(_measure, SHOWN), "CPU p50"))
    yield _rule(3 + len(SHOWN))
    for name, table in tables.items():
        yield from _setting(name, table, facts)


def ablation(folder: Path) -> Iterator[str]:
    """What changes when a signal is left out, by collection."""
    tables = _tables(folder / "ablation")
    every = {
        name: about["every"] for name, about in read_facts(folder / "ablation.json").get("tables", {}).items()
    }
    signals = list(dict.fromkeys(signal for table in tables.values() for signal in table.systems))
    yield _row(("without", *(_column(name, table, every.get(name, 1)) for name, table in tables.items())))
    yield _rule(1 + len(tables))
    for signal in signals:
        cells = (_difference(table, signal, _leading(name)) for name, table in tables.items())
        yield _row(("nothing: all as it is" if signal == signals[0] else signal, *cells))


def latency(folder: Path) -> Iterator[str]:
    """How long a question takes in a process that is warm, and where the time goes."""
    found = read_facts(folder / "latency.json")
    yield _row(("fragments", "vectors", "n", "CPU p50 / p95", "wall p50 / p95", "stages, wall p50"))
    yield _rule(6)
    for one in found.get("runs", ()):
        stages = ", ".join(f"{name} {ms:.1f}" for name, ms in one["stages_ms"].items() if ms >= 0.05)
        yield _row(
            (
                f"{one['fragments']:,}".replace(",", " "),
                one["embedder"],
                str(one["questions"]),
                f"{one['cpu_p50_ms']:.1f} / {one['cpu_p95_ms']:.1f} ms",
                f"{one['wall_p50_ms']:.1f} / {one['wall_p95_ms']:.1f} ms",
                stages,
            )
        )


def server(folder: Path) -> Iterator[str]:
    """What a question costs a server, and what it stands."""
    found = read_facts(folder / "server.json")
    yield _row(("asked", "n", "target, p50", "CPU mean", "wall p50 / p95", "memory afterwards"))
    yield _rule(6)
    for one in found.get("each", ()):
        target = f"≤ {one['target_ms']:g} ms" if one["target_ms"] else ""
        wall = f"{one['wall_p50_ms']:.1f} / {one['wall_p95_ms']:.1f} ms"
        yield _row(
            (
                one["way"],
                str(one["n"]),
                target,
                f"{one['cpu_mean_ms']:.1f} ms",
                wall,
                f"{one['memory_mb']} MB",
            )
        )
    yield ""
    if found:
        start, several = found["start"], found["together"]
        yield f"First answer after {start['cpu_ms']} ms of CPU, {start['wall_ms']} ms on the clock; {start['memory_mb']} MB."
        yield (
            f"{several['clients']} clients at once, {several['way']}: {several['answers_per_s']:g} answers a second, "
            f"p50 / p99 {several['wall_p50_ms']:.0f} / {several['wall_p99_ms']:.0f} ms, {several['refused']} refused, "
            f"{several['cores']:g} cores; {several['memory_mb']} MB, and {found['tools']['memory_mb']} MB once each of the "
            f"{found['tools']['tools']} tools that only read was asked. Load of the machine meanwhile: "
            f"{', '.join(map(str, found['load']))}."
        )


def surfacing(folder: Path) -> Iterator[str]:
    """What prompts carry, by collection and profile; and how often nothing is said where nothing answers."""
    known = read_facts(folder / "surfacing.json").get("collections", {})
    heads = "a gold turn is quoted, nearly whole, all of them, a gold file is named, silent, tokens".split(
        ", "
    )
    yield _row(("", "n", *heads, "silent where nothing answers"))
    yield _rule(3 + len(heads))
    for name in sorted(known, key=_place):
        asked = _rows(folder / "surfacing" / f"{name}.tsv")
        unanswered = _rows(folder / "surfacing" / f"{name}.silence.tsv")
        for profile in SURFACED:
            shares = _of_blocks(asked, profile)
            silent = _with_interval([float(row[profile] == "0") for row in unanswered])
            title = f"{COLLECTIONS.get(name, name)}, {profile}"
            yield _row((title, str(len(asked)), *shares, f"{silent} (n = {len(unanswered)})"))


def notes(folder: Path) -> Iterator[str]:
    """What a person sees of judged notes, by collection and model, with the number of questions of each figure."""
    facts = read_facts(folder / "notes.json")
    yield from _made_with(facts)
    columns = {
        f"{COLLECTIONS.get(name, name)}, {SYSTEMS[f'query {embedder}']}": about["figures"]
        for name, by_embedder in sorted(
            facts.get("collections", {}).items(), key=lambda item: _place(item[0])
        )
        for embedder, about in sorted(by_embedder.items(), reverse=True)
    }
    yield _row(("", *columns))
    yield _rule(1 + len(columns))
    for figure in FIGURES:
        values = (figures.get(figure, "") for figures in columns.values())
        yield _row(
            (
                figure,
                *(
                    f"{v[0]:.3f} [{v[1]:.3f}, {v[2]:.3f}] (n = {v[3]})" if isinstance(v, list) else f"{v}"
                    for v in values
                ),
            )
        )


def _of_blocks(asked: Sequence[Mapping[str, str]], profile: str) -> Iterator[str]:
    """The cells of one profile: shares of the questions, then the mean tokens of the blocks that are not empty."""
    found = [tuple(map(int, row[profile].split(","))) for row in asked]
    turns = [int(row["turns"]) for row in asked]
    yield _with_interval([float(quoted > 0) for _, _, quoted, _ in found])
    yield _with_interval([float(whole > 0) for _, _, _, whole in found])
    yield _with_interval([float(one[2] == there) for one, there in zip(found, turns, strict=True)])
    yield _with_interval([float(files > 0) for _, files, _, _ in found])
    yield _with_interval([float(tokens == 0) for tokens, *_ in found])
    lengths = [tokens for tokens, *_ in found if tokens]
    yield f"{sum(lengths) / len(lengths):.0f}" if lengths else ""


def _rows(path: Path) -> list[dict[str, str]]:
    head, *rows = (line.split("\t") for line in path.read_text("utf-8").splitlines())
    return [dict(zip(head, row, strict=True)) for row in rows]


def _tables(folder: Path) -> dict[str, Table]:
    """Every table by its name: chats first, documents after them, the owner's notes last."""
    names = sorted((path.stem for path in folder.glob("*.tsv")), key=_place)
    return {name: read_table(folder / f"{name}.tsv") for name in names}


def _place(name: str) -> tuple[int, str, bool]:
    collection, _, rest = name.partition(".")
    return (list(COLLECTIONS).index(collection) if collection in COLLECTIONS else 99, *_last(rest))


def _last(rest: str) -> tuple[str, bool]:
    unit, _, way = rest.partition(".")
    return (unit, way != "scoped")


def _made_with(facts: Mapping[str, Any]) -> Iterator[str]:
    made = facts.get("made with", {})
    said = ", ".join(f"{name} {value}" for name, value in made.items() if name != "machine")
    yield f"Made with {said}; {made.get('machine', 'unknown machine')}."
    for name, fingerprint in facts.get("fingerprints", {}).items():
        yield f"Vectors `{name}`: `{fingerprint}`."
    yield ""


def _data(facts: Mapping[str, Any], tables: Mapping[str, Table]) -> Iterator[str]:
    yield _row(("collection", "documents", "questions", "SHA-256 of the data"))
    yield _rule(4)
    known = facts.get("collections", {})
    for name in sorted(known, key=_place):
        asked = max((len(t.questions) for key, t in tables.items() if key.startswith(f"{name}.")), default=0)
        digest = known[name]["sha256"]
        yield _row((COLLECTIONS.get(name, name), str(known[name]["documents"]), str(asked), f"`{digest}`"))
    yield ""


def _setting(name: str, table: Table, facts: Mapping[str, Any]) -> Iterator[str]:
    yield _row((f"**{_title(name)}**", str(len(table.questions)), *[""] * (1 + len(SHOWN))))
    for system in (known for known in SYSTEMS if known in table.systems):
        rows = table.measures(system)
        cost = facts.get("columns", {}).get(f"{name} {system}")
        spent = f"{cost['cpu_p50_ms']:.1f} ms" if cost else ""
        yield _row((SYSTEMS[system], "", *(_with_interval([r[m] for r in rows]) for m in SHOWN), spent))


def _column(name: str, table: Table, every: int) -> str:
    collection = name.partition(".")[0]
    unit = f", {UNITS[name]}" if name in UNITS else ""
    part = f", 1 in {every}" if every > 1 else ""
    measure = _measure(_leading(name))
    return f"{COLLECTIONS.get(collection, collection)}{unit}: {measure} (n = {len(table.questions)}{part})"


def _leading(name: str) -> str:
    return LEADING["turn" if name.endswith("turn") else "doc"]


def _difference(table: Table, signal: str, measure: str) -> str:
    """The mean change of the measure, with the interval of the paired difference; bold when that leaves out 0."""
    if signal not in table.systems:
        return ""
    everything = next(iter(table.systems))
    before = [row[measure] for row in table.measures(everything)]
    if signal == everything:
        return _with_interval(before)
    changes = [after[measure] - was for after, was in zip(table.measures(signal), before, strict=True)]
    low, high = interval(changes)
    if not any(changes):
        return "0"
    said = f"{_signed(sum(changes) / len(changes))} [{_signed(low)}, {_signed(high)}]"
    return f"**{said}**" if low > 0 or high < 0 else said


def _title(name: str) -> str:
    collection, unit, way = name.split(".")
    place = f", {WAYS[way]}" if collection in ("locomo", "beam") else ""
    return f"{COLLECTIONS.get(collection, collection)}, {UNITS.get(f'{collection}.{unit}', unit)}{place}"


def _with_interval(values: Sequence[float]) -> str:
    low, high = interval(values)
    return f"{mean([{'': value} for value in values])['']:.3f} [{low:.3f}, {high:.3f}]"


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")


def _measure(name: str) -> str:
    return TITLES.get(name, name)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _rule(columns: int) -> str:
    return "|" + "---|" * columns
