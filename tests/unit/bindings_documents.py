"""How the language-neutral vectors of the documents room reach this implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clawmem.domain.documents.eligibility import collection_name, compile_pattern, is_excluded, path_context
from clawmem.domain.documents.frontmatter import content_type, facts, split
from clawmem.domain.documents.identity import body_hash, docid, parse_virtual_path
from clawmem.domain.documents.markdown import Markdown
from clawmem.domain.documents.names import read_address, title
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.text.written_dates import authored_at, day_at_opening


def _frontmatter_facts(case: dict[str, Any]) -> dict[str, Any]:
    found = facts(case["raw"])._asdict()
    del found["faults"]
    lists = {name: list(found[name]) for name in ("tags", "aliases", "supersedes", "superseded_by")}
    return {**found, **lists, "extra": [list(pair) for pair in found["extra"]]}


def _virtual_path(case: dict[str, Any]) -> list[str] | None:
    found = parse_virtual_path(case["text"])
    return found and list(found)


def _address(given: dict[str, Any]) -> Any:
    readings = read_address(given["text"])
    return [
        [address.name, list(address.lines) if address.lines else None, address.is_link]
        for address in readings
    ]


BINDINGS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "address": _address,
    "authored_at": lambda case: iso_utc(authored_at(**case)),
    "body_hash": lambda case: body_hash(**case),
    "collection_name": lambda case: collection_name(**case),
    "content_type": lambda case: content_type(**case),
    "docid": lambda case: docid(**case),
    "excluded_path": lambda case: is_excluded(**case),
    "frontmatter_split": lambda case: split(case["source"])._asdict(),
    "frontmatter_facts": _frontmatter_facts,
    "moment": lambda case: parse_iso(case["text"]),
    "opening_day": lambda case: day_at_opening(**case),
    "path_context": lambda case: path_context(**case),
    "path_pattern": lambda case: compile_pattern(case["pattern"])(case["path"]),
    "title": lambda case: title(case["declared"], Markdown(case["body"]), case["path"]),
    "virtual_path": _virtual_path,
}
