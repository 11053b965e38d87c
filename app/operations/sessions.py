"""The profile of the user, and the topics of sessions."""

from __future__ import annotations

import os
from typing import Annotated

from pydantic import Field

from clawmem.app.bootstrap.services import Services
from clawmem.app.client.hook_registry import SESSION_VARIABLES
from clawmem.app.environment.places import topics_folder
from clawmem.app.environment.session_topics import Topics
from clawmem.app.operations.operation import Effect, Opening, Option, Result, operation
from clawmem.ports.errors import InvalidInput

SessionId = Annotated[str, Field(description="Session; by default the one that runs this command.")]


class SessionTopic(Result):
    """The topic of a session; null if it has none."""

    session_id: str
    topic: str | None


def _topics() -> Topics:
    return Topics(topics_folder(os.environ))


def _session(given: str) -> str:
    known = [given, *(os.environ.get(name, "") for name in SESSION_VARIABLES)]
    if session := next(filter(None, known), ""):
        return session
    raise InvalidInput("INVALID_INPUT", "No session is known here. Name it: --session-id ID")


def _text(result: SessionTopic) -> str:
    return result.topic or "This session keeps to no topic."


@operation(Effect.REPEATABLE, text=_text, is_tool=False, opens=Opening.NOTHING)
def focus_set(
    services: Services,
    topic: Annotated[
        str,
        Field(description="The topic, up to 256 characters."),
        Option(metavar="TOPIC...", is_argument=True),
    ],
    session_id: SessionId = "",
) -> SessionTopic:
    """Set the topic of a session: notes about it are ranked first."""
    session = _session(session_id)
    return SessionTopic(session_id=session, topic=_topics().set(session, topic))


@operation(Effect.READS, text=_text, is_tool=False, in_own_process=True, opens=Opening.NOTHING)
def focus_show(services: Services, session_id: SessionId = "") -> SessionTopic:
    """Show the topic of a session."""
    session = _session(session_id)
    return SessionTopic(session_id=session, topic=_topics().get(session) or None)


@operation(Effect.REPEATABLE, text=_text, is_tool=False, opens=Opening.NOTHING)
def focus_clear(services: Services, session_id: SessionId = "") -> SessionTopic:
    """Remove the topic of a session."""
    session = _session(session_id)
    _topics().clear(session)
    return SessionTopic(session_id=session, topic=None)


class UserProfile(Result):
    """The profile as Markdown; ``text`` is null if there is none."""

    text: str | None = None


def _profile_text(result: UserProfile) -> str:
    empty = "There is no profile yet: the vault has no decision, no preference and no session."
    return (result.text or "").rstrip() or empty


@operation(Effect.READS, text=_profile_text, route="/profile")
def profile(services: Services) -> UserProfile:
    """
    Return the profile of the user.

    It lists the titles and first sentences of current decisions and preferences, and what the last sessions came to.
    """
    return UserProfile(text=services.profile.text() or None)
