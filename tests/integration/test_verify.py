from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from chat_exports import talk
from command_line import Invoke, write_notes
from mined_talks import mined, write_export
from notes_vault import NotesVault
from wired import embed_pending

from clawmem.adapters.memory.models import HashingEmbedder
from clawmem.adapters.sqlite.lexical_index import TABLES
from clawmem.adapters.sqlite.store import pack, span
from clawmem.ports.records import FragmentKey, Grain, InactiveReason, LexicalEntry, SourceStamp

SOURCES = {
    "a.md": "---\nauthor: Ada Lovelace\n---\n# Engines\n\nThe analytical engine weaves patterns.\n\n- cards\n- mills\n",
    "sub/b.md": "Bernoulli numbers were computed by hand.\n\n---\n\nThen by machine.\n",
    "東京.md": "東京都の天気は晴れです。\n\n明日は雨でしょう。\n",
    "empty.md": "",
    "same1.md": "Twins say the same.\n",
    "same2.md": "Twins say the same.\n",
    "marks.md": "🎉 … !!!\n",
}
DIFFERENT = "The indexes differ from the records. Run: clawmem rebuild"


class World(NotesVault):
    """Notes and ways to disturb them."""

    def update(self) -> None:
        super().update()
        self.embed()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    for path, text in SOURCES.items():
        made.write(path, text)
    made.update()
    yield made
    made.close()


class TestAgreement:
    def test_a_vault_just_updated_has_no_difference(self, world: World) -> None:
        """Front matter, unspaced scripts, empty, equal and wordless files all agree."""
        assert world.verify() == []

    def test_a_file_that_was_only_touched(self, world: World) -> None:
        """Another time of the same bytes is no difference, on disk or in the records, before an update or after."""
        os.utime(world.root / "sub/b.md")
        world.vault.documents.touch(world.id("a.md"), SourceStamp(1, 1))
        before = world.verify()
        world.update()

        assert before == world.verify() == []

    @pytest.mark.parametrize("reason", [r for r in InactiveReason if r is not InactiveReason.REMOVED])
    def test_files_of_what_is_withheld_on_purpose(self, world: World, reason: InactiveReason) -> None:
        """A file that is unchanged is no difference; a changed one is, unless its note was forgotten."""
        world.withdraw("sub/b.md", reason)
        embed_pending(world.vault, HashingEmbedder())()
        assert world.verify() == []
        world.write("sub/b.md", "Something else.\n")

        changed = ["notes/sub/b.md was changed on disk since it was indexed."]
        assert world.verify() == ([] if reason is InactiveReason.FORGOTTEN else changed)


class TestDisk:
    @pytest.mark.parametrize(
        ("written", "removed", "said"),
        [
            (dict.fromkeys(("new.md", ".obsidian/x.md", "c.txt"), "New.\n"), (), "new.md is on disk, but not in the vault."),
            ({"sub/b.md": SOURCES["sub/b.md"].replace("hand", "HAND")}, (), "sub/b.md was changed on disk since it was indexed."),
            ({}, ("sub/b.md",), "sub/b.md is in the vault, but its file is gone."),
        ],
        ids=["new", "changed", "gone"],
    )  # fmt: skip
    def test_a_file_that_differs(
        self, world: World, written: dict[str, str], removed: tuple[str, ...], said: str
    ) -> None:
        """It is named, also with the size and time of before; an excluded or unwanted one is not."""
        stamp = (world.root / "sub/b.md").stat()
        for path, text in written.items():
            world.write(path, text)
        assert (world.root / "sub/b.md").stat().st_mtime_ns == stamp.st_mtime_ns
        for path in removed:
            (world.root / path).unlink()

        assert world.verify() == [f"notes/{said}"]

    def test_a_file_that_came_back(self, world: World) -> None:
        """A removed document whose file is there again is not in the vault."""
        (world.root / "sub/b.md").unlink()
        world.update()
        world.write("sub/b.md", SOURCES["sub/b.md"])

        assert world.verify() == ["notes/sub/b.md is on disk, but not in the vault."]

    def test_a_file_that_is_not_text_is_no_difference_unless_the_vault_has_its_earlier_text(
        self, world: World
    ) -> None:
        """A file that no update can index would otherwise be reported for ever."""
        world.write("image.md", b"\x89PNG\0")
        assert world.verify() == []

        world.write("sub/b.md", b"caf\xe9\0")
        [sentence] = world.verify()
        assert sentence.startswith("notes/sub/b.md cannot be read: it is not UTF-8 text (byte 3)")


