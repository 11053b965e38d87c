from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from clawmem.ports.errors import IndexBusy, IndexDamaged, IndexUnavailable, VaultError, VaultFull

# LanceDB raises RuntimeError, ValueError or OSError for everything; only the message distinguishes the
# causes.
_CONFLICT = re.compile(r"conflict|concurrent(ly)? (writer|modif)", re.IGNORECASE)
_FULL = re.compile(r"no space left|storage full|quota exceeded", re.IGNORECASE)
_OUT_OF_REACH = re.compile(
    r"RetryError|HttpError|error sending request|timed out|permission ?denied|unauthenticated|forbidden"
    r"|status code: 5\d\d|\bstatus: (5\d\d|403|401)|connection (refused|reset)|too many open files",
    re.IGNORECASE,
)
_ABSENT = re.compile(r"^Table '.*' was not found")
_SOURCE_LINE = re.compile(r",? ?/\S{1,300}?\.rs:\d+(:\d+)?")
_LONGEST = 200  # characters of LanceDB's message


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Raise LanceDB's errors inside the block as errors of the ports, with *place* as the location of the tables."""
    try:
        yield
    except VaultError:
        raise
    except (RuntimeError, ValueError, OSError) as error:
        raise _translation(place, str(error)) from error
    except BaseException as error:
        # LanceDB panics on invalid bytes; one of the two exceptions does not derive from Exception.
        if type(error).__name__ not in ("RustPanic", "PanicException"):
            raise
        raise IndexDamaged(place, "its files are damaged") from error


def is_absence(error: BaseException) -> bool:
    """Whether *error* says that the table does not exist, as opposed to a damaged table."""
    return bool(_ABSENT.search(str(error.__cause__ or error)))


def _translation(place: str, words: str) -> VaultError:
    if _CONFLICT.search(words):
        return IndexBusy(place)
    if _FULL.search(words):
        return VaultFull(place)
    if _OUT_OF_REACH.search(words):
        return IndexUnavailable(place, _short(words))
    return IndexDamaged(place, _short(words))


def _short(words: str) -> str:
    plain = " ".join(_SOURCE_LINE.sub("", words).split())
    return plain if len(plain) <= _LONGEST else plain[:_LONGEST] + "…"
