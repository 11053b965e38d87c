"""Sketching of lines without a sketch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from clawmem.domain.documents.tables import with_columns
from clawmem.domain.retrieval.query_forms import STOP_WORDS
from clawmem.domain.retrieval.sketches import READ
from clawmem.ports.records import FragmentKey
from clawmem.ports.sketches import Sketcher
from clawmem.ports.vault import Vault

BATCH = 256  # lines per transaction, the most that a killed run loses

Progress = Callable[[int, int], None]


class SketchPending:
    """Makes missing sketches batch by batch; an interrupted run can be continued at any point."""

    def __init__(self, vault: Vault, sketcher: Sketcher) -> None:
        self._vault = vault
        self._sketcher = sketcher

    def __call__(self, *, progress: Progress = lambda done, total: None) -> int:
        """
        Run until every line has a sketch; return the number of new sketches.

        Raises:
            EmbeddingError, ModelError: the model failed; sketches made before are kept.
        """
        self._vault.sketches.begin(self._sketcher.fingerprint)
        total, made = self._vault.sketches.counts().pending, 0
        after: FragmentKey | None = None
        while batch := self._vault.sketches.pending(BATCH, after):
            self._sketch(batch)
            made, after = made + len(batch), batch[-1]
            progress(made, max(total, made))
        return made

    def _sketch(self, keys: Sequence[FragmentKey]) -> None:
        texts = self._texts(keys)
        # Repeated lines, such as "Thanks!" in chats, are sketched once.
        distinct = list(dict.fromkeys(texts.values()))
        known = dict(zip(distinct, self._sketcher.sketch(distinct, STOP_WORDS), strict=True))
        with self._vault.writing():
            made = {key: known[text] for key, text in texts.items()}
            self._vault.sketches.store(self._sketcher.fingerprint, made)

    def _texts(self, keys: Sequence[FragmentKey]) -> dict[FragmentKey, str]:
        """Return the texts of the lines, reading each body once; lines deleted in between are left out."""
        spans = self._vault.documents.spans(keys)
        texts: dict[FragmentKey, str] = {}
        for document_id, of_document in groupby(sorted(spans), key=lambda key: key.document_id):
            body = self._vault.documents.body(document_id) or ""
            texts |= {key: with_columns(body, spans[key].start, spans[key].end)[:READ] for key in of_document}
        return texts
