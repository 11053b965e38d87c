"""Ordinary words that a sentence, a question or a cell announces as a secret: "the password is …", "use … to log in"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clawmem.domain.security.patterns import Pattern
from clawmem.domain.security.secret_labels import SecretLabel, regions
from clawmem.domain.security.secret_talk import is_talk
from clawmem.domain.security.secret_values import Span, is_common_word, is_named, is_password, is_placeholder

_QUOTES = "\"'`„“”«»‘’"
_OPEN = rf"[{_QUOTES}*_(]{{0,3}}"
_WORD = rf"(?<![^\s{_QUOTES}*_(:])(?P<value>[^\W\d_]{{4,30}}(?:-[^\W\d_]{{1,20}}){{0,5}})"
_ANY = rf"(?<![^\s{_QUOTES}*_(:])(?P<value>[^\s{_QUOTES}*_()|,;<>]{{3,40}}[^\W_])"  # also with digits
_STOP = rf"[{_QUOTES}*_)]{{0,3}}(?:[.,;!?)](?=[\s{_QUOTES})]|$)|\s{{0,3}}(?:$|[\n(—–|])|\s-\s"
_AND = r"|\s(?:for (?:years|months|ages|now|long)|and|but|so|now|until|till|since|again|all|last|this|these|in (?:lower|capital|small|one)|with a|und|aber|bis|jetzt|ab|et|mais|maintenant|jusqu|y|pero|ahora|hasta|e|ma|adesso|fino|en|maar|nu|tot)\b"
_PLACE = r"|\s(?:on|in|at|for|from|to|as|when|if|before|after|because|today|yesterday|geandert|gesetzt|anmelden|einloggen|eingeben|einwahlen|rein|ein|an)\b"
_TIGHT, _WIDE = f"(?={_STOP}{_AND}))", f"(?={_STOP}{_AND}{_PLACE}))"
_TALE = r"(?:[^.!?\n:;=|\"→]|\.(?=\w)){0,70}?"  # what is said between the label and its value
_BEGINS = (
    r"(?: \([^()\n]{1,30}\))?(?:(?:['’]s|,)?\s(?:for|of|to|on|in|at|from|that|which|furs|beim|zur|della|dello|dei|nella|sulla|aux|las|los|who|you|we|i|used|needed|changed|got|gets|may|might|must|should|will|became|has|had|there|here|now|still|again|everywhere|fur|vom|von|zum|zur|im|am|auf"
    rf"|bei|der|des|du|de|d['’]|pour|sur|del|para|dell|di|da|per|do|voor|van|la|le|el|al)\b{_TALE}|, {_TALE}|['’]s )?"
)
_VERB = (
    r"(?:,\s|\s|(?<=\s))(?:(?:is|was|has been|got) (?:set|changed|reset|switched) to|has been|had been|being|namely|is|was|be|becomes|became|remains|remained|stays|stayed|reads|equals|it['’]s|lautet|lautete|hei(?:ss|ß)t|ist|war|bleibt|c['’]est|est|etait|reste|es|era|sigue siendo|queda|e|resta|rimane|blijft|foi)(?:,[^,.!?\n]{1,40},)?"
    r"\s(?:(?:still|plain|good old|literally|now|currently|simply|just|always|probably|called|again|actually|really|the words?|noch|immer|jetzt|einfach|weiterhin|toujours|encore|maintenant|tout simplement|todavia|siempre|ahora|sempre|ancora|adesso|nog|steeds|altijd|nu)\s){0,3}"
)
_SIGN = r"[*_`]{0,3}\s{0,3}(?:(?<=\s)=|->|=>|→|—|–|:|\s-)[*_`]{0,3}\s{1,3}"
_SAID = Pattern(rf"(?:['’]s\s|{_BEGINS}{_VERB}){_OPEN}{_WORD}{_TIGHT}")
_SIGNED = Pattern(rf"{_BEGINS}{_SIGN}{_OPEN}{_WORD}{_TIGHT}")
_CHANGED = Pattern(
    rf"(?:\s(?:from|von|de)\s\S{{2,40}})?(?:\s(?:for|of|on|in|at|fur|vom|von|der|des|du|de|d['’]|del|dell|di|da|van)\b[^.!?\n:;=|,]{{0,50}}?)?\s(?:to|auf|en|a|naar|in|zu)\s{_OPEN}{_WORD}{_WIDE}"
)
_REPLACED = Pattern(
    rf"(?:\s(?:for|of|on|in|at|fur|vom|von|der|des|du|de|del)\b[^.!?\n:;=|,]{{0,50}}?)?\s(?:from|von|de)\s{_OPEN}{_WORD}[{_QUOTES}*_)]{{0,3}}(?=\s(?:to|into|auf|zu|en|a)\s)"
)
_DIRECT = Pattern(rf"\s{_OPEN}{_WORD}{_WIDE}")
_ASIDE = Pattern(rf"\s\((?:(?:it|that|this)(?: is|['’]s)|es ist|c['’]est)\s{_OPEN}{_WORD}(?={_STOP}))")
_DASHED = Pattern(
    rf"(?: [a-z]{{2,15}})?,\s{_OPEN}{_WORD}(?=[{_QUOTES}*_)]{{0,3}}(?:[.;!]|\s{{0,3}}(?:$|\n)))"
)
_ASKED = Pattern(
    rf"[^.!?\n:;=|]{{0,70}}\?[{_QUOTES}]?\s{{1,3}}(?:[>—–-]\s?|[^\W\d_]{{1,20}}:\s)?{_OPEN}{_WORD}(?={_STOP}))"
)
_BELOW = Pattern(
    rf"{_BEGINS}[*_]{{0,2}}:?[*_]{{0,2}}(?: (?:is|lautet|ist|est|es))?[ \t]{{0,3}}\n(?:[ \t]{{0,9}}\n){{0,2}}[ \t>]{{0,6}}{_OPEN}{_WORD}[{_QUOTES}*_).]{{0,3}}[ \t]{{0,3}}(?=\n|$)"
)
_PHRASE = Pattern(
    rf"{_BEGINS}(?:{_VERB}|{_SIGN}){_OPEN}(?P<value>[^\W\d_]{{1,15}}(?: [^\W\d_]{{1,15}}){{1,11}})(?=[{_QUOTES}*_)]{{0,3}}(?:[.,;!]|\s{{0,3}}(?:$|[\n(])))"
)
_BEFORE = Pattern(
    rf"\b(?:uses?|used|using|on|picked|chose|gave (?:me|us|them|him|her)|got|with|has|took|take|say|says|enter|type|set|mit|auf|nutzt|benutzt|avec|usa|con|met)\s{_OPEN}(?P<value>[^\W\d_]{{3,30}}(?: [^\W\d_]{{1,20}}){{0,5}})[{_QUOTES}*_)]{{0,3}}\s(?:as|for|als|comme|como|come|per)\s"
    r"(?:(?:the|a|an|our|my|your|his|her|its|their|this|das|dein|mein|unser|le|un|la|una)\s)?(?:[\w-]{2,20}\s){0,2}\Z"
)
_IS_BEFORE = Pattern(
    rf"(?:^|[.!?:,]\s|\bthat\s){_OPEN}{_WORD}[{_QUOTES}*_)]{{0,3}}\s(?:is|was|ist|war|est|es|e)\s(?:the|our|my|your|his|her|its|das|unser|mein|le|notre|la|mi|el)\s(?:[\w-]{{2,20}}\s){{0,2}}\Z"
)
_INTRODUCES = Pattern(
    r"(?:(?:\b(?:with|by|under|using|uses?|used|gets?|got|has|had|have|say|says|enter|type|give|quote|supply|mit|dem|avec|con|met|to|on|needs|takes|wants|is)\s(?:the |its |this |das |dem |le |la |el |l')?|\b(?:user|username|user name|benutzer|utilisateur|usuario|utente|gebruiker)\s[\w.@-]{2,40}\s|,\s?|\b(?:and|und|et|y|e|en|with|mit|avec|con)\s(?:the |das |le |la |el |dem )?)(?:[\w-]{2,15}\s)?)\Z"
)
_CHANGE = Pattern(
    r"\b(?:re)?(?:set|chang|switch|mov|updat|rotat|geandert|gesetzt|setz|ander|cambi|pus|pon|modifi|mis|mett|zet|gewijzigd)"
)
_ENDS = Pattern(r"\s{0,2}(?:[.,;:!?)\n]|$|\s(?:for|of|on|to|at|in|until|and|fur|von|pour|del|de)\b)")
_CODE = Pattern(
    r"[{}=<>;]\s{0,3}$|^\s{0,40}(?:def|class|import|return|if|for|const|let|var|public|private)\b|\w\("
)

# Sentences without a label: a verb of typing, and what it opens.
_TYPED = Pattern(
    rf"\b(?:type|types|enter|enters|key in|keying in|say|says|typing|entering|whisper|answer|answers|reply|reply with|try|tippe|tippst|gib|(?:(?<![a-z]\s)|(?<=\bet\s)|(?<=puis\s))tapez?|saisis|saisissez|escribe|teclea|digita|scrivi|typ)\s(?:in\s|[\w.@-]{{2,20}}\s(?:and|und|et|y|e|en)(?:\s(?:then|dann|puis|luego|poi|dan))?\s)?{_OPEN}{_ANY}{_WIDE}"
)
_THE_WORD = Pattern(
    rf"\b(?:needs?|wants?|takes?|asks for|requires?|expects?|accepts?|with|by|say|type|enter)\sthe\s(?:secret\s|magic\s)?(?:word|phrase)\s{_OPEN}{_ANY}{_WIDE}"
)
_USED = Pattern(
    rf"\b(?:use|uses|used|try|with|mit|avec|con)\s{_OPEN}{_ANY}[{_QUOTES}*_)]{{0,3}}\s(?:to|for|pour|para|per)\s(?:log(?:ging)? ?(?:in|on)|sign(?:ing)? ?(?:in|on)|unlock|get(?:ting)? (?:in|on|past)|te connecter|se connecter|entrar|entrare|accedere)\b"
)
_LETS_IN = Pattern(
    rf"(?:^|[,;:]\s|\bthat\s){_OPEN}{_WORD}[{_QUOTES}*_)]{{0,3}}\s(?:gets? (?:you|me|us|her|him|them) (?:back )?(?:in|on)|(?:will )?lets? (?:you|me|us) (?:back )?in|is what (?:it|they|the [\w ]{{2,20}}?|my [\w ]{{2,20}}?) (?:asks? for|wants?|needs?|expects?)|unlocks (?:it|the|my|our)|opens the (?:safe|vault|account|archive|zip|file|pdf|tablet|laptop|phone))\b"
)
_THING = r"(?:attachments?|files?|archives?|zips?|pdfs?|accounts?|laptop|tablet|phone|disks?|backups?|pages?|documents?|drives?|sticks?|spreadsheets?)"
_OPENED = Pattern(
    rf"\b(?:(?:(?:unlocks?|decrypts?|log into|sign into)\s[^.!?\n:;]{{1,40}}?|lets? (?:me|you|us|them) in|(?:un)?(?:locks?|protects?|encrypts?)\s[^.!?\n:;]{{0,30}}?\b{_THING}"
    rf"|{_THING}\s[^.!?\n:;]{{0,30}}?(?:is|are|was|were) (?:locked|protected|encrypted|secured))\s(?:with|by|using|by typing|by saying))\s{_OPEN}{_WORD}{_TIGHT}"
)
_COMES_IN = Pattern(
    rf"\bmit\s{_OPEN}{_WORD}[{_QUOTES}*_)]{{0,3}}\s(?:kommst|kommt|kommen)\s(?:du|man|ihr|wir|sie)\s(?:in|ins|rein|an|hinein)\b"
)
_FREE = (_COMES_IN, _OPENED, _TYPED, _THE_WORD, _USED, _LETS_IN)
_FREE_CUES = (
    "type", "typing", "answer", "reply", "try ", "enter", "key in", "keying", "say", "whisper", "tipp", "gib", "tape", "saisi", "escribe", "teclea", "digita", "scrivi", "typ ", "the word", "the phrase", "secret word", "secret phrase",
    "log", "sign", "unlock", "get in", "get on", "getting", "connecter", "entrar", "acceder", "crypt", "locked", "locks", "protect", "secured", "komm", "is what",  "gets", "get ", "let", "opens",
)  # fmt: skip
_LOCKED = Pattern(
    r"\b(?:log(?:ged|s|ging)?[ -]?(?:in|on)|logon|sign(?:s|ing)?[ -]?(?:in|on)|logins?|unlock\w{0,3}|locked|locks|opens?|vault|get (?:in|past|into|online|onto)|access|admin|wi-?fi|encrypted|passwords?|passphrase|passwort|kennwort|mot de passe|contrasena|credentials?|komms?[te]n?|einloggen|anmeld\w{0,3}|entsperr\w{0,3}|offnet|offnen|kiste|konto|ouvrir|ouvre|connecter|deverrouill\w{0,4}|abrir|abre|entrar|desbloque\w{0,3}|aprire|apre|sblocc\w{0,4}|openen|inloggen|ontgrendel\w{0,3})\b"
)
_METHOD = Pattern(
    r"\b(?:command|terminal|shell|prompt|menu|search|browser|console|repl|cli|url|address bar)\b"
)
_LOGINS = Pattern(
    rf"\b(?:logins?|logs? in|signs in|logging in|logs? on|sign in|signing in|logge dich|melde dich|credentials?|zugangsdaten|zugang|anmeldung|connecte-toi|identifiants?|entra|accedi|inloggen|inicia sesion)\b(?P<about>[^.!?\n:;=|/,]{{0,50}}?)(?P<joint>:|\sis|\sare|\swith|\sas|\savec|\scon|\smit|\sist|\smet)\s"
    rf"{_OPEN}(?P<user>[\w.@-]{{2,40}})[{_QUOTES}*_]{{0,2}}(?:\s?/\s?|,\s|\s(?:and|und|et|y|e|en|with|mit|avec|con)\s){_OPEN}{_WORD}{_TIGHT}"
)
_LOGIN_ALONE = Pattern(
    rf"\blogins?\s(?:for|to|of|on|fur|pour|para|per)\s[^.!?\n:;=|]{{1,50}}:\s{_OPEN}{_WORD}(?=[{_QUOTES}*_)]{{0,3}}(?:[.!]|\s{{0,3}}(?:$|[\n(])))"
)
_LOGIN_CUES = ("login", "log in", "sign in", "logs in", "signs in", "logging in", "log on", "logs on", "signing in", "logge dich", "melde dich", "credential", "zugang", "anmeldung", "connecte", "identifiant", "entra", "accedi", "inloggen", "sesion")  # fmt: skip
_LONGEST = 200  # characters of a sentence that are read before or after a cue


def announced(text: str, lower: str, label: SecretLabel) -> Iterator[Span]:
    """Find the word or phrase that the sentence, question or lines around *label* give for it."""
    if label.kind != "password" or not label.is_bare:
        return
    line = text[_sentence_start(text, label.start) : label.start]
    if _CODE.compiled.search(line):
        return
    span = _after(text, lower, label, line.lower()) or _before(text, lower, label)
    if span:
        yield span


def replaced(text: str, lower: str, label: SecretLabel) -> Iterator[Span]:
    """Find the earlier word in "changed the password from … to …"."""
    match = _REPLACED.compiled.match(lower, label.end, label.end + _LONGEST)
    line = lower[_sentence_start(text, label.start) : label.start]
    if match and label.kind != "secret" and _CHANGE.compiled.search(line) and _is_value(text, match):
        yield match.span("value")


def _after(text: str, lower: str, label: SecretLabel, line: str) -> Span | None:
    end = min(len(text), label.end + _LONGEST)
    for pattern in (_SAID, _SIGNED, _BELOW):
        match = pattern.compiled.match(lower, label.end, end)
        if match and _is_value(text, match) and (pattern is not _SIGNED or _is_spoken(text, line, match)):
            return match.span("value")
    for pattern, context in (
        (_CHANGED, _CHANGE),
        (_DIRECT, _INTRODUCES),
        (_DASHED, _POSSESSED),
        (_ASIDE, None),
        (_ASKED, None),
    ):
        if context and (
            not context.compiled.search(line) or lower[label.end - 1] == "s" != lower[label.end - 2]
        ):
            continue  # "passwords" are none in particular
        match = pattern.compiled.match(lower, label.end, end)
        if match and _is_value(text, match):
            return match.span("value")
    match = _PHRASE.compiled.match(lower, label.end, end)
    if match and _is_phrase(text, lower, label, match):
        return match.span("value")
    return None


_POSSESSED = Pattern(r"\b(?:the|our|my|same|a|your|das|le|la|el)\s(?:[\w-]{2,15}\s)?\Z")


def _before(text: str, lower: str, label: SecretLabel) -> Span | None:
    if not _ENDS.compiled.match(lower, label.end):
        return None
    start = _sentence_start(text, label.start)
    for pattern in (_BEFORE, _IS_BEFORE):
        match = pattern.compiled.search(lower, start, label.start)
        if match and not any(map(is_talk, match["value"].split()[:1])):
            return match.span("value")
    return None


def unlabelled(text: str, lower: str) -> Iterator[Span]:
    """Find the words that a sentence says to type, or to log in with, and the second half of ``user / word``."""
    for first, last in regions(lower, _LOGIN_CUES, 2, _LONGEST):
        for match in _LOGINS.compiled.finditer(lower, first, last):
            if _is_value(text, match) and not is_talk(match["user"]):
                yield match.span("value")
        for match in _LOGIN_ALONE.compiled.finditer(lower, first, last):
            if _is_value(text, match):
                yield match.span("value")
    for first, last in regions(lower, _FREE_CUES, 60, _LONGEST):
        for pattern in _FREE:
            for match in pattern.compiled.finditer(lower, first, last):
                if _is_typed(text, lower, match, is_typed=pattern in (_COMES_IN, _TYPED, _THE_WORD)):
                    yield match.span("value")


def _is_typed(text: str, lower: str, match: re.Match[str], *, is_typed: bool) -> bool:
    value = text[slice(*match.span("value"))]
    if not _is_value(text, match) or not (value.islower() or is_typed):
        return False
    start = _sentence_start(text, match.start())
    sentence = lower[start : _sentence_end(text, match.end())]
    if _METHOD.compiled.search(sentence.replace("password prompt", "")):
        return False
    return not is_typed or _LOCKED.compiled.search(sentence.replace(value.lower(), "")) is not None


def _is_value(text: str, match: re.Match[str]) -> bool:
    value = text[slice(*match.span("value"))]
    if not value.replace("-", "").isalpha():
        return is_password(value) and not is_named(value)
    return not is_talk(value) and not is_talk(value.split("-")[0])


def _is_spoken(text: str, line: str, match: re.Match[str]) -> bool:
    """Whether a sign ends a sentence of prose, or the whole line is a note: no definition in a program."""
    rest = text[match.end("value") : match.end("value") + _LONGEST].partition("\n")[0]
    is_alone = not rest.strip(" .)*_`\"'")
    return len(match[0].split()) + len(line.split()) > 3 or (
        is_alone and ("=" not in match[0] or (line.endswith(" ") and bool(line.strip())))
    )


def _is_phrase(text: str, lower: str, label: SecretLabel, match: re.Match[str]) -> bool:
    """Whether several words are a passphrase: quoted, or the value of a label that speaks of words."""
    start, end = match.span("value")
    words = match["value"].split()
    named = lower[label.start : label.end + 30]
    if is_placeholder(match["value"]) or not any(name in named for name in ("phrase", "words", "satz")):
        return False
    is_quoted = text[start - 1] in _QUOTES and text[end : end + 1] in tuple(_QUOTES)
    if is_quoted:
        return not is_talk(words[0]) or words[0] in ("the", "a", "my")
    return (
        text[start:end].islower()
        and not is_talk(words[0])
        and sum(map(is_common_word, words)) * 3 <= len(words)
    )


def _sentence_start(text: str, at: int) -> int:
    earliest = max(0, at - _LONGEST)
    return max(
        earliest,
        *(
            text.rfind(mark, earliest, at) + len(mark)
            for mark in ("\n", ". ", "! ", "? ")
            if text.rfind(mark, earliest, at) >= 0
        ),
        0,
    )


def _sentence_end(text: str, at: int) -> int:
    last = min(len(text), at + _LONGEST)
    ends = [found for mark in ("\n", ". ", "! ", "? ") if (found := text.find(mark, at, last)) >= 0]
    return min(ends, default=last)
