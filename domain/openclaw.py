"""Policies of OpenClaw's own memory: chunks of its files, ranking, flush before compaction, pruning, and session notes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from clawmem.domain.documents.times import iso_utc
from clawmem.domain.text.vocabulary import STOP_WORDS
from clawmem.domain.text.words import CHARACTERS_A_TOKEN, words
from clawmem.ports.imports import AgentMessage
from clawmem.ports.records import Fragment, FragmentKey, FragmentKind

CHUNK_TOKENS = 400
OVERLAP_TOKENS = 80


class _Piece(NamedTuple):
    """A line, or a part of a line that is longer than a chunk, by the characters of the text."""

    line: int
    start: int
    end: int


def chunk_fragments(
    body: str, first_line: int = 1, *, tokens: int = CHUNK_TOKENS, overlap: int = OVERLAP_TOKENS
) -> list[Fragment]:
    """
    Return the chunks of *body*, whose first line is *first_line* of its file, as passages without context.

    A chunk has at most *tokens* tokens of 4 characters, line breaks included. It begins with the last whole lines
    of the chunk before it, as many as fit into *overlap* tokens. A line that is longer than a chunk is cut. Chunks of
    blanks are left out. Fragment 0 is the document; it has no text, so that only chunks are searched and embedded.

    Raises:
        ValueError: *tokens* is not positive, or *overlap* is negative or not less than *tokens*.
    """
    if tokens <= 0 or not 0 <= overlap < tokens:
        raise ValueError(f"A chunk of {tokens} tokens cannot overlap by {overlap}.")
    most, shared = tokens * CHARACTERS_A_TOKEN, overlap * CHARACTERS_A_TOKEN
    pieces, begin = list[_Piece](), 0
    for number, line in enumerate(body.split("\n"), start=first_line):
        for start in range(0, max(1, len(line)), most - 1):
            pieces.append(_Piece(number, begin + start, begin + min(start + most - 1, len(line))))
        begin += len(line) + 1
    runs: list[list[_Piece]] = [[]]
    for piece in pieces:
        run = runs[-1]
        if run and piece.end + 1 - run[0].start > most:
            room = min(shared, most - (piece.end + 1 - piece.start))
            runs.append([shorter for shorter in run if run[-1].end + 1 - shorter.start <= room])
        runs[-1].append(piece)
    fragments = [Fragment(0, FragmentKind.DOCUMENT, first_line, pieces[-1].line, 0, 0, "")]
    for run in runs:
        first, last = run[0], run[-1]
        text = body[first.start : last.end]
        if text.strip():
            fragments.append(
                Fragment(
                    len(fragments), FragmentKind.PASSAGE, first.line, last.line, first.start, last.end, text
                )
            )
    return fragments


# -- ranking ---------------------------------------------------------------------------------------------

Key = TypeVar("Key", str, FragmentKey)

VECTOR_WEIGHT = 0.7
TEXT_WEIGHT = 0.3
MOST_RESULTS = 6
LEAST_SCORE = 0.35
# By a part of the name of a model. The cosine of a question and its answer is about .15 to .5 with static vectors. With
# E5 it is .82 or more for three of four (96 notes of a household, 4-bit weights), about .79 for other questions.
LEAST_SCORES = {"wordllama": 0.1, "e5-": 0.56}
CANDIDATES_PER_RESULT = 4


class Ranked(NamedTuple, Generic[Key]):
    """A chunk with its score and the two parts of it; a part is None if that search did not find the chunk."""

    key: Key
    score: float
    vector_score: float | None
    text_score: float | None


def ranked(
    cosines: Mapping[Key, float],
    by_keyword: Sequence[Key],
    *,
    most: int = MOST_RESULTS,
    least: float = LEAST_SCORE,
) -> list[Ranked[Key]]:
    """
    Return the best chunks of a vector search and a keyword search, best first.

    The score is 0.7 x cosine + 0.3 x 1 / (1 + rank). Chunks with less than *least* are left out, except for this: while
    there is room, chunks follow that match the words, and whose score or part of it for words reaches the smaller one
    of *least* and 0.3. Otherwise no exact name could be found whose chunk has a low cosine.

    Args:
        cosines: The chunks of the vector search with their cosines.
        by_keyword: The chunks of the keyword search, best first, without repetition.
    """
    texts = {key: 1 / (1 + rank) for rank, key in enumerate(by_keyword)}
    scores = {
        key: VECTOR_WEIGHT * cosines.get(key, 0.0) + TEXT_WEIGHT * texts.get(key, 0.0)
        for key in {**cosines, **texts}
    }
    order = sorted(scores, key=lambda key: (-scores[key], key))
    strict = [key for key in order if scores[key] >= least][:most]
    exact = [
        key
        for key in order
        if key in texts
        and scores[key] < least
        and max(scores[key], TEXT_WEIGHT * texts[key]) >= min(least, TEXT_WEIGHT)
    ]
    return [
        Ranked(key, scores[key], cosines.get(key), texts.get(key))
        for key in strict + exact[: max(0, most - len(strict))]
    ]


# -- flush before a compaction ---------------------------------------------------------------------------

RESERVE_TOKENS = 20_000
SOFT_TOKENS = 4_000
LARGEST_TRANSCRIPT = 2 << 20  # bytes; a longer transcript is flushed with any number of tokens
NO_REPLY = "NO_REPLY"
PROMPT = (
    "The conversation will soon be compacted. Save what must not be lost to {file}: decisions with their reasons, facts, "
    "preferences, open tasks. Add to the file; never replace what it says. Save nothing that it says already. "
    f"If there is nothing to save, answer {NO_REPLY}."
)
SYSTEM_PROMPT = (
    "This is a silent turn before a compaction. Only write memory; do not answer the user. "
    f"Begin the answer with {NO_REPLY}."
)


def flush_threshold(context_window: int, *, reserve_tokens: int = 0, compacts_at: int = 0) -> int:
    """
    Return the number of tokens from which on memory is flushed: `SOFT_TOKENS` before the compaction, never negative.

    Args:
        reserve_tokens: The room that the host keeps free, if it is more than `RESERVE_TOKENS`.
        compacts_at: The number of tokens at which the host compacts; 0 if it compacts at the reserve.
    """
    compaction = context_window - max(reserve_tokens, RESERVE_TOKENS)
    return max(0, min(compaction, compacts_at or compaction) - SOFT_TOKENS)


def is_flush_due(
    total_tokens: int,
    threshold: int,
    compactions: int = 0,
    flushed_at: int | None = None,
    transcript_bytes: int = 0,
) -> bool:
    """
    Return whether to flush now; once for each compaction.

    Args:
        threshold: See `flush_threshold`.
        flushed_at: The number of compactions at the last flush; None if there was none.
    """
    if flushed_at is not None and flushed_at >= compactions:
        return False
    return transcript_bytes >= LARGEST_TRANSCRIPT or 0 < threshold <= total_tokens


# -- pruning of old tool results -------------------------------------------------------------------------

CLEARED = "[Old tool result content cleared]"
CACHE_TTL_MS = (
    300_000  # five minutes, the life of a provider's prompt cache; before, a changed prefix costs more
)


class PruningSettings(NamedTuple):
    """
    Settings of pruning; sizes in characters, ratios of the context window.

    Results after the ``kept_assistants``-th last message of the assistant are never touched.
    """

    kept_assistants: int = 3
    soft_ratio: float = 0.3
    hard_ratio: float = 0.5
    least_prunable: int = 50_000
    trimmed_above: int = 4_000
    head: int = 1_500
    tail: int = 1_500
    clears: bool = True
    placeholder: str = CLEARED


DEFAULTS = PruningSettings()


@dataclass(frozen=True)
class Message:
    """
    A message of the request: its role and its text.

    ``role`` is ``user``, ``assistant``, ``tool`` or ``system``. ``is_fixed`` marks a result that contains more than
    text, such as an image, or belongs to a tool that is exempt; it counts but does not change.
    """

    role: str
    text: str
    is_fixed: bool = False


@dataclass(frozen=True)
class Pruned:
    """New texts by position of the message, and the characters of all messages before and after."""

    texts: Mapping[int, str]
    before: int
    after: int


def prune(messages: Sequence[Message], context_window: int, settings: PruningSettings = DEFAULTS) -> Pruned:
    """
    Return shorter texts for old tool results of *messages*.

    From ``soft_ratio`` of the window on, long results keep their head and tail. If ``hard_ratio`` is still reached,
    and the results have ``least_prunable`` characters or more, the oldest are replaced by the placeholder until the
    ratio is below it. Results before the first message of the user, which initialise the agent, stay as they are.

    Args:
        messages: The messages of the request, oldest first.
        context_window: Size of the context window, in tokens.
    """
    before = sum(len(message.text) for message in messages)
    window = context_window * CHARACTERS_A_TOKEN
    users = [at for at, message in enumerate(messages) if message.role == "user"]
    ends = [*(at for at, message in enumerate(messages) if message.role == "assistant"), len(messages)]
    end = ends[-settings.kept_assistants - 1] if len(ends) > settings.kept_assistants else 0
    old = [
        at
        for at in range(users[0] if users else end, end)
        if messages[at].role == "tool" and not messages[at].is_fixed
    ]
    if window <= 0 or not old or before < settings.soft_ratio * window:
        return Pruned({}, before, before)
    texts = {
        at: shorter for at in old if (shorter := trimmed(messages[at].text, settings)) != messages[at].text
    }
    size = before - sum(len(messages[at].text) - len(text) for at, text in texts.items())
    prunable = sum(len(texts.get(at, messages[at].text)) for at in old)
    if settings.clears and prunable >= settings.least_prunable:
        for at in old:
            if size < settings.hard_ratio * window:
                break
            current = texts.get(at, messages[at].text)
            if len(current) > len(settings.placeholder):
                texts[at] = settings.placeholder
                size -= len(current) - len(settings.placeholder)
    return Pruned(texts, before, size)


def trimmed(text: str, settings: PruningSettings = DEFAULTS) -> str:
    """Return the head and the tail of a long *text* with a note between them; a short one unchanged."""
    if len(text) <= settings.trimmed_above or settings.head + settings.tail >= len(text):
        return text
    head, tail = text[: settings.head], text[len(text) - settings.tail :]
    note = f"[Tool result trimmed: first {settings.head} and last {settings.tail} of {len(text)} characters kept.]"
    return f"{head}\n...\n{tail}\n\n{note}"


# -- notes and texts of sessions -------------------------------------------------------------------------

FOLDER = "memory"
LAST_MESSAGES = 15
MOST_SLUG = 40  # characters
SLUG_WORDS = 3
LEAST_LETTERS = 4  # of a word that names a session by itself


def session_path(at_ms: int, slug: str) -> str:
    """Return the path of a session's note, ``memory/<YYYY-MM-DD>-<slug>.md`` in UTC; ``HHMM`` without a slug."""
    moment = iso_utc(at_ms)
    return f"{FOLDER}/{moment[:10]}-{as_slug(slug) or moment[11:16].replace(':', '')}.md"


