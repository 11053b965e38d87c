"""Issues of Beads projects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from clawmem.app.operations.embedding import embed_after, embed_line
from clawmem.app.operations.operation import Effect, Opening, Option, Result, operation
from clawmem.app.operations.output import plural
from clawmem.app.services.indexing.embed import EmbedReport
from clawmem.app.services.issues import COLLECTION

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services

INCOMPLETE = 1  # exit code


class SyncedIssues(Result):
    """Counts of a synchronization; ``new_doc_ids`` are documents of new issues."""

    project_dir: str
    source: str
    synced: int
    created: int
    updated: int
    removed: int = Field(description="Withdrawn, because the tracker no longer lists them.")
    relations: int = Field(description="Added, changed or deleted relations.")
    unresolved: int = Field(
        description="Dependencies on issues that are not listed, or of an issue on itself."
    )
    new_doc_ids: list[int]
    problems: list[str]
    embed: EmbedReport | None = None

    @property
    def exit_code(self) -> int:
        """Return 1 where a part of the list could not be read, or documents of an empty list are kept."""
        return INCOMPLETE if self.problems else 0

    @property
    def remarks(self) -> Sequence[str]:
        """Return the lines that could not be read, and why documents of a project without issues are kept."""
        return self.problems


def _text(result: SyncedIssues) -> Iterator[str]:
    yield (
        f"{result.project_dir}: {plural(result.synced, 'issue')} ({result.source}), {result.created} new, "
        f"{result.updated} updated, {result.removed} removed; {plural(result.relations, 'relation')} changed."
    )
    if result.unresolved:
        yield f"  {result.unresolved} dependencies on unknown issues were left out."
    if result.embed:
        yield embed_line(result.embed)


@operation(Effect.REPEATABLE, text=_text, route="/beads/sync", opens=Opening.CREATED, in_own_process=True)
def beads_sync(
    services: Services,
    project_path: Annotated[
        str,
        Field(description="Folder of the project, or one below it."),
        Option(metavar="PROJECT", is_argument=True),
    ] = ".",
    allow_empty: Annotated[
        bool, Field(description="Also remove every issue of a project that lists none."), Option(tool=None)
    ] = False,
) -> SyncedIssues:
    """
    Make documents of the issues of a Beads project, with relations by dependency.

    It asks `bd`, or reads the files in .beads where there is no `bd`. Repeat it any time; the watcher does it after
    changes in .beads. Find issues by their properties: --where status=open.
    """
    found = services.issue_sync(project_path, allow_empty=allow_empty)
    return SyncedIssues(
        project_dir=found.project,
        new_doc_ids=list(found.new),
        embed=embed_after(services, [COLLECTION]),
        **{name: getattr(found, name) for name in SyncedIssues.model_fields if hasattr(found, name)},
    )
