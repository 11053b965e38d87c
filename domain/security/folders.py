"""Which folders may be read into a vault because a program asks for it: never the system's, nor a whole home."""

from __future__ import annotations

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
HOMES = frozenset({"home", "users"})  # below them everybody has one
SECRET = frozenset(
    ".ssh .gnupg .aws .azure .kube .docker .env .password-store credentials .credentials secrets .secrets".split()
)
UPWARDS = ".."


class Restriction(StrEnum):
    """What is wrong with a folder, as the end of a sentence about it."""

    RELATIVE = "is no absolute folder"
    UPWARDS = "leads upwards by '..'"
    SYSTEM = "belongs to the system"
    HOME = "is a home folder as a whole, or holds one"
    OTHERS = "lies in the home of somebody else"
    SECRET = "is a place for keys and passwords"


def restriction_of(folder: str, home: str) -> Restriction | None:
    """
    Why *folder* may not be read; ``None`` when it may.

    Names are compared whole, one after another and whatever their case: ``/variety`` is not below ``/var``,
    ``/home/user2`` not below ``/home/user``, and ``my-secrets`` no name of a place for secrets. What lies below
    *home* is the user's own, even where the system keeps that home.

    Args:
        folder: An absolute path; of one that leads through links ask for both ends.
        home: The user's home folder, absolute.
    """
    parts, own = _parts(folder), _parts(home)
    if not folder.startswith(("/", "\\")) and folder[1:2] != ":":
        return Restriction.RELATIVE
    if UPWARDS in parts:
        return Restriction.UPWARDS
    if own[: len(parts)] == parts:
        return Restriction.HOME
    below_home = parts[: len(own)] == own
    if not below_home and (found := _abroad(parts)):
        return found
    return Restriction.SECRET if SECRET & set(parts[len(own) :] if below_home else parts) else None


def _abroad(parts: Sequence[str]) -> Restriction | None:
    """What is wrong outside of the user's home."""
    first = parts[1] if parts[0] == "private" and len(parts) > 1 else parts[0]  # what links of macOS lead to
    if first in SYSTEM:
        return Restriction.SYSTEM
    if first in HOMES:
        return Restriction.HOME if len(parts) == 1 else Restriction.OTHERS
    return None


def _parts(path: str) -> list[str]:
    """The names of a path without its drive; ``.`` and doubled separators say nothing."""
    names = [name for name in path.casefold().replace("\\", "/").split("/") if name not in ("", ".")]
    return names[1:] if names and names[0].endswith(":") else names
