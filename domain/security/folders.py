"""Rules for folders and files that may be indexed: never system folders, credential stores or whole homes."""

import re
from collections.abc import Sequence
from enum import StrEnum

SYSTEM = frozenset(
    {
        *"bin boot dev etc lib lib32 lib64 proc root run sbin sys usr var".split(),
        *"system library windows programdata".split(),
        "program files",
        "program files (x86)",
    }
)
HOMES = frozenset({"home", "users"})  # parents of all home folders

# Names of folders and files that hold keys, passwords, sessions or mail. Most such names are hidden: ``.ssh``.
SECRET = frozenset("_netrc credentials gcloud keychains keyrings maildir secrets".split())
SECRET_ENDINGS = tuple(".pem .key .p12 .pfx .jks .keystore .kdbx .kdb .ppk .gpg .age".split())
# Folders of a home that hold data of programs, and on macOS those below ``Library``.
PROGRAM_DATA = frozenset({"snap", "appdata"})
LIBRARY = frozenset(
    {
        *"accounts caches containers cookies keychains mail messages mobiledevice preferences safari".split(),
        "application support",
        "group containers",
    }
)
UPWARDS = ".."


class Restriction(StrEnum):
    """Reason why a folder or file may not be read, worded as the predicate of a sentence about it."""

    RELATIVE = "is no absolute folder"
    UPWARDS = "leads upwards by '..'"
    SYSTEM = "belongs to the system"
    HOME = "is a home folder as a whole, or holds one"
    OTHERS = "lies in the home of somebody else"
    SECRET = "is hidden, or a place for keys and passwords"
    OWN = "belongs to clawmem itself"


def restriction_of(folder: str, home: str) -> Restriction | None:
    """
    Return why *folder* may not be read; ``None`` if it may be read.

    Path components are compared whole and case-insensitively: ``/variety`` is not below ``/var``, ``/home/user2`` is
    not below ``/home/user``, and ``my-secrets`` is not the name of a secret folder. Folders below *home* belong to the
    user, even if *home* itself is below a system folder.

    Args:
        folder: An absolute path. For a path with symbolic links, check both the path and its target.
        home: The user's home folder, absolute.
    """
    parts, own = _parts(folder), _parts(home)
    if not folder.startswith(("/", "\\")) and folder[1:2] != ":":
        return Restriction.RELATIVE
    if UPWARDS in parts:
        return Restriction.UPWARDS
    if own[: len(parts)] == parts:
        return Restriction.HOME
    if parts[: len(own)] == own:
        return _private(parts[len(own) :])
    first = parts[1] if parts[0] == "private" and len(parts) > 1 else parts[0]  # target of links on macOS
    if first in SYSTEM:
        return Restriction.SYSTEM
    if first in HOMES:
        return Restriction.HOME if len(parts) == 1 else Restriction.OTHERS
    return _private(parts)


def restriction_inside(path: str, above: str, home: str) -> Restriction | None:
    """
    Return why the folder or file *path* below the folder *above* may not be read; ``None`` if it may be read.

    Args:
        path: A relative path.
        above: An absolute folder for which `restriction_of` returned ``None``.
        home: The user's home folder, absolute.
    """
    parts, own = _parts(f"{above}/{path}"), _parts(home)
    return _private(parts[len(own) :] if parts[: len(own)] == own else parts)


def _private(parts: Sequence[str]) -> Restriction | None:
    is_of_programs = (
        any(name.startswith(".") for name in parts)
        or parts[0] in PROGRAM_DATA
        or (parts[0] == "library" and not LIBRARY.isdisjoint(parts[1:2]))
    )
    if is_of_programs and "clawmem" in parts:
        return Restriction.OWN
    is_secret = is_of_programs or not SECRET.isdisjoint(parts) or parts[-1].endswith(SECRET_ENDINGS)
    return Restriction.SECRET if is_secret else None


def _parts(path: str) -> list[str]:
    """Return the case-folded components of *path* without drive, ``.`` and empty components."""
    names = [name for name in path.casefold().replace("\\", "/").split("/") if name not in ("", ".")]
    return names[1:] if names and names[0].endswith(":") else names


def without_backtracking(regex: str) -> str:
    """
    Return the expression of an ignore rule in a form that needs linear time; ``*a*a*a*b`` takes hours for a long name.

    Each ``*`` but the last of a name, and each ``**`` but that of a path, takes the nearest place where the text after it
    fits: if the rest fits after a later one, it fits after this one, too.
    """
    star, deep = r"\[\^/\]\*", r"\(\?:/\.\+\)\?"  # as pathspec writes them
    regex = re.sub(rf"(?:{star})+", "[^/]*", regex)
    regex = re.sub(rf"{star}((?:\[\^/\](?!\*)|[^/])+?)(?={star})", r"(?>[^/]*?\1)", regex)
    return re.sub(rf"{deep}(/(?:(?!{deep}).)+?)(?={deep})", r"(?>(?:/.+?)??\1(?=/))", regex)
