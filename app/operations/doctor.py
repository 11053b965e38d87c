"""Checks of the vault and its environment, the repair of a damaged vault, and its indexes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from clawmem.app.bootstrap.backends import backend_named
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.client.autostart import is_running
from clawmem.app.environment.places import is_there, topics_folder
from clawmem.app.environment.private_files import draft_folder, files_of_vault, sweep_drafts
from clawmem.app.operations.indexing import PERSON, embed_after, index_faults, read_folders
from clawmem.app.operations.operation import Command, Effect, Opening, Result, operation
from clawmem.app.operations.output import plural
from clawmem.app.services.maintenance.doctor import (
    machine_findings,
    split_again,
)
from clawmem.app.services.maintenance.finding import CheckResult
from clawmem.app.services.maintenance.verify import OF_FILES
from clawmem.ports.errors import ConfirmationMissing, VaultError, VaultReadOnly
from clawmem.ports.records import Role
from clawmem.ports.storage import SalvageReport, VaultInfo

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services


class Examination(Result):
    """The findings of every check; ``way_out`` is the remedy."""

    ok: bool
    findings: list[CheckResult]

    @property
    def exit_code(self) -> int:
        """Return 1 if a check found something."""
        return 0 if self.ok else 1


def _doctor_text(result: Examination) -> Iterator[str]:
    yield from (check.line for check in result.findings)
    wrong = sum(not check.ok for check in result.findings)
    yield f"{wrong} of {len(result.findings)} checks found something." if wrong else "All is well."


@operation(Effect.REPEATABLE, text=_doctor_text, route="/doctor", is_tool=False, opens=Opening.CURRENT)
def doctor(services: Services) -> Examination:
    """
    Check the vault and its environment; report remedies.

    It changes two things: files of the vault, and the config file, are made private if other users can read them, and
    drafts of commands that were killed are deleted.
    """
    settings = services.settings
    places = [*files_of_vault(settings.vault), topics_folder(os.environ), settings.config_file]
    *machine, permissions = machine_findings(settings.vault, places)
    sweep_drafts(settings.vault)
    is_person = services.caller == PERSON  # a request to the server must not start programs
    agents = services.client_checks(os.environ, project=Path.cwd() if is_person else None, starts=is_person)
    findings = [*machine, *services.doctor(), permissions, *agents]
    return Examination(ok=all(check.ok for check in findings), findings=findings)


# Tables in words of users. Rows of the others are computed again from texts and files.
_CONTENTS = {
    "documents": "notes, memories and diary entries, with their pins and snoozes",
    "acts": "entries of the list of acts",
    "forgotten_texts": "fingerprints of forgotten texts",
    "sessions": "sessions of agents",
    "replacements": "merged notes",
    "entities": "names of people and things",
    "triples": "facts",
    "recalls": "past questions",
}


def _salvage_text(report: SalvageReport) -> Iterator[str]:
    kept, lost = (_counted(rows) for rows in (report.kept, report.lost))
    if not report.kept:
        lost = "pins, the diary, captured memories, and the history of questions and changes"
    yield f"Kept: {kept or 'nothing; notes are read from your files again'}"
    yield f"Lost: {lost or 'nothing'}"
    if report.notes:
        yield f"Text lost, and in no file ({len(report.notes)}): {', '.join(report.notes)}"
    if report.spoilt:
        yield f"Text damaged, kept in the archive ({len(report.spoilt)}): {', '.join(report.spoilt)}"
    yield f"Repaired: {report.vault}"
    yield f"Damaged file: {report.damaged}"


def _counted(rows: Mapping[str, int | None]) -> str:
    counts = {words: rows[table] for table, words in _CONTENTS.items() if table in rows}
    return "; ".join(
        f"{words} ({'an unknown number' if count is None else count})" for words, count in counts.items()
    )


@operation(
    Effect.DESTROYS,
    text=_salvage_text,
    is_tool=False,
    opens=Opening.NOTHING,
    commands=(Command("doctor", "--repair"),),
)
def repair(
    services: Services,
    confirm: Annotated[bool | None, Field(description="Must be true. Anything else changes nothing.")] = None,
) -> SalvageReport:
    """
    Rebuild a damaged vault from every row that can be read.

    The damaged file is stored next to the new vault. Forgotten notes stay forgotten. Every index is rebuilt, and the
    files of the collections are read again.
    """
    settings, vault = services.settings, str(services.settings.vault)
    if not is_there(settings.vault):
        raise VaultError(vault, f"There is no vault at {vault}. Run: clawmem bootstrap PATH")
    if settings.read_only:
        raise VaultReadOnly(vault)
    if is_running(settings.vault):
        raise VaultError(
            vault, f"A server has {vault} open. Run: clawmem serve --stop, then clawmem doctor --repair"
        )
    damaged = f"{vault}.damaged-{services.clock.now_ms()}"
    if not confirm:
        line = (
            f"Every row that can be read would move to a new vault; the file of now would stay as {damaged}."
        )
        raise ConfirmationMissing([line], {})
    try:
        with draft_folder(settings.vault) as draft:
            report = services.repair_vault(str(draft / "draft.sqlite"), damaged)
    except PermissionError as error:
        raise VaultReadOnly(vault) from error
    with open_services(settings, create=False) as opened:
        repaired = opened.called_by(services.caller, services.progress)
        repaired.forgotten_places.agree()
        split_again(repaired.vault.documents, repaired.vault.transactions, repaired.publisher)
        read_folders(repaired, repaired.folders, force=True)
        for role in Role:
            repaired.indexes.rebuild(role)
        repaired.indexes.keep_up()
        embed_after(repaired)
        remarks = repaired.forgotten_places.warnings()
        if without := repaired.vault.embeddings.counts().pending:
            remarks.append(f"{plural(without, 'text')} without vectors. Run: clawmem embed")
        served = {"/".join(place) for place in repaired.vault.documents.places()}
    lost, spoilt = (
        tuple(place for place in places if place not in served) for places in (report.notes, report.spoilt)
    )
    return replace(report, notes=lost, spoilt=spoilt, remarks=remarks)


class Differences(Result):
    """
    Differences between files, records and indexes.

    ``rebuilt`` are indexes that were damaged and rebuilt before the comparison.
    """

    differences: list[str]
    rebuilt: list[str]

    @property
    def exit_code(self) -> int:
        """Return 7 where anything differs."""
        return DIFFERENCES if self.differences else 0

    @property
    def remarks(self) -> Sequence[str]:
        """Return how many differences there are, and what repairs those of files."""
        remarks = [f"Damaged and rebuilt indexes: {', '.join(self.rebuilt)}."] if self.rebuilt else []
        if self.differences:
            number = plural(len(self.differences), "difference")
            remarks.append(f"{number} between files, records and indexes.")
        if any(difference.endswith(OF_FILES) for difference in self.differences):
            remarks[-1] += " To read the changed files, run: clawmem update"
        return remarks


DIFFERENCES = 7


@operation(
    Effect.REPEATABLE,
    text=lambda result: result.differences or "Files, records and indexes agree.",
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
    lag = index_faults(services)
    return Differences(
        differences=[*lag, *services.verify()] or services.forgotten_places.warnings(),
        rebuilt=[str(role) for role in services.indexes.healed],
    )


@operation(Effect.REPEATABLE, is_tool=False, opens=Opening.ANY_BACKEND)
def rebuild(
    services: Services,
    index: Annotated[
        Literal["all", "lexical", "vectors"], Field(description="The index: lexical, vectors or all.")
    ] = "all",
    backend: Annotated[
        str | None, Field(description="The backend that shall keep the indexes; by default the present one.")
    ] = None,
) -> VaultInfo:
    """
    Rebuild the indexes from the records, and replace the old ones.

    With another backend they move to it, and a move that was interrupted goes on; the vault stays searchable meanwhile.
    """
    if backend is not None:
        backend_named(backend)
    if backend not in (None, services.indexes.backend):
        with services.progress(f"Moving to {backend}") as step:
            services.indexes.move(backend, step)
    else:
        for role in (role for role in Role if index in ("all", role)):
            with services.progress(f"Building the {role} index") as step:
                services.indexes.rebuild(role, step)
    return replace(services.vault.storage.info(), backend=services.indexes.backend)
