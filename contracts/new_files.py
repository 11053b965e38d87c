from __future__ import annotations

from pathlib import Path

import pytest

from clawmem.contracts.base import Contract
from clawmem.ports.errors import FileNotCreated
from clawmem.ports.files import NewFiles

NAMES = ("a.md", "a-2.md", "a-3.md")


class NewFilesContract(Contract):
    """Creation of files. Supply ``new_files``, and ``root``, an empty folder that it can write to."""

    @pytest.fixture
    def root(self, tmp_path: Path) -> Path:
        """Return an empty folder."""
        return tmp_path

    def test_the_first_free_name(self, new_files: NewFiles, root: Path) -> None:
        """Missing folders are created, and a file that has a name keeps its text."""
        (root / "in" / "a-2.md").mkdir(parents=True)
        (root / "in" / "a.md").symlink_to("nowhere")

        assert new_files.create(str(root), "in", NAMES, "Straße\n") == "in/a-3.md"
        assert new_files.create(str(root), "in/deep", NAMES, "second") == "in/deep/a.md"

        assert (root / "in" / "a-3.md").read_bytes() == "Straße\n".encode()
        assert (root / "in" / "a.md").is_symlink()

    def test_nothing_but_the_file_remains(self, new_files: NewFiles, root: Path) -> None:
        """A draft is not left, nor a file that was removed; removal of a file that is gone does nothing."""
        path = new_files.create(str(root), "", NAMES, "text")
        assert [path.name for path in root.iterdir()] == [path]
        for _ in range(2):
            new_files.remove(str(root), path)
        assert list(root.iterdir()) == []

    @pytest.mark.parametrize("folder", ["../elsewhere", "link", "file"])
    def test_no_place_for_a_file(self, new_files: NewFiles, root: Path, folder: str) -> None:
        """
        A folder outside of the root, also through a link, and a file as a folder are refused before anything is
        written.
        """
        inside = root / "inside"
        inside.mkdir()
        (inside / "link").symlink_to(root)
        (inside / "file").write_text("text", "utf-8")
        before = sorted(map(str, root.rglob("*")))

        with pytest.raises(FileNotCreated, match="Nothing was written"):
            new_files.create(str(inside), folder, NAMES, "text")

        assert sorted(map(str, root.rglob("*"))) == before

    def test_a_missing_root_is_not_created(self, new_files: NewFiles, root: Path) -> None:
        """A root that is gone may be an unmounted disk."""
        with pytest.raises(FileNotCreated, match="not mounted"):
            new_files.create(str(root / "away"), "in", NAMES, "text")
        assert list(root.iterdir()) == []
