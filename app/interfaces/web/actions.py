"""Operations that forms may call: those of the table that one note or one line needs, and two of the pages alone."""

from __future__ import annotations

from typing import Annotated, Any

from clawmem.app.bench.own import Case, add_case, cases_file
from clawmem.app.bootstrap.services import Services
from clawmem.app.operations.fields import Address, Why
from clawmem.app.operations.operation import Effect, Operation, operation
from clawmem.app.operations.table import operation_named
from clawmem.app.services.lifecycle.actions import RecordedAct
from clawmem.domain.documents.times import iso_utc

UNDOABLE = frozenset({"memory_pin", "memory_snooze", "lifecycle_restore", "archive_note"})
FROM_TABLE = frozenset(
    """
    memory_pin memory_snooze memory_forget lifecycle_restore lifecycle_undo lanes_run lanes_undo
    embed reindex rebuild enrich
    """.split()
)


@operation(
    Effect.REPEATABLE,
    text=lambda acts: f"{acts[0].file} is archived: nothing finds it until it is restored.",
    items="acts",
    commands=(),
    is_tool=False,
)
def archive_note(services: Services, query: Address, why: Why = "") -> list[RecordedAct]:
    """Archive one note."""
    services.lifecycle.archive([(services.lookup.find(query), why)], services.caller)
    return services.lifecycle.latest(1)


@operation(
    Effect.ADDS,
    text=lambda case: (
        f"{case.file} {'should' if case.wanted else 'should not'} be there: clawmem bench own tells if it is."
    ),
    commands=(),
    is_tool=False,
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
    add_case(cases_file(services.settings.config_file), case)
    return case


OWN: dict[str, Operation[..., Any]] = {"archive_note": archive_note, "add_own_case": add_own_case}


def action_named(name: str) -> Operation[..., Any] | None:
    """Return the operation of a form; ``None`` if forms may not call it."""
    return OWN.get(name) or (operation_named(name) if name in FROM_TABLE else None)
