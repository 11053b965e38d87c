from __future__ import annotations

from dataclasses import replace

from clawmem.domain.retrieval.intent import Intent
from clawmem.domain.retrieval.question import Question

NOW_MS = 1_774_000_000_000  # March 2026
MARCH, APRIL = "2026-03", "2026-04"


def test_another_moment_names_another_time() -> None:
    """The time that a question names depends on when it is asked; its words do not."""
    asked = Question("when was the roof repaired last month", NOW_MS)

    later = replace(asked, now_ms=NOW_MS + 32 * 86_400_000)

    assert asked.named_time and asked.named_time.authored_until.startswith(MARCH)
    assert later.named_time and later.named_time.authored_until.startswith(APRIL)
    assert (later.forms, later.topic) == (asked.forms, asked.topic)
    assert asked.intent.intent is Intent.WHEN


def test_another_text_keeps_the_moment() -> None:
    """A part of a question is asked at the moment of the question, and read anew."""
    asked = Question("where did we leave off", NOW_MS)
    assert asked.stopped_topic == frozenset()

    part = replace(asked, text="where did we leave off with the roof")

    assert part.stopped_topic == {"roof"}
    assert part != asked and part == Question("where did we leave off with the roof", NOW_MS)


def test_a_weekday_is_the_last_one_of_what_happened() -> None:
    """ "Friday" alone is the next one, of what is planned, and the last one of what was done."""
    planned, done = (
        Question(text, NOW_MS).named_time for text in ("What is on for Friday?", "What did I do Friday?")
    )
    assert planned and done and (done.authored_from or "") < "2026-03-21" < (planned.authored_from or "")
