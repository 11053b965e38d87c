"""A request as JSON: what of it is not as usual, and back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, tzinfo
from typing import Any

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.ports.records import Scope

_APART = frozenset({"query", "forms", "now_ms", "zone"})  # the question, its words, and when it is asked


def written_down(request: RetrievalRequest) -> dict[str, Any]:
    """The parameters of *request* that differ from the usual ones, by name, as JSON holds them."""
    return _unusual(request)


def request_again(
    question: str, asked: Mapping[str, Any], now_ms: int, zone: tzinfo = UTC
) -> RetrievalRequest:
    """
    Return the request that `written_down` wrote down, asked at another time in *zone*.

    A parameter that this version does not know is left out.

    Raises:
        ValueError: a value that this version does not know.
    """
    chosen = _chosen(RetrievalRequest, asked)
    return RetrievalRequest(question, query_forms(question), now_ms, **chosen, zone=zone)


def _unusual(record: Any) -> dict[str, Any]:
    usual = record._field_defaults
    chosen = {name: value for name, value in record._asdict().items() if name not in _APART}
    return {
        name: _plain(value) for name, value in chosen.items() if name not in usual or value != usual[name]
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Scope):
        return _unusual(value)
    if isinstance(value, frozenset):
        return sorted(value)
    return list(value) if isinstance(value, tuple) else value


def _chosen(kind: Any, asked: Mapping[str, Any]) -> dict[str, Any]:
    usual = kind._field_defaults
    return {name: _typed(usual[name], value) for name, value in asked.items() if name in usual}


def _typed(usual: Any, value: Any) -> Any:
    """*value* out of JSON, of the kind that the usual value has."""
    kind: Any = type(usual)
    if usual is None or value is None:
        return value
    return kind(**_chosen(kind, value)) if isinstance(usual, Scope) else kind(value)
