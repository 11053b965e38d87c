"""Antipatterns in a conversation: failed attempts and warnings against repeating them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clawmem.domain.capture.extraction import CaptureFinding, payload
from clawmem.domain.capture.kinds import Kind
from clawmem.domain.capture.preferences import ASKED, is_like
from clawmem.domain.capture.sentences import sentences
from clawmem.ports.sessions import TranscriptMessage

MOST = 10  # antipatterns of one pass
SHORTEST, LONGEST = 15, 500  # characters

# A sentence with one of these kinds keeps it, even if it also warns of something.
STRONGER = frozenset({Kind.DECISION, Kind.PREFERENCE, Kind.QUESTION})

_HARM = r"(?:break|corrupt|lose|lock|block|fail|drop|leak|delete|overwrite|crash|hang|kill|flood)s?"
FAILED = (
    r"\b(?:tried|attempted|attempt|trying)\b.*\b(?:but|failed|fails|did not|didn't|without success|broke|only made)\b",
    r"\b(?:was|were|is|turned out to be) (?:a|an|the) (?:\w+ )?(?:mistake|dead end|bad idea|trap|footgun|anti-?pattern)\b",
    r"\b(?:should (?:not|never)|shouldn't) have\b",
    r"\b(?:never|avoid|do not|don't|must not|mustn't)\b.{3,}?(?:\bbecause\b|\bsince\b|\botherwise\b|[:;,–-] ?(?:it|that|they|this)\b)",
    rf"\b(?:never|avoid|do not|don't|must not|mustn't)\b.{{3,}}\bor (?:it|the|they|you|we|that)\b.*\b{_HARM}\b",
    r"\b(?:does|did|will) not work\b.*\b(?:because|since|when|on|with|as)\b|\b(?:doesn't|didn't|won't) work\b.*\b(?:because|since|when)\b",
    r"\b(?:reverted|rolled back|backed out|undid)\b.*\b(?:because|since|after|as it)\b",
    r"\blessons?(?: learn(?:ed|t))?\s*:",
    r"\b(?:war ein fehler|sackgasse|nie wieder|hat nicht funktioniert)\b",
)


def antipatterns(messages: Sequence[TranscriptMessage]) -> Iterator[CaptureFinding]:
    """Yield the first ten distinct sentences that report a failure or warn of one; questions are skipped."""
    seen: set[str] = set()
    for message in messages:
        for sentence in sentences(message.text):
            name = payload(sentence)
            if name not in seen and _warns(sentence):
                if len(seen) == MOST:
                    return
                seen.add(name)
                yield CaptureFinding(Kind.ANTIPATTERN, sentence, message)


def with_antipatterns(
    found: Sequence[CaptureFinding], messages: Sequence[TranscriptMessage]
) -> list[CaptureFinding]:
    """Return *found* and the antipatterns of *messages*, by line; a warning is not also returned as a problem."""
    settled = {payload(one.sentence) for one in found if one.kind in STRONGER}
    warned = {name: one for one in antipatterns(messages) if (name := payload(one.sentence)) not in settled}
    others = [one for one in found if payload(one.sentence) not in warned]
    return sorted([*others, *warned.values()], key=lambda one: one.message.line)


def _warns(sentence: str) -> bool:
    return SHORTEST <= len(sentence) <= LONGEST and not is_like(ASKED, sentence) and is_like(FAILED, sentence)
