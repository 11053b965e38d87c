"""The repair of a damaged vault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, PrivateAttr

from clawmem.app.bootstrap.opening import open_services
from clawmem.app.client.autostart import is_running
from clawmem.app.environment.places import is_there
from clawmem.app.environment.private_files import draft_path, sweep_drafts
from clawmem.app.operations.indexing import read_folders
from clawmem.app.operations.operation import Command, Effect, Opening, Operation, Request, Result
from clawmem.app.services.indexing.folders import scan_folder
from clawmem.app.services.maintenance.doctor import rebuild_all, split_again
from clawmem.domain.briefing.profile import PAGE_PATH
from clawmem.domain.capture.notes import COLLECTION
from clawmem.ports.errors import ConfirmationMissing, VaultError, VaultReadOnly

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.ports.storage import SalvageReport


_PROFILE = f"{COLLECTION}/{PAGE_PATH}"
_NAMED = 20  # most notes that are listed by name


class RepairRequest(Request):
    """The confirmation of a repair."""

    confirm: Annotated[
        bool | None,
        Field(description="Must be true. Anything else changes nothing and describes what would be lost."),
    ] = None


class Repaired(Result):
    """
    The rows that were kept and lost by table, null if their number is unknown.

    ``notes`` are documents whose text is lost and in no file, ``spoilt`` those whose text is partly damaged. ``reread``
    are documents whose text was lost, and read again from their files. ``nameless`` is the number of texts whose names are
    lost; unless a file has them, they are in ``damaged`` only, the old file. ``vault`` is the new one.
    """

    kept: dict[str, int]
    lost: dict[str, int | None]
    notes: list[str]
    spoilt: list[str]
    reread: list[str]
    nameless: int
    vault: str
    damaged: str

    _remarks: Sequence[str] = PrivateAttr(default=())

    @property
    def remarks(self) -> Sequence[str]:
        """Return the warnings about the record of forgotten notes."""
        return self._remarks


def repair(services: Services, request: RepairRequest) -> Repaired:
    """
    Rebuild a damaged vault from every row that can be read.

    The damaged file is stored next to the new vault. Forgotten notes stay forgotten. Every index is rebuilt, and the
    files of the collections are read again. The command first lists what would be lost, and asks.
    """
    settings = services.settings
    _refuse_unrepairable(services)
    vault = str(services.settings.vault)
    damaged = f"{vault}.damaged-{services.clock.now_ms()}"
    draft = str(draft_path(services.settings.vault))
    whole = services.repair_vault(draft, damaged if request.confirm else None)
    if not request.confirm:
        found = _without_profile(whole)
        raise _unconfirmed(found, _in_files(services, {*found.notes, *found.spoilt}))
    salvaged = _without_profile(whole)
    with open_services(settings, create=False) as repaired:
        remarks = _complete(
            repaired.called_by(services.caller, services.progress),
            salvaged,
            rebuild_profile=whole != salvaged,
        )
        served = {"/".join(place) for place in repaired.vault.documents.places()}
    result = Repaired(
        kept=dict(salvaged.kept),
        lost=dict(salvaged.lost),
        notes=[one for one in salvaged.notes if one not in served],
        spoilt=[one for one in salvaged.spoilt if one not in served],
        reread=[one for one in (*salvaged.notes, *salvaged.spoilt) if one in served],
        nameless=salvaged.nameless,
        vault=str(settings.vault),
        damaged=damaged,
    )
    result._remarks = remarks
    return result


def _without_profile(found: SalvageReport) -> SalvageReport:
    """Leave out the profile page, which is generated again from notes."""
    notes, spoilt = (
        tuple(one for one in places if one != _PROFILE) for places in (found.notes, found.spoilt)
    )
    return found._replace(notes=notes, spoilt=spoilt)


def _refuse_unrepairable(services: Services) -> None:
    """
    Refuse to repair a vault that does not exist, is opened for reading only, or is open in a server.

    Raises:
        VaultError: It is one of these.
    """
    vault = services.settings.vault
    if not is_there(vault):
        raise VaultError(str(vault), f"There is no vault at {vault}. Run: clawmem bootstrap PATH")
    if services.settings.read_only:
        raise VaultReadOnly(str(vault))
    if is_running(vault):
        raise VaultError(
            str(vault), f"A server has {vault} open. Run: clawmem serve --stop, then clawmem doctor --repair"
        )
    sweep_drafts(vault)


def _in_files(services: Services, places: AbstractSet[str]) -> set[str]:
    """Return those of *places* whose files are in the folders of the collections."""
    files = services.files
    scans = ((folder.name, scan_folder(files, folder).files) for folder in services.folders if places)
    return {place for name, found in scans for file in found if (place := f"{name}/{file.path}") in places}


def _unconfirmed(found: SalvageReport, in_files: AbstractSet[str]) -> ConfirmationMissing:
    would_remove: dict[str, Any] = {
        "lost": dict(found.lost),
        "notes": [one for one in found.notes if one not in in_files],
        "spoilt": [one for one in found.spoilt if one not in in_files],
        "reread": sorted(in_files),
        "nameless": found.nameless,
    }
    lines = [*_lines(found.kept, **would_remove, is_done=False)]
    sentences = " ".join(f"{line.rstrip('.')}." for line in lines)
    return ConfirmationMissing(
        f"Nothing was repaired. {sentences}",
        would_remove,
        remedy="To repair the vault, repeat with confirm: true.",
        preview=lines,
        question="Repair the vault?",
        confirmed={"confirm": True},
    )


def _complete(services: Services, salvaged: SalvageReport, *, rebuild_profile: bool) -> list[str]:
    """Rebuild the data derived from records and files; return the warnings about forgotten notes."""
    services.forgotten_places.agree(lost_records=bool(salvaged.lost or salvaged.notes or salvaged.spoilt))
    split_again(services.vault.documents, services.vault.transactions, services.publisher)
    read_folders(services, services.folders, force=True)
    rebuild_all(services.indexes)
    if rebuild_profile:
        services.profile.rebuild()
    services.profile.refresh_dropped()
    return [*services.forgotten_places.warnings()]


def _text(result: Repaired) -> Iterator[str]:
    lists = (result.notes, result.spoilt, result.reread)
    yield from _lines(result.kept, result.lost, *lists, result.nameless, is_done=True)
    yield f"Repaired: {result.vault}"
    yield f"Damaged file: {result.damaged}"


# Contents of the tables in words of users. Rows of other tables are computed again from texts and files.
_CONTENTS: dict[str, tuple[str, ...]] = {
    "titles, times, tags and pins of notes, memories and diary entries": ("documents",),
    "acts such as pins, snoozes and forgetting": ("acts",),
    "fingerprints of forgotten texts": ("forgotten_texts",),
    "sessions of agents": ("sessions",),
    "sources of captured memories": ("sightings",),
    "merged notes": ("replacements",),
    "names and facts": ("entities", "mentions", "triples"),
    "keywords of notes": ("notes",),
    "relations between notes": ("relations",),
    "past questions": ("recalls", "recall_hits", "receipts", "recall_stats", "co_activations"),
    "maintenance runs": ("maintenance_runs",),
    "answers and costs of models": ("model_answers", "model_costs"),
}
_TEXTS = {"texts of notes, memories and diary entries": ("content",)}  # lost ones are listed by name


def _lines(
    kept: Mapping[str, int],
    lost: Mapping[str, int | None],
    notes: Sequence[str],
    spoilt: Sequence[str],
    reread: Sequence[str],
    nameless: int,
    *,
    is_done: bool,
) -> Iterator[str]:
    verb = "lost" if is_done else "would be lost"
    yield f"Kept: {', '.join(_counted({**_TEXTS, **_CONTENTS}, kept)) or 'nothing'}"
    if not kept:
        yield f"{verb.capitalize()}: pins, the diary, captured memories, and the history of questions and changes"
        yield "Notes are read from your files again."
        return
    gone = [*_counted(_CONTENTS, lost)]
    if gone:
        yield f"{verb.capitalize()}: {', '.join(gone)}"
    yield from _named("Read from its file again" if is_done else "Comes back from its file", reread)
    yield from _named(f"Text {verb}, in no file", notes)
    yield from _named("Text damaged, kept in the archive", spoilt)
    if nameless:
        yield f"Texts whose names are lost ({nameless}): those of files are read again, others are in the damaged file only"
    if not (gone or notes or spoilt or nameless):
        yield "Nothing was lost." if is_done else "Nothing would be lost."


def _counted(contents: Mapping[str, Sequence[str]], rows: Mapping[str, int | None]) -> Iterator[str]:
    for name, tables in contents.items():
        numbers = [rows[table] for table in tables if table in rows]
        known = [number for number in numbers if number is not None]
        if len(known) < len(numbers):
            yield f"{name} (an unknown number)"
        elif known:
            yield f"{name} ({sum(known)})"


def _named(what: str, notes: Sequence[str]) -> Iterator[str]:
    if notes:
        more = f" and {len(notes) - _NAMED} more" if len(notes) > _NAMED else ""
        yield f"{what} ({len(notes)}): {', '.join(notes[:_NAMED])}{more}"


REPAIR = Operation(
    "repair",
    repair,
    Effect.DESTROYS,
    _text,
    is_tool=False,
    opens=Opening.NOTHING,
    commands=(Command("doctor"),),
)
OPERATIONS = (REPAIR,)
