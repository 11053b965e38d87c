"""Import of conversations into an opened vault."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.conversations.mining import MineConversations
    from clawmem.app.services.conversations.synthesis import SynthesizeFacts


def mining_of(services: Services) -> MineConversations:
    """Return the service that imports conversations."""
    from clawmem.adapters.conversations.exports import DiskExports
    from clawmem.adapters.files.transcripts import messages_in
    from clawmem.app.services.conversations.mining import MineConversations
    from clawmem.domain.documents.encoding import decode

    exports = DiskExports(messages_in, lambda data: decode(data).text)
    return MineConversations(services.vault, services.clock, exports)


def unchanged_files(
    environ: Mapping[str, str], paths: Sequence[str], collection: str, *, embeds: bool
) -> int:
    """
    Return the number of files below *paths* if an import would change nothing; 0 if it may change something.

    The vault is opened as for a hook: the answer takes a tenth of the time that the import needs to start.

    Args:
        embeds: Whether the import would also make missing vectors.
    """
    from clawmem.adapters.conversations.listing import export_files
    from clawmem.app.bootstrap.oneshot import records
    from clawmem.app.services.conversations.positions import ImportPositions
    from clawmem.ports.errors import ClawmemError

    try:
        files, faults = export_files(paths)
        with records(environ) as vault:
            if vault is None or faults or vault.outbox.indexes():
                return 0
            positions = ImportPositions(vault.captures, collection)
            is_done = all(positions.has_file(file, "") for file in files)
            return 0 if not is_done or (embeds and vault.embeddings.documents_without()) else len(files)
    except (ClawmemError, OSError, ValueError):  # the import itself reports it
        return 0


def synthesis_of(services: Services) -> SynthesizeFacts:
    """Return the service that draws facts from imported conversations, with the model of the settings if there is one."""
    from clawmem.app.services.conversations.synthesis import SynthesizeFacts
    from clawmem.app.services.maintenance.lanes import read_plan

    calls = read_plan(services.settings.lanes).daily_calls
    return SynthesizeFacts(services.vault, services.clock, services.adapters.generator, calls_a_day=calls)
