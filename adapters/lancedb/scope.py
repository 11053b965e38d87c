from __future__ import annotations

from clawmem.ports.records import Scope

_NOBODY = -1  # matches no document, because LanceDB accepts no empty list


def condition(scope: Scope) -> str | None:
    """
    Return the filter for *scope*, which LanceDB applies before the limit; ``None`` for an unlimited scope.
    """
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
