"""Proof of forgetting: probes that look for forgotten documents everywhere; each must return an empty list."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path

from clawmem.app.services.lifecycle.forgetting import ForgetReport, derived_documents, names_forgotten
from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.request import read_request
from clawmem.domain.documents.identity import body_hash
from clawmem.domain.lifecycle.marks import is_code
from clawmem.domain.text.words import words
from clawmem.ports.clock import Clock
from clawmem.ports.records import Document
from clawmem.ports.vault import Vault

_EVERY = 1_000_000
_LOOKED_AT = 20  # results per probe


@dataclass(frozen=True, slots=True)
class Prove:
    """
    Searches pipelines and stores for forgotten documents, and the files for their sentences.

    It calls no generator, because its answers would be cached under the secret question.

    Args:
        pipelines: Factories of the pipelines by name.
        places: Files and folders that may contain bytes of the vault.
    """

    vault: Vault
    clock: Clock
    pipelines: Mapping[str, Callable[[], Pipeline]]
    places: Sequence[str]

    def __call__(self, forgotten: ForgetReport) -> dict[str, list[str]]:
        """
        Return the findings of each probe.

        If the documents had no words and sentences of their own, only the documents themselves are looked for.

        Raises:
            VaultError, ModelMismatch: a probe failed.
        """
        vault, marks, sentences = self.vault, forgotten.words, forgotten.sentences
        gone = frozenset(document.id for document in forgotten.documents)
        hashes = {document.hash for document in forgotten.documents} - {body_hash("")}
        probes: dict[str, Iterable[str]] = {
            **{name: self._answers(make(), gone, marks) for name, make in self.pipelines.items()},
            "records": self._records(gone),
            "same text": (
                f"{_where(document)} holds it"
                for hash in hashes
                for document in vault.documents.holding(hash)
            ),
            "unserved notes": (
                f"{_where(document)} says some of it"
                for document in vault.documents.latest(active=False)
                for text in [f"{document.title}\n{vault.documents.body(document.id) or ''}"]
                if any(sentence in text for sentence in sentences)
            ),
            "derived": (document.display_path for document in derived_documents(vault, gone)),
            "entities": (entity.name for mark in marks for entity in vault.entities.search(mark, _LOOKED_AT)),
            "sessions": (
                session.id
                for session in vault.sessions.recent(_EVERY)
                if any(sentence in session.summary for sentence in sentences)
            ),
            "receipts": (
                f"receipt {stored.id}"
                for stored in vault.receipts.latest(_EVERY)
                if names_forgotten(stored.content, gone, marks)
            ),
            "bytes": self._bytes([*filter(is_code, marks), *sentences]),
        }
        return {name: list(probe) for name, probe in probes.items()}

    def _answers(self, pipeline: Pipeline, gone: frozenset[int], marks: Sequence[str]) -> list[str]:
        """Return the documents in answers to *marks* that are forgotten or contain the word."""
        paths: dict[str, None] = {}
        for mark in marks:
            request = read_request(mark, now_ms=self.clock.now_ms(), limit=_LOOKED_AT, show_all=True)
            for result in pipeline(request).results:
                if result.document.id in gone or mark.casefold() in words(result.body):
                    paths[result.document.display_path] = None
        return list(paths)

    def _records(self, gone: frozenset[int]) -> Iterator[str]:
        """Yield the forgotten documents that still have a text, fragments or vectors."""
        documents = self.vault.documents
        for document in documents.many(gone).values():
            rest = (document.title, documents.body(document.id), *document.tags)
            derived = (documents.fragments(document.id), self.vault.embeddings.of_document(document.id))
            if any(rest) or any(derived) or document.inactive is None:
                yield document.display_path

    def _bytes(self, texts: Sequence[str]) -> Iterator[str]:
        """Yield the files that contain one of *texts* as UTF-8, ignoring the case of ASCII letters."""
        sought = b"|".join(re.escape(text.encode("utf-8", "replace")) for text in texts)
        for place in map(Path, self.places) if sought else ():
            for file in [place] if place.is_file() else sorted(place.rglob("*")):
                if file.is_file() and file.stat().st_size:
                    with file.open("rb") as stream, mmap(stream.fileno(), 0, access=ACCESS_READ) as content:
                        if re.search(sought, content, re.IGNORECASE):
                            yield str(file)


def _where(document: Document) -> str:
    """Return the path of *document*, and why it is not served."""
    return f"{document.display_path} ({document.inactive})" if document.inactive else document.display_path
