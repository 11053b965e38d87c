"""Questions for the newest note, about a time, or about the last handoff.

"The latest handoff" and "newest offer from the roofer" ask for the newest note of a kind or about a topic. "Last"
counts if it qualifies a note ("the last invoice"), not a period ("last week"). Supported are English, German, French,
Spanish, Chinese and Japanese.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from clawmem.domain.documents.times import parse_iso
from clawmem.domain.security.patterns import AnyCase, Pattern
from clawmem.domain.text.dates import TimeRange
from clawmem.domain.text.vocabulary import STOP_WORDS
from clawmem.domain.text.words import words

MATCHING = 0.9  # share of the best coverage of the topic that a matching note needs
# Confidence of the newest note of a kind ("the latest handoff"), which matches by its type and date alone. Not fitted:
# an estimate of how often the kind in the question and the type and date of the note are recognised correctly.
OF_ITS_KIND = 0.8
LEAST_COVERAGE = 0.5  # of the topic's weight; below, no note is about the topic

# Words that after the adjective "last" do not ask for a note.
_TIMES = (
    r"(?:(?:[0-9]+|few|couple\s+of|several|two|three|four|five|six|seven|ten|twelve|zwei|drei|vier|fünf|sechs|sieben"
    r"|zehn|paar|deux|trois|quatre|cinq|sept|dix|quelques|dos|tres|cuatro|cinco|siete|diez|pocos|pocas)\s+)?"
    r"(?:seconds?|minutes?|hours?|days?|nights?|mornings?|evenings?|weeks?|weekends?|months?|quarters?|years?|decades?"
    r"|seasons?|semesters?|centur(?:y|ies)|spring|summer|autumn|fall|winter|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may"
    r"|june|july|august|september|october|november|december|time|times|thing|things|one|ones|name|names|resort|call"
    r"|line|word|part|chapter|step|bit|of|sessions?"
    r"|wochen?|monate?n?s?|jahre?n?s?|tage?n?|nacht|abend|mal|stunden?|minuten?|quartale?s?|(?:mon|diens|donners|frei"
    r"|sams|sonn)tag|mittwoch|sommer|herbst|frühling|frühjahr|semaines?|mois|années?|ans?|jours?|nuit|fois|heures?"
    r"|été|hiver|trimestre|semanas?|mes|meses|años?|días?|noches?|vez|veces|horas?|verano|invierno)"
)
_NEWEST = AnyCase(
    rf"""
    (?: \b(?:latest|newest|most[ -]recent(?!ly))\b
    | \b(?<!at[ ])(?<!how[ ]long[ ]did[ ])last(?=\s+\w)
    | \b(?:neu|jüng|aktuell)e?ste[mnrs]?\b | \bletzte[mnrs]?\b
    | (?<!semaine\ )(?<!mois\ )(?<!année\ )(?<!été\ )\bderni(?:ers?|ères?)\b | \búltim[oa]s?\b
    ) (?!\s+{_TIMES}\b)
    | (?<!\bat\ )\blast(?=\W*\Z)
    | \b(?:le|la|les)?\s*plus\s+récente?s?\b | \bmás\s+(?:recientes?|nuev[oa]s?)\b
    | 最新的? | 最近的?一[次个份篇条] | 最近的(?![几一两三]?[天周年月]) | 最后一?[次个份篇条]的? | 直近の | 一番新しい
    """,
    "latest|newest|most|last|ste|letzte|dernier",
    re.VERBOSE,
)
# "When did we last meet" asks for a time: here "last" is an adverb, followed by a verb.
_ADVERB = AnyCase(
    r"\b(?:did|do|does|have|has|had|was|were)\s+(?:[\w'’-]+\s+){1,3}(?<!\bthe\s)(?<!\bmy\s)(?<!\bour\s)(?<!['’]s\s)"
    r"(?<!\byour\s)(?<!\btheir\s)(?<!\bhis\s)(?<!\bher\s)$"
)
_HOW_LONG = AnyCase(r"\bhow\s+long\b", "how")
# At most two words are allowed between "latest" and the kind, and none of these, which begin the topic.
_BREAK = AnyCase(
    r"[?.!,;:]|\b(?:about|and|at|by|did|do|does|for|from|has|have|in|is|of|on|that|the|to|was|were|where|which|who"
    r"|with|an|auf|aus|bei|für|im|mit|über|vom|von|zu|zum|zur|à|avec|dans|de|des|du|en|pour|sur|con|del|para|por|sobre)\b"
)
_NEAR = Pattern(r"\A\s*(?:(?:[\w'’-]+\s+){0,2}|[⺀-鿿]{0,4})")
_DIRECTLY = Pattern(r"(?:\s|\b(?:le|la|les|el|los|las|plus|más)\b)*")
_ASKING = Pattern("(?:是|在|有)?(?:什么|哪[里些个篇份]?|谁)|は?(?:何|どこ|誰)(?:ですか)?")

# The words by which a question names a content type, or any note.
ANY_KIND = "any"
_KIND_WORDS = MappingProxyType(
    {
        "handoff": "hand-?offs? hand-?overs? übergaben? übergabenotiz(?:en)? passations? traspasos? 交接(?:记录|文档)? 引き継ぎ 引継ぎ",
        "decision": "decisions? adrs? entscheidung(?:en)? décisions? decisi(?:ón|ones) 决定 决策 決定",
        "progress": "progress stand-?ups? changelogs? fortschritte? avances? avancées? 进展 进度 進捗",
        "research": "research investigations? recherchen? untersuchung(?:en)? investigaci(?:ón|ones) 研究 调研 調査",
        "conversation": "conversations? transcripts? chats? gespräche? conversaci(?:ón|ones) 对话 会話",
        "milestone": "milestones? meilensteine? jalons? hitos? 里程碑",
        "problem": "problems? incidents? outages? probleme? störung(?:en)? problèmes? pannes? problemas? 问题 問題",
        "preference": "preferences? vorlieben? préférences? preferencias? 偏好",
        ANY_KIND: "notes? entr(?:y|ies) documents? files? pages? notiz(?:en)? einträge? eintrag dokumente? fichiers? "
        "documentos? notas? entradas? 笔记 文档 记录 ノート",
    }
)
_KINDS: Mapping[str, AnyCase] = MappingProxyType(
    {
        kind: AnyCase(
            "|".join(rf"\b(?:{word})\b" if word[0] < "⺀" else rf"(?:{word})" for word in some.split())
        )
        for kind, some in _KIND_WORDS.items()
    }
)
# Words that are not part of a topic, in addition to the stop words.
_FRAME = frozenset(
    """
    show find give get tell look open read see list need want know please got say says said write wrote written made
    happened come came end turn turned news update updates info information word s
    was ist sind war die der das den dem des ein eine einer mein meine meiner unser unsere von vom zu zur zum über mit
    für und aus bei wie wer wo welche welcher welches zeig zeige steht lautet gibt es
    le la les un une des du de d l qu que quel quelle quels quelles est sont où mon ma mes notre nos sur avec pour dans
    et au aux c ce cette montre
    el los las unos unas del al qué cuál cuáles es son mi mis nuestro nuestra sobre con para en y lo muestra
    是 的 什么 哪 里 在 了 我 们 关于 関する は 何 の に
    """.split()
)


class NewestQuestion(NamedTuple):
    """
    The parts of a question for the newest note.

    ``kind`` is a content type, `ANY_KIND` for any note, or empty if no kind is named. ``noun`` is the noun after the
    superlative, which may name a folder or a tag ("meeting", "invoice"). ``topic`` contains the words of the topic,
    ``kind_words`` the words that name the kind.
    """

    kind: str
    noun: str
    topic: tuple[str, ...]
    kind_words: tuple[str, ...] = ()


def newest_question(query: str) -> NewestQuestion | None:
    """Return the parts of *query* if it asks for the newest note, else ``None``."""
    if _NEWEST.search(query) is None:  # without compiling it, for most questions
        return None
    found = next((one for one in _NEWEST.compiled.finditer(query) if not _is_adverb(query, one)), None)
    if found is None:
        return None
    kind = _kind_near(query, found)
    taken = sorted([found.span(), *([kind[1].span()] if kind else [])], reverse=True)
    topic = query
    for start, end in taken:
        topic = f"{topic[:start]} {topic[end:]}"
    noun = _noun_after(query[found.end() :])
    about = content_words(topic)
    asked = NewestQuestion(
        kind[0] if kind else "",
        noun,
        tuple(word for word in about if not is_any_kind(word)) or about,
        content_words(kind[1][0]) if kind else (),
    )
    return asked if asked.kind or asked.topic else None


def is_any_kind(word: str) -> bool:
    """Whether *word* means any note: "notes", "entries"."""
    return _KINDS[ANY_KIND].compiled.fullmatch(word) is not None


def kinds_in(text: str) -> frozenset[str]:
    """Return the content types that *text* names, `ANY_KIND` for words such as "notes"."""
    named = {kind for kind, pattern in _KINDS.items() if pattern.search(text)}
    return frozenset(named | {kind for kind, verb in _KIND_VERBS.items() if verb.search(text)})


def matching(coverage: Mapping[int, float]) -> set[int]:
    """Return the notes whose coverage of the topic is near the best; none if the best is below `LEAST_COVERAGE`."""
    best = max(coverage.values(), default=0.0)
    least = max(LEAST_COVERAGE, MATCHING * best) - 1e-9
    return {document for document, share in coverage.items() if share >= least}


def newest_first(
    dated: Mapping[int, str], superseded: Collection[int] = (), undated: Collection[int] = ()
) -> list[int]:
    """
    Return documents by their dates, newest first.

    Args:
        dated: The time at which each was written, as texts that sort chronologically.
        superseded: Documents that are not current: another note has superseded them, or they are drafts, copies or
            overviews. They come last.
        undated: Documents dated only by their file, whose time may be that of a copy; they come after those with
            a date of their own.
    """
    by_date = sorted(dated, key=lambda one: (dated[one], one), reverse=True)
    return sorted(by_date, key=lambda one: (one in superseded, one in undated))


def names_the_same(noun: str, name: str) -> bool:
    """Whether *noun* and *name*, of a folder or tag, are the same word, in singular or plural."""
    return _singular(noun) == _singular(name)


def _singular(word: str) -> str:
    lower = word.casefold()
    if lower.endswith("ies") and len(lower) > len("ties"):
        return f"{lower[:-3]}y"
    return lower[:-1] if lower.endswith("s") and not lower.endswith("ss") else lower


def _is_adverb(query: str, found: re.Match[str]) -> bool:
    before = query[: found.start()]
    if found[0].lower() != "last" or _ADVERB.search(before) is None:
        return False
    # "What did I read last" asks for a note, "how long did it last" does not.
    return bool(query[found.end() :].strip("?!. ")) or _HOW_LONG.search(before) is not None


def _kind_near(query: str, superlative: re.Match[str]) -> tuple[str, re.Match[str]] | None:
    """Return the kind that the superlative refers to, a specific one before `ANY_KIND` ("latest decision notes")."""
    found = (
        (kind, word)
        for kind, pattern in _KINDS.items()
        for word in pattern.compiled.finditer(query)
        if _belongs(query, superlative, word)
    )
    return min(found, key=lambda one: (one[0] == ANY_KIND, one[1].start()), default=None)


def _belongs(query: str, superlative: re.Match[str], word: re.Match[str]) -> bool:
    if word.start() >= superlative.end():
        between = query[superlative.end() : word.start()]
        return _NEAR.compiled.fullmatch(between) is not None and _BREAK.search(between) is None
    return _DIRECTLY.compiled.fullmatch(query[word.end() : superlative.start()]) is not None


def _noun_after(text: str) -> str:
    """Return the last specific noun before the topic: "meeting" for "meeting notes from May"."""
    end = _BREAK.search(text)
    head = text[: end.start()] if end else text
    nouns = [word for word in content_words(head)[:3] if not is_any_kind(word)]
    return nouns[-1] if nouns else ""


def content_words(text: str) -> tuple[str, ...]:
    """Return the words of *text* that name a topic, each once."""
    some = dict.fromkeys(words(text if text.isascii() else _ASKING.compiled.sub(" ", text)))
    return tuple(word for word in some if word not in STOP_WORDS and word not in _FRAME)


# Not fitted: estimates of how often the time of the question and the date of a note are recognised correctly.
IN_ITS_TIME = 0.8
OUT_OF_ITS_TIME = 0.05  # maximum for a note that was written at another time
BY_TIME_OF_FILE = 0.3  # maximum for a note that is only dated by its file

DAY_MS = 86_400_000
LEAST_OF_TIME, HALF = 1 / 3, 0.5  # of a topic, for a note that is known to be of the right time
# Verbs that ask for notes of a kind: a decision seldom contains the word "decide", a report of a fault "broke".
_KIND_VERBS = MappingProxyType(
    {
        "decision": AnyCase(
            r"\b(?:decide[ds]?|settled?(?=\s+(?:on|in|about)\b)|entschieden|beschlossen|décidée?s?|decid(?:í|imos|ido))\b",
            "deci|settle|entschieden|beschlossen",
        ),
        "problem": AnyCase(
            r"\b(?:broke(?:n)?|fail(?:ed|s)?|crash(?:ed|es)?|(?:went|goes|gone)\s+(?:wrong|down)|kaputt|tomb[ée]e?s?\s+en\s+panne)\b",
            "broke|fail|crash|wrong|down|kaputt|panne",
        ),
    }
)
_AMOUNT = AnyCase(
    r"\b(?:how\s+(?:much|many)|wie\s?viele?|combien|cuánt[oa]s?|quant[oa]s?)\b", "how|wie|combien|nt"
)
_OF_OTHERS = AnyCase(
    r"\b(?:did|does|do|has|have|had|is|are|was|were|will|hat|haben|ist|sind|war)\b(?!\s+(?:i|we|it|there|ich|wir|es)\b)"
)
_OWN_DEEDS = AnyCase(r"\b(?:did|have|had|were|was)\s+(?:i|we)\b(?:\s+(\w+))?", "did|have|had|were|was&i|we")

# Words of generic questions; none of them names a topic.
_ANYTHING = frozenset(
    """
    anything something everything nothing stuff thing things
    happen happens happened happening occur occurred occurs event events
    try tried trying
    go going goes gone went been doing done did worked working work
    wrote written write writing noted recorded entry entries note notes diary journal
    remember recall mention mentioned summary summarise summarize summarised recap overview review
    next upcoming step steps todo todos left open status state progress new news recent recently latest
    down up
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


