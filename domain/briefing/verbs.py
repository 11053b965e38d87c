"""Word lists for finite verbs: whether a sentence has one, and whether it reports a past event."""

from __future__ import annotations

from clawmem.domain.security.patterns import AnyCase, Pattern

_BASE = """
accept agree allow answer apply ask assign avoid back backfill bake beat become begin belong bill block book bring
build burn buy cache call carry cause change charge check choose clean close collect come commit compare confirm
connect consist contain control cook copy cost count cover create decide decode define delete deliver deny depend
deploy describe do drink drop dry eat edit emit enable encode encrypt end enter exist expect expire export extend
fail fall feed fetch fill find finish fit fix flush fly follow gather generate get give go grant grow hand handle
happen hate have hear heat help hide hire hold host ignore import include index inherit invoke join keep know last
lead learn leave let lie like limit link listen live load lock log look lose make manage map mark match matter mean
measure meet merge mix mount move name need notify offer open order paint parse pass pay pick pin place plan play
point poll prefer prevent print process produce protect prove provide prune publish pull push put queue rank reach
read receive record refer refresh reject release remain remember remind remove rename renew rent repair replace
report require reset resolve respond rest restart restore retry return review revoke ride ring rise rotate route
rule run sail save say scale scan schedule see select sell send separate serialize serve set share ship show shut
sign sing sit skip sleep sort speak spend split stand start state stay stop store stream submit support swap sweep
sync take talk taste teach tell test think throttle throw time touch track translate travel treat trigger trust try
turn type understand update upgrade use validate verify visit wait wake walk want warn watch wear weigh win work
wrap write
"""
_BASES = _BASE.split()


def _third_person(verb: str) -> str:
    if verb in ("have", "do", "go"):
        return {"have": "has", "do": "does", "go": "goes"}[verb]
    if verb.endswith(("s", "x", "ch", "sh", "z")):
        return f"{verb}es"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"


_VERB = AnyCase(
    r"\b(?:am|is|are|has|have|can|must|may|shall|should|will|cannot|don't|doesn't|isn't|aren't|can't|won't|\w+'(?:re|ll|ve)|(?:it|that|there|he|she)'s|owns|trains"
    r"|ist|sind|wird|werden|hat|haben|kann|muss|es|está|están|son|tiene|se|est|sont|ont|doit|wordt|worden|heeft|zijn|moet"
    rf"|{'|'.join(map(_third_person, _BASES))})\b"
)
# A base form is often also a noun. It counts as a verb after a plural or a pronoun, or at the start of an imperative.
_PLURAL_VERB = AnyCase(
    r"(?:\b\w*[a-z]s|\b(?:we|i|you|they|people|who|that|and|nobody|children))\s+"
    r"(?:(?:\w+ly|also|always|never|now|only|still|all|do|does|both|not)\s+)?"
    rf"(?:{'|'.join(_BASES)})\b"
)
_ORDER = AnyCase(rf"\A[\"'(“*_`]*(?:{'|'.join(_BASES)})\s+(?:\w|`)")
_IRREGULAR = (
    "was were wasn't weren't had did didn't became began broke brought bought built came caught chose cut died drew drove "
    "ate fell felt flew forgot found gave got grew heard held knew laid led left lent lost made meant met paid ran rose "
    "said sat saw sent shook showed slept spent spoke spread stood stole struck swore threw thought told took "
    "understood underrated went woke won wore wrote yesterday ago"
).split()
# "is held", "are made": a participle after a form of "be" or "have" is not past tense.
_PAST = AnyCase(
    r"(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bbeen )(?<!\bhas )(?<!\bhave )(?<!\bnot )(?<!\bnever )(?<!\bgets )(?<!\bmust be )"
    rf"\b(?:{'|'.join(_IRREGULAR)})\b"
)
_REGULAR_PAST = Pattern(
    r"(?:\b(?:[Ww]e|I|[Hh]e|[Ss]he|[Tt]hey|[Ii]t|[Ww]ho|[Nn]obody|[Ss]omebody|[Ee]verybody)|\b[A-ZÀ-Þ][a-zà-ÿ]+)"
    r"\s+(?:\w+ly\s+)?(?!need|embed|feed|speed|seed|shared|based|signed|hosted|managed)\w{2,}ed\b"
)
_PERFECT = AnyCase(
    r"\A(?!if\b|when\b|once\b|whoever\b).*\b(?:has|have) (?:\w+ly |just |now )?\w+(?:ed|en|wn|ne)\b"
)
_DECIDED = AnyCase(
    r"\b(?:we|i)(?:'ve| have)?(?: all| just| now)? (?:decided|agreed|chose|settled|switched|moved|picked|adopted|standardi[sz]ed)\b"
)


def has_verb(text: str) -> bool:
    """Whether *text* contains a finite verb or begins with an imperative, as a decision may ("Use Postgres")."""
    return (
        is_order(text)
        or _DECIDED.search(text) is not None
        or _VERB.compiled.search(text) is not None
        or _PLURAL_VERB.compiled.search(text) is not None
    )


def is_order(text: str) -> bool:
    """Whether *text* begins with an imperative, as the title of a decision may ("Keep sessions in Redis")."""
    return _ORDER.compiled.match(text) is not None


def reports_past(text: str) -> bool:
    """Whether *text* reports a past event. "We decided …" does not, because the decision still holds."""
    if _DECIDED.search(text):
        return False
    return any(pattern.compiled.search(text) for pattern in (_PAST, _REGULAR_PAST, _PERFECT))
