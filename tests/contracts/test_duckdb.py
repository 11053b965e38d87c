"""DuckDB as the analytics port: the contract, and the plain Python reference on more than one would write by hand."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import duckdb
import pytest

from clawmem.adapters.duckdb.analytics import DuckdbAnalytics
from clawmem.contracts.analytics import (
    DOCUMENTS,
    NOW,
    AnalyticsDocumentContract,
    AnalyticsExportContract,
    AnalyticsRecallContract,
    fact,
    recall,
)
from clawmem.ports.analytics import Analytics
from clawmem.ports.records import Document, EmbedState, InactiveReason
from clawmem.ports.telemetry import Recall


class InDuckdb:
    @pytest.fixture
    def analytics(self) -> Iterator[Analytics]:
        analytics = DuckdbAnalytics()
        yield analytics
        analytics.close()


class TestDuckdbDocuments(InDuckdb, AnalyticsDocumentContract): ...


class TestDuckdbRecalls(InDuckdb, AnalyticsRecallContract): ...


class TestDuckdbExport(InDuckdb, AnalyticsExportContract): ...


def moment(chance: random.Random) -> str:
    """Some instant of the two years before `NOW`, or of the month after."""
    return f"{chance.choice((2022, 2023, 2024))}-{chance.randint(1, 7):02}-{chance.randint(1, 28):02}T10:20:30.456Z"


def some_documents(chance: random.Random, count: int) -> list[Document]:
    return [
        fact(
            number,
            f"日記/{number}.md",
            moment(chance),
            collection=chance.choice(("notes", "work", "ärger")),
            content_type=chance.choice(("note", "decision", "handoff")),
            indexed_at=moment(chance),
            review_by=chance.choice((None, moment(chance))),
            pinned=chance.random() < 0.2,
            inactive=chance.choice((None, None, None, *InactiveReason)),
            embed_state=chance.choice(list(EmbedState)),
        )
        for number in range(1, count + 1)
    ]


def some_recalls(chance: random.Random, count: int, documents: int) -> list[Recall]:
    return [
        recall(
            number,
            moment(chance),
            *chance.choices(range(1, documents + 9), k=chance.randint(0, 5)),
            verb=chance.choice(("search", "vsearch", "query")),
            query_hash=f"{chance.randint(1, 40):012x}",
            took_ms=chance.choice((0.1, 12.0, 33.3, chance.random() * 100)),
            degraded=chance.choice(((), (), ("vector",), ("lexical", "vector"))),
        )
        for number in range(1, count + 1)
    ]


def test_parquet_holds_every_fact(tmp_path: Path) -> None:
    """The files can be read by any program: times are times, lists are lists, nothing is null but what was."""
    analytics = DuckdbAnalytics()
    noted = DOCUMENTS[0]._replace(tags=("team", "plan"), title="A plan")
    analytics.load([noted, *DOCUMENTS[1:]], [recall(1, NOW, 1, 3, degraded=("vector",)), recall(2, NOW)])
    analytics.export(str(tmp_path))

    db = duckdb.connect(config={"autoinstall_known_extensions": "false"})
    documents = db.execute(
        "select path, title, tags, epoch_ms(authored_at), bytes, pinned, inactive, embed_state "
        f"from '{tmp_path}/documents.parquet' order by id"
    ).fetchall()
    recalls = db.execute(f"select id, took_ms, degraded from '{tmp_path}/recalls.parquet'").fetchall()
    hits = db.execute(f"select * from '{tmp_path}/hits.parquet'").fetchall()
    db.close()

    authored_ms = datetime.fromisoformat(noted.authored_at).timestamp() * 1000
    assert documents[0] == ("a.md", "A plan", ["team", "plan"], authored_ms, 100, True, None, "synced")
    assert [row[-2] for row in documents] == [None, None, None, "archived"]
    assert recalls == [(1, 10.0, ["vector"]), (2, 10.0, [])]
    assert hits == [(1, 1, 1, 0.5, False), (1, 2, 3, 0.5, False)]


def test_no_extension_is_fetched() -> None:
    """What is not in the wheel is missing at once, instead of being looked for in the network."""
    analytics = DuckdbAnalytics()

    with pytest.raises(duckdb.Error, match="httpfs"):
        analytics._db.execute("from 'https://127.0.0.1:9/x.parquet'")

    for option in ("autoinstall_known_extensions", "autoload_known_extensions"):
        assert analytics._db.execute(f"select current_setting('{option}')").fetchall() == [(False,)]


def test_the_package_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Importing the package does not import the engine."""
    for name in [name for name in sys.modules if name.startswith("clawmem.adapters.duckdb")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    import clawmem.adapters.duckdb

    with pytest.raises(ModuleNotFoundError):
        import clawmem.adapters.duckdb.analytics  # noqa: F401
