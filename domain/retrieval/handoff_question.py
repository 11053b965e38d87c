"""Detection of questions that the newest handoff answers: "where did we leave off", "what is next"."""

from __future__ import annotations

from clawmem.domain.retrieval.named_time import topic_besides
from clawmem.domain.retrieval.temporal import temporal_range

# Words of such questions that name no topic.
_LEAVING_OFF = frozenset(
    """
    leave leaving off stop stopped get got start started starting continue resume carry pick pause paused again back
    handoff handoffs hand session sessions last previous prior past time catch discussed discuss talked talk
    lately today here
    """.split()
)


def asks_for_handoff(query: str, *, now_ms: int) -> bool:
    """Whether *query* asks where work stopped or how to continue, and names neither a topic nor a time."""
    if temporal_range(query, now_ms=now_ms) is not None:
        return False
    return _LEAVING_OFF.issuperset(topic_besides(query, None))
