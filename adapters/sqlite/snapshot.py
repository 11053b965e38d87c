from __future__ import annotations

import apsw

from clawmem.adapters.sqlite.connections import open_reader, open_writer
from clawmem.ports.errors import VaultError


def copy_vault(source: str, target: str) -> None:
    """
    Copy the vault *source* to the new file *target* as one consistent snapshot; *source* is opened read-only.

    Raises:
        VaultError: *source* cannot be read, or *target* cannot be written.
    """
    try:
        reader, writer = open_reader(source, vectors=False), open_writer(target)
        try:
            with writer.backup("main", reader, "main") as backup:
                backup.step()
        finally:
            writer.close()
            reader.close()
    except apsw.Error as error:
        raise VaultError(source, f"{source} cannot be copied to {target}: {error}") from error
