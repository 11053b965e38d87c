"""A vault, and conversations about it that grow."""

from __future__ import annotations

import json
from pathlib import Path

from wired import session_cases

from clawmem.adapters.memory.clock import ManualClock
from clawmem.app.services.capture.memories import SavedMemory
from clawmem.app.services.capture.session import Session
from clawmem.domain.capture.notes import COLLECTION
from clawmem.ports.models import Generator
from clawmem.ports.records import Document
from clawmem.ports.vault import Vault

GREETING = (("user", "Hello."), ("assistant", "Hello. What is it about?"))
LEDGER = (
    *GREETING,
    ("user", "We'll use Postgres for the ledger."),
    ("assistant", "Noted. The last import of ledgers failed because the disk was full."),
)


class World:
    """A vault and transcripts that grow."""

    def __init__(self, vault: Vault, clock: ManualClock, folder: Path) -> None:
        self.vault, self.clock, self.folder = vault, clock, folder

    def session(self, name: str, *said: tuple[str, ...]) -> Session:
        """
        The session *name*, in whose transcript this was said, after what was said before.

        Each is who said it, what, and what the client calls the prompt, if anything.
        """
        path = self.folder / f"{name}.jsonl"
        with path.open("a") as file:
            for speaker, text, *prompt in said:
                number = file.tell()
                message = {"role": speaker, "content": text}
                entry = {"type": speaker, "uuid": f"{name}-{number}", "message": message}
                entry |= {"promptId": prompt[0]} if prompt else {}
                file.write(json.dumps(entry | {"timestamp": "2023-11-14T22:00:00.000Z"}) + "\n")
        return Session(name, str(path))

    def extract(
        self, session: Session, generator: Generator | None = None, **options: object
    ) -> list[SavedMemory]:
        extract = session_cases(self.vault, self.clock, generator).session_capture(**options).memorize
        memories: list[SavedMemory] = extract(session)
        return memories

    def kept(self) -> list[Document]:
        return sorted(self.vault.documents.sources(COLLECTION).values(), key=lambda one: one.id)
