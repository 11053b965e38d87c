"""Parts of a text that may be a secret: numbers, strings with digits, and words where a value is expected."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from clawmem.domain.security.patterns import Pattern
from clawmem.domain.security.secret_labels import regions

NUMBER, STRING, WORD, PHRASE = "number", "string", "word", "phrase"

_SEPARATORS = r"\s\"'`<>|,;()\[\]{}«»"  # and the signs of `_spaced`
_DIGITS = Pattern(rf"(?<!\d,)(?<![^{_SEPARATORS}])[^\d{_SEPARATORS}]{{0,100}}\d[^{_SEPARATORS}]{{0,300}}")
_TOKEN = Pattern(rf"(?<![^{_SEPARATORS}])[^{_SEPARATORS}]{{4,300}}")
_GROUPS = Pattern(r"(?<![\w.,:/+-])(?<!\d )[*#]?\d{1,8}(?:[ -]\d{1,8}){1,7}[*#]?(?![\w:%/]|[.,]\d)")
# Several words or signs joined without a digit, as people choose passwords: "four-fat-geese", "Custard!Creams", "MyDogHasFleas".
_JOINED = Pattern(
    rf"(?<![^{_SEPARATORS}])(?:[A-Za-z]{{1,20}}[!@#$%^&*_+~]{{1,3}}[A-Za-z]|[A-Za-z]{{2,20}}[!@#$%^&*_+~.-][A-Za-z]{{2,20}}[!@#$%^&*_+~.-][A-Za-z]|(?:[A-Z][a-z]{{1,12}}){{3}}|[A-Za-z]{{0,12}}[a-z][A-Z]{{2,12}}[A-Za-z]|[a-z]{{2,20}}[A-Z][a-z]{{1,20}}[!?*])"
    rf"[^\d{_SEPARATORS}]{{0,60}}(?![^{_SEPARATORS}])"
)
_PART = Pattern(r"[^=:/&?@]+")
_QUOTED = Pattern(
    r"[\"'`„“«「『](?P<words>[^\s\"'`„“”«»」』]{2,30}(?: [^\s\"'`„“”«»」』]{1,30}){1,11})[\"'`”“»」』]"
)
_CLAUSE = Pattern(
    r"(?:[:=→—–.,]|->|=>|\s-|\b(?:is|was|be|to|with|ist|lautet|war|auf|mit|est|es|e|era|con|avec|son|sont|sind|are|means|says|now|jetzt|called|as|als|zijn|takes|reads|goes|needs|wants|by|gave me|words|of|hat|heisst|accepts|use|uses|type|rolled|say|paste|enter|needs?|chose|picked|on|stays|remains|bleibt|reste|queda|rimane|spells|for|knowing|entering|using|durch|par|by|mention|phrase|satz|antworte))[ \t]{1,4}"
    r"(?=(?P<words>[a-z]{2,15}(?: [a-z0-9]{2,15}){1,11})(?=[.,;!?)]|\s*$|[ \t]*[|\n(—–-]))",
)
_LINE_OF_WORDS = Pattern(
    r"(?:^|\n)[ \t>*+-]{0,6}(?P<words>[a-z]{2,15}(?: [a-z0-9]{2,15}){1,23})[ \t]{0,9}(?=\n|$)"
)
_BEFORE_VALUE = Pattern(
    r"(?:[:=→—–\"'`„“«「『|(/,*]|->|=>|\s-|\n|\b(?:is|was|be|to|with|and|ist|lautet|war|auf|mit|und|est|es|e|era|con|y|et|avec|son|de|then|now|jetzt|called|as|als|met|en|het|i|the|use|type|enter|say|gib|tape[rz]?|usa|dice|try|still|just|nimm|sag|dis|di|key|pass|reads|takes|needs?|wants|paste|answer|hear|give|schlussel|clave|after|accepts|asks for|chose|picked|enters?|uses|spells|quote|on|lautet|heisst|nimmt|nimm|verlangt|sage|accepte|demande|dire|acepta|pide|pon|di|usa|chiede|vuole|com|diz|pede|zeg|vraagt|gebruik|bleibt|stays|becomes|da|por|par|von|durch|for|by|knowing|using|entering|hear|phrase)"
    r"[ \t]|^)[ \t]{0,4}[\"'`*_„“«]{0,3}\Z",
)
_OTHER = Pattern(
    r"^(?:(?:19|20)\d\d[-/.]\d\d?(?:[-/.]\d\d?)?(?:t.*)?|\d\d?[-/.]\d\d?[-/.](?:19|20)\d\d|\d\d?[/.]\d\d?[/.]\d\d|\d{1,2}[:.h]\d\d(?:[:.]\d\d)?|\d+(?:\.\d+)+|[+-]?\d*\.\d+\S{0,3}"
    r"|\d+(?:st|nd|rd|th|px|ms|mm|cm|km|kg|kb|mb|gb|tb|ghz|mhz|hz|min|am|pm|x|k|m|s|h|%)|(?:19|20)?\d\ds|\d+x\d+(?:px)?|[$€£#]\d+(?:\.\d+)?[a-z]{0,2}|#[0-9a-f]{3}(?:[0-9a-f]{3})?|[a-z_.]+:[.,]\d?[a-z]"
    r"|\d{1,3}-\d{1,3}|\d+%\??|\d+(?:\.\d+)?-[a-z]+(?:-[a-z]+)?|\+\d+|\$\d[\d.,]*[a-z]{0,9}(?:[/+-].*)?|utc[+-]\d+|[\w.-]*(?:[<>]|[<>=~!]=|=)[\d.]+\*?"
    r"|argon2\w*|1password\d?|sqlite3|latin1|_?(?:u?int|b?float|complex)\d\w*|[a-z][a-z_-]*#\d+|[a-z]+[-/]\d\d?|\d\d?[-/][a-z]+|\d{1,2}|[\w.+-]+@[\w-]+(?:\.[\w-]+)+)$",
)
_MIXED = Pattern(r"[a-z][A-Z]|^\d+-[A-Z][a-z]|^[A-Z][a-z]+#\d")
_ISLAND = Pattern(
    r"[A-Z][a-z][A-Z]{2}|[a-z][A-Z]{2,}[a-z]{1,2}[A-Z]"
)  # a small letter or two between capitals
_GROUPS_OF_FOUR = Pattern(r"^[a-z]{4}(?:-[a-z]{4}){2,7}$")
_WORDS = Pattern(r"^[A-Za-z]+(?:[-_.][A-Za-z]+)*$")
_ADDRESS = Pattern(
    r"^\d{1,3}/\d{1,4}$|^[a-z.-]+@[a-z-]+(?:\.[a-z]{2,10}){1,3}$|^[a-z][a-z+]{1,12}://|^(?:[\w.~-]*/){2,}[\w.-]*$|^[\w.-]+\.(?:com|org|net|io|de)$"
    r"|^[\w.-]+\.(?:[ch]|cc|cfg|conf|cpp|cs|css|csv|db|docx?|gif|go|gz|hpp|html?|ini|ipynb|java|jpe?g|jsx?|json|jsonl|kt|lock|log|md|pdf|php|png"
    r"|proto|py|rb|rs|sh|sql|sqlite|svg|swift|tar|tf|toml|tsv|tsx?|txt|vue|webp|xlsx?|xml|ya?ml|zip)$"
)
# What announces a password that is made of words. Lower case, without accents.
_CUES = (
    "passw", "pass ", "pass:", "pass=", "pass?", "passp", "passc", "pwd", "pw ", "pw:", "pw=", "pw?", "losung", "parola", "contrase", "clave", "mdp", "mot de", "geheim", "phrase",
    "frase", "seed", "recovery", "palabra", "segret", "wachtwoord", "credential", "zugang", "codeword", "security question", "secret",
    "sicherheitsfrage", "sag ", "telefonkenn", "psk", "wpa", "wifi", "wi-fi", "wlan", "restic", "luks", "rclone", "gpg", "kopia", "crypt", "verschlussel", "chiffre", "cifra",
    "login", "log in", "logs in", "sign in", "signs in", "sign-in", "logon", "anmeld", "einlogg", "inloggen", "iniciar sesion", "admin",
    " word", "-word", "wort", "palavra", "senha", "sesam", "unlock", "entsperr", "duress", "diceware", "wallet", "stream key", "unseal", "asks for", "answer with",
    "hasl", "losenord", "kennung", "acceso", "protett", "protegid", "protege", "gesichert", "beveiligd",
    "パス", "ハス", "合言葉", "密码", "口令",
)  # fmt: skip
_REACH_BEFORE, _REACH_AFTER = 30, 110  # characters around a cue
_EDGES = ".:*_…"


class Candidate(NamedTuple):
    """Part of a text from ``start`` to ``end`` (exclusive) that may be a secret, with its coarse form."""

    start: int
    end: int
    form: str


def candidates(text: str, lower: str) -> Iterator[Candidate]:
    """Yield the parts of *text* that may be a secret; they may overlap. *lower* is *text* in lower case."""
    for match in _GROUPS.compiled.finditer(text):
        if sum(map(str.isdigit, match[0])) >= 4 and not _OTHER.compiled.match(match[0]):
            yield Candidate(*match.span(), NUMBER)
    spaced = _spaced(text)
    for match in _DIGITS.compiled.finditer(spaced):
        if match.end() - match.start() > 2:
            yield from _of_token(text, *match.span())
    for match in _JOINED.compiled.finditer(spaced):
        yield from _of_token(text, *match.span())
    for first, last in regions(lower, _CUES, _REACH_BEFORE, _REACH_AFTER):
        for pattern in (_QUOTED, _CLAUSE, _LINE_OF_WORDS):
            for match in pattern.compiled.finditer(text, first, last):
                yield Candidate(*match.span("words"), PHRASE)
        for match in _TOKEN.compiled.finditer(spaced, first, last):
            if not any(map(str.isdigit, match[0])):
                yield from _of_token(text, *match.span())


def _spaced(text: str) -> str:
    """
    Return *text* with a space for each general punctuation mark, symbol and unspaced letter, and ASCII digits.

    The range of these signs, in a pattern, would take longer to compile than the text takes to search.
    """
    if text.isascii():
        return text
    far = (sign for sign in set(text) if "\u2000" <= sign <= "\u206f" or "\u2190" <= sign <= "\uffff")
    return text.translate({ord(sign): "0" if sign.isdecimal() else " " for sign in far})


def _of_token(text: str, start: int, end: int) -> Iterator[Candidate]:
    start, end = _trimmed(text, start, end)
    token = text[start:end]
    if len(token) < 3 or _ADDRESS.compiled.match(token):
        return
    form = form_of(token)
    if not any(character in token for character in "=:/&?@"):
        if form and not (form is WORD and not _BEFORE_VALUE.compiled.search(text, max(0, start - 24), start)):
            yield Candidate(start, end, form)
        return
    if form is STRING:
        yield Candidate(start, end, STRING)
    for part in _PART.compiled.finditer(token):
        first, last = _trimmed(text, start + part.start(), start + part.end())
        form = form_of(text[first:last])
        if form and (first > start or form is not WORD):
            yield Candidate(first, last, form)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start] in _EDGES:
        start += 1
    while start < end and text[end - 1] in _EDGES:
        end -= 1
    if end - start > 1 and text[end - 1] in "!?" and text[start : end - 1].isalpha():
        end -= 1
    return start, end


def form_of(token: str) -> str:
    """Return the coarse form of *token*; empty if it cannot be a secret."""
    digits = sum(map(str.isdigit, token))
    if digits:
        if digits + sum(character in "-*#" for character in token) == len(token):
            return NUMBER if digits >= 3 and not _OTHER.compiled.match(token) else ""
        plain = token if _MIXED.compiled.search(token) else token.lower()
        return STRING if len(token) >= 4 and not _OTHER.compiled.match(plain) else ""
    if _WORDS.compiled.match(token):
        if len(token) < 4:
            return ""
        return STRING if _is_odd(token) else WORD
    return STRING if len(token) >= 5 and any(map(str.isalpha, token)) else ""


def _is_odd(token: str) -> bool:
    """Whether capitals or groups stand in *token* as in a generated string."""
    if len(token) < 7:
        return False
    changes = sum(a.islower() and b.isupper() for a, b in pairwise(token))
    is_dense = changes >= 2 and 5 * changes >= 3 * len(token) / 1.6
    return is_dense or bool(_ISLAND.compiled.search(token) or _GROUPS_OF_FOUR.compiled.match(token))
