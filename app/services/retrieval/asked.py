"""Conversion of requests to JSON and back, leaving out default values."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, tzinfo
from typing import Any

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.ports.records import Scope

OLDER_NAMES = {"intent": "purpose"}  # of parameters, in receipts of earlier versions
_APART = frozenset({"query", "forms", "now_ms", "zone"})  # the question, its words, its time and time zone


def request_to_json(request: RetrievalRequest) -> dict[str, Any]:
    """Return the parameters of *request* that differ from their defaults, by name, as JSON values."""
    return _unusual(request)


def request_from_json(
    question: str, asked: Mapping[str, Any], now_ms: int, zone: tzinfo = UTC
) -> RetrievalRequest:
    """
    Return the request that `request_to_json` serialized, with another time and *zone*.

    Parameters unknown to this version are ignored.

    Raises:
        ValueError: a value unknown to this version.
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
    named = {OLDER_NAMES.get(name, name): value for name, value in asked.items()}
    return {name: _typed(usual[name], value) for name, value in named.items() if name in usual}


def _typed(usual: Any, value: Any) -> Any:
    """Return the JSON value *value* converted to the type of the default *usual*."""
    kind: Any = type(usual)
    if usual is None or value is None:
        return value
    return kind(**_chosen(kind, value)) if isinstance(usual, Scope) else kind(value)
