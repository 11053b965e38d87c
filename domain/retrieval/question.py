"""A question, and what it asks for: read once, at a moment in a time zone."""

import re
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from functools import cached_property
from itertools import takewhile
from posixpath import commonprefix
from typing import NamedTuple

from clawmem.domain.documents.times import iso_utc
from clawmem.domain.retrieval.intent import Classification, classify_intent
from clawmem.domain.retrieval.planning import Route, route
from clawmem.domain.retrieval.query_forms import QueryForms, content_words, query_forms
from clawmem.domain.retrieval.versions import Wanted, wanted_version
from clawmem.domain.surfacing.gate import AFFIRMATIONS
from clawmem.domain.text.dates import TimeRange, coming_days, temporal_range
from clawmem.domain.text.vocabulary import NEWEST, function_words
from clawmem.domain.text.words import words

ANY_KIND = "any"
_KIND_WORDS = {
    "handoff": "handoff hand-off handover hand-over übergabe übergabenotiz passation traspaso",
    "decision": "decision decide decided adr entscheidung entschieden beschlossen décision decisión decisiones",
    "progress": "progress standup stand-up changelog fortschritt fortschritte avance avancée",
    "research": "research investigation recherche untersuchung investigación",
    "conversation": "conversation transcript chat gespräch gespräche conversación",
    "milestone": "milestone meilenstein meilensteine jalon hito",
    "problem": "problem broke broken failed crashed incident outage probleme störung problème panne problema",
    "preference": "preference vorliebe préférence preferencia",
    ANY_KIND: "note entry entries document file page notiz eintrag einträge dokument dokumente fichier documento nota entrada",
}
# Words by which a question names a content type, or any note, in the singular and the plural.
KINDS = {
    f"{word}{plural}": kind
    for kind, text in _KIND_WORDS.items()
    for word in text.split()
    for plural in ("", "s", "n", "en")
}
_RECENT = frozenset("recent récent récente reciente recientes recente".split())
_MOST = frozenset("most plus más mais più".split())
NEAR = 3  # words after "latest" among which the kind is named

# Words of generic questions about a time or about where work stopped; none of them names a topic.
_ANYTHING = frozenset(
    """
    anything something everything nothing stuff thing things happen happens happened happening occur occurred occurs
    event events passiert geschehen pasó passé try tried trying go going goes gone went been doing done did worked
    working work wrote written write writing noted recorded entry entries note notes diary journal remember recall
    mention mentioned summary summarise summarize summarised recap overview review next upcoming step steps todo todos
    left open status state progress new news recent recently latest down up gemacht pasado hice hicimos fait plan plans
    planned scheduled geplant steht ansteht prévu previsto faire hacer fare fazer dois devo debo tengo tenho tarea tareas
    tâche tâches tarefa tarefas cosa cose pendiente pendientes
    """.split()
)
_OVER = frozenset("did happened tried went worked wrote passiert geschehen gemacht pasó hice hicimos".split())
_LEAVING_OFF = AFFIRMATIONS.union(
    """
    leave leaving off stop stopped get got started starting resume carry pick pause paused back
    handoff handoffs hand session sessions last previous prior past time catch discussed discuss talked talk lately
    today here end ended give let load open read say says show tell yesterday weitermachen mach haben mal
    stand lass fass zusammen remind bring speed gib woran zuletzt gerade gearbeitet überblick zusammenfassung
    """.split()
)
# Also a request to continue alone, or up to a named time.
_STOPPED = re.compile(
    r"\bwhere (?:\w+ )?(?:we|i) (?:\w+ )?(?:stop(?:ped)?|(?:leave|left) off)\b|\bwo\b.{0,40}\b(?:stehen ?geblieben|aufgehört)\b"
    r"|\b(?:last|latest|previous|letzte\w*|vorige\w*) (?:hand-?(?:off|over)|session|conversation|chat|übergabe|sitzung|gespräch)\b"
    r"|\boù en (?:étions-nous|étais-je)\b|^\W*(?:(?:okay|ok|so|please|let'?s|bitte|lass uns)\W+)*(?:continue|resume|carry on|"
    r"pick (?:it )?up|(?:mach |machen wir )?weiter(?:machen)?)(?: the)?(?: work)?(?: from| with| mit| von)?\W*\Z",
    re.IGNORECASE,
)

