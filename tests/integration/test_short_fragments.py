"""Fragments that share a heading or a context, and hashes of eight bytes, as the vault stores them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from clawmem.adapters.sqlite.store import pack
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.contracts.samples import document
from clawmem.ports.records import Fragment, FragmentKey, FragmentKind

HEADINGS = ("", "12", "Tea", "12", "", "Tea", "Noon", "Tea")
CONTEXTS = ("Kettle", "Kettle", "", "3", "3", "Kettle", "", "7")
BODY = "abcdefgh"


def fragments() -> list[Fragment]:
    return [
        Fragment(seq, FragmentKind.PASSAGE, 1, 1, seq, seq + 1, BODY[seq], "", heading, context)
        for seq, (heading, context) in enumerate(zip(HEADINGS, CONTEXTS, strict=True))
    ]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "vault.sqlite"


def test_headings_and_contexts_come_back(path: Path) -> None:
    """Also headings that are numbers, and those that are shared by fragments far from each other."""
    with closing(open_vault(str(path))) as vault:
        number = vault.documents.save(document("a.md", BODY), BODY, fragments())
        keys = [FragmentKey(number, seq) for seq in range(len(HEADINGS))]

        assert vault.documents.fragments(number) == fragments()
        assert [one.heading for one in vault.documents.spans(keys).values()] == [*HEADINGS]
        texts = {text for _, text in vault.embeddings.pending(100)}
        assert texts == {f"{one.context}\n{one.text}".strip() for one in fragments()}


def test_each_is_stored_once(path: Path) -> None:
    """Later fragments have the seq of the first one."""
    with closing(open_vault(str(path))) as vault:
        vault.documents.save(document("a.md", BODY), BODY, fragments())

        rows = vault.storage._db.rows(
            "select heading, context, length(text_hash) from fragments order by key"
        )

    assert [row[0] for row in rows] == ["", "12", "Tea", 1, "", 2, "Noon", 2]
    assert [row[1] for row in rows] == ["Kettle", 0, "", "3", 3, 0, "", "7"]
    assert {row[2] for row in rows} == {8}


def test_a_lost_first_fragment_leaves_no_heading(path: Path) -> None:
    """After damage, the heading that it had is empty, as is one that is no text."""
    with closing(open_vault(str(path))) as vault:
        number = vault.documents.save(document("a.md", BODY), BODY, fragments())
        vault.storage._db.write("delete from fragments where key = ?", (pack(FragmentKey(number, 2)),))
        key = FragmentKey(number, 5)

        assert vault.documents.fragments(number)[4].heading == ""
        assert vault.documents.spans([key])[key].heading == ""
