"""What every reader of a transcript is given, and the way it goes on where it stopped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from clawmem.domain.capture.extraction import CaptureFinding, findings, source
from clawmem.ports.captures import CaptureStore, Cursor
from clawmem.ports.transcripts import TranscriptMessage, TranscriptPart, Transcripts

Redact = Callable[[str], str]
IsEcho = Callable[[str], bool]
Left = Callable[[], float]  # seconds until the work has to be done

ENOUGH_MESSAGES = 4  # to know what an answer answers, where only the end of a long transcript is read

_BEFORE = "/before"


class MovedOn(Exception):
    """Another process has read this transcript in the meantime, and stored what there was."""


@dataclass(frozen=True, slots=True)
class Session:
    """One sitting with an agent: the client's id of it, and the absolute path of its transcript."""

    id: str
    transcript: str


@dataclass(frozen=True, slots=True)
class News:
    """
    What a transcript holds beyond ``seen``, and what stands before it, for who has to know what was answered.

    ``fresh`` are the messages that nobody has read, ``messages`` those and the ones of the call before.
    ``stored`` is the cursor as the vault had it: ``seen``, unless the transcript was made anew.
    """

    stored: Cursor
    seen: Cursor
    part: TranscriptPart

    @property
    def messages(self) -> tuple[TranscriptMessage, ...]:
        """Everything that was read."""
        return self.part.messages

    @property
    def fresh(self) -> tuple[TranscriptMessage, ...]:
        """The messages that begin after what was seen."""
        return tuple(one for one in self.part.messages if one.line > self.seen.line)


def said_first(
    messages: Sequence[TranscriptMessage], captures: CaptureStore, redact: Redact, is_echo: IsEcho
) -> list[CaptureFinding]:
    """
    What *messages* hold, without what only repeats what the session was told.

    What was captured from the very place where it stands was said there before anybody told it.
    """

    def is_own(one: CaptureFinding) -> bool:
        return captures.is_known(source(one.message.id, redact(one.sentence)))

    return [one for one in findings(messages) if not is_echo(one.sentence) or is_own(one)]


class SessionReader:
    """
    Reads transcripts onwards, for one purpose.

    How far it is stands in the vault and moves in the transaction that stores what was found: whatever is
    killed or called twice, nothing is found twice.
    """

    def __init__(self, captures: CaptureStore, transcripts: Transcripts, name: str) -> None:
        self._captures = captures
        self._transcripts = transcripts
        self._name = name

    def news(self, session: Session) -> News | None:
        """
        Return the messages since the last call that was `finish`\\ ed; None when there are none.

        Raises:
            InvalidInput, SourceUnreadable: see `clawmem.ports.transcripts.Transcripts.read`.
        """
        stored = seen = self._captures.cursor(session.id, self._name)
        before = self._captures.cursor(session.id, self._name + _BEFORE)
        part = self._read(session, before)
        if part.end.offset < seen.offset:
            seen = Cursor()
            part = self._read(session, seen)
        news = News(stored, seen, part)
        return news if news.fresh else None

    def finish(self, session: Session, news: News) -> None:
        """
        Remember that *news* is dealt with; inside `Vault.writing`, with what was stored.

        Raises:
            MovedOn: somebody else was faster.
        """
        if self._captures.cursor(session.id, self._name) != news.stored:
            raise MovedOn
        self._captures.advance(session.id, self._name + _BEFORE, news.seen)
        self._captures.advance(session.id, self._name, news.part.end)

    def _read(self, session: Session, since: Cursor) -> TranscriptPart:
        return self._transcripts.read(session.transcript, since, enough=ENOUGH_MESSAGES)
