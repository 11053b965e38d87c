"""Topic of a session, and the factors by which it changes scores."""

from __future__ import annotations

from clawmem.ports.sessions import session_key

MOST_TOPIC = 256  # characters
LEAST_TOKEN = 2
READ = 800  # characters of a body

MATCH = 1.4
OTHER = 0.75
LEAST_FACTOR = 0.5


def read_topic(text: str) -> str:
    """Return the topic in *text*, stripped; empty if it is too long or holds a NUL character."""
    topic = text.strip()
    return topic if len(topic) <= MOST_TOPIC and "\0" not in topic else ""


def topic_tokens(topic: str) -> tuple[str, ...]:
    """Return the lower-case words of *topic* with two or more characters; a document on the topic holds all of them."""
    return tuple(token for token in topic.lower().split() if len(token) >= LEAST_TOKEN)


def is_on_topic(tokens: tuple[str, ...], title: str, path: str, body: str) -> bool:
    """Whether *title*, *path* and the beginning of *body* hold all *tokens*; false without tokens."""
    text = f"{title} {path} {body[:READ]}".lower()
    return bool(tokens) and all(token in text for token in tokens)


def focus_factor(on_topic: bool, strength: float = OTHER) -> float:
    """Return the factor for a score: 1.4 on the topic, else *strength*, but at least 0.5."""
    return MATCH if on_topic else max(LEAST_FACTOR, strength)


def file_name(session_id: str) -> str:
    """Return the name of a session's topic file."""
    return f"{session_key(session_id)}.focus"
