"""Bundles: everything of a vault in one file, and the same vault from it."""

from __future__ import annotations

import re
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import apsw
import pytest
from command_line import Invoke, ask_json, read_json, write_file

REDIS, POSTGRES = "notes/decisions/2026-02-11-redis.md", "notes/decisions/2026-06-09-postgres.md"
HARUKA = "notes/people/haruka.md"
QUESTION = "where do login sessions live"
Parts = dict[str, bytes]
_SAMPLE: list[bytes] = []


@pytest.fixture
def used(remembered: Invoke) -> Invoke:
    """A vault with a pin, a snooze, an entry of the diary, an entity, a question and a forgotten note."""
    docid = ask_json(remembered, "--json", "get", HARUKA)["docid"]
    for command in (
        ("pin", REDIS),
        ("snooze", POSTGRES, "--until", "2099-01-01"),
        ("diary", "write", "We chose the blue ticket machine."),
        ("forget", f"{docid} {HARUKA}", "--yes"),
        ("query", QUESTION),  # forgetting takes receipts away
    ):
        done = remembered(*command)
        assert done.exit_code == 0, done.output
    return remembered


@pytest.fixture
def bundle(used: Invoke, home: Path) -> Path:
    file = home / "all.zip"
    done = used("export", file)
    assert done.exit_code == 0, done.output
    return file


@pytest.fixture
def sample(request: pytest.FixtureRequest, home: Path) -> Path:
    """The bundle of a vault that other tests of this module share."""
    if not _SAMPLE:
        _SAMPLE.append(request.getfixturevalue("bundle").read_bytes())
    return _file(home, _SAMPLE[0])


def rows(vault: Path) -> dict[str, list[Any]]:
    """What a person has put into a vault, with the ids of documents."""
    asked = {
        "documents": "select id, collection, path, pinned, snoozed_until, inactive, hash, origin from documents",
        "acts": "select document_id, act, by, at, why from acts",
        "forgotten": "select * from forgotten_texts",
        "sequence": "select seq from sqlite_sequence where name = 'documents'",
    }
    with closing(apsw.Connection(str(vault), flags=apsw.SQLITE_OPEN_READONLY)) as read:
        return {name: sorted(read.execute(sql), key=repr) for name, sql in asked.items()}


def parts_of(file: Path) -> Parts:
    with ZipFile(file) as read:
        return {name: read.read(name) for name in read.namelist()}


def test_the_same_vault_on_another_machine(used: Invoke, bundle: Path, vault_file: Path, home: Path) -> None:
    """Ids, acts and answers are the same, forgotten notes stay forgotten, and a new export has the same bytes."""
    answer = ask_json(used, "--json", "query", QUESTION)["results"]
    elsewhere = home / "elsewhere" / "vault.sqlite"
    before = rows(vault_file)
    made = read_json(used("--vault", elsewhere, "--json", "import", "bundle", bundle))

    assert (made["forgotten"], made["config"]) == (1, f"{elsewhere}.yaml")
    assert rows(elsewhere) == before
    assert used("--vault", elsewhere, "export", home / "again.zip").exit_code == 0
    assert parts_of(home / "again.zip") == parts_of(bundle)
    assert (home / "again.zip").read_bytes() == bundle.read_bytes()
    assert ask_json(used, "--vault", elsewhere, "--json", "query", QUESTION)["results"] == answer
    assert "forgotten" in used("--vault", elsewhere, "get", HARUKA).output
    assert elsewhere.with_name("vault.sqlite.forgotten").exists()


