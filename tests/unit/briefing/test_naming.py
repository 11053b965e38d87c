from __future__ import annotations

import pytest

from clawmem.domain.briefing.blocks import names_file


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("ledger.sql must keep its line ends", "/app/db/ledger.sql"),
        ("see `DB/Ledger.SQL`.", "/app/db/ledger.sql"),
        ("(/app/db/ledger.sql:12)", "db/ledger.sql"),
        (r"C:\app\db\ledger.sql is shared", r"C:\app\db\ledger.sql"),
        ("never commit .env.local", "/app/.env.local"),
        ("services/web/index.ts renders twice", "/repo/services/web/index.ts"),
        ("index.ts is all there is", "index.ts"),
    ],
)
def test_the_file_itself(line: str, path: str) -> None:
    """By its name, or by as much of its path as both say."""
    assert names_file(line, path)


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("old/ledger.sql", "/app/db/ledger.sql"),
        ("my_ledger.sql", "/app/db/ledger.sql"),
        ("ledger.sql.bak", "/app/db/ledger.sql"),
        ("index.ts is too long", "/repo/services/web/index.ts"),
        ("each package has a README.md", "/repo/README.md"),
        ("Changed: a.py, b.py, c.py, ledger.sql", "/app/db/ledger.sql"),
        ("anything", ""),
        ("", "/app/db/ledger.sql"),
    ],
)
def test_another_one(line: str, path: str) -> None:
    """Of another folder, with another name around it, one of very many, one in a list of files."""
    assert not names_file(line, path)
