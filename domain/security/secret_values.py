"""Judgement of values: whether a text that stands where a secret is expected is one."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from math import log2

from clawmem.domain.security.patterns import Pattern

Span = tuple[int, int]  # offsets, the second exclusive

_LEAST_ENTROPY = (
    2.8  # bits a character; random hexadecimal of 32 characters has 3.2 or more, words 2.9 or less
)
_KEY_ENTROPY = 3.0
_LONG_KEY = 16
_LEAST_PASSWORD = 5

_EXAMPLE = Pattern(
    r"\bENC\[|example|placeholder|change[_-]?me|dummy|sample|your[_-]|[_-]here\b|x{4,}|\*{3,}|\.{3,}|…|•{3,}|redacted|<"
    r"|0{8,}|replace[_-]?(?:me|with|this)|insert[_-]",
    flags=re.IGNORECASE,
)
_EXPRESSION = Pattern(
    r"^\$|[$#]\{|\$\(|\{\{|^[{%@&*/~.!-]|^ENC\[|%\w+%"
    r"|^(?:os|process|env|settings|config|self|this|request|req|args|secrets?|vars|local|data|var)\b[.\[(]"
    r"|^[a-z_]\w{0,80}(?:\.[a-z_]\w{0,80}){1,9}$|^(?:password|passwd|token|secret|key)s?\b",
    flags=re.IGNORECASE,
)
_NAME_OF_A_SECRET = Pattern(
    r"^(?:\d|[a-z]{1,12}[_-]?)?(?:passwords?|passwd|passphrase|pass|pwd?|pw\d|passwort|kennwort|contrasena|clave|senha|tokens?|secrets?"
    r"|api[_-]?keys?|private[_-]?key|credentials?)[_-]?\d{0,4}!?$",
    flags=re.IGNORECASE,
)
_OTHER_SHAPE = Pattern(
    r"^(?:\d{4}-\d\d(?:-\d\d)?(?:[T _-].{0,80})?|pbkdf2.{0,200}|v?\d{1,8}(?:\.\d{1,8}){1,4}(?:[-+.]?(?:rc|a|b|beta|alpha|dev|post)\d{0,3})?"
    r"|\d{1,12}[ -]?[A-Za-z%]{1,5}(?:/[a-z]{1,5})?|\d{1,12}(?:st|nd|rd|th)|[a-z+]{2,12}://.{0,2000}|[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,32}){1,4}"
    r"|[\w.-]{1,80}(?:/[\w.-]{1,80}){2,}|(?:[A-Za-z]:\\|\\\\).{0,500}|[\w-]{1,80}\.[a-z]{2,5}|[\w.-]{1,64}:\d{1,5}|(?:\d{1,3}\.){3}\d{1,3}.{0,6}"
    r"|\w{1,40}\(.{0,80}\)?|(?:RSA|ECDSA|AES|SHA|MD|HMAC|SCRAM|PBKDF|OAuth|[HREP]S)[A-Z_-]{0,12}\d[A-Z0-9_-]{0,12}|[A-Z]{1,5}[-_]?\d{1,5}|argon2\w{0,2}|bcrypt|scrypt)$"
)
_CODE = Pattern(r"\w[(\[{]|^\w{1,40}=[^=]|[\])]\.")
_SLUG = Pattern(r"^[a-z]{2,20}(?:[-_.][a-z]{2,20}){1,8}(?:[-_.]?v?\d{1,4})?$")  # ``db-credentials-v3``
_UUID = Pattern(r"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$", flags=re.IGNORECASE)
_COMMON = frozenset(
    """a about above abgelaufen again all already always am an and any ask at auto available back bad bearer being below
    between blank blocked boolean both broken by bytes candidate case changed char characters client code compromised correct
    current data days default deprecated different digits disabled do does done down each easy either empty enabled encrypted
    enough enter es est et even every exactly expired expires false falsch fail field fine first for forgotten found from
    generated given good half hard has hashed have he hello her here hidden his how ident if ignored important in inherit
    input integer invalid is ist it its just kept known last latest least leaked less let like line list local locked long
    longer lost made managed mandatory many masked may md5 meant minimum missing more most must my name needed needs neu
    never new next no non none nobody not note nothing now null number numeric object of off old on once one only optional or our
    out outside own part peer per permanent please plain possible present private protected provided public random raw read
    ready required reset revoked rotated safe same scram secret secrets secure see sent set shared short shorter simple single
    some stale status still stolen stored string strong such system temporary text than that the their then there these they
    this to todo too true trust two type undefined unique unknown unset until up use used user username valid value vault
    varchar via visible was weak well what when where which who will with without word words wrong yes yet you your
    aus bei beim das dein den der des die ein eine einmal fehlt fur geheim gesperrt gleich hier ihr im immer ja kein keine leer
    mehr mein mit muss nach nein nicht noch nur oder ohne sein seit sich sie sind steht und unbekannt unten vergessen vom von
    war weg wie wird zu zum zur aux avec ce ces cette dans du elle en encore faux inconnu la le les mais mon notre nous obligatoire
    ou oublie par pas perdu plus pour sa sans ses son sous sur tres trop un une vide votre vous aqui caducada con correcta del el
    ella esta incorrecta los las mas mi mismo muy nuestro obligatoria olvidada para pero por que si sin su tu una unas usted
    y ya admin root password passphrase passwort kennwort token key login credentials example test""".split()
)
# Names of algorithms, formats, standards, parts and products that mix letters and digits.
_NAMED = Pattern(
    r"^(?:(?:sha|md|aes|rsa|ed|ec|utf|iso|rfc|cve|base|curve|secp|prime|sm|chacha|poly|argon|bcrypt|blake|x|h|mp|ipv|http|oauth|oidc|win|windows"
    r"|python|py|node|java|jdk|postgres|pg|mysql|debian|ubuntu|fedora|rhel|el|ios|android|gpt|claude|llama|gemini|port|line|page|step|item|order|ticket|issue|user"
    r"|admin|test|demo|room|day|week|year|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|q|v)[-_]?\d{1,6}[a-z]{0,6}\d{0,4}(?:[-_].{0,40})?|.{1,60}-like|.{0,200}@@.{0,200}|p[a@][s$]{2}w[o0]rd.{0,8}"
    r"|[a-z]{1,20}\d{1,4}[a-z]{1,20}|[A-Z]{1,4}\d{1,5}[A-Z]?|[A-Z]{1,10}-\d{1,8}|(?:[A-Z][a-z]{1,15}){1,6}\d{0,2}(?:[A-Z][a-z]{1,15}){0,6}|[a-z]{1,15}(?:[A-Z][a-z]{1,15}){0,6}\d{0,2}(?:[A-Z][a-z]{1,15}){0,6})$",
)
_HEX = Pattern(r"^(?:0x)?(?:[0-9a-f]{6,64}|[0-9A-F]{6,64})(?:\.\.\.)?$")
_JOINED = Pattern(r"[-_./:]")
_IRREGULAR = Pattern(
    r"[A-Z]{2,}[a-z]+[A-Z0-9]|[a-z]\d[a-z]{0,2}[A-Z]|[A-Z]\d[a-z]|[a-z]{2}[A-Z]{2,}|[A-Z]{2,}[a-z]{3,}$|\d[A-Za-z]\d|[A-Z][a-z]{1,2}[A-Z][a-z]?\d"
)
_LETTERS = Pattern(r"[A-Za-z]{4,}")
_CALL = Pattern(r"=.{0,40}[.(]|\+\w{1,20}\+|==|&&|\?\w{1,20}=|^[\w.-]{1,40}=\w{0,40}$|^[\w./-]{1,60}@\w")
_CODE_GROUP = Pattern(r"^(?:\d{2,8}(?:[- ]\d{2,8}){1,9}|[A-Z0-9]{4,6}(?:-[A-Z0-9]{4,6}){2,7})$")
_PASSPHRASE_WORDS = range(3, 25)


def entropy(token: str) -> float:
    """Return the bits per character by the frequencies inside *token* (Shannon 1948); 0 for an empty one."""
    total = len(token)
    return -sum(count / total * log2(count / total) for count in Counter(token).values())


def is_random(token: str) -> bool:
    """Whether *token*, which has the shape of a known credential, was generated and is no example."""
    return entropy(token) >= _LEAST_ENTROPY and not _EXAMPLE.compiled.search(token)


def is_placeholder(value: str) -> bool:
    """Whether *value* is a placeholder for a secret: ``YOUR_API_KEY``, ``${TOKEN}``, ``xxxx``, ``None``."""
    if len(set(value)) <= 2 or _EXAMPLE.compiled.search(value) or _EXPRESSION.compiled.search(value):
        return True
    if value.lower() in _COMMON or _NAME_OF_A_SECRET.compiled.search(value):
        return True
    return value.isupper() and "_" in value and not any(character.isdigit() for character in value)


def is_uuid(value: str) -> bool:
    """Whether *value* is a UUID, which counts as a secret only next to a name that says so."""
    return bool(_UUID.compiled.search(value))


def mixes_kinds(value: str) -> bool:
    """Whether *value* has letters, and digits or symbols too."""
    has_digit = any(character.isdigit() for character in value)
    has_letter = any(character.isalpha() for character in value)
    has_symbol = any(not character.isalnum() and character not in "_-./:'’" for character in value)
    return has_letter and (has_digit or has_symbol)


def is_key(value: str, least: int = 12) -> bool:
    """Whether *value* looks like a generated key of *least* characters or more."""
    if len(value) < least or " " in value or value.isdigit() or is_placeholder(value):
        return False
    if _CODE.compiled.search(value) or _SLUG.compiled.search(value):
        return False
    if not any(character.isdigit() for character in value):
        return len(value) >= _LONG_KEY and _changes_case(value) and entropy(value) >= _KEY_ENTROPY
    slack = 0.2 if len(value) < 20 else 0.0
    return any(c.isalpha() for c in value) and entropy(value) >= _KEY_ENTROPY - slack - 0.3 * (least < 12)


def _changes_case(value: str) -> bool:
    """Whether capitals stand as no name of a program has them: after one another and between small letters."""
    letters = [character for character in value if character.isalpha()]
    changes = sum(a.isupper() != b.isupper() for a, b in pairwise(letters))
    return 3 * changes >= len(letters)


def is_pin(value: str) -> bool:
    """Whether *value* is a number of four to eight digits."""
    return value.isdigit() and 4 <= len(value) <= 8


def is_password(value: str) -> bool:
    """Whether *value*, in a place where a password is named, can hardly be a word, amount, date, version or path."""
    if len(value) < _LEAST_PASSWORD or " " in value or is_placeholder(value.rstrip("!?")):
        return False
    if _OTHER_SHAPE.compiled.search(value) or _CODE.compiled.search(value):
        return False
    return mixes_kinds(value.rstrip("!?")) or (len(value) >= 8 and _changes_case(value))


def is_generated(value: str) -> bool:
    """Whether *value* looks like a password wherever it stands: no word, name, number or identifier does."""
    if len(value) < 6 or not any(map(str.isalpha, value)) or not is_password(value) or is_named(value):
        return False
    digits = sum(character.isdigit() for character in value)
    if (
        any(character in "!?$%&#@=^~+*" for character in value[1:])
        and digits
        and not _CALL.compiled.search(value)
    ):
        return True
    if not digits:
        if any(character in "!?$%&#@=^~+*" for character in value[1:-1]):
            return not _CALL.compiled.search(value) and any(
                map(_is_irregular, _LETTERS.compiled.findall(value))
            )
        return len(value) >= 10 and value.isalpha() and _changes_case(value)
    pieces = _JOINED.compiled.split(value)
    if len(pieces) > 1:
        return any(_is_irregular(piece) for piece in pieces)
    return digits >= 3 or _is_irregular(value)


def is_named(value: str) -> bool:
    """Whether *value* is a hash, or the name of an algorithm, a format, a standard or a product."""
    return bool(_NAMED.compiled.search(value) or _HEX.compiled.search(value))


def _is_irregular(value: str) -> bool:
    """Whether capitals and digits stand in *value* as in no name: ``viCKJ``, ``x7Kq2``, but not ``OAuth2Client``."""
    return bool(_IRREGULAR.compiled.search(value)) and len(value) >= 4 and not value.isupper()


def is_code_group(value: str) -> bool:
    """Whether *value* is a code in groups of digits or capitals: ``7533-2641``, ``UMSKU-BJ64J-3J6XN``."""
    return bool(_CODE_GROUP.compiled.search(value))


def is_common_word(word: str) -> bool:
    """Whether *word*, in lower case, is a small word of sentences or one that is commonly said of passwords."""
    return word in _COMMON


def is_passphrase(value: str) -> bool:
    """Whether *value* is a row of words without the small words that make a sentence of them."""
    words = value.lower().split()
    if len(words) not in _PASSPHRASE_WORDS or is_placeholder(value):
        return len(words) == 2 and is_password(words[0] + words[1]) and words[0] not in _COMMON
    return all(word.isalnum() and word not in _COMMON for word in words)
