"""Note that a session leaves in the workspace of its agent."""

from __future__ import annotations

from collections.abc import Iterator

from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.openclaw.session_notes import LAST_MESSAGES, SpokenMessage, session_path, topic_slug
from clawmem.domain.openclaw.sessions import session_text
from clawmem.ports.clock import Clock
from clawmem.ports.errors import SourceUnreadable
from clawmem.ports.files import FileSource, NewFiles
from clawmem.ports.transcripts import Transcripts


class SaveSession:
    """
    Saves the last 15 messages of a session as ``memory/YYYY-MM-DD-SLUG.md``, named by their most frequent words.

    Args:
        transcripts: Reader of transcripts without secrets.
    """

    def __init__(
        self, transcripts: Transcripts, files: FileSource, new_files: NewFiles, clock: Clock
    ) -> None:
        self._transcripts = transcripts
        self._files = files
        self._new_files = new_files
        self._clock = clock

    def __call__(self, transcript: str, workspace: str) -> str:
        """
        Return the path of the note in *workspace*; empty for a session without messages. A note is written once.

        Raises:
            InvalidInput, SourceUnreadable: The transcript cannot be read.
            FileNotCreated: The note cannot be written.
        """
        messages = self._transcripts.read(transcript).messages
        said = [SpokenMessage(one.speaker.value, one.text) for one in messages][-LAST_MESSAGES:]
        text = session_text(said)
        if not text:
            return ""
        at_ms = next((ms for one in reversed(messages) if (ms := parse_iso(one.at))), self._clock.now_ms())
        content = f"# Session of {iso_utc(at_ms)[:16].replace('T', ' ')} UTC\n\n" + text.replace("\n", "\n\n")
        path = session_path(at_ms, topic_slug(said))
        if self._is(workspace, path, content):
            return path
        folder, _, name = path.rpartition("/")
        return self._new_files.create(workspace, folder, _names(name), content.rstrip("\n") + "\n")

    def _is(self, workspace: str, path: str, content: str) -> bool:
        try:
            return self._files.read(workspace, path).decode("utf-8", "replace").rstrip() == content.rstrip()
        except SourceUnreadable:
            return False


def _names(name: str) -> Iterator[str]:
    """Yield *name*, then names with a number for other sessions of the same day and topic."""
    stem = name.removesuffix(".md")
    yield name
    for number in range(2, 1000):
        yield f"{stem}-{number}.md"
