import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo

from clawmem.ports.errors import BundleDamaged

MANIFEST = "manifest.json"
MOST_GROWTH = 200  # times the size of the file; text with its vectors grows to 3 to 20 times
ANY_GROWTH = 64 << 20  # bytes that a small file may always grow to
ELSEWHERE = (
    "Name the file that clawmem export wrote. A backup is opened with --vault FILE; conversations are read by "
    "clawmem mine, and notes by clawmem collection add."
)


class ZipBundleWriter:
    """``BundleWriter`` as a ZIP file, without times and names of this machine."""

    def __init__(self, file: Path) -> None:
        self._zip = ZipFile(file, "w", ZIP_DEFLATED)
        self._parts: dict[str, dict[str, Any]] = {}

    def add(self, name: str, chunks: Iterable[bytes]) -> None:
        digest, size = sha256(), 0
        with self._zip.open(_entry(name), "w", force_zip64=True) as part:
            for chunk in chunks:
                part.write(chunk)
                digest.update(chunk)
                size += len(chunk)
        self._parts[name] = {"bytes": size, "sha256": digest.hexdigest()}

    def finish(self, manifest: Mapping[str, Any]) -> None:
        text = json.dumps({**manifest, "parts": self._parts}, indent=1, sort_keys=True)
        self._zip.writestr(_entry(MANIFEST), text)

    def close(self) -> None:
        """Close the file, whole or not."""
        self._zip.close()


def _entry(name: str) -> ZipInfo:
    """Return an entry of the earliest time that ZIP has, from Unix, that its owner alone can read."""
    entry = ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.compress_type, entry.external_attr, entry.create_system = ZIP_DEFLATED, 0o100600 << 16, 3
    return entry


class ZipBundleReader:
    """
    ``BundleReader`` of a ZIP file. Nothing is unpacked to the disk, and no name of a part becomes a path.

    Raises:
        BundleDamaged: The file is missing, is something else, cannot be read, or differs from its manifest.
    """

    def __init__(self, file: Path) -> None:
        self._file, self.location = file, str(file)
        if not file.is_file():
            reason = "it is not a regular file" if file.exists() else "there is no such file"
            raise BundleDamaged(self.location, reason, ELSEWHERE, code="NOT_A_BUNDLE")
        self._open = ExitStack()
        try:
            with self._translated():
                self._read()
        except BaseException:
            self.close()
            raise

    def _read(self) -> None:
        self._zip = self._open.enter_context(ZipFile(self._file))
        self._entries = {entry.filename: entry for entry in self._zip.infolist()}
        if MANIFEST not in self._entries:
            raise BundleDamaged(self.location, "it has no bundle manifest", ELSEWHERE, code="NOT_A_BUNDLE")
        size, unpacked = self._file.stat().st_size, sum(entry.file_size for entry in self._entries.values())
        if unpacked > max(ANY_GROWTH, MOST_GROWTH * size):
            reason = f"its {size:,} bytes unpack to {unpacked:,}, which no export of notes does"
            raise BundleDamaged(self.location, reason)
        try:
            manifest = json.loads(self.content(MANIFEST))
            parts = {
                name: (int(part["bytes"]), str(part["sha256"])) for name, part in manifest["parts"].items()
            }
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise BundleDamaged(self.location, "its manifest cannot be read") from error
        self.manifest: Mapping[str, Any] = {**manifest, "parts": parts}
        self.names: Sequence[str] = sorted(parts)
        if stray := {*self._entries} - {*parts, MANIFEST}:
            raise BundleDamaged(self.location, f"its manifest does not name {min(stray)!r}")
        for name, (size, digest) in parts.items():
            with self._zip.open(self._named(name)) as part:
                actual = file_digest(part, "sha256")  # type: ignore[arg-type]
            if self._named(name).file_size != size or actual.hexdigest() != digest:
                raise BundleDamaged(self.location, f"{name} differs from its hash")

    def lines(self, name: str) -> Iterator[bytes]:
        with self._translated():
            yield from self._open.enter_context(self._zip.open(self._named(name)))

    def content(self, name: str) -> bytes:
        with self._translated():
            return self._zip.read(self._named(name))

    def close(self) -> None:
        """Close the file, and the parts whose lines were not read to the end."""
        self._open.close()

    def _named(self, name: str) -> ZipInfo:
        if name not in self._entries:
            raise BundleDamaged(self.location, f"it has no part {name}")
        return self._entries[name]

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (BadZipFile, zlib.error, EOFError, RuntimeError, ValueError) as error:
            raise BundleDamaged(self.location, f"it is no whole ZIP file ({error})", ELSEWHERE) from error
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            raise BundleDamaged(self.location, f"it cannot be read ({reason})") from error
