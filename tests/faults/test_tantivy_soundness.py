"""Damage of a tantivy index that no checksum of tantivy's covers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clawmem.adapters.tantivy.lexical_index import TantivyLexicalIndex
from clawmem.contracts.samples import entry
from clawmem.ports.records import Grain


@pytest.fixture
def index(tmp_path: Path) -> TantivyLexicalIndex:
    """An index with one entry at each grain, in the folder ``lexical``."""
    made = TantivyLexicalIndex(str(tmp_path / "lexical"))
    made.put([entry(1, "budget plain", grain=grain) for grain in Grain])
    assert made.faults() == []
    return made


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[]", b'["meta.json"]', None])
def test_the_list_of_managed_files(index: TantivyLexicalIndex, tmp_path: Path, content: bytes | None) -> None:
    """A list that lacks files of the index is a fault, whatever stands in it, and so is a missing one."""
    listed = tmp_path / "lexical/line/.managed.json"
    listed.unlink() if content is None else listed.write_bytes(content)

    assert len(index.faults()) == 1


def test_a_version(index: TantivyLexicalIndex, tmp_path: Path) -> None:
    """The version at the end of a file is compared with those of the segment's other files."""
    file = next((tmp_path / "lexical/passage").glob("*.store"))
    written = file.read_bytes()
    file.write_bytes(re.sub(rb'"patch":\d', lambda found: found[0][:-1] + bytes([found[0][-1] ^ 1]), written))

    assert index.faults() == [f"passage/{file.name} is not as it was written"]