_TASKS = re.compile(
    r"\b(?:to-?dos?|tasks?|deadlines?|overdue|(?:have|need|got|left) to do|(?:must|should) (?:i|we) do|due|aufgaben?"
    r"|(?:über)?fällig\w*|zu (?:tun|erledigen)|(?:muss ich|müssen wir)(?:(.{0,80})\b(?:tun|machen|erledigen))?|steht(.{0,80})\ban)\b",
    re.IGNORECASE,
)
_OPEN_TASKS = re.compile(
    r"\b(?:open|offene\w*)\s+(?:to-?dos?|tasks?|aufgaben?)\b|\boverdue\b|\büberfällig|"
    r"\b(?:to-?dos?|tasks?|aufgaben) (?:are|sind) (?:still |noch )?(?:open|offen|left)\b|"
    # a whole question; "what time is the pool still open" is none
    r"^\W*what(?:'s| is| are| do i| do we| have i| have we| remains)(?: there| still)*"
    r"(?: (?:left|have|need|got))*(?:(?<!is|'s) open| to do| to be done| undone)(?: still)?(?=\W*$| (?:for|on|about) )|"
    r"^\W*was(?= (?:muss ich|müssen wir) .*\bfür .*\b(?:tun|machen|erledigen)\W*$)|"
    r"^\W*was (?:ist|steht|bleibt|gibt es|habe ich|haben wir|muss ich|müssen wir)(?: (?:denn|alles|noch))*"
    r" (?:(?<=noch )offen|an|(?:zu )?(?:tun|machen|erledigen))\W*$",
    re.IGNORECASE,
)


class TaskQuestion(NamedTuple):
    """A question for tasks, or for anything of a time to come: the first and the last day, if named, and the topic."""

    days: tuple[str, str] | None
    topic: tuple[str, ...]
    is_named: bool  # says that it asks for tasks


class NewestQuestion(NamedTuple):
    """
    The parts of a question for the newest note.

    ``kind`` is a content type, `ANY_KIND` for any note, or empty if no kind is named. ``noun`` is the noun after the
    superlative, which may name a folder or a tag ("meeting", "invoice"). ``topic`` contains the other words.
    """

    kind: str
    noun: str
    topic: tuple[str, ...]


def newest_question(query: str) -> NewestQuestion | None:
    """Return the parts of *query* if it asks for the newest note of a kind or about a topic, else ``None``."""
    tokens = list(re.finditer(r"[^\W_]+(?:-[^\W_]+)*", query.lower()))
    names = [token[0] for token in tokens]
    pairs = zip(["", *names], names, strict=False)
    wanted = [name in NEWEST or (name in _RECENT and before in _MOST) for before, name in pairs]
    if True not in wanted:
        return None
    at = wanted.index(True)
    stop_words = function_words(names)
    phrase = list(takewhile(lambda name: name not in stop_words, names[at + 1 :]))[:NEAR]
    before = [name for name in content_words(" ".join(names[:at])) if name not in _MOST][-1:]
    # "la décision la plus récente" names the kind before
    kinds = [name for name in phrase or before if name in KINDS]
    kind_word = min(kinds, key=lambda name: KINDS[name] == ANY_KIND, default="")
    nouns = [name for name in phrase if KINDS.get(name) != ANY_KIND]
    read = {names[at], kind_word, *(_MOST if names[at] in _RECENT else ())}
    rest = (token.span() for token, name in zip(tokens, names, strict=True) if name not in read)
    about = content_words(" ".join(query[start:end] for start, end in rest))
    kind = KINDS.get(kind_word, "")
    topic = tuple(word for word in about if KINDS.get(word) != ANY_KIND) or (() if kind else about)
    return NewestQuestion(kind, nouns[-1] if nouns else "", topic) if kind or topic else None


