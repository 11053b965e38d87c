"""DuckDB as the analytics port: the contract, and the files of an export."""

from __future__ import annotations

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
    recall,
)
from clawmem.ports.analytics import Analytics


class InDuckdb:
    @pytest.fixture
    def analytics(self) -> Iterator[Analytics]:
        analytics = DuckdbAnalytics()
        yield analytics
        analytics.close()


class TestDuckdbDocuments(InDuckdb, AnalyticsDocumentContract): ...


class TestDuckdbRecalls(InDuckdb, AnalyticsRecallContract): ...


class TestDuckdbExport(InDuckdb, AnalyticsExportContract): ...


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
