"""Analysis of a question: what its words ask for."""

from __future__ import annotations

from datetime import UTC, tzinfo
from functools import cached_property
from typing import TYPE_CHECKING

from clawmem.domain.retrieval.by_date import is_leaving_off, newest_question, topic_besides
from clawmem.domain.retrieval.grains import named_speakers
from clawmem.domain.retrieval.intent import (
    Classification,
    TimeIntent,
    classify_intent,
    has_recency_intent,
    time_intent,
)
from clawmem.domain.retrieval.query_forms import QueryForms, query_forms
from clawmem.domain.retrieval.requested import requested
from clawmem.domain.retrieval.versions import begins_then, wanted_version
from clawmem.domain.text.dates import TimeRange, temporal_range
from clawmem.domain.text.words import words

if TYPE_CHECKING:
    from clawmem.domain.retrieval.by_date import NewestQuestion
    from clawmem.domain.retrieval.requested import QuestionDemands
    from clawmem.domain.retrieval.versions import WantedVersion


class QueryAnalysis:
    """
    The text of a question, asked at a moment in a time zone, and what it asks for.

    Each aspect is derived from the text at its first use and kept: stages that share an analysis read the text once.
    """

    def __init__(self, text: str, now_ms: int, zone: tzinfo = UTC) -> None:
        self.text = text
        self.now_ms = now_ms
        self.zone = zone

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QueryAnalysis) and self._asked == other._asked

    def __hash__(self) -> int:
        return hash(self._asked)

    @property
    def _asked(self) -> tuple[str, int, tzinfo]:
        return self.text, self.now_ms, self.zone

    def with_text(self, text: str) -> QueryAnalysis:
        """Return the analysis of another *text*, asked at the same moment."""
        return QueryAnalysis(text, self.now_ms, self.zone)

    def at(self, now_ms: int) -> QueryAnalysis:
        """Return the analysis of the same text, asked at another moment."""
        return QueryAnalysis(self.text, now_ms, self.zone)

    @cached_property
    def forms(self) -> QueryForms:
        """Words and full-text queries of the text."""
        return query_forms(self.text)

    @cached_property
    def named_time(self) -> TimeRange | None:
        """Time that the text names."""
        return temporal_range(self.text, now_ms=self.now_ms, zone=self.zone)

    @cached_property
    def intent(self) -> Classification:
        """Intent by the words of the text and by the time that it names."""
        return classify_intent(self.text, names_time=self.named_time is not None)

    @cached_property
    def time_intent(self) -> TimeIntent:
        """Time that the text asks for: what is recent, what holds now, or a former state."""
        return time_intent(self.text)

    @cached_property
    def is_recency_asked(self) -> bool:
        """Whether the text asks for recent events."""
        return has_recency_intent(self.text)

    @cached_property
    def speakers(self) -> frozenset[str]:
        """Names that may be speakers in the text."""
        return named_speakers(words(self.text))

    # The modules of the next five are imported only for questions that reach the stages which need them.

    @cached_property
    def demands(self) -> QuestionDemands:
        """Contents that a text must have to answer."""
        time = self.text[self.named_time.start : self.named_time.end] if self.named_time else ""
        return requested(self.text, self.forms.words, time)

    @cached_property
    def newest(self) -> NewestQuestion | None:
        """The newest note that the text asks for, by kind or topic."""
        return newest_question(self.text)

    @cached_property
    def topic(self) -> tuple[str, ...]:
        """Words that name a topic, without those of the named time."""
        return topic_besides(self.text, self.named_time)

    @cached_property
    def is_handoff_asked(self) -> bool:
        """Whether the text asks where work stopped or how to continue, and names neither a topic nor a time."""
        return self.named_time is None and is_leaving_off(self.topic)

    @cached_property
    def version(self) -> WantedVersion:
        """Version of a subject that the text asks for."""
        named = self.named_time
        is_over = named is not None and not begins_then(self.text[: named.start])
        return wanted_version(self.text, named.authored_until if named and is_over else None)
