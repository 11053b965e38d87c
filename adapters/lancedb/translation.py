from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from clawmem.ports.errors import IndexBusy, IndexDamaged, IndexUnavailable, VaultError, VaultFull
from clawmem.ports.records import FragmentKey, Grain, Hit, Scope

MARKER = -1  # the key of the marker row, which is no fragment
_SEQ_BITS = 20
_GRAINS = tuple(Grain)


def pack(key: FragmentKey, grain: Grain = Grain.LINE) -> int:
    """Return ``(document_id * 2^20 + seq) * 4 + grain``, which is unique in a table."""
    return (key.document_id << _SEQ_BITS | key.seq) * len(_GRAINS) + _GRAINS.index(grain)


def grain_numbers(keys: Any) -> Any:
    """Return the position in `Grain` of each key's granularity; argument and result are numpy arrays."""
    return keys % len(_GRAINS)


Row = Mapping[str, Any]


class Changes:
    """The changes of one commit: removed documents, then added rows, in the order of the calls."""

    def __init__(self) -> None:
        self.removed: set[int] = set()
        self._rows: dict[int, dict[int, Row]] = {}  # by document, then key: the last row of a key wins

    def put(self, document_id: int, key: int, row: Row) -> None:
        """Add a row, or replace the row with the same key."""
        self._rows.setdefault(document_id, {})[key] = row

    def remove(self, document_id: int) -> None:
        """Remove all rows of a document, including rows added earlier in this commit."""
        self._rows.pop(document_id, None)
        self.removed.add(document_id)

    def rows(self) -> Iterator[Row]:
        """Iterate over the rows to write, each key once."""
        for of_document in self._rows.values():
            yield from of_document.values()


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


_NOBODY = -1  # matches no document, because LanceDB accepts no empty list
_WIDER = 4  # factor for the next request if the cut falls among equal scores


def condition(scope: Scope) -> str | None:
    """Return the filter for *scope*, which LanceDB applies before the limit; ``None`` for an unlimited scope."""
    parts = []
    if scope.collections:
        parts.append(f"collection in ({', '.join(map(_quoted, sorted(scope.collections)))})")
    if scope.authored_from is not None:
        parts.append(f"authored_at >= {_quoted(scope.authored_from)}")
    if scope.authored_until is not None:
        parts.append(f"authored_at < {_quoted(scope.authored_until)}")
    if scope.documents is not None:
        ids = ", ".join(map(str, sorted(scope.documents or {_NOBODY})))
        parts.append(f"document_id in ({ids})")
    return " and ".join(parts) or None


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def best(ask: Callable[[int], Sequence[Hit]], limit: int) -> list[Hit]:
    """
    Return the first *limit* hits by score, then key.

    LanceDB orders by score alone and cuts equal scores arbitrarily. So one more hit is requested, and many
    more as long as the last one has the same score as the last one to return.

    Args:
        ask: Returns at most the given number of hits, best first.
    """
    wanted = limit + 1
    while True:
        hits = ask(wanted)
        if len(hits) < wanted or hits[-1].score < hits[limit - 1].score:
            return sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]
        wanted *= _WIDER
