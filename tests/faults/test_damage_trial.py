"""A trial of damages to every file of a vault: what is advised repairs it, and nothing that was forgotten returns."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest
from command_line import Invoke
from damage_trial import TrialHome
from random_damages import Damages

ENGINES = (
    "sqlite",
    "tantivy",
    pytest.param("lancedb", marks=pytest.mark.skipif(not find_spec("lancedb"), reason="needs lancedb")),
)
_PAGES = [f"page {how}" for how in ("noise", "zeroed", "swapped", "older", "part", "flipped")]
_FILES = [f"file {how}" for how in ("noise", "part", "cut", "deleted", "flipped", "older")]
# tantivy's binding compares no checksums and LanceDB writes none, so one wrong bit may stay unnoticed.
_UNCHECKED_FILES = [kind for kind in _FILES if kind != "file flipped"]
_RECORDS = [f"forgotten {how}" for how in ("noise", "part", "cut", "deleted", "flipped", "older")]
_CONFIG = [f"config {how}" for how in ("noise", "part", "cut", "deleted", "flipped")]
_SERVER = [f"server {how}" for how in ("noise", "cut", "flipped")]
MANY = {
    "sqlite": [
        *_PAGES * 5,
        "cut",
        "cut pages",
        *["header"] * 3,
        *_RECORDS,
        *_CONFIG,
        *_SERVER,
    ],
    "tantivy": [*_UNCHECKED_FILES * 3, *_PAGES[:4]],
    "lancedb": [*_UNCHECKED_FILES * 3, *_PAGES[2:4]],
}


FEW = {
    "sqlite": ["page swapped", "cut pages", "forgotten cut"],
    "tantivy": ["file part", "file deleted"],
}
LOG = logging.getLogger(__name__)


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def make_home(tmp_path: Path, invoke: Invoke, environ: dict[str, str]) -> Callable[[str, int], TrialHome]:
    def make(engine: str, count: int) -> TrialHome:
        return TrialHome(tmp_path, invoke, environ, engine, count)

    return make


@pytest.mark.parametrize("engine", FEW)
def test_some_damages(engine: str, make_home: Callable[[str, int], TrialHome]) -> None:
    """A few damages in a small vault."""
    every_damage_is_repaired(make_home(engine, 20), FEW[engine], seed=5)


@pytest.mark.slow
def test_many_damages(engine: str, make_home: Callable[[str, int], TrialHome]) -> None:
    """A hundred and twenty damages in all; ``TRIAL_SEED`` draws others, ``--log-cli-level=INFO`` lists them."""
    every_damage_is_repaired(make_home(engine, 600), MANY[engine], int(os.environ.get("TRIAL_SEED", "7")))


def every_damage_is_repaired(home: TrialHome, kinds: Sequence[str], seed: int) -> None:
    """Damage the vault in one place after the other, and follow the advice."""
    wrong = []
    for number, kind in enumerate(kinds):
        home.restore()
        outcome = home.trial(Damages(home, seed * 1000 + number).inflict(kind))
        LOG.info("%s", outcome)
        if outcome.wrong:
            wrong.append(outcome)
    assert wrong == []
