from __future__ import annotations

import json

from clawmem.ports.records import Scope


def documents_in(scope: Scope) -> tuple[str, dict[str, str]]:
    """A query for the ids of the documents in *scope*, with its bindings; empty text for a scope without limits."""
    conditions = {
        "collection in (select value from json_each(:collections))": scope.collections,
        "authored_at >= :authored_from": scope.authored_from is not None,
        "authored_at < :authored_until": scope.authored_until is not None,
    }
    wanted = [condition for condition, holds in conditions.items() if holds]
    bindings = {
        "collections": json.dumps(sorted(scope.collections)),
        "authored_from": scope.authored_from or "",
        "authored_until": scope.authored_until or "",
    }
    return (f"select id from documents where {' and '.join(wanted)}" if wanted else ""), bindings
