from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from command_line import Invoke
from notes_vault import MuteEmbedder
from wired import embed_pending, update_collection

from clawmem.adapters.files.disk import DiskFiles
from clawmem.adapters.files.front_matter import parse_front_matter
from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.models import HashingEmbedder
from clawmem.adapters.models.local import StaticEmbedder
from clawmem.app.environment.private_files import log_error
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.maintenance.doctor import CheckResult, Doctor
from clawmem.ports.models import Embedder
from clawmem.ports.records import Scan, Vector
from clawmem.ports.vault import Vault

CHECKS = (
    "storage, forgotten notes, folder notes, collections, front matter, word index, vectors, model, languages, "
    "model test, stored vectors, generator, reranker"
).split(", ")


class Degenerate(HashingEmbedder):
    """An embedder whose every vector is made by one function of what it should have been."""

    def __init__(self, spoil: Callable[[Vector], Vector]) -> None:
        self._spoil = spoil

    def embed_query(self, text: str) -> Vector:
        return self._spoil(super().embed_query(text))

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        return [self.embed_query(text) for text in texts]


class BrokenFiles(DiskFiles):
    """A disk that fails in a way that nobody expected."""

    def scan(self, root: str, *, enter: Callable[[str], bool], wanted: Callable[[str], bool]) -> Scan:
        raise OSError("the disk is on fire")


@pytest.fixture
def folder(vault: Vault, tmp_path: Path) -> Folder:
    """Thirty indexed notes, each of two paragraphs."""
    root = tmp_path / "notes"
    root.mkdir()
    for number in range(30):
        text = f"# Note {number}\n\nAbout subject{number}.\n\nMore of subject{number} and thing{number}.\n"
        (root / f"{number:02}.md").write_text(text, encoding="utf-8")
    folder = Folder("notes", str(root))
    update_collection(vault, DiskFiles(), ManualClock(), parse_front_matter)(folder)
    return folder


def examine(vault: Vault, folder: Folder, embedder: Embedder | None) -> dict[str, CheckResult]:
    findings = doctor(vault, DiskFiles(), folder, lambda: embedder)()
    return {finding.check: finding for finding in findings}


def doctor(vault: Vault, files: DiskFiles, folder: Folder, embedder: Callable[[], Embedder | None]) -> Doctor:
    names = ("documents", "storage", "lexical", "vectors", "embeddings")
    stores = {name: getattr(vault, name) for name in names}
    return Doctor(
        **stores, files=files, folders=[folder], parse_front_matter=parse_front_matter, embedder=embedder
    )


def failed(findings: dict[str, CheckResult]) -> list[str]:
    return [name for name, finding in findings.items() if not finding.ok]


@pytest.mark.parametrize("embedder", [StaticEmbedder(), HashingEmbedder()], ids=["static", "hashing"])
def test_a_sound_vault_passes_every_check(vault: Vault, folder: Folder, embedder: Embedder) -> None:
    """All checks come in their order, all well, none with a way out."""
    (Path(folder.root) / "00.md").write_text("---\nx: [y\n---\n# Note 0\n\nA.\n\nB.\n", encoding="utf-8")
    for number, text in enumerate(("---\ndate: whenever\n---\nA.\n", "---\nx: y\n\nA.\n"), start=1):
        (Path(folder.root) / f"0{number}.md").write_text(text, encoding="utf-8")
    update_collection(vault, DiskFiles(), ManualClock(), parse_front_matter)(folder)
    embed_pending(vault, embedder)()

    findings = examine(vault, folder, embedder)

    assert findings["front matter"].detail.startswith(
        "files with lines that could not be read: 3 (notes/00.md, notes/01.md, notes/02.md)"
    )
    assert list(findings) == CHECKS
    assert failed(findings) == []
    assert {finding.way_out for finding in findings.values()} == {""}
    assert "integrity check passed" in findings["storage"].detail
    assert findings["stored vectors"].detail.startswith("15 computed again")


def dangle(vault: Vault) -> None:
    vault.storage.db.write("pragma foreign_keys = off")
    vault.storage.db.write("delete from content where hash = (select hash from documents limit 1)")


def give_up(vault: Vault) -> None:
    embed_pending(vault, MuteEmbedder())()


def exchange(vault: Vault) -> None:
    """Store other vectors than the model gives."""
    embed_pending(vault, HashingEmbedder())()
    other = HashingEmbedder().embed_query("something else")
    hashes = [hash for (hash,) in vault.storage.db.rows("select lower(hex(hash)) from texts")]
    vault.embeddings.store(HashingEmbedder().fingerprint, dict.fromkeys(hashes, other))


@pytest.mark.parametrize(
    ("spoil", "embedder", "check", "detail", "way_out"),
    [
        (dangle, None, "storage", "dangling reference in documents", ""),
        (bool, HashingEmbedder(), "vectors", "", "Run: clawmem embed"),
        (give_up, HashingEmbedder(), "vectors", "in notes/00.md, notes/01.md, notes/02.md and 27 more", "clawmem embed --force"),
        (exchange, HashingEmbedder(), "stored vectors", "15 of 15 differ", ""),
    ],
    ids=["damaged storage", "backlog", "given up", "other vectors"],
)  # fmt: skip
def test_a_finding_and_its_way_out(
    vault: Vault,
    folder: Folder,
    spoil: Callable[[Vault], object],
    embedder: Embedder | None,
    check: str,
    detail: str,
    way_out: str,
) -> None:
    """What is wrong is named, with what to do."""
    spoil(vault)

    finding = examine(vault, folder, embedder)[check]

    assert not finding.ok
    assert detail in finding.detail
    assert finding.way_out.endswith(way_out) and finding.way_out


CONSTANT = struct.pack("<64f", *([0.125] * 64))
NEARLY = struct.pack("<64f", 0.126, *([0.125] * 63))


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda vector: CONSTANT, "not nearest"),
        (lambda vector: NEARLY if vector[0] % 2 else CONSTANT, "not nearest"),
        (lambda vector: bytes(256), "not nearest"),
        (lambda vector: struct.pack("<64f", *([float("nan")] * 64)), "not nearest"),
        (lambda vector: vector[:128], "not of 64 dimensions"),
    ],
    ids=["constant", "nearly constant", "zeros", "not a number", "wrong length"],
)
def test_a_degenerate_model(
    vault: Vault, folder: Folder, spoil: Callable[[Vector], Vector], reason: str
) -> None:
    """A model that answers with the same, with nothing or with rubbish is found out before it is trusted."""
    finding = examine(vault, folder, Degenerate(spoil))["model test"]

    assert not finding.ok
    assert reason in finding.detail


def test_a_check_that_raises_is_a_finding(vault: Vault, folder: Folder) -> None:
    """A dead model and a burning disk fail their own checks; all others are still made."""
    embed_pending(vault, HashingEmbedder())()

    found = doctor(vault, BrokenFiles(), folder, MuteEmbedder)()

    assert [finding.check for finding in found] == CHECKS
    broken = {finding.check: finding.detail for finding in found if not finding.ok}
    assert sorted(broken) == ["folder notes", "model test", "stored vectors"]
    assert broken["folder notes"].endswith("the disk is on fire")
    assert broken["model test"].startswith("The embedding service does not answer.")


def test_errors_of_hooks_are_named(remembered: Invoke, vault_file: Path) -> None:
    """A server answers the client all the same, so that only the log has them."""
    log_error(vault_file, "Stop", "The event is cut off.")
    log_error(vault_file, "drain", "'/nope' is no transcript.")

    shown = remembered("doctor").stdout

    assert "errors.log: 2; the last one: drain: '/nope' is no transcript." in shown
