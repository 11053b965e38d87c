"""A vault from a bundle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from clawmem.app.services.portability.bundle import (
    AskedQuestion,
    check_version,
    questions_in,
    settings_in,
    tables_in,
)
from clawmem.ports.bundle import BundleDamaged, BundleReader, RecordTable
from clawmem.ports.errors import VaultError, VaultFull, VaultReadOnly

Load = Callable[[Path, int, Iterable[RecordTable], Mapping[str, int]], None]


class RestoredBundle(NamedTuple):
    """The contents of a bundle beside its records: config file, and questions of the drill."""

    settings: str
    questions: list[AskedQuestion]
    asked_at: str


def restore_records(reader: BundleReader, target: Path, schema: int, load: Load) -> RestoredBundle:
    """
    Make the new vault file *target* from a bundle; its indexes are still empty.

    Args:
        schema: The newest schema that is known.
        load: Writes tables to a new file.

    Raises:
        BundleDamaged, BundleTooNew: The file is no bundle of this clawmem.
        VaultFull, VaultReadOnly: The file cannot be written.
    """
    check_version(reader, schema)
    manifest = reader.manifest
    try:
        load(target, manifest["schema"], tables_in(reader), dict(manifest["sequences"]))
        return RestoredBundle(settings_in(reader), questions_in(reader), str(manifest["asked_at"]))
    except (BundleDamaged, VaultFull, VaultReadOnly):
        raise
    except (VaultError, ValueError, TypeError, KeyError, IndexError, RecursionError, StopIteration) as error:
        raise BundleDamaged(reader.location, f"its records cannot be read ({error})") from error
