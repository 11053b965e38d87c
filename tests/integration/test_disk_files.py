from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmem.adapters.files.disk import DiskFiles
from clawmem.ports.errors import SourceUnreadable
from clawmem.ports.records import Scan

needs_bytes = pytest.mark.skipif(
    sys.platform != "linux", reason="other systems refuse names that are not text"
)


def put(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path, encoding="utf-8")


def anything(path: str) -> bool:
    return True


def scan(
    root: Path, *, enter: Callable[[str], bool] = anything, wanted: Callable[[str], bool] = anything
) -> Scan:
    return DiskFiles().scan(str(root), enter=enter, wanted=wanted)


def paths(found: Scan) -> list[str]:
    return [file.path for file in found.files]


class TestScan:
    def test_pruned_folders_are_never_listed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Only folders that were entered are listed, however much lies below the others."""
        put(tmp_path, "a/1.md", "skip/deep/2.md", "skip/3.md")
        listed: list[str] = []
        list_folder = os.scandir

        def counting(folder: str) -> object:
            listed.append(Path(folder).name)
            return list_folder(folder)

        monkeypatch.setattr(os, "scandir", counting)

        assert paths(scan(tmp_path, enter=lambda path: path != "skip")) == ["a/1.md"]
        assert listed == [tmp_path.name, "a"]

    def test_unreadable_root_is_not_an_empty_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Of a root that cannot be listed nothing is known, so nothing may be taken for deleted."""
        put(tmp_path, "a.md")
        refuse(monkeypatch, tmp_path)

        unknown = scan(tmp_path)
        assert (unknown.root_exists, unknown.files) == (False, ())
        assert unknown.problem.startswith(f"{tmp_path} cannot be read")

    @needs_bytes
    def test_names_that_are_not_text_are_spelt_out(self, tmp_path: Path) -> None:
        """A wanted file or folder whose name is not UTF-8 is left out and named in printable spelling."""
        put(tmp_path, "a.md")
        (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("x")
        (tmp_path / os.fsdecode(b"ignored\xe9.bin")).write_text("x")
        (tmp_path / os.fsdecode(b"fold\xe9r")).mkdir()
        put(tmp_path / os.fsdecode(b"fold\xe9r"), "b.md")

        found = scan(tmp_path, wanted=lambda path: path.endswith(".md"))

        assert paths(found) == ["a.md"]
        assert found.misnamed == ("caf\\xe9.md", "fold\\xe9r")
        assert found.unreadable == ()


class TestRead:
    def test_a_link_that_took_a_files_place_is_not_followed(self, tmp_path: Path) -> None:
        """A file replaced by a link after the scan is refused, wherever the link leads."""
        put(tmp_path, "secret.md", "vault/a.md", "vault/b.md")
        vault = tmp_path / "vault"
        for target in (tmp_path / "secret.md", vault / "b.md", vault / "a.md"):
            (vault / "a.md").unlink()
            (vault / "a.md").symlink_to(target)

            with pytest.raises(SourceUnreadable):
                DiskFiles().read(str(vault), "a.md")

    def test_a_pipe_that_took_a_files_place_does_not_hang(self, tmp_path: Path) -> None:
        """A named pipe is refused at once instead of waiting for a writer."""
        os.mkfifo(tmp_path / "a.md")

        with pytest.raises(SourceUnreadable, match="regular"):
            DiskFiles().read(str(tmp_path), "a.md")

    def test_says_that_a_file_may_not_be_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A file without permission to read is named with the system's reason."""
        put(tmp_path, "a.md")
        monkeypatch.setattr(os, "open", _denied)

        with pytest.raises(SourceUnreadable, match="permission denied"):
            DiskFiles().read(str(tmp_path), "a.md")


def _denied(*args: object) -> int:
    raise PermissionError(13, "Permission denied")


def refuse(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Make one folder impossible to list, which permissions cannot do to a superuser."""
    list_folder = os.scandir

    def refusing(path: str) -> object:
        return _denied() if Path(path) == folder else list_folder(path)

    monkeypatch.setattr(os, "scandir", refusing)
