"""A vault that was cut, or lost records: the repair names what is lost, and trusts no text more than before."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Invoke
from damaged_home import FORGOTTEN_FILE, SIZE, Home


@pytest.fixture
def home(tmp_path: Path, invoke: Invoke) -> Home:
    return Home(tmp_path, invoke)


@pytest.mark.parametrize("share", [0.15, 0.3, 0.6, 0.9])
def test_a_cut_file(home: Home, share: float) -> None:
    """No repair of a part of the pages says that nothing was lost, and what was forgotten stays forgotten."""
    pages = len(home.content) // SIZE
    home.put(home.content[: int(pages * share) * SIZE])

    said = home.done("doctor", "--repair", "--yes").stdout

    assert "Lost: " in said
    assert FORGOTTEN_FILE not in home.done("list", "--limit", "500").stdout
