from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from clawmem.adapters.files.disk import DiskFiles
from clawmem.ports.errors import SourceUnreadable


def put(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path, encoding="utf-8")


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
        """A named pipe is refused at once instead of waiting for a writer, like a socket."""
        os.mkfifo(tmp_path / "a.md")
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(os.path.relpath(tmp_path / "b.md"))  # a longer one has no room in the address

        for name in ("a.md", "b.md"):
            with pytest.raises(SourceUnreadable, match="regular"):
                DiskFiles().read(str(tmp_path), name)
