"""The topic that a session keeps to, and how far it moves answers."""

from __future__ import annotations

from clawmem.domain.security.patterns import Pattern

MOST_TOPIC = 256  # characters
LEAST_TOKEN = 2
READ = 800  # characters of a body

MATCH = 1.4
OTHER = 0.75
LEAST_FACTOR = 0.5

_UNSAFE = Pattern(r"[^A-Za-z0-9_-]")


def read_topic(text: str) -> str:
    """The topic in *text*, stripped; empty where there is none or where it is too long to be one."""
    topic = text.strip()
    return topic if len(topic) <= MOST_TOPIC and "\0" not in topic else ""


def topic_tokens(topic: str) -> tuple[str, ...]:
    """What a document must hold to be about *topic*: its words of two or more characters, lower case."""
    return tuple(token for token in topic.lower().split() if len(token) >= LEAST_TOKEN)


def is_on_topic(tokens: tuple[str, ...], title: str, path: str, body: str) -> bool:
    """Whether all of *tokens* stand in a title, a path or the beginning of a body; without any nothing is."""
    text = f"{title} {path} {body[:READ]}".lower()
    return bool(tokens) and all(token in text for token in tokens)


def focus_factor(on_topic: bool, strength: float = OTHER) -> float:
    """By what a score is multiplied: 1.4 on the topic, else *strength*, never less than 0.5."""
    return MATCH if on_topic else max(LEAST_FACTOR, strength)


def file_name(session_id: str) -> str:
    """The name of the file of a session's topic: nothing in it leads anywhere else."""
    return f"{_UNSAFE.compiled.sub('_', session_id)[:128]}.focus"
