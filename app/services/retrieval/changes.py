"""Notes whose text says that an older note is no longer right."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from clawmem.app.services.retrieval.dates import COMPARABLE
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.supersede import ABOVE, SUCCESSION
from clawmem.app.services.retrieval.work import Candidate, LoadedTexts, RetrievalStores, Trace, Work
from clawmem.domain.capture.cues import answering_sentences
from clawmem.domain.capture.remembering import corrected_topic, corrects
from clawmem.domain.documents.times import parse_iso
from clawmem.domain.retrieval import versions
from clawmem.domain.retrieval.calibrated import standing
from clawmem.domain.retrieval.query_forms import content_words
from clawmem.domain.retrieval.question import Question
from clawmem.domain.retrieval.relevance import SHORT_NOTE
from clawmem.domain.retrieval.versions import CORRECTION
from clawmem.domain.security.origin import is_verified
from clawmem.domain.text.likeness import has_words
from clawmem.domain.text.words import search_text, words
from clawmem.ports.errors import ClawmemError
from clawmem.ports.records import Document, FragmentKey, FragmentKind, Grain, LexicalQuery, Term

WORDS, LINES = 32, 20  # that are searched and found
COMPARED, AROUND = 10, 100  # candidates that may change each other, characters around an answer
DAY = len("2026-03-31")


def mark_changes(stores: RetrievalStores, request: RetrievalRequest, work: Work, trace: Trace) -> Work:
    """
    Put a note whose text says what changed directly above the older note that it changes, and mark the older one.

    A note changes one other: the first, or what it corrects most. A correction of the first candidate is also searched, by
    the words of its passage. Not if the question asks for the past. Turns of chats do not count: people say "now" without
    a decision; nor does a note whose only date may be that of a copied file.
    The first of a list of documents, if its time is known, also gets its rival, unless that supersedes it, which its mark
    says.
    """
    question = request.question
    if question.version in (versions.Wanted.FORMER, versions.Wanted.EARLIEST) or question.named_time:
        return work
    best = {c.document_id: c for c in reversed(work.candidates) if c.document}
    least = versions.COMPARABLE * max((c.relevance for c in work.candidates), default=0.0)
    every = list(dict.fromkeys(c.document_id for c in work.candidates if c.document))[:COMPARED]
    first = _without_turns(work.texts, {n: best[n].best for n in every if best[n].relevance >= least})
    read: dict[str, str] = {}
    for note in work.texts.documents(best).values():
        read[note.collection] = min(note.indexed_at, read.get(note.collection, note.indexed_at))
    notes = _Notes(work.texts, question, content_words(question.text), read, versions.years_in(question.text))
    changed: dict[int, int] = {}  # the newer note by the older one
    stating = [n for n in first if notes.document(n).content_type != "handoff"]  # which repeats others
    passages = {number: notes.passages(key) for number, key in first.items()}
    brief = [n for n in first if len(notes.body(n)) <= SHORT_NOTE and corrected_topic(notes.body(n))]
    about = {o: {n: notes.corrects(n, passages[o][1]) for n in brief} for o in first}
    for older in sorted(first, key=lambda o: -max(about[o].values(), default=0)):
        later = [n for n in stating if n not in changed.values() and notes.is_later(n, older)]
        statement = versions.Statement(passages[older][0], notes.topic)
        if fitting := [n for n in later if about[older].get(n) or notes.changes(n, older, statement)]:
            changed[older] = max(fitting, key=lambda n: notes.document(n).authored_at)
    top = next(iter(first), None)
    if top is not None and top not in changed and (line := _correction(stores, request, notes, first[top])):
        note = notes.document(line.document_id)
        best.setdefault(note.id, Candidate(note.id, line, best[top].relevance, 0.0, document=note))
        changed[top] = note.id
    order = list(work.candidates)
    for older, newer in changed.items():
        note = notes.document(newer)
        trace.note(f"{notes.document(older).display_path} may be changed by {note.display_path}")
        order = [c._replace(changed_by=note) if c.document_id == older else c for c in order]
        ids = [c.document_id for c in order]
        place, at = ids.index(older), ids.index(newer) if newer in ids else len(ids)
        if place < at:
            moved = order.pop(at) if newer in ids else best[newer]
            order.insert(place, moved.plus("change", max(0.0, order[place].score + ABOVE - moved.score)))
    lead = order[0].document_id if order else 0
    if request.unit is Unit.DOCUMENT and lead in first and not notes.may_be_copied(notes.document(lead)):
        near = [c for c in order if c.score >= COMPARABLE * order[0].score]
        near = [c for c in near if c.document_id in first and SUCCESSION not in c.terms]
        following = (c for c in near if notes.is_later(c.document_id, lead))
        others = (c.document_id for c in following if not notes.repeats(c.document_id, passages[lead][1]))
        rivals = sorted(map(notes.document, others), key=lambda note: note.authored_at)
        order[0] = order[0]._replace(rival=rivals[-1] if rivals else None)
    return work.with_candidates(order)


def _without_turns(texts: LoadedTexts, keys: dict[int, FragmentKey]) -> dict[int, FragmentKey]:
    spans = texts.spans(keys.values())
    labels = {key: span.label for key, span in spans.items() if span.kind is FragmentKind.LINE}
    turns = {key for key, speaker in labels.items() if speaker and not CORRECTION.match(speaker)}
    return {number: key for number, key in keys.items() if key not in turns}


@dataclass(frozen=True)
class _Notes:
    """Notes that may answer *question*, of *years*, with its content words as *topic*; collections were first *read* then."""

    texts: LoadedTexts
    question: Question
    topic: Sequence[str]
    read: Mapping[str, str]
    years: frozenset[str]

    def document(self, number: int) -> Document:
        return self.texts.documents([number])[number]

    def body(self, number: int) -> str:
        return self.texts.bodies([number]).get(number, "")

    def passages(self, key: FragmentKey) -> tuple[str, str]:
        """Return the text around the fragment that answers, and its sentences that do; each below the title of its note."""
        span, body = self.texts.spans([key]).get(key), self.body(key.document_id)
        start, end = (span.start, span.end) if span else (0, 0)
        title = self.document(key.document_id).title
        answer = answering_sentences(body[start:end], self.question.forms.words)
        return f"{title}\n{body[max(0, start - AROUND) : end + AROUND]}", f"{title}\n{answer}"

    @cached_property
    def matches(self) -> Callable[[int], int]:
        """The number of words of the question in a note."""
        terms, phrases = self.question.forms.words, self.question.phrases
        return cache(lambda n: sum(has_words(terms, f"{self.document(n).title} {self.body(n)}", phrases)))

    def is_later(self, number: int, older: int) -> bool:
        """
        Whether a note has a time of its own, and one after that of the *older* note; a correction may be of its day.

        A text of others, a draft, an overview or the note of a day to come changes no note of the owner; nothing changes
        the note of the year that the question names.
        """
        new, old, terms = self.document(number), self.document(older), self.question.forms.words
        if (parse_iso(new.authored_at) or 0) > self.question.now_ms:
            return False
        if self.years & versions.years_in(old.path) - versions.years_in(new.path):
            return False
        until = None if CORRECTION.match(self.body(number)) else DAY
        is_later = self.may_be_copied(old) or new.authored_at[:until] > old.authored_at[:until]
        is_later = is_later and not self.may_be_copied(new) and standing(new, terms) >= standing(old, terms)
        return is_later and is_verified(new.origin) >= is_verified(old.origin)

    def may_be_copied(self, note: Document) -> bool:
        """Whether only its file tells the time of a note, and that may be the time of a copy."""
        return note.may_be_copied(self.read.get(note.collection, note.indexed_at))

    def corrects(self, number: int, passage: str) -> float:
        """Return how much a short note corrects a *passage*, by how it begins or by a number that does not hold."""
        text = self.body(number)[: SHORT_NOTE + 1]
        replaced = versions.replaced_numbers(text)
        is_about = not replaced.isdisjoint(words(passage)) if replaced else CORRECTION.match(text)
        return corrects(text, passage) if is_about and len(text) <= SHORT_NOTE else 0

    def repeats(self, number: int, answer: str) -> bool:
        """Whether a note states every number of an *answer* that has one."""
        numbers = {word for word in words(answer) if any(map(str.isdigit, word))}
        return bool(numbers) and numbers.issubset(words(self.body(number)))

    def changes(self, number: int, older: int, statement: versions.Statement) -> bool:
        """Whether a newer note changes what an *older* one says, and lacks at most one word of the question more."""
        body = self.body(number)
        if statement.has_other_value(body):
            return True
        return statement.is_changed_by(body) and self.matches(older) < self.matches(number) + 2


def _correction(
    stores: RetrievalStores, request: RetrievalRequest, notes: _Notes, older: FragmentKey
) -> FragmentKey | None:
    """Return the line of a newer note that corrects what answers in the fragment *older*, in whatever words one asks."""
    old, (_, answer) = notes.document(older.document_id), notes.passages(older)
    dates = (request.scope.authored_from, None if notes.may_be_copied(old) else old.authored_at)
    scope = request.scope._replace(authored_from=max(filter(None, dates), default=None), recorded_from=None)
    wanted = [*dict.fromkeys((*notes.topic, *content_words(answer)))][:WORDS]
    try:
        query = LexicalQuery(tuple(Term(search_text(word)) for word in wanted))
        hits = stores.lexical.search(query, Grain.LINE, LINES, scope)
    except ClawmemError:  # an unavailable index; its retriever has reported it
        return None
    lines = _without_turns(notes.texts, {hit.key.document_id: hit.key for hit in reversed(hits)})
    later = {key: n for n, key in lines.items() if n != old.id and notes.is_later(n, older.document_id)}
    weights = {key: notes.corrects(n, answer) for key, n in later.items()}
    best = max(weights, key=weights.__getitem__, default=None)
    return best if best and weights[best] else None