def asks_for_records(query: str, named: TimeRange) -> bool:
    """
    Whether *query* asks for notes of the *named* time: "what did we decide in March", "notes about bees from May".

    The notes of the user are about the user's own time. A question about others may be answered by a later note. An
    amount of a time ("how much gas this year") is the sum over its notes.
    """
    if _AMOUNT.search(query[: named.start]) and not _OF_OTHERS.search(query):
        return True
    return _OWN_DEEDS.search(query) is not None or bool(kinds_in(query[: named.start]))


def is_own_deed(query: str, topic: Sequence[str]) -> bool:
    """Whether *topic* is the verb of "what did I …" alone, so that every note of the time may tell of it."""
    found = _OWN_DEEDS.search(query)
    return found is not None and found[1] is not None and [*topic] == [found[1].lower()]


def about_topic(coverage: Mapping[int, float]) -> set[int]:
    """Return the notes that cover at least a third of the topic, and half as much as the best one."""
    least = max(LEAST_OF_TIME, HALF * max(coverage.values(), default=0.0))
    return {document for document, share in coverage.items() if share >= least}


def period_name(named: TimeRange) -> str:
    """Return the name of a diary of the *named* day, month or year, such as ``2026-03``; empty for other times."""
    first = named.recorded_from or ""
    start, end = parse_iso(first), parse_iso(named.authored_until or "")
    if start is None or end is None:
        return ""
    days = round((end - start) / DAY_MS)
    if days == 1:
        return first[: len("2026-03-31")]
    if days in (365, 366) and first[5:10] == "01-01":
        return first[: len("2026")]
    return first[: len("2026-03")] if 28 <= days <= 31 and first[8:10] == "01" else ""


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


def is_leaving_off(topic: Iterable[str]) -> bool:
    """Whether the words of *topic* name none, but ask where work stopped or how to continue."""
    return _LEAVING_OFF.issuperset(topic)
