from __future__ import annotations

from contextlib import closing
from secrets import token_hex

import apsw

from clawmem.adapters.sqlite.database import open_reader, open_writer
from clawmem.adapters.sqlite.schema import NEW_ID
from clawmem.adapters.sqlite.sqlite_errors import write_refusal
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.ports.errors import VaultDamaged, VaultError


def copy_vault(source: str, target: str, *, detached: bool = False) -> bool:
    """
    Copy the vault *source* to the new file *target* as one consistent snapshot; *source* is opened read-only.

    The copy is one file without a write-ahead log. It shares no index in an object store, because it gets an id of its
    own; a *detached* copy has no external indexes instead. Return whether it lost some: the indexes in its file are then
    to be rebuilt.

    Raises:
        VaultFull: the disk of *target* is full.
        VaultError: *source* cannot be read, or *target* cannot be written.
    """
    try:
        reader, writer = open_reader(source), open_writer(target)
        try:
            with writer.backup("main", reader, "main") as backup:
                backup.step()
            writer.pragma("journal_mode", "delete")
            if detached:
                writer.execute("delete from indexes")
                return writer.changes() > 0
            writer.execute(NEW_ID, {"id": token_hex(8)})
            return False
        finally:
            writer.close()
            reader.close()
    except apsw.Error as error:
        if refused := write_refusal(error, target):
            raise refused from error
        raise VaultError(source, f"{source} cannot be copied to {target}: {error}") from error


def back_up_vault(source: str, target: str) -> int:
    """
    Copy the vault *source* to the new file *target*, check the copy, and return its number of documents.

    Raises:
        VaultDamaged: the copy has a defect, because *source* has it.
        VaultFull, VaultError: as `copy_vault`.
    """
    copy_vault(source, target)
    with closing(open_vault(target, read_only=True)) as copy:
        if defects := copy.storage.check():
            raise VaultDamaged(source, "; ".join(defects))
        return sum(copy.documents.collections().values())
