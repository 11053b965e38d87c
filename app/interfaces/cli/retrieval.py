"""The commands search, vsearch and query, and the options and helpers that all search commands share."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from clawmem.app.interfaces.cli.session import Collections, named_collections, one_of, tell, wants_json
from clawmem.app.services.retrieval.lacking import report_missing_vectors, require_vectors
from clawmem.app.services.retrieval.request import LEAST_COSINE
from clawmem.app.version import VERSION

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.interfaces.cli.rendering import Said
    from clawmem.app.services.retrieval.answer import Answer
    from clawmem.app.services.retrieval.receipts import Receipt
    from clawmem.app.services.retrieval.request import RetrievalRequest

cli = typer.Typer(rich_markup_mode=None)

Words = Annotated[
    list[str], typer.Argument(help="The question; quotes are not needed.", metavar="QUESTION...")
]
Limit = Annotated[int, typer.Option("-n", "--num", "--limit", help="How many answers, 1 to 100.")]
MinScore = Annotated[float, typer.Option(help="Leave out what scores less, 0 to 1.")]
Explain = Annotated[bool, typer.Option("--explain", help="Show how each score and the list came about.")]
UnitName = Annotated[
    str, typer.Option("--unit", help="What an answer is: document, or line (paragraph, turn).")
]
Since = Annotated[str, typer.Option(help="Only what was written from this day on, 2026-03-31.")]
Until = Annotated[str, typer.Option(help="Only what was written up to this day.")]
AsOf = Annotated[
    str, typer.Option("--as-of", help="As of this day: nothing later is known, and ages count from it.")
]
Types = Annotated[
    list[str] | None, typer.Option("--type", help="Only what is of this content type; may be repeated.")
]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="Only what carries this tag; each of several.")]
Floor = Annotated[
    float, typer.Option(help="Say nothing unless something answers with this probability, 0 to 1.")
]
Purpose = Annotated[
    str, typer.Option("--intent", help="What the answer is wanted for; steers, and is not looked for.")
]
Candidates = Annotated[
    int | None,
    typer.Option(
        "--candidate-limit", help="How many of the best are compared closely, 1 to 100.", show_default=False
    ),
]
ShowAll = Annotated[bool, typer.Option("--all", help="Show also unlikely results below a likely one.")]
NoDiverse = Annotated[bool, typer.Option("--no-diverse", help="Do not move near-copies of an answer back.")]


class Question(NamedTuple):
    """
    A question as typed, with its options.

    ``mode`` is used by retrieve only, ``asks_for`` and ``graph`` by intent-search only.
    """

    words: list[str]
    limit: int
    collections: list[str] | None
    min_score: float = 0.0
    unit: str = "document"
    since: str = ""
    until: str = ""
    content_types: list[str] | None = None
    tags: list[str] | None = None
    diverse: bool = True
    floor: float = 0.0
    intent: str = ""
    as_of: str = ""
    candidate_limit: int | None = None
    mode: str = "auto"
    asks_for: str = ""
    graph: bool = True
    explain: bool = False
    show_all: bool = False


class Given(NamedTuple):
    """An answer with its request, verb and duration."""

    services: Services
    answer: Answer
    request: RetrievalRequest
    verb: str
    ms: float

    def receipt(self) -> Receipt:
        """Return the receipt of the answer."""
        from clawmem.app.services.retrieval.explain import AnswerContext

        return self.services.explain(self.answer, self.request, AnswerContext(self.verb, self.ms, VERSION))

    def record(self, receipt: Callable[[], Receipt]) -> int | None:
        """Record the answer; return the id of the receipt, or ``None`` if no receipt is stored."""

        def packed() -> bytes:
            from clawmem.app.services.retrieval.receipts import pack

            return pack(receipt())

        recalls, limit = self.services.recalls, self.request.limit
        kept = recalls.record(self.answer, self.verb, self.ms, limit=limit, receipt=packed)
        return kept if recalls.keeps_receipts else None


@cli.command()
def search(
    ctx: typer.Context,
    words: Words,
    limit: Limit = 10,
    collection: Collections = None,
    min_score: MinScore = 0.0,
    unit: UnitName = "document",
    since: Since = "",
    until: Until = "",
    as_of: AsOf = "",
    content_type: Types = None,
    tag: Tags = None,
    floor: Floor = 0.0,
    show_all: ShowAll = False,
    explain: Explain = False,
) -> None:
    """Find by words. Loads no model."""
    question = Question(words, limit, collection, min_score, unit, since, until, content_type, tag)
    answer(ctx, "search", question._replace(as_of=as_of, floor=floor, show_all=show_all, explain=explain))


@cli.command()
def vsearch(
    ctx: typer.Context,
    words: Words,
    limit: Limit = 10,
    collection: Collections = None,
    min_score: MinScore = LEAST_COSINE,
    unit: UnitName = "document",
    since: Since = "",
    until: Until = "",
    as_of: AsOf = "",
    content_type: Types = None,
    tag: Tags = None,
    floor: Floor = 0.0,
    show_all: ShowAll = False,
    explain: Explain = False,
) -> None:
    """Find by meaning. Needs the vectors of 'clawmem embed'."""
    question = Question(words, limit, collection, min_score, unit, since, until, content_type, tag)
    answer(ctx, "vsearch", question._replace(as_of=as_of, floor=floor, show_all=show_all, explain=explain))


@cli.command()
def query(
    ctx: typer.Context,
    words: Words,
    limit: Limit = 10,
    collection: Collections = None,
    min_score: MinScore = 0.0,
    unit: UnitName = "document",
    since: Since = "",
    until: Until = "",
    as_of: AsOf = "",
    content_type: Types = None,
    tag: Tags = None,
    intent: Purpose = "",
    candidate_limit: Candidates = None,
    no_diverse: NoDiverse = False,
    floor: Floor = 0.0,
    show_all: ShowAll = False,
    explain: Explain = False,
) -> None:
    """Find by words and meaning together: the best answer clawmem has."""
    question = Question(words, limit, collection, min_score, unit, since, until, content_type, tag)
    chosen = question._replace(as_of=as_of, floor=floor, intent=intent, diverse=not no_diverse)
    answer(ctx, "query", chosen._replace(candidate_limit=candidate_limit, show_all=show_all, explain=explain))


def answer(ctx: typer.Context, verb: str, question: Question) -> None:
    """Ask a pipeline, show its answer, and store a receipt."""

    def say(services: Services) -> Said:
        from clawmem.app.interfaces.cli.answering import answered

        return answered(services, verb, question, as_json=wants_json(ctx))

    tell(ctx, say)


def given_to(
    services: Services, verb: str, question: Question, find: Callable[[RetrievalRequest], Answer]
) -> Given:
    """
    Return the answer of *find* to *question*, with warnings about missing vectors.

    Args:
        verb: The verb under which the receipt is stored.
    """
    began = perf_counter()
    request = read_question(services, question)
    found = find(request)
    report_missing_vectors(services.vault, verb, found)
    return Given(services, found, request, verb, (perf_counter() - began) * 1000)


def ask(services: Services, verb: str, request: RetrievalRequest) -> Answer:
    """
    Return the answer of the pipeline of *verb*.

    Raises:
        EmbeddingError: The verb searches vectors only, and the vault has none.
    """
    if verb == "vsearch":
        require_vectors(services.vault, "found")
    return services.pipelines.named(verb)(request)


def read_question(services: Services, question: Question) -> RetrievalRequest:
    """Return the question as a validated request; raise `InvalidInput` if an option is invalid."""
    from clawmem.app.services.retrieval.request import Ranking, Unit, read_request

    return read_request(
        " ".join(question.words),
        now_ms=services.clock.now_ms(),
        zone=services.clock.zone(),
        limit=question.limit,
        min_score=question.min_score,
        collections=named_collections(services, question.collections),
        since=question.since,
        until=question.until,
        content_types=question.content_types or (),
        tags=question.tags or (),
        floor=question.floor,
        intent=question.intent,
        as_of=question.as_of,
        candidate_limit=question.candidate_limit,
        unit=Unit(one_of("--unit", question.unit, tuple(Unit))),
        ranking=Ranking(services.settings.ranking),
        diverse=question.diverse,
        show_all=question.show_all,
    )
