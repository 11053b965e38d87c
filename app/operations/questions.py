"""
The parameters that all questions share.

Annotations are evaluated here: as texts they would be evaluated anew for every class that inherits them, which would
take several milliseconds of every cold search.
"""

from typing import Annotated, Literal

from pydantic import Field

from clawmem.app.operations.fields import CollectionNames, Conditions, Names, TagNames
from clawmem.app.operations.operation import Option, Request
from clawmem.app.services.retrieval.request import MAX_LIMIT
from clawmem.domain.retrieval.query_forms import MAX_QUERY

MinScore = Annotated[
    float,
    Field(ge=0, le=1, description="Leave out what scores less, 0 to 1."),
    Option(is_daily=False),
]
AsOf = Annotated[str, Field(description="As of this day: nothing later is known.")]
Compact = Annotated[
    bool, Field(description="Short snippets and few keys; read on with get."), Option(is_daily=False)
]


class Question(Request):
    """The parameters of every search."""

    query: Annotated[
        str,
        Field(min_length=1, max_length=MAX_QUERY, description="The question, as a person would put it."),
        Option(metavar="QUESTION...", is_argument=True),
    ]
    limit: Annotated[
        int,
        Field(ge=1, le=MAX_LIMIT, description="Maximum number of results."),
        Option(("-n", "--limit")),
    ] = 10
    collection: CollectionNames = ""
    since: Annotated[
        str, Field(description="Only documents written on this day or later, such as 2026-03-31.")
    ] = ""
    until: Annotated[str, Field(description="Only documents written on this day or earlier.")] = ""
    as_of: AsOf = ""
    content_type: Annotated[Names, Field(description="Only these content types."), Option(("--type",))] = ""
    tag: TagNames = ""
    where: Conditions = ""
    floor: Annotated[
        float,
        Field(ge=0, le=1, description="Answer nothing unless it is this probable, 0 to 1."),
        Option(is_daily=False),
    ] = 0.0
    show_all: Annotated[
        bool,
        Field(description="Show also unlikely results below a likely one."),
        Option(("--all",), is_daily=False),
    ] = False
    compact: Compact = True
    body: Annotated[
        bool, Field(description="Add the whole text of each document."), Option(("--full",), tool=None)
    ] = False
    explain: Annotated[
        bool,
        Field(description="Show how each score and the list came about; never compact."),
        Option(tool=None),
    ] = False


class Search(Question):
    """A question, searched by words."""

    min_score: MinScore = 0.0
    unit: Annotated[
        Literal["document", "line"],
        Field(description="Unit of the results: document, or line (paragraph, list item, chat turn)."),
        Option(tool=None),
    ] = "document"
