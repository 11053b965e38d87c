"""Import of conversations into an opened vault."""

from __future__ import annotations

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


def synthesis_of(services: Services) -> SynthesizeFacts:
    """Return the service that draws facts from imported conversations, with the model of the settings if there is one."""
    from clawmem.app.services.conversations.synthesis import SynthesizeFacts
    from clawmem.app.services.maintenance.lanes import read_plan

    calls = read_plan(services.settings.lanes).daily_calls
    return SynthesizeFacts(services.vault, services.clock, services.adapters.generator, calls_a_day=calls)
