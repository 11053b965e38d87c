"""DuckDB as the analytics port."""

from __future__ import annotations

import sys

import duckdb
import pytest

from clawmem.adapters.duckdb.analytics import DuckdbAnalytics
from clawmem.contracts.analytics import AnalyticsContract
from clawmem.ports.telemetry import Analytics


class TestDuckdb(AnalyticsContract):
    @pytest.fixture
    def analytics(self) -> Analytics:
        return DuckdbAnalytics()


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
