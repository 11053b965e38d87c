"""Order of notes about one subject, by the version that the question asks for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from clawmem.app.services.documents.succession import known_by, successions_from
from clawmem.app.services.retrieval.request import Ranking, RetrievalRequest, Unit
from clawmem.app.services.retrieval.stages.successors import with_predecessors
from clawmem.app.services.retrieval.work import Candidate, Stage, Trace, Work
from clawmem.domain.documents.names import document_names
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.retrieval.succession import successors
from clawmem.domain.retrieval.versions import (
    COMPARABLE,
    Version,
    Wanted,
    decision_subjects,
    in_wanted_order,
    names_future_year,
    series_words,
    subject_name,
)
from clawmem.domain.text.words import words
from clawmem.ports.documents import DocumentStore, SuccessionStore
from clawmem.ports.records import Document

DECISION = "decision"  # content type
VERSION = "version"  # name of the term in the score


def versions_in_order(
    documents: DocumentStore, successions: SuccessionStore, *, of_lines: bool = False
) -> Stage:
    """
    Return a stage that orders versions of a subject among their places in the list.

    It drops nothing, and adds notes that one of the first has superseded if the question asks for a former state.

    Versions are notes that supersede each other, notes of one folder whose names differ only in their version
    ("energy 2025", "energy 2026"), and decisions about one subject. Those by name must match about equally well.

    Args:
        of_lines: Whether lines are arranged as well: the best line of each version.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        if (request.unit is Unit.LINE and not of_lines) or request.ranking is Ranking.PUBLISHED:
            return work
        asked = request.question.version
        is_former = asked.wanted in (Wanted.FORMER, Wanted.EARLIEST)
        ranked = [
            *(
                with_predecessors(documents, successions, request, work.candidates)
                if is_former
                else work.candidates
            )
        ]
        listed = {c.document_id: c for c in reversed(ranked) if c.document}
        newer = successors(known_by(documents, successions_from(successions, listed), request.as_of))
        now = iso_utc(request.question.now_ms)
        versions = {number: _version(one, now, len(newer.get(number, ()))) for number, one in listed.items()}
        families = _by_name(listed)
        if asked.wanted is not Wanted.ANY:
            families += _by_decision(listed)
        if is_former or asked.until is not None:  # else the stage before this one has put successors first
            families += _by_succession(listed, newer)
        for family in families:
            if len(family) > 1:
                order = in_wanted_order({number: versions[number] for number in family}, asked)
                _rearrange(ranked, order, trace)
        return work.with_candidates(ranked)

    return stage


def _by_name(listed: Mapping[int, Candidate]) -> list[list[int]]:
    """Return the documents of each subject by their names."""
    by_name: dict[tuple[str, str, str], list[int]] = {}
    for number, candidate in listed.items():
        document = candidate.document
        subject = subject_name(document.path) if document else None
        if document and subject:
            by_name.setdefault((document.collection, *subject), []).append(number)
    return [_comparable(family, listed) for family in by_name.values()]


def _by_decision(listed: Mapping[int, Candidate]) -> list[list[int]]:
    """Return the decisions about each subject; the stage before has placed those that are superseded in part."""
    about: dict[tuple[str, ...], list[int]] = {}
    for number, candidate in listed.items():
        document = candidate.document
        if document and document.content_type == DECISION and not candidate.is_partly_superseded:
            subjects = {(document.collection, *subject) for subject in decision_subjects(document.path)}
            family = next((about[subject] for subject in sorted(subjects) if subject in about), [])
            family.append(number)
            about.update(dict.fromkeys(subjects - about.keys(), family))
    families = {family[0]: family for family in about.values()}
    return [_comparable(family, listed) for family in families.values()]


def _comparable(family: Sequence[int], listed: Mapping[int, Candidate]) -> list[int]:
    """Return those of *family* that do not match much worse than the best."""
    best = max(listed[number].relevance for number in family)
    return [number for number in family if listed[number].relevance >= COMPARABLE * best]


def _by_succession(listed: Mapping[int, Candidate], newer: Mapping[int, set[int]]) -> list[list[int]]:
    """Return the documents that are related by declared successions."""
    joined: dict[int, set[int]] = {}
    for older, those in newer.items():
        for one in those & listed.keys() if older in listed else ():
            group = joined.get(older, {older}) | joined.get(one, {one})
            joined.update(dict.fromkeys(group, group))
    groups = {min(group): group for group in joined.values()}
    return [[number for number in listed if number in group] for group in groups.values()]


def _rearrange(ranked: list[Candidate], order: Sequence[int], trace: Trace) -> None:
    """Put the first candidate of each document of *order* into that order, among the places that they have."""
    first: dict[int, int] = {}
    for place, one in enumerate(ranked):
        first.setdefault(one.document_id, place)
    places = sorted(first[number] for number in order)
    moved = [_at(ranked[first[number]], ranked[place]) for number, place in zip(order, places, strict=True)]
    if moved == [ranked[place] for place in places]:
        return
    if document := moved[0].document:
        trace.stages[-1].notes.append(f"{document.display_path}: the version that is asked for")
    for place, one in zip(places, moved, strict=True):
        ranked[place] = one


def _version(candidate: Candidate, now: str, superseded_by: int) -> Version:
    document = candidate.document
    if document is None:
        return Version("", frozenset(), candidate.relevance)
    names = frozenset(word for name in document_names(document) for word in words(name))
    is_future = names_future_year(document.path, now)
    return Version(document.authored_at, names, candidate.relevance, is_future, superseded_by)


def _at(candidate: Candidate, place: Candidate) -> Candidate:
    if candidate.score == place.score:
        return candidate
    terms = {**candidate.terms, VERSION: place.score - candidate.score}
    return candidate._replace(score=place.score, confidence=place.confidence, terms=terms)


def of_the_series(work: Work, matched: Mapping[int, Document], topic: Collection[str]) -> dict[int, Document]:
    """Return the candidates whose file continues the series of a match: a later offer need not repeat its subject."""
    found = {one.document_id: one.document for one in work.candidates if one.document is not None}
    return {
        number: document
        for number, document in found.items()
        if number not in matched
        and any(
            one.collection == document.collection
            and not series_words(one.path, document.path).isdisjoint(topic)
            for one in matched.values()
        )
    }
