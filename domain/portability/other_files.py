"""Files that are mistaken for a bundle, and the commands that read them."""

from __future__ import annotations

from collections.abc import Collection

VAULT_ID = 0x434C574D  # "CLWM", the application id of a vault, at byte 68 of its file
_ID_AT = slice(68, 72)
_SQLITE = b"SQLite format 3\x00"


def advice_about(file: str, head: bytes | None, names: Collection[str] = ()) -> tuple[str, str] | None:
    """
    Return what *file* is, and how to read it; ``None`` if it may be a bundle.

    Args:
        file: The path, quoted for a shell.
        head: The first bytes; ``None`` of a folder.
        names: The members of a ZIP file without the manifest of a bundle.
    """
    if head is None:
        return "it is a folder", f"To index its notes, run: clawmem collection add {file}"
    if names:
        return _of_archive(file, names)
    if head.startswith(_SQLITE) and int.from_bytes(head[_ID_AT], "big") == VAULT_ID:
        ask, place = f"clawmem --vault {file} search WORDS", f"clawmem --vault {file} backup new.sqlite"
        what = "it is a vault, such as a copy that clawmem backup made"
        return what, f"Ask it with: {ask}  (Make it the vault at another place with: {place})"
    if head.startswith(_SQLITE):
        what = "it is a database of another program"
        return what, f"If a memory tool wrote it, run: clawmem import TOOL {file}"
    if head.startswith(b'{"id": "') and b'"text": "' in head:
        return "it has memories as JSON lines", f"Import them with: clawmem import jsonl {file}"
    return None


def _of_archive(file: str, names: Collection[str]) -> tuple[str, str]:
    endings = {name.rpartition(".")[2].lower() for name in names}
    if endings & {"json", "jsonl"}:
        what = "it is a ZIP file of another program"
        return what, f"If it is an export of conversations, run: clawmem mine {file}"
    if endings & {"md", "markdown", "txt"}:
        return "it is a ZIP file of notes", "Unpack it, then run: clawmem collection add FOLDER"
    return "it is a ZIP file without the manifest of a bundle", "Name the file that clawmem export wrote."
