"""Policies of OpenClaw's own memory, for programs that keep a conversation: flush before compaction, and pruning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from clawmem.app.operations.operation import Command, Effect, Opening, Request, Result, operation
from clawmem.app.operations.output import plural
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.openclaw.flush import (
    LARGEST_TRANSCRIPT,
    NO_REPLY,
    RESERVE_TOKENS,
    SOFT_TOKENS,
    FlushSettings,
    FlushState,
    flush_threshold,
    is_flush_due,
)
from clawmem.domain.openclaw.pruning import CACHE_TTL_MS, Message, is_cache_expired, prune
from clawmem.domain.openclaw.session_notes import FOLDER

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services

WINDOW = 200_000  # tokens
MOST_MESSAGES = 10_000

PROMPT = (
    "The conversation will soon be compacted. Save what must not be lost to {file}: decisions with their reasons, facts, "
    "preferences, open tasks. Add to the file; never replace what it says. Save nothing that it says already. "
    "If there is nothing to save, answer {silent}."
)
SYSTEM_PROMPT = "This is a silent turn before a compaction. Only write memory; do not answer the user. Begin the answer with {silent}."

Tokens = Annotated[int, Field(ge=0, le=10**9)]


class FlushPlan(Result):
    """Whether to let the agent save its memory now, from how many tokens on, and with which words."""

    is_due: bool
    threshold_tokens: int
    soft_threshold_tokens: int
    reserve_tokens_floor: int
    force_flush_transcript_bytes: int
    relative_path: str = Field(description="The file of today in the workspace.")
    prompt: str
    system_prompt: str
    silent_reply: str = Field(description="An answer that begins so is not shown.")


class SavedSession(Result):
    """The note of a session; ``path`` is empty for a session without messages."""

    path: str


class PrunedMessage(Request):
    """A message of a request to a model."""

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    fixed: bool = Field(
        False, description="The message has an image, or belongs to a tool whose results stay."
    )


class ShorterMessage(Result):
    """The new text of the message at a position, counted from 0."""

    index: int
    text: str


class PrunedContext(Result):
    """The messages that get shorter; all others stay as they are."""

    changed: list[ShorterMessage]
    characters_before: int
    characters_after: int


@operation(
    Effect.READS,
    text=lambda plan: (
        f"A flush to {plan.relative_path} is due "
        + ("now." if plan.is_due else f"from {plan.threshold_tokens} tokens on.")
    ),
    route="/openclaw/flush-plan",
    commands=(Command("openclaw flush-plan"),),
    is_tool=False,
    any_vault=False,
    opens=Opening.NOTHING,
)
def flush_plan(
    services: Services,
    context_window: Annotated[Tokens, Field(description="Tokens of the context window.")] = WINDOW,
    total_tokens: Annotated[Tokens, Field(description="Tokens of the conversation.")] = 0,
    compactions: Annotated[Tokens, Field(description="Compactions so far.")] = 0,
    flushed_at: Annotated[
        int | None, Field(ge=0, description="Compactions at the last flush; nothing if there was none.")
    ] = None,
    transcript_bytes: Annotated[Tokens, Field(description="Size of the transcript.")] = 0,
    reserve_tokens: Annotated[Tokens, Field(description="Tokens that the program keeps free.")] = 0,
    compacts_at: Annotated[
        Tokens, Field(description="Tokens at which the program compacts, if that is known; else 0.")
    ] = 0,
    read_only: Annotated[bool, Field(description="The agent may not write to its workspace.")] = False,
    heartbeat: Annotated[bool, Field(description="A timer started the turn.")] = False,
) -> FlushPlan:
    """Return when and how an agent saves its memory before a compaction; once for each compaction."""
    settings = FlushSettings(reserve_tokens=reserve_tokens, compacts_at=compacts_at)
    state = FlushState(
        total_tokens,
        context_window,
        compactions,
        flushed_at,
        transcript_bytes,
        can_write=not read_only,
        is_heartbeat=heartbeat,
    )
    file = f"{FOLDER}/{iso_utc(services.clock.now_ms())[:10]}.md"
    return FlushPlan(
        is_due=is_flush_due(state, settings),
        threshold_tokens=flush_threshold(context_window, settings),
        soft_threshold_tokens=SOFT_TOKENS,
        reserve_tokens_floor=RESERVE_TOKENS,
        force_flush_transcript_bytes=LARGEST_TRANSCRIPT,
        relative_path=file,
        prompt=PROMPT.format(file=file, silent=NO_REPLY),
        system_prompt=SYSTEM_PROMPT.format(silent=NO_REPLY),
        silent_reply=NO_REPLY,
    )


@operation(
    Effect.REPEATABLE,
    text=lambda saved: saved.path or "The session has no messages.",
    commands=(Command("openclaw session-note"),),
    is_tool=False,
    any_vault=False,
    opens=Opening.NOTHING,
)
def session_note(
    services: Services,
    transcript: Annotated[
        str,
        Field(min_length=1, max_length=4_000, description="Absolute path of the transcript, a .jsonl file."),
    ],
    workspace: Annotated[str, Field(min_length=1, max_length=4_000, description="Folder of the agent.")],
) -> SavedSession:
    """
    Save the last 15 messages of a session as memory/YYYY-MM-DD-SLUG.md of a workspace.

    The slug is made of the words that are used most often. The same session is saved once, and no file is changed.
    """
    return SavedSession(path=services.save_session(transcript, workspace))


@operation(
    Effect.READS,
    text=lambda pruned: (
        f"{plural(len(pruned.changed), 'result')} shortened: {pruned.characters_before} characters became "
        f"{pruned.characters_after}."
    ),
    route="/context/prune",
    by_post=True,
    is_tool=False,
    any_vault=False,
    opens=Opening.NOTHING,
    commands=(),
)
def prune_context(
    services: Services,
    messages: Annotated[list[PrunedMessage], Field(max_length=MOST_MESSAGES, description="Oldest first.")],
    context_window: Annotated[Tokens, Field(description="Tokens of the context window.")] = WINDOW,
    last_request_at: Annotated[
        int | None,
        Field(ge=0, description="Time of the last request to the model, in milliseconds since 1970."),
    ] = None,
    ttl_ms: Annotated[
        int, Field(ge=0, description="Life of the prompt cache; before its end nothing is pruned.")
    ] = CACHE_TTL_MS,
) -> PrunedContext:
    """
    Shorten old tool results of a request, as soon as the prompt cache of the provider has expired.

    Long results keep their beginning and end; in a full window the oldest are cleared. Results after the third-last
    answer stay. Without the time of the last request the cache counts as expired.
    """
    now = services.clock.now_ms()
    if last_request_at is not None and not is_cache_expired(last_request_at, now, ttl_ms):
        size = sum(len(message.text) for message in messages)
        return PrunedContext(changed=[], characters_before=size, characters_after=size)
    found = prune(
        [Message(message.role, message.text, message.fixed) for message in messages], context_window
    )
    changed = [ShorterMessage(index=at, text=text) for at, text in sorted(found.texts.items())]
    return PrunedContext(changed=changed, characters_before=found.before, characters_after=found.after)
