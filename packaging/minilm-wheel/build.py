"""
Build the data package clawmem-minilm: the model as ``clawmem models add minilm`` makes it, in a wheel.

The same weights give the same bytes; SOURCE_DATE_EPOCH dates them, otherwise the beginning of 1980.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from clawmem.adapters.models.catalogue import DATA_PACKAGE
from clawmem.adapters.models.minilm.build import build
from clawmem.adapters.models.minilm.weights import published_files
from clawmem.ports.errors import ClawmemError

VERSION = "1.0.0"
HERE = Path(__file__).parent

_INIT = '"""all-MiniLM-L6-v2 as int8 ONNX: data, which clawmem finds here."""\n'
_METADATA = f"""\
Metadata-Version: 2.4
Name: {DATA_PACKAGE.replace("_", "-")}
Version: {VERSION}
Summary: all-MiniLM-L6-v2 as int8 ONNX: the small embedding model of clawmem
License-Expression: Apache-2.0
License-File: LICENSE
Requires-Python: >=3.11
Description-Content-Type: text/markdown

"""
_WHEEL = "Wheel-Version: 1.0\nGenerator: clawmem\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_EARLIEST = 315_532_800  # 1980-01-01, before which a zip file knows no time
_MODE = 0o644 << 16
_UNIX = 3


def build_wheel(published: Mapping[str, bytes], folder: Path) -> Path:
    """
    The wheel of the *published* files, in *folder*.

    Raises:
        EmbeddingError: the model cannot be written.
        OSError: the wheel cannot be written.
    """
    with TemporaryDirectory(prefix="clawmem-") as place:
        model = Path(place) / "model"
        build(published, model)
        files = {f"{DATA_PACKAGE}/{path.name}": path.read_bytes() for path in sorted(model.iterdir())}
    files[f"{DATA_PACKAGE}/__init__.py"] = _INIT.encode()
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{DATA_PACKAGE}-{VERSION}-py3-none-any.whl"
    _write(wheel, _with_metadata(files))
    return wheel


def main(arguments: list[str]) -> None:
    """Build from the command line, and say what was made."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--from", dest="weights", type=Path, help="the wheel of the weights; downloaded otherwise"
    )
    parser.add_argument("--to", type=Path, default=Path("dist"), help="the folder of the wheel")
    chosen = parser.parse_args(arguments)
    try:
        wheel = build_wheel(published_files(chosen.weights), chosen.to)
    except (ClawmemError, OSError) as error:
        sys.exit(str(error))
    content = wheel.read_bytes()
    sys.stdout.write(f"{wheel}  {len(content) / 1e6:.1f} MB  sha256 {sha256(content).hexdigest()}\n")


def _with_metadata(files: Mapping[str, bytes]) -> Mapping[str, bytes]:
    about = f"{DATA_PACKAGE}-{VERSION}.dist-info"
    whole = {
        **files,
        f"{about}/licenses/LICENSE": (HERE / "LICENSE").read_bytes(),
        f"{about}/METADATA": _METADATA.encode() + (HERE / "README.md").read_bytes(),
        f"{about}/WHEEL": _WHEEL.encode(),
    }
    record = "".join(f"{name},sha256={_digest(content)},{len(content)}\n" for name, content in whole.items())
    return {**whole, f"{about}/RECORD": f"{record}{about}/RECORD,,\n".encode()}


def _digest(content: bytes) -> str:
    return urlsafe_b64encode(sha256(content).digest()).rstrip(b"=").decode()


def _write(wheel: Path, files: Mapping[str, bytes]) -> None:
    moment = max(int(os.environ.get("SOURCE_DATE_EPOCH", _EARLIEST)), _EARLIEST)
    with ZipFile(wheel, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = ZipInfo(name, time.gmtime(moment)[:6])
            entry.compress_type, entry.external_attr, entry.create_system = ZIP_DEFLATED, _MODE, _UNIX
            archive.writestr(entry, content)


if __name__ == "__main__":
    main(sys.argv[1:])