class TestRecords:
    def test_a_body_that_is_not_what_its_hash_says(self, world: World) -> None:
        """A body changed behind the vault's back is named."""
        document = world.vault.documents.at("notes", "sub/b.md")
        world.vault.storage.db.write("update content set body = upper(body) where hash = ?", (document.hash,))

        said = "notes/sub/b.md has another body stored than its hash says. Run: clawmem doctor --repair"
        assert said in world.verify()


class TestLexicalIndex:
    @pytest.mark.parametrize("grain", Grain)
    def test_a_missing_document(self, world: World, grain: Grain) -> None:
        """A document that is missing at one granularity is counted there."""
        sql = f"delete from {TABLES[grain]} where rowid between ? and ?"
        world.vault.storage.db.write(sql, span(world.id("東京.md")))

        found = world.verify()

        assert found[0].startswith(f"The {grain} index holds ")
        assert found[-1] == DIFFERENT

    def test_a_document_that_its_own_words_do_not_find(self, world: World) -> None:
        """An entry with other words than the document's keeps the counts right and is found out."""
        document_id = world.id("sub/b.md")
        entry = LexicalEntry(FragmentKey(document_id, 0), Grain.DOCUMENT, "notes", "other", "other words")
        world.vault.lexical.put([entry])

        assert world.verify() == ["notes/sub/b.md is not found by its own rarest words.", DIFFERENT]

    @pytest.mark.parametrize(
        "reason", [reason for reason in InactiveReason if reason is not InactiveReason.FORGOTTEN]
    )
    def test_a_withdrawn_document_that_is_still_found(self, world: World, reason: InactiveReason) -> None:
        """A document that was deactivated in the records alone is named, and the entries are counted."""
        world.vault.documents.deactivate([world.id("sub/b.md")], reason)
        (world.root / "sub/b.md").unlink()

        found = world.verify()

        assert f"notes/sub/b.md is {reason}, but still found in the document index." in found
        assert any(sentence.startswith("The line index holds ") for sentence in found)

    def test_an_orphan_that_hides_a_missing_entry(self, world: World) -> None:
        """Equal counts prove nothing: the missing document is named."""
        key = pack(FragmentKey(world.id("a.md"), 0))
        world.vault.storage.db.write("delete from lexical_document where rowid = ?", (key,))
        world.vault.lexical.put([LexicalEntry(FragmentKey(999, 0), Grain.DOCUMENT, "notes", "", "stray")])

        assert world.verify() == ["notes/a.md is not found by its own rarest words.", DIFFERENT]


class TestVectorIndex:
    def test_another_number_of_entries(self, world: World) -> None:
        """An external index with the vectors of a withdrawn document, or without those of a served one, is reported."""
        documents = world.vault.documents.latest()
        sizes = {document.id: len(world.vault.embeddings.of_document(document.id)) for document in documents}
        index = SimpleNamespace(count=lambda: sum(sizes.values()), faults=list, close=lambda: None)
        world.vault = replace(world.vault, vectors=index)
        world.withdraw("sub/b.md", InactiveReason.ARCHIVED)
        assert world.verify()[0].startswith("The vector index holds ")
        del sizes[world.id("sub/b.md")]
        assert world.verify() == []
        del sizes[world.id("a.md")]

        found = world.verify()

        assert found[0].startswith("The vector index holds ")
        assert found[1:] == [DIFFERENT]


def test_the_command_sums_up_and_advises(invoke: Invoke, notes: Path, vault_file: Path) -> None:
    """Many lines end with their number, and the command to run for files; chats that are alike are no difference."""
    write_notes(notes, {f"{number}.md": f"Note {number}.\n" for number in range(12)})
    for command in (("vault", "init"), ("collection", "add", notes)):
        assert invoke(*command).exit_code == 0, command

    done = invoke("doctor", "--verify")

    assert done.exit_code == 7
    [*first, last] = done.stdout.splitlines()
    assert len(first) == 10 and last.startswith("and ")
    more = int(last.split()[1])
    assert more > 4 and f"{10 + more} differences." in done.stderr
    assert "run: clawmem update" in done.stderr
    assert invoke("update").exit_code == 0
    assert invoke("doctor", "--verify").stderr == ""
    question, reply = "How do I calibrate sensor {} of the greenhouse?", "Hold the button of sensor {}."
    days = [(str(n), f"Sensor {n}", "2025-04-02", question.format(n), reply.format(n)) for n in range(300)]
    assert mined(invoke, write_export(notes.parent / "export", "chatgpt", *(talk(*day) for day in days)))
    assert invoke("doctor", "--verify").stderr == ""
    with closing(sqlite3.connect(vault_file)) as database, database:
        database.execute("update content set body = upper(body) where body like 'Note 7%'")
    assert invoke("doctor", "--verify").stderr == "clawmem: 1 difference.\n"
