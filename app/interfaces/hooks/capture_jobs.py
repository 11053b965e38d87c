"""Execution of spool jobs: the capture services, wired for this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from clawmem.app.environment.private_files import write_whole
from clawmem.app.environment.projects import project_of
from clawmem.app.interfaces.hooks.injected import InjectedFingerprints
from clawmem.app.interfaces.hooks.spool import Job
from clawmem.app.services.capture.session import Session
from clawmem.domain.security.fingerprint import fingerprint, is_echo
from clawmem.ports.errors import SourceUnreadable

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.capture.handoffs import Handoffs

READ_OF_BODY = 50_000  # characters of each injected document, to recognise its text
MOST_DOCUMENTS = 200

Left = Callable[[], float]


class CaptureJobs:
    """
    Executes jobs over an opened vault.

    Args:
        left: Returns the seconds that are left for all jobs together; model calls are limited by it.
    """

    def __init__(self, services: Services, left: Left) -> None:
        self._services = services
        self._left = left

    def __call__(self, job: Job) -> None:
        """
        Execute one job. Jobs are idempotent.

        Raises:
            LookupError: the hook of the job is unknown.
            ClawmemError: raised by the service that executes the job.
        """
        session = Session(
            job.event.get("session_id", ""),
            job.event.get("transcript_path", ""),
            project_of(job.event.get("cwd", "")),
        )
        services, summary = self._services, job.event.get("compact_summary", "")
        jobs: dict[str, Callable[[Session], object]] = {
            "decision-extractor": self._decisions,
            "handoff-generator": lambda session: self._handoffs(session).write(session),
            "feedback-loop": lambda session: services.feedback_loop(session),
            "precompact-extract": self._state,
            "postcompact-capture": lambda session: self._handoffs(session).summarize(session, summary),
        }
        if job.hook not in jobs:
            raise LookupError(f"nobody does {job.hook!r}")
        jobs[job.hook](session)

    def _decisions(self, session: Session) -> None:
        services = self._services
        report = services.decision_extractor(is_echo=self._is_echo(session), left=self._left)(session)
        if report.stored or report.merged:
            return
        part = services.transcripts.read(session.transcript)
        if part.end.offset and not (part.messages or part.sidechains):  # as of a newer client
            raise SourceUnreadable(session.transcript, "no line is a message in a known format")

    def _handoffs(self, session: Session) -> Handoffs:
        return self._services.handoffs(is_echo=self._is_echo(session), left=self._left)

    def _state(self, session: Session) -> None:
        state = self._handoffs(session).state(session)
        if not state:
            return
        files = self._services.conversation_files(session.transcript, session.id)
        file = files.state_file
        file.parent.mkdir(mode=0o700, exist_ok=True)
        write_whole(file, state.encode("utf-8", "replace"))
        files.drop_old_states()
        self._read_again(file)

    def _read_again(self, file: Path) -> None:
        """Update the collection that contains *file*, if any."""
        for folder in self._services.folders:
            if file.resolve().is_relative_to(Path(folder.root).resolve()):
                self._services.update(folder)

    def _is_echo(self, session: Session) -> Callable[[str], bool]:
        told = InjectedFingerprints(self._services.settings.vault).of(session.id)
        injected = told.union(*map(fingerprint, self._given_unasked(session.id)))
        return lambda sentence: is_echo(sentence, injected)

    def _given_unasked(self, session_id: str) -> Iterator[str]:
        """Yield the texts that hooks gave to the session, so that a repetition is not captured as new."""
        documents = self._services.vault.documents
        ids = {
            hit.document_id
            for recall in self._services.vault.telemetry.of_session(session_id)
            for hit in recall.hits
        }
        shown = sorted(ids)[-MOST_DOCUMENTS:]
        for document in documents.many(shown).values():
            yield (documents.body(document.id) or "")[:READ_OF_BODY]
            yield f"{document.title} ({document.content_type}) {document.display_path}"  # the heading in a block
