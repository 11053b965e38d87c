"""Routes derived from operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clawmem.app.interfaces.rest.routes import RestRoute, with_vault
from clawmem.app.operations.operation import Operation
from clawmem.app.operations.table import all_operations

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services

CALLER = "rest"


def route_of(operation: Operation[Any, Any]) -> RestRoute:
    """Return the route of *operation*."""

    def work(services: Services, request: Any) -> object:
        return operation.run(services.called_by(CALLER), request)

    return RestRoute(
        "GET" if operation.reads else "POST",
        operation.route,
        operation.about,
        operation.request,
        operation.result,
        with_vault(work, reads=operation.reads),
    )


OPERATIONS = tuple(route_of(one) for one in all_operations() if one.route)