@pytest.mark.parametrize("backend", ["tantivy", "lancedb"])
def test_indexes_outside_of_the_vault(
    invoke: Invoke, notes: Path, home: Path, vault_file: Path, backend: str
) -> None:
    """A bundle of such a vault gives a vault with the indexes that the config names, and the same answers."""
    pytest.importorskip(backend)
    config = home / ".config/clawmem/config.yaml"
    write_file(config, f"backend: {backend}\n")
    assert invoke("bootstrap", notes).exit_code == 0
    answer = ask_json(invoke, "query", QUESTION)["results"]
    bundle = home / "all.zip"
    assert invoke("export", bundle).exit_code == 0

    for lost in (vault_file.parent, config.parent):
        shutil.rmtree(lost)
    made = invoke("import", "bundle", bundle)

    assert made.exit_code == 0, made.output
    assert ask_json(invoke, "status")["info"]["backend"] == backend
    assert ask_json(invoke, "query", QUESTION)["results"] == answer
    assert invoke("doctor", "--verify").exit_code == 0


def test_a_forgotten_text_is_in_no_part(sample: Path) -> None:
    assert not any(b"ticket machines" in part for part in parts_of(sample).values())


def test_the_machine_made_note_without_receipts(used: Invoke, home: Path) -> None:
    """Receipts leave the machine only if the user asks for them."""
    assert used("export").exit_code == 0
    parts = parts_of(home / "clawmem-bundle.zip")

    assert any(
        b"blue ticket machine" in part for name, part in parts.items() if name.startswith("notes/_clawmem")
    )
    assert "records/receipts.jsonl" not in parts


def test_a_vault_with_notes_is_never_replaced(
    used: Invoke, sample: Path, vault_file: Path, home: Path
) -> None:
    """Also not one whose notes are all forgotten; there is no option for it. An empty vault is replaced."""
    for sql in ("select 1", "update documents set inactive = 'forgotten'"):
        with closing(apsw.Connection(str(vault_file))) as vault:
            vault.execute(sql)
        before = rows(vault_file)
        refused = used("import", "bundle", sample)

        assert refused.exit_code == 5
        assert "a bundle never replaces notes" in refused.output
        assert rows(vault_file) == before
    assert used("--vault", home / "empty.sqlite", "vault", "init").exit_code == 0
    assert used("--vault", home / "empty.sqlite", "import", "bundle", sample).exit_code == 0


def test_flipped_bits_never_pass(invoke: Invoke, sample: Path, home: Path) -> None:
    """In whatever place: an error, or exactly the same vault where the bit means nothing."""
    content = bytearray(sample.read_bytes())
    for place in range(40, len(content), len(content) // 12):
        content[place] ^= 0x10
        target = home / str(place) / "vault.sqlite"
        made = invoke("--vault", target, "import", "bundle", _file(home, bytes(content)))
        assert made.exit_code in (0, 2), made.output
        assert target.exists() == (made.exit_code == 0)
        content[place] ^= 0x10


def test_a_manifest_that_counts_other_documents(invoke: Invoke, sample: Path, home: Path) -> None:
    """It is refused as damaged."""
    with ZipFile(sample) as old, ZipFile(home / "other.zip", "w") as new:
        for name in old.namelist():
            new.writestr(name, re.sub(rb'"documents": *\d+', b'"documents": 9999', old.read(name)))

    _refinvoke(invoke, home, (home / "other.zip").read_bytes(), "its manifest does not count its")


def test_a_bomb(invoke: Invoke, home: Path) -> None:
    """A few kilobytes that unpack to a hundred megabytes are refused before they are unpacked."""
    bomb = home / "bomb.zip"
    with ZipFile(bomb, "w", ZIP_DEFLATED) as written:
        written.writestr("manifest.json", bytes(100 << 20))

    _refinvoke(invoke, home, bomb.read_bytes(), "which no export of notes does")


def _file(home: Path, content: bytes) -> Path:
    file = home / "bundle.zip"
    file.write_bytes(content)
    return file


def _refinvoke(invoke: Invoke, home: Path, content: bytes, why: str) -> None:
    target = home / "new" / "vault.sqlite"
    refused = invoke("--vault", target, "import", "bundle", _file(home, content))

    assert refused.exit_code == 2, refused.output
    assert why in refused.output
    assert not [*home.glob("new/*")]
