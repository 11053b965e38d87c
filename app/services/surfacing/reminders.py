"""Notes that ask to be shown when a prompt is about a subject: the properties ``when`` and ``until``."""

from __future__ import annotations

from collections.abc import Callable, Collection

from clawmem.app.services.capture.visibility import DAY, day_of, may_show
from clawmem.app.services.documents.succession import current_successors
from clawmem.app.services.retrieval.receipts import Recalls
from clawmem.domain.briefing.blocks import block, shortened
from clawmem.domain.documents.times import DAY_MS, iso_utc, parse_iso
from clawmem.domain.retrieval.query_forms import content_words
from clawmem.domain.security.injections import has_injection
from clawmem.domain.security.quoting import safe
from clawmem.domain.security.redaction import redact
from clawmem.domain.text.likeness import has_words
from clawmem.domain.text.words import query_hash
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore, PropertyStore, SuccessionStore
from clawmem.ports.models import LateInteraction
from clawmem.ports.records import one_line
from clawmem.ports.telemetry import Recall, RecallHit

VERB = "reminder"
MOST, DAYS = 3, 90  # reminders of a prompt, and times that one is shown; days without `until`


def reminders(
    prompt: str,
    session_id: str,
    withheld: Collection[int],
    documents: DocumentStore,
    properties: PropertyStore,
    successions: SuccessionStore,
    recalls: Recalls,
    clock: Clock,
    late: Callable[[], LateInteraction],
    *,
    by_meaning: bool,
) -> str:
    """
    Return the block ``<vault-reminders>`` for *prompt*, and record it for the session; empty without a reminder.

    Notes whose subject the prompt is about are shown once a day, three times, and until their day. Without records of
    what was shown (``telemetry: off``) nothing is shown.

    Args:
        late: Returns the model that compares words by meaning.
    """
    subjects = properties.named("when") if recalls.enabled else {}
    about = set[int]()
    for number, value in ((number, value) for number, values in subjects.items() for value in values):
        topic = content_words(value.value)
        if not topic or number in about or number in withheld:
            continue
        if all(has_words(topic, prompt)):
            about.add(number)
        elif by_meaning:
            weights, [similarities], *_ = late().compare(topic, [content_words(prompt)])
            shares = (weight * alike for weight, alike in zip(weights, similarities, strict=True))
            about |= {number} if sum(shares) >= 0.6 else set()
    if not about:
        return ""
    now_ms = clock.now_ms()
    now, until = iso_utc(now_ms), properties.named("until")
    times: dict[int, list[str]] = {}
    for recall in recalls.telemetry.recalls():
        for hit in recall.hits if recall.verb == VERB else ():
            times.setdefault(hit.document_id, []).append(recall.asked_at[:DAY])
    newer = current_successors(documents, successions, about)
    notes = []
    for note in documents.many(about).values():
        usual = iso_utc((parse_iso(note.authored_at) or now_ms) + DAYS * DAY_MS)
        last = until[note.id][0].value if note.id in until else usual
        shown = times.get(note.id, [])
        is_free = len(shown) < MOST and now[:DAY] not in shown
        if is_free and now[:DAY] <= last[:DAY] and note.id not in newer and may_show(note, now):
            notes.append(note)
    notes = sorted(notes, key=lambda note: note.authored_at, reverse=True)[:MOST]
    bodies = documents.bodies([note.id for note in notes])
    lines = []
    for note in notes:
        text = shortened(" ".join(redact(bodies.get(note.id, "")).split()), 300)
        title = "" if text.startswith(note.title) else f"{note.title}: "
        if not has_injection(text):
            lines.append(f"- {safe(one_line(f'{title}{text} ({note.display_path}, {day_of(note)})'))}")
    introduction = "The person asked to be shown this when it comes up:"
    text = block("vault-reminders", introduction, ["\n".join(lines)], 200)
    if text and session_id:
        hits = tuple(RecallHit(note.id, rank, 1.0) for rank, note in enumerate(notes, 1))
        recall = Recall(now, VERB, query_hash(prompt), 0.0, MOST, hits=hits)
        recalls.telemetry.record(recall._replace(session_id=session_id))
    return text
