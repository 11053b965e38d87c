"""Import of conversations into an opened vault."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.importing.mining import MineConversations


def mining_of(services: Services) -> MineConversations:
    """Return the service that imports conversations."""
    from clawmem.adapters.conversations.exports import DiskExports
    from clawmem.adapters.files.transcripts import messages_in
    from clawmem.app.services.importing.mining import MineConversations
    from clawmem.domain.documents.encoding import decode

    exports = DiskExports(messages_in, lambda data: decode(data).text)
    return MineConversations(services.vault, services.clock, exports)
