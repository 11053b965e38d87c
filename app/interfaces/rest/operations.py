"""Routes derived from operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from clawmem.app.interfaces.rest import operation as routing
from clawmem.app.operations.operation import Operation, Result
from clawmem.app.operations.table import all_operations

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services

CALLER = "rest"


def route_of(operation: Operation[Any, Any]) -> routing.Operation:
    """Return the route of *operation*."""
    work = _work(operation)
    if operation.reads:
        return routing.reading(operation.method, operation.route, operation.request, operation.result, work)
    return routing.changing(operation.route, operation.request, operation.result, work)


def _work(operation: Operation[Any, Any]) -> Callable[[Services, Any], object]:
    def work(services: Services, request: Any) -> object:
        result: Result = operation.run(services.called_by(CALLER), request)
        result.finish()
        return result.record()

    work.__doc__ = operation.about
    return work


OPERATIONS = tuple(route_of(one) for one in all_operations() if one.route)
