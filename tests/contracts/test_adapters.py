"""The contracts that need no vault, run against the adapters that ship."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import count
from pathlib import Path

import pytest

from clawmem.adapters.files.disk import DiskFiles, NewDiskFiles
from clawmem.adapters.models.local import StaticEmbedder
from clawmem.adapters.system.clock import SystemClock
from clawmem.contracts.clock import ClockContract
from clawmem.contracts.files import (
    FileLinkContract,
    FileSealContract,
    FileSourceContract,
    Link,
    NewFilesContract,
    Place,
    Seal,
)
from clawmem.contracts.models import EmbedderContract


class OnDisk:
    @pytest.fixture
    def files(self) -> DiskFiles:
        return DiskFiles()

    @pytest.fixture
    def place(self, tmp_path: Path) -> Place:
        roots = (tmp_path / str(number) for number in count())

        def write(tree: Mapping[str, bytes]) -> str:
            root = next(roots)
            root.mkdir()
            for path, content in tree.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_bytes(content)
            return str(root)

        return write

    @pytest.fixture
    def link(self) -> Link:
        def make(root: str, path: str, target: str) -> None:
            (Path(root) / path).symlink_to(Path(root) / target)

        return make

    @pytest.fixture
    def seal(self) -> Iterator[Seal]:
        sealed: list[Path] = []

        def close(root: str, path: str) -> None:
            sealed.append(Path(root) / path)
            sealed[-1].chmod(0)
            if os.access(sealed[-1], os.R_OK):
                pytest.skip("nothing can be sealed from a superuser, nor by mode bits on Windows")

        yield close
        for path in sealed:
            path.chmod(0o700)


class TestDisk(OnDisk, FileSourceContract, FileLinkContract, FileSealContract): ...


class TestNewDiskFiles(NewFilesContract):
    @pytest.fixture
    def new_files(self) -> NewDiskFiles:
        return NewDiskFiles()


class TestNewDiskFilesWithoutHardLinks(TestNewDiskFiles):
    @pytest.fixture(autouse=True)
    def no_hard_links(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Refuse hard links, as some file systems do."""

        def refuse(*_: object) -> None:
            raise PermissionError

        monkeypatch.setattr(os, "link", refuse)


class TestSystemClock(ClockContract):
    @pytest.fixture
    def clock(self) -> SystemClock:
        return SystemClock()


class TestStaticEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> StaticEmbedder:
        return _embedder()


@cache
def _embedder() -> StaticEmbedder:
    return StaticEmbedder()
