"""A vault that was cut, or lost records: the repair names what is lost, and trusts no text more than before."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from command_line import Invoke
from damaged_home import FORGOTTEN_FILE, SIZE, Home

from clawmem.adapters.sqlite.vault import open_vault
from clawmem.ports.origin import Origin


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


def test_texts_without_names(home: Home) -> None:
    """Where the texts can be read and no record of a document, their number is said."""
    with closing(open_vault(str(home.vault), read_only=True)) as vault:
        texts = vault.storage._db.value("select count(*) from content where body <> ''")
    spoil(home, "name glob '*documents*'")

    said = home.done("doctor", "--repair", "--yes").stdout

    assert f"Texts whose names are lost ({texts}): those of files are read again" in said
    assert "Nothing was lost" not in said


def test_the_origin_of_texts_without_records(home: Home) -> None:
    """A memory whose record is lost is nobody's; a note of a collection is the user's, as its folder says."""
    spoil(home, "name = 'documents' and pagetype = 'leaf'")

    home.done("doctor", "--repair", "--yes")

    with closing(open_vault(str(home.vault), read_only=True)) as vault:
        origins = {one.collection: one.origin for one in vault.documents.latest()}
    assert origins == {"_clawmem": Origin.TOOL_OUTSIDE, "notes": Origin.USER}


def spoil(home: Home, pages: str) -> None:
    """Overwrite all *pages*, a condition of ``dbstat``."""
    with closing(apsw.Connection(str(home.vault))) as connection:
        numbers = [page for (page,) in connection.execute(f"select pageno from dbstat where {pages}")]
    content, chance = bytearray(home.content), random.Random(8)
    for page in numbers:
        content[(page - 1) * SIZE : page * SIZE] = chance.randbytes(SIZE)
    home.put(bytes(content))
