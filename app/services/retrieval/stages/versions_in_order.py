"""Order of notes about one subject, by the version that the question asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from clawmem.app.services.documents.succession import known_by, successions_from
from clawmem.app.services.retrieval.request import Ranking, RetrievalRequest, Unit
from clawmem.app.services.retrieval.work import Candidate, Stage, Trace, Work
from clawmem.domain.documents.names import document_names
from clawmem.domain.documents.tokens import words
from clawmem.domain.retrieval.versions import (
    COMPARABLE,
    Version,
    Wanted,
    WantedVersion,
    in_wanted_order,
    subject_name,
)
from clawmem.ports.records import Document
from clawmem.ports.vault import Vault

VERSION = "version"  # name of the term in the score


def versions_in_order(vault: Vault) -> Stage:
    """
    Return a stage that orders versions of a subject among their places in the list; it drops and adds nothing.

    Versions are notes that supersede each other, and notes of one folder whose names differ only in their version
    ("energy 2025", "energy 2026"). Those by name must match about equally well.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        if request.unit is Unit.LINE or request.ranking is Ranking.PUBLISHED:
            return work
        asked = request.question.version
        listed = {c.document_id: c for c in work.candidates if c.document}
        ranked = list(work.candidates)
        for family in _families(vault, request, listed, asked):
            _rearrange(ranked, family, asked, trace)
        return work.with_candidates(ranked)

    return stage


def _families(
    vault: Vault, request: RetrievalRequest, listed: Mapping[int, Candidate], asked: WantedVersion
) -> Iterator[list[int]]:
    """Yield the documents of each subject: by name, and if a former state is asked for, by declared succession."""
    by_name: dict[tuple[str, str, str], list[int]] = {}
    for number, candidate in listed.items():
        document = candidate.document
        subject = subject_name(document.path) if document else None
        if document and subject:
            by_name.setdefault((document.collection, *subject), []).append(number)
    for family in by_name.values():
        best = max(listed[number].relevance for number in family)
        yield [number for number in family if listed[number].relevance >= COMPARABLE * best]
    if asked.until is None and asked.wanted in (Wanted.CURRENT, Wanted.ANY):
        return  # the stage before this one has put successors first
    joined: dict[int, set[int]] = {}
    for older, newer in known_by(vault, successions_from(vault, listed), request.as_of):
        if older in listed and newer in listed:
            group = joined.get(older, {older}) | joined.get(newer, {newer})
            joined.update(dict.fromkeys(group, group))
    for numbers in {min(group): group for group in joined.values()}.values():
        yield [number for number in listed if number in numbers]


def _rearrange(ranked: list[Candidate], family: Sequence[int], asked: WantedVersion, trace: Trace) -> None:
    if len(family) < 2:
        return
    places = [place for place, one in enumerate(ranked) if one.document_id in set(family)]
    found = {ranked[place].document_id: ranked[place] for place in places}
    order = in_wanted_order({number: _version(one) for number, one in found.items()}, asked)
    if order == list(found):
        return
    trace.stages[-1].notes.append(
        f"{_path(found[order[0]])} before {len(order) - 1} other versions of its subject"
    )
    scores = [ranked[place] for place in places]
    for place, number, score in zip(places, order, scores, strict=True):
        ranked[place] = _at(found[number], score)


def _version(candidate: Candidate) -> Version:
    document = candidate.document
    names = (
        frozenset(w for name in document_names(document) for w in words(name)) if document else frozenset()
    )
    return Version(document.authored_at if document else "", names, candidate.relevance)


def _path(candidate: Candidate) -> str:
    return candidate.document.display_path if isinstance(candidate.document, Document) else ""


def _at(candidate: Candidate, place: Candidate) -> Candidate:
    if candidate.score == place.score:
        return candidate
    terms = {**candidate.terms, VERSION: place.score - candidate.score}
    return candidate._replace(score=place.score, confidence=place.confidence, terms=terms)
