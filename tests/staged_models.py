"""Pipelines with one model, and servers that write or score."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from scripted_server import ScriptedServer
from vault_stores import retrieval_stores

from clawmem.adapters.memory.clock import ManualClock
from clawmem.app.services.retrieval.cut import cut
from clawmem.app.services.retrieval.fuse import fuse
from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.request import RetrievalRequest, read_request
from clawmem.app.services.retrieval.rerank import blend, choose_chunk, rerank
from clawmem.app.services.retrieval.retrievers import lexical_retriever
from clawmem.app.services.retrieval.scheduling import RunRetrievers
from clawmem.app.services.retrieval.work import Stage, Trace, Work
from clawmem.ports.models import ModelAnswers, Reranker
from clawmem.ports.vault import Vault

LONGEST_S = 3.0  # generous for a busy machine; a server that waits would take ten
QUESTION = "when does the kettle whistle"

NOTES = {
    "kettle.md": "# Kettle\n\nThe kettle has a whistle in its spout.\n",
    "train.md": "# Train\n\nThe train has a whistle, and does whistle when it leaves.\n",
    "boiler.md": "# Boiler\n\nSteam pressure is what drives it.\n",
    "answer.md": "# Breakfast\n\nWater boils at seven; the kettle tells everybody.\n",
    "garden.md": "# Garden\n\nTomatoes want a lot of sun.\n",
}


def request(query: str = QUESTION, **rest: Any) -> RetrievalRequest:
    return read_request(query, now_ms=ManualClock().now_ms(), **{"diverse": False, **rest})


def run(stages: dict[str, Stage], vault: Vault, asked: RetrievalRequest) -> tuple[Work, Trace]:
    return Pipeline(retrieval_stores(vault), stages).rank(asked)


def reranking(vault: Vault, reranker: Reranker | None, **rest: Any) -> dict[str, Stage]:
    found = {
        "search": RunRetrievers({"lexical": lexical_retriever(vault.lexical)}),
        "fuse": fuse,
    }
    if reranker is None:
        return {**found, "cut": cut}
    answers: ModelAnswers = rest.pop("answers", vault.answers)
    return {
        **found,
        "chunk": choose_chunk(reranker),
        "rerank": rerank(reranker, answers, ManualClock(), **{"deadline_s": LONGEST_S, **rest}),
        "blend": blend,
        "cut": cut,
    }


def paths(vault: Vault, document_ids: Collection[int]) -> dict[int, str]:
    return {number: found.path for number, found in vault.documents.many(document_ids).items()}


def names(vault: Vault, work: Work) -> list[str]:
    by_id = paths(vault, {candidate.document_id for candidate in work.candidates})
    return [by_id[candidate.document_id] for candidate in work.candidates]


def perfect(text: str) -> float:
    return 6.0 if "seven" in text else -6.0


def sent(server: ScriptedServer) -> list[list[str]]:
    """The batches of documents that were sent."""
    return [body["documents"] for body in server.questions("/v1/rerank")]
