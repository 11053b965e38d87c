"""The repair of a damaged vault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, PrivateAttr

from clawmem.app.bootstrap.opening import open_services
from clawmem.app.client.autostart import is_running
from clawmem.app.environment.places import is_there
from clawmem.app.environment.private_files import draft_folder
from clawmem.app.operations.embedding import embed_quickly, pending_texts
from clawmem.app.operations.indexing import read_folders
from clawmem.app.operations.operation import Command, Effect, Opening, Result, operation
from clawmem.app.operations.output import plural
from clawmem.app.services.maintenance.doctor import rebuild_all, split_again
from clawmem.ports.errors import ConfirmationMissing, VaultError, VaultReadOnly

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services


# Contents of the tables in words of users. Rows of other tables are computed again from texts and files.
_CONTENTS = {
    "documents": "titles, times and tags of notes, memories and diary entries",
    "acts": "acts such as pins, snoozes and forgetting",
    "forgotten_texts": "fingerprints of forgotten texts",
    "sessions": "sessions of agents",
    "sightings": "sources of captured memories",
    "replacements": "merged notes",
    "derivations": "sources of derived memories",
    "entities": "names",
    "triples": "facts",
    "notes": "keywords of notes",
    "relations": "relations between notes",
    "recalls": "past questions",
    "maintenance_runs": "maintenance runs",
    "model_costs": "costs of models",
}


class Repaired(Result):
    """
    The rows that were kept and lost by table, null if their number is unknown.

    ``notes`` are documents whose text is lost and in no file, ``spoilt`` those whose text is partly damaged. ``vault`` is
    the new file, ``damaged`` the old one.
    """

    kept: dict[str, int]
    lost: dict[str, int | None]
    notes: list[str]
    spoilt: list[str]
    vault: str
    damaged: str

    _remarks: Sequence[str] = PrivateAttr(default=())

    @property
    def remarks(self) -> Sequence[str]:
        """Return the warnings about the record of forgotten notes, and the number of texts without vectors."""
        return self._remarks

    def lines(self) -> Iterator[str]:
        """Yield what was kept and lost as sentences; without ``damaged`` file, what would be."""
        lost = "Lost" if self.damaged else "Would be lost"
        yield f"Kept: {_counted(self.kept) or 'nothing'}"
        if not self.kept:
            yield f"{lost}: pins, the diary, captured memories, and the history of questions and changes"
            yield "Notes are read from your files again."
            return
        if contents := _counted(self.lost):
            yield f"{lost}: {contents}"
        if self.notes:
            condition = "in no file" if self.damaged else "unless a file has it"
            yield f"Text lost, {condition} ({len(self.notes)}): {', '.join(self.notes)}"
        if self.spoilt:
            yield f"Text damaged, kept in the archive ({len(self.spoilt)}): {', '.join(self.spoilt)}"
        if not (contents or self.notes or self.spoilt):
            yield "Nothing was lost." if self.damaged else "Nothing would be lost."


def _counted(rows: Mapping[str, int | None]) -> str:
    counts = {words: rows[table] for table, words in _CONTENTS.items() if table in rows}
    return ", ".join(
        f"{words} ({'an unknown number' if count is None else count})" for words, count in counts.items()
    )


def _text(result: Repaired) -> Iterator[str]:
    yield from result.lines()
    yield f"Repaired: {result.vault}"
    yield f"Damaged file: {result.damaged}"


@operation(
    Effect.DESTROYS,
    text=_text,
    is_tool=False,
    opens=Opening.NOTHING,
    commands=(Command("doctor", "--repair"),),
)
def repair(
    services: Services,
    confirm: Annotated[
        bool | None,
        Field(description="Must be true. Anything else changes nothing and describes what would be lost."),
    ] = None,
) -> Repaired:
    """
    Rebuild a damaged vault from every row that can be read.

    The damaged file is stored next to the new vault. Forgotten notes stay forgotten. Every index is rebuilt, and the
    files of the collections are read again. The command first lists what would be lost, and asks.
    """
    settings = services.settings
    vault = str(settings.vault)
    if not is_there(settings.vault):
        raise VaultError(vault, f"There is no vault at {vault}. Run: clawmem bootstrap PATH")
    if settings.read_only:
        raise VaultReadOnly(vault)
    if is_running(settings.vault):
        raise VaultError(
            vault, f"A server has {vault} open. Run: clawmem serve --stop, then clawmem doctor --repair"
        )
    damaged = f"{vault}.damaged-{services.clock.now_ms()}" if confirm else ""
    try:
        with draft_folder(settings.vault) as draft:
            report = services.repair_vault(str(draft / "draft.sqlite"), damaged or None)
    except PermissionError as error:
        raise VaultReadOnly(vault) from error
    result = Repaired(**report._asdict(), vault=vault, damaged=damaged)
    if not confirm:
        lines = [*result.lines()]
        sentences = " ".join(f"{line.rstrip('.')}." for line in lines)
        raise ConfirmationMissing(
            f"Nothing was repaired. {sentences}",
            result.model_dump(include={"lost", "notes", "spoilt"}),
            remedy="To repair the vault, repeat with confirm: true.",
            preview=lines,
            question="Repair the vault?",
            confirmed={"confirm": True},
        )
    with open_services(settings, create=False) as opened:
        repaired = opened.called_by(services.caller, services.progress)
        repaired.forgotten_places.agree()
        split_again(repaired.vault.documents, repaired.vault.transactions, repaired.publisher)
        read_folders(repaired, repaired.folders, force=True)
        rebuild_all(repaired.indexes)
        embed_quickly(repaired)
        result._remarks = repaired.forgotten_places.warnings()
        if without := pending_texts(repaired):
            waiting = f"{plural(without, 'text')} without vectors. Run: clawmem embed"
            result._remarks = [*result._remarks, waiting]
        served = {"/".join(place) for place in repaired.vault.documents.places()}
    result.notes = [place for place in result.notes if place not in served]
    result.spoilt = [place for place in result.spoilt if place not in served]
    return result
