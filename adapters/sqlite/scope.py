from __future__ import annotations

import json

from clawmem.ports.records import Scope


def documents_in(scope: Scope) -> tuple[str, dict[str, str]]:
    """Return a query for the ids of the documents in *scope*, with its bindings; empty text for an unlimited scope."""
    wanted, bindings = conditions(scope)
    return (f"select id from documents where {' and '.join(wanted)}" if wanted else ""), bindings


def conditions(scope: Scope) -> tuple[list[str], dict[str, str]]:
    """Return the conditions on a row of ``documents`` to be in *scope*, with their bindings."""
    possible = {
        "collection in (select value from json_each(:collections))": scope.collections,
        "authored_at >= :authored_from": scope.authored_from is not None,
        "authored_at < :authored_until": scope.authored_until is not None,
        "id in (select value from json_each(:only_documents))": scope.documents is not None,
    }
    bindings = {
        "collections": json.dumps(sorted(scope.collections)),
        "authored_from": scope.authored_from or "",
        "authored_until": scope.authored_until or "",
        "only_documents": json.dumps(sorted(scope.documents or ())),
    }
    return [condition for condition, holds in possible.items() if holds], bindings
