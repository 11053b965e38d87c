"""The indexes of the vault: comparison with the records, rebuilding, and the move to another backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from clawmem.app.bootstrap.backends import backend_named
from clawmem.app.operations.embedding import lag_sentences, lagging_indexes
from clawmem.app.operations.operation import (
    Command,
    Effect,
    Opening,
    Result,
    operation,
)
from clawmem.app.operations.output import plural
from clawmem.app.services.maintenance.doctor import skipped_files, spelled_out
from clawmem.app.services.maintenance.verify import GONE, OF_FILES
from clawmem.ports.records import Role

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services

DIFFERENCES = 7
MOST_SHOWN = 30  # differences that the text lists; JSON has all


class Differences(Result):
    """
    Differences between files, records and indexes.

    ``skipped`` are files that cannot be read, ``rebuilt`` indexes that were damaged and rebuilt before the comparison.
    """

    differences: list[str]
    skipped: list[str]
    rebuilt: list[str] = Field(default=[], description="Damaged indexes that were rebuilt.")

    @property
    def exit_code(self) -> int:
        """Return 7 where anything differs."""
        return DIFFERENCES if self.differences else 0

    @property
    def remarks(self) -> Sequence[str]:
        """Return how many differences there are, what repairs those that name no command, and the skipped files."""
        remarks = [spelled_out(self.skipped)] if self.skipped else []
        if self.rebuilt:
            were = "index was" if len(self.rebuilt) == 1 else "indexes were"
            remarks.append(f"{len(self.rebuilt)} {were} damaged and rebuilt: {', '.join(self.rebuilt)}.")
        if self.differences:
            number = plural(len(self.differences), "difference")
            remarks.append(f"{number} between files, records and indexes.")
        if any(difference.endswith(OF_FILES) for difference in self.differences):
            remarks[-1] += " To read the changed files, run: clawmem update"
        if any(difference.endswith(GONE) for difference in self.differences):
            remarks[-1] += "  (with --allow-empty for a folder that was emptied on purpose)"
        return remarks


class Rebuilt(Result):
    """The indexes that were rebuilt, the backends before and now, and how words and vectors are searched."""

    rebuilt: list[str]
    before: str
    backend: str
    lexical: str
    vectors: str

    @property
    def text(self) -> str:
        """The result as a sentence."""
        if self.before != self.backend:
            return (
                f"From {self.before} to {self.backend}: words by {self.lexical}, vectors by {self.vectors}."
            )
        return f"Rebuilt: {', '.join(self.rebuilt)} ({self.lexical}; {self.vectors})."


def _verify_text(result: Differences) -> str:
    shown, more = result.differences[:MOST_SHOWN], len(result.differences) - MOST_SHOWN
    rest = [f"and {more} more; --json lists all"] if more > 0 else []
    return "\n".join([*shown, *rest]) or "Files, records and indexes agree."


@operation(
    Effect.REPEATABLE,
    text=_verify_text,
    route="/verify",
    commands=(
        Command(
            "doctor", "--verify", about="Compare files, records and indexes; exit code 7 on any difference."
        ),
    ),
    is_tool=False,
    opens=Opening.CURRENT,
)
def verify(services: Services) -> Differences:
    """Compare files, records and indexes, after updating the indexes."""
    lag = lag_sentences(lagging_indexes(services))
    files = services.files
    skipped = [
        file for folder in services.folders for file in skipped_files(services.vault.documents, files, folder)
    ]
    rebuilt = [str(role) for role in services.indexes.healed]
    found = [*lag, *services.verify()] or services.forgotten_places.warnings()
    return Differences(differences=found, skipped=skipped, rebuilt=rebuilt)


@operation(Effect.REPEATABLE, text=lambda result: result.text, is_tool=False, opens=Opening.ANY_BACKEND)
def rebuild(
    services: Services,
    index: Annotated[
        Literal["all", "lexical", "vectors"], Field(description="The index: lexical, vectors or all.")
    ] = "all",
    backend: Annotated[
        str | None, Field(description="The backend that shall keep the indexes; by default the present one.")
    ] = None,
) -> Rebuilt:
    """
    Rebuild the indexes from the records, and replace the old ones.

    With another backend they move to it, and a move that was interrupted goes on; the vault stays searchable meanwhile.
    """
    before = services.indexes.backend
    roles = [role for role in Role if index in ("all", role)]
    if backend is not None:
        backend_named(backend)
    if backend not in (None, before):
        with services.progress(f"Moving to {backend}") as step:
            services.indexes.move(backend, step)
    else:
        for role in roles:
            with services.progress(f"Building the {role} index") as step:
                services.indexes.rebuild(role, step)
    info = services.vault.storage.info()
    return Rebuilt(
        rebuilt=list(map(str, roles)),
        before=before,
        backend=services.indexes.backend,
        lexical=info.lexical_method,
        vectors=info.vector_method,
    )
