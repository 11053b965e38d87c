"""How the vectors of words, fragments, questions and grains call this implementation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from clawmem.domain.documents.fragments import fragment
from clawmem.domain.documents.markdown import Markdown
from clawmem.domain.knowledge.llm_answer import read_json
from clawmem.domain.retrieval.grains import Fused, fuse_documents, fuse_lines
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.domain.text.likeness import is_same_word, restating_line
from clawmem.domain.text.spelling import best_spelling
from clawmem.domain.text.words import index_text, words
from clawmem.ports.records import Fragment, FragmentKey, FragmentKind, Hit, LexicalQuery, Span


def _fragments(given: dict[str, Any]) -> list[dict[str, Any]]:
    note = Markdown(given["body"], given.get("first_line", 1))
    options = {name: value for name, value in given.items() if name not in ("body", "first_line")}
    return [_fragment(part, note.body) for part in fragment(note, **options)]


def _fragment(part: Fragment, body: str) -> dict[str, Any]:
    """All but the number, which is the place in the list, and a text that is the body between the offsets."""
    shown = {**part._asdict(), "kind": part.kind.value}
    del shown["seq"]
    if part.text == body[part.start : part.end]:
        del shown["text"]
    return shown


def _query_forms(given: dict[str, Any]) -> dict[str, Any]:
    forms = query_forms(**given)
    return {
        "words": list(forms.words),
        "relaxed": _query(forms.relaxed),
        "precise": forms.precise and _query(forms.precise),
        "excluded": list(forms.excluded),
    }


def _query(query: LexicalQuery) -> dict[str, Any]:
    return {"terms": [[term.text, term.prefix] for term in query.terms], "every": query.every}


def _fuse_documents(given: dict[str, Any]) -> list[list[Any]]:
    labels = {FragmentKey(*key): label for key, label in given.get("labels", ())}
    found = fuse_documents(**{**given, "legs": _legs(given), "labels": labels})
    return [[fused.best.document_id, *_fused(fused)] for fused in found]


def _fuse_lines(given: dict[str, Any]) -> list[list[Any]]:
    spans = {span.key: span for span in map(_span, given.get("spans", ()))}
    return [_fused(fused) for fused in fuse_lines(**{**given, "legs": _legs(given), "spans": spans})]


def _fused(fused: Fused) -> list[Any]:
    return [list(fused.best), fused.relevance, dict(fused.parts)]


def _legs(given: dict[str, Any]) -> dict[str, list[Hit]]:
    return {name: [_hit(*hit) for hit in hits] for name, hits in given["legs"].items()}


def _hit(document_id: int, seq: int, score: float) -> Hit:
    return Hit(FragmentKey(document_id, seq), score)


def _span(given: Mapping[str, Any]) -> Span:
    key: Sequence[int] = given["key"]
    return Span(
        FragmentKey(*key),
        FragmentKind(given["kind"]),
        1,
        1,
        given["start"],
        given["end"],
        given.get("label", ""),
    )


BINDINGS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "words": lambda given: words(**given),
    "index_text": lambda given: index_text(**given),
    "fragments": _fragments,
    "llm_answer": lambda given: read_json(**given),
    "query_forms": _query_forms,
    "restating_line": lambda given: restating_line(given["text"], given["body"]),
    "same_word": lambda given: is_same_word(given["one"], given["other"]),
    "spelling": lambda given: best_spelling(**given),
    "fuse_documents": _fuse_documents,
    "fuse_lines": _fuse_lines,
}
