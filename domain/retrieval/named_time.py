"""Questions about a time or about the last handoff: their topic, and the confidence that a time alone gives."""

from __future__ import annotations

from collections.abc import Sequence

from clawmem.domain.retrieval.newest import content_words
from clawmem.domain.retrieval.temporal import TimeRange, temporal_range

# Not fitted: estimates of how often the time of the question and the date of a note are recognised correctly.
IN_ITS_TIME = 0.8
OUT_OF_ITS_TIME = 0.05  # maximum for a note that was written at another time
BY_TIME_OF_FILE = 0.3  # maximum for a note that is only dated by its file

# Words of generic questions; none of them names a topic.
_ANYTHING = frozenset(
    """
    anything something everything nothing stuff thing things
    happen happens happened happening occur occurred occurs event events
    go going goes gone went been doing done did worked working work
    wrote written write writing noted recorded entry entries note notes diary journal
    remember recall mention mentioned summary summarise summarize summarised recap overview review
    next upcoming step steps todo todos left open status state progress new news recent recently latest
    passiert geschehen gemacht pasó pasado hice hicimos passé fait
    """.split()
)
# Words of such questions that name no topic.
_LEAVING_OFF = frozenset(
    """
    leave leaving off stop stopped get got start started starting continue resume carry pick pause paused again back
    handoff handoffs hand session sessions last previous prior past time catch discussed discuss talked talk
    lately today here
    """.split()
)


def topic_besides(query: str, named: TimeRange | None) -> tuple[str, ...]:
    """Return the words of *query* that name a topic, without the words of the *named* time."""
    rest = f"{query[: named.start]} {query[named.end :]}" if named else query
    return tuple(word for word in content_words(rest) if word not in _ANYTHING)


def time_share(time_rarity: float, topic_rarities: Sequence[float]) -> float:
    """
    Return the confidence in a note that only matches the time, in [0, `IN_ITS_TIME`].

    The time counts like a word of the question: its weight grows with its rarity among the notes and falls with the
    weight of the question's other words.
    """
    total = time_rarity + sum(topic_rarities)
    return IN_ITS_TIME * time_rarity / total if total > 0 else 0.0


def asks_for_handoff(query: str, *, now_ms: int) -> bool:
    """Whether *query* asks where work stopped or how to continue, and names neither a topic nor a time."""
    if temporal_range(query, now_ms=now_ms) is not None:
        return False
    return _LEAVING_OFF.issuperset(topic_besides(query, None))