@dataclass(frozen=True)
class Question:
    """The text of a question, asked at a moment in a time zone; what it asks for is derived once, at the first use."""

    text: str
    now_ms: int
    zone: tzinfo = UTC

    @cached_property
    def forms(self) -> QueryForms:
        """Words, phrases and excluded words of the text, and its full-text queries."""
        return query_forms(self.text)

    @cached_property
    def named_time(self) -> TimeRange | None:
        """Time that the text names; without a topic also one to come ("Anything planned tomorrow?")."""
        named = temporal_range(self.text, now_ms=self.now_ms, zone=self.zone)
        first, last, rest = ("", "", "") if named else self._coming or ("", "", "")
        if not first or not _ANYTHING.issuperset(content_words(rest)):
            return named
        start = len(commonprefix((self.text, rest)))
        end = len(self.text) - len(rest) + start + 1
        is_over = not _OVER.isdisjoint(words(rest))  # "what did I do Monday"
        time = f"on {self.text[start:end]}" if is_over else f"from {first} to {last}"
        days = temporal_range(time, now_ms=self.now_ms, zone=self.zone)
        return days and days._replace(start=start, end=end)

    @cached_property
    def _coming(self) -> tuple[str, str, str] | None:
        return coming_days(self.text, now_ms=self.now_ms, zone=self.zone)

    @cached_property
    def intent(self) -> Classification:
        """Intent by the words of the text and by the time that it names."""
        return classify_intent(self.text, names_time=self.named_time is not None)

    @cached_property
    def speakers(self) -> frozenset[str]:
        """Names that may be speakers in the text, by the first word: any word may be a name, and "I" is the user."""
        every = frozenset(words(self.text))
        return every if every.isdisjoint(("i", "my", "me", "mine", "we", "our", "us")) else every | {"user"}

    @cached_property
    def phrases(self) -> tuple[tuple[str, ...], ...]:
        """Words that must be adjacent in an answer: quotations, identifiers such as JX-14, and a named day."""
        named = self.named_time
        days = [tuple(words(self.text[named.start : named.end]))] if named and named.is_day else []
        return (*self.forms.phrases, *days)

    @cached_property
    def newest(self) -> NewestQuestion | None:
        """The newest note that the text asks for, by kind or topic; a named time such as "last week" is none."""
        return newest_question(self._without_named_time)

    @property
    def _without_named_time(self) -> str:
        named = self.named_time
        return f"{self.text[: named.start]} {self.text[named.end :]}" if named else self.text

    @cached_property
    def topic(self) -> tuple[str, ...]:
        """Words that name a topic, without those of the named time and of generic questions."""
        return tuple(word for word in content_words(self._without_named_time) if word not in _ANYTHING)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """Content types that the text names, `ANY_KIND` for words such as "notes"."""
        return frozenset(KINDS[word] for word in words(self.text) if word in KINDS)

    @cached_property
    def tasks(self) -> TaskQuestion | None:
        """The tasks that the text asks for, of a time or all open ones; ``None`` for any other text."""
        *days, rest = self._coming or (self.text,)
        rest = " ".join(rest.split())
        is_named = _OPEN_TASKS.search(rest) or (days and _TASKS.search(self.text))
        is_coming = self.named_time and (self.named_time.authored_from or "") > iso_utc(self.now_ms)
        if not is_named and not (days and is_coming):
            return None
        about = content_words(_TASKS.sub(r" \1 \2 ", _OPEN_TASKS.sub(" ", rest)))
        topic = tuple(word for word in about if word not in _ANYTHING)
        return TaskQuestion((days[0], days[1]) if days else None, topic, is_named=bool(is_named))

    @cached_property
    def stopped_topic(self) -> frozenset[str] | None:
        """The topic of a question where work stopped or how to continue, empty for all of it; ``None`` for other texts."""
        named = self.named_time
        if stopped := _STOPPED.search(self.text) or (named and _STOPPED.search(self.text[: named.start])):
            rest = replace(self, text=f"{self.text[: stopped.start()]} {self.text[stopped.end() :]}")
            return frozenset(rest.topic) - _LEAVING_OFF
        is_general = named is None and _LEAVING_OFF.issuperset(self.topic)
        return frozenset() if is_general and route(self.text) is Route.TIMELINE else None

    @cached_property
    def version(self) -> Wanted:
        """Version of a subject that the text asks for: at the end of the named time the one that was current then."""
        return Wanted.CURRENT if self.named_time else wanted_version(self.text)
