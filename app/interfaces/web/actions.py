"""Operations that forms may call: those of the table that one note or one line needs, and some of the pages alone."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import Field

from clawmem.app.bench.collection import Case, cases_file
from clawmem.app.bootstrap.services import Services
from clawmem.app.environment.private_files import appended, make_folder
from clawmem.app.operations.fields import Address
from clawmem.app.operations.operation import Effect, Operation, Result, operation
from clawmem.app.operations.table import operation_named
from clawmem.app.services.lifecycle.actions import RecordedAct
from clawmem.domain.documents.times import iso_utc


class Privacy(Result):
    """A note, and whether models are kept from it."""

    file: str
    private: bool


class Supersession(Result):
    """A note, and the note that a person put in its place."""

    file: str
    newer: str


UNDOABLE = frozenset(
    "memory_pin memory_snooze lifecycle_archive lifecycle_restore make_private supersede_note".split()
)


@operation(
    Effect.REPEATABLE,
    text=lambda note: (
        f"{note.file} is {'private: no model sees it unasked' if note.private else 'not private'}."
    ),
    command="",
)
def make_private(
    services: Services, query: Address, private: Annotated[bool, "Whether it is."] = True
) -> Privacy:
    """Keep a note from models, or take that back."""
    note = services.lookup.find(query)
    services.lifecycle.withhold(note, services.caller, private=private)
    return Privacy(file=note.display_path, private=note.id in services.withheld())


@operation(
    Effect.REPEATABLE,
    text=lambda note: f"{note.file} {f'is superseded by {note.newer}' if note.newer else 'holds again'}.",
    command="",
)
def supersede_note(
    services: Services, query: Address, newer: Annotated[str, "The note in its place; empty for none."] = ""
) -> Supersession:
    """Let a note supersede another one, or take that back."""
    note, successor = services.lookup.find(query), services.lookup.find(newer) if newer else None
    services.lifecycle.supersede(note, successor, services.caller)
    return Supersession(file=note.display_path, newer=successor.display_path if successor else "")


@operation(
    Effect.REPEATABLE,
    text=lambda act: f"Undone: {act.act}{f' of {act.file}' if act.file else ''}.",
    command="",
)
def undo_act(services: Services, act: Annotated[int, Field(ge=1, le=2**53)]) -> RecordedAct:
    """Undo one act."""
    return services.lifecycle.undo(act, services.caller)


@operation(
    Effect.ADDS,
    text=lambda case: (
        f"{case.file} {'should' if case.wanted else 'should not'} be there: clawmem bench own tells if it is."
    ),
    command="",
)
def add_own_case(
    services: Services,
    prompt: Annotated[str, "The prompt."],
    file: Address,
    wanted: Annotated[bool, "Whether the note was missing."] = False,
) -> Case:
    """Add a case to the user's own evaluation: a note that a prompt should, or should not, have received."""
    note = services.lookup.find(file)
    case = Case(prompt, note.display_path, wanted, iso_utc(services.clock.now_ms()))
    cases = cases_file(services.settings.config_file)
    make_folder(cases.parent)
    with appended(cases) as lines:
        lines.write(json.dumps(case._asdict(), ensure_ascii=False).encode() + b"\n")
    return case


FROM_TABLE = """
memory_pin memory_snooze memory_forget lifecycle_archive lifecycle_restore lanes_run lanes_undo
embed reindex rebuild enrich
""".split()
OWN: tuple[Operation[..., Any], ...] = (make_private, supersede_note, undo_act, add_own_case)
ACTIONS = {operation.name: operation for operation in (*OWN, *map(operation_named, FROM_TABLE))}
