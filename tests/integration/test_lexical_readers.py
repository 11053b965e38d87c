"""Readers of the lexical index see each committed change, and nothing else."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from clawmem.adapters.sqlite.vault import open_vault
from clawmem.contracts.samples import any_of, entry, filler, save
from clawmem.ports.records import Grain
from clawmem.ports.vault import Vault

QUESTION = any_of("anvil", "quince")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "vault.sqlite"
    with closing(open_vault(str(place))) as vault:
        for number in range(1, 4):
            save(vault, f"{number}.md")
        vault.lexical.put([entry(1, "anvil quince"), entry(2, "anvil"), *filler()])
    return place


@pytest.fixture
def reader(path: Path) -> Iterator[Vault]:
    with closing(open_vault(str(path), read_only=True)) as vault:
        yield vault


def found(vault: Vault) -> list[int]:
    return [hit.key.document_id for hit in vault.lexical.search(QUESTION, Grain.PASSAGE, 10)]


class TestWords:
    """Answers to the same question before and after a change."""

    def test_another_connection_changes_them(self, path: Path, reader: Vault) -> None:
        """A reader that has been asked before answers from what is there now."""
        assert found(reader) == found(reader) == [1, 2]
        with closing(open_vault(str(path))) as writer:
            writer.lexical.put([entry(3, "quince quince")])
            writer.lexical.remove(2)
        assert sorted(found(reader)) == [1, 3]

    def test_what_was_taken_back_never_was(self, path: Path, reader: Vault) -> None:
        """Neither for who wrote it nor for anybody else."""
        with closing(open_vault(str(path))) as writer:
            with suppress(KeyError), writer.transactions.writing():
                writer.lexical.put([entry(3, "quince quince")])
                assert sorted(found(writer)) == [1, 2, 3]
                raise KeyError
            assert found(writer) == found(reader) == [1, 2]
            writer.lexical.put([entry(3, "elsewhere")])
            assert found(writer) == found(reader) == [1, 2]

    def test_another_vault_in_its_place(self, path: Path, tmp_path: Path) -> None:
        """Answers come from the present file, not from the one that had its name."""
        with closing(open_vault(str(path), read_only=True)) as vault:
            assert found(vault) == [1, 2]
        path.unlink()
        with closing(open_vault(str(path))) as vault:
            vault.lexical.put([entry(2, "quince"), *filler()])
            assert found(vault) == [2]

    def test_threads_side_by_side(self, reader: Vault) -> None:
        """All get the same."""
        answers: list[list[int]] = []
        threads = [threading.Thread(target=lambda: answers.append(found(reader))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == [[1, 2]] * 8