def as_slug(text: str) -> str:
    """Return the words of *text* in lower case with hyphens between, 40 characters at most; it names no folder."""
    slug = ""
    for word in words(text):
        longer = f"{slug}-{word}" if slug else word[:MOST_SLUG]
        if len(longer) > MOST_SLUG:
            break
        slug = longer
    return slug


def topic_slug(messages: Sequence[AgentMessage]) -> str:
    """
    Return a slug of the three words that the last 15 messages of the user and the assistant use most often.

    Function words, numbers and short words do not count; of equally frequent words the first one counts. Returns an
    empty string if no word occurs twice, because a word that was said once is no topic.
    """
    spoken = [
        message for message in messages if message.role in ("user", "assistant") and message.text.strip()
    ]
    counts = Counter(
        word
        for message in spoken[-LAST_MESSAGES:]
        for word in words(message.text)
        if len(word) >= LEAST_LETTERS and word not in STOP_WORDS and not word.isdigit()
    )
    often = [word for word, count in counts.most_common(SLUG_WORDS) if count > 1]
    return as_slug(" ".join(often))


DELTA_BYTES = 100_000
DELTA_MESSAGES = 50

_NAMES = {"user": "User", "assistant": "Assistant"}


class SessionSize(NamedTuple):
    """Size of a transcript."""

    size_bytes: int
    messages: int


def is_session_due(indexed: SessionSize | None, current: SessionSize) -> bool:
    """Return whether to read a session: a new one, one that was shortened, or one that grew by 100 000 bytes or 50 messages."""
    if indexed is None:
        return current.messages > 0
    grown_bytes = current.size_bytes - indexed.size_bytes
    grown = current.messages - indexed.messages
    return grown_bytes < 0 or grown_bytes >= DELTA_BYTES or grown >= DELTA_MESSAGES


def session_text(messages: Sequence[AgentMessage]) -> str:
    """Return one line for each message of the user and the assistant, without silent replies."""
    lines = [
        f"{_NAMES[message.role]}: {said}"
        for message in messages
        if message.role in _NAMES and (said := " ".join(message.text.split()))
    ]
    silent = f"{_NAMES['assistant']}: {NO_REPLY}"
    return "".join(f"{line}\n" for line in lines if not line.startswith(silent))
