"""Stage that limits notes which are about the topic of a prompt but lack what it asks for."""

from __future__ import annotations

from clawmem.app.services.retrieval.confidence import WORDS_LOOKED_UP, shortfalls, words_of
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.work import Stage, Trace, Work
from clawmem.app.services.surfacing.filters import is_wish
from clawmem.ports.documents import DocumentStore
from clawmem.ports.indexes import LexicalIndex

# Shares of the weight of the question's words: the most that a complete note lacks, and the most that a note lacks which
# shares more than a part of the topic.
WHOLE, PART = 0.1, 0.5
FEW = 4  # words of a question of which each matters
# Notes that are shown although they lack what is asked for. Of 264 answers of the owners' questions one would lose 3, two lose
# 1 and three none; two leave 22 of the 61 blocks without an answer at most two notes, before 4.
MOST_ABOUT_TOPIC = 2


def stated(documents: DocumentStore, lexical: LexicalIndex) -> Stage:
    """
    Return a stage that drops notes without the value, name or number that the prompt asks for.

    A note is kept if one of its lines has it nearby, and so is a stated preference. If the first note lacks it, the first
    `MOST_ABOUT_TOPIC` notes are kept as well. If the prompt asks for nothing that can be tested and has few words, notes
    with less than half of them are dropped if another note has all ("the landlord of the studio"), except the first
    `MOST_ABOUT_TOPIC`. Long prompts are left unchanged.
    """

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        words = len(request.question.forms.words)
        asked = request.question.demands
        if not work.candidates or words > WORDS_LOOKED_UP or request.show_all:
            return work
        lacks = shortfalls(request, work, work.candidates, words_of(lexical, request).rarities)
        found = {c.best: lacks[c.best] for c in work.candidates if c.best in lacks}
        if asked.is_specific:
            stating = {key.document_id for key, lack in found.items() if not asked.is_missed_by(lack)}
        elif words <= FEW and any(lack.words <= WHOLE for lack in found.values()):
            stating = {key.document_id for key, lack in found.items() if lack.words <= PART}
        else:
            return work
        notes = list(dict.fromkeys(c.document_id for c in work.candidates))
        is_stated_first = asked.is_specific and notes[0] in stating
        first = notes[: 1 if is_stated_first else MOST_ABOUT_TOPIC]
        kept = stating.union(first, (c.document_id for c in work.candidates if is_wish(documents, c)))
        trace.drop([c for c in work.candidates if c.document_id not in kept], "about the topic alone")
        left = work.with_candidates([c for c in work.candidates if c.document_id in kept])
        return left._replace(is_only_topic=not stating)

    return stage
