"""Questions about a time: the words besides the time, and how much the time alone says."""

from __future__ import annotations

from collections.abc import Sequence

from clawmem.domain.retrieval.newest import content_words
from clawmem.domain.retrieval.temporal import TimeRange

# Not fitted: the chance that the time was read rightly and that the date of a note in it is right.
IN_ITS_TIME = 0.8
OUT_OF_ITS_TIME = 0.05  # at most, for a note that was written at another time
BY_TIME_OF_FILE = 0.3  # at most, for a note without a date of its own, which only its file has

# Words that ask for anything at all. None of them names a topic.
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


def topic_besides(query: str, named: TimeRange | None) -> tuple[str, ...]:
    """Return the words of *query* that name a topic, without those that were read as time."""
    rest = f"{query[: named.start]} {query[named.end :]}" if named else query
    return tuple(word for word in content_words(rest) if word not in _ANYTHING)


def time_share(time_rarity: float, topic_rarities: Sequence[float]) -> float:
    """
    Return the confidence that the time of a note alone gives, in [0, `IN_ITS_TIME`].

    The time counts like a word of the question: the fewer notes were written in it, and the fewer other words the
    question has, the more it says.
    """
    total = time_rarity + sum(topic_rarities)
    return IN_ITS_TIME * time_rarity / total if total > 0 else 0.0
