"""
Words of six languages that have a function or a value: stop words, numbers, months, weekdays, seasons, former and
newest.

These are the only such lists. Languages are English, German, French, Spanish, Portuguese and Italian.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

LEAST_FUNCTION_WORDS = 2  # of a language that a question must have: "die" alone is English as well

# English has also the pieces that an apostrophe cuts off: "don't" is "don" and "t". German is the list of Snowball and more.
FUNCTION_WORDS: Mapping[str, frozenset[str]] = {
    language: frozenset(text.split())
    for language, text in {
        "en": """
    a about above after again all also am an and any are as at be because been before being below between both
    but by can could did do does doing during each few for from further had has have having he her here hers
    herself him himself his how i if in into is it its itself just me more most my myself no nor not of off on
    once only or other our ours ourselves out over own same she should so some such than that the their theirs
    them themselves then there these they this those through to too under until up us very was we were what when
    where which while who whom whose why will with would you your yours yourself yourselves
    s t d m re ve ll don didn doesn isn wasn weren won wouldn couldn shouldn hasn haven hadn aren ain
    """,
        "de": """
    aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes anderm andern anders
    auch auf aus bei beim bin bis bist da damit dann das daß dass dasselbe dazu dein deine deinem deinen deiner deines
    dem demselben den denn denselben der derer derselbe derselben des desselben dessen dich die dies diese dieselbe
    dieselben diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines einig einige einigem
    einigen einiger einiges einmal er es etwas euch euer eure eurem euren eurer eures für gab gegen gewesen gibt hab
    habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im in indem ins ist
    ja jede jedem jeden jeder jedes jene jenem jenen jener jenes jetzt kann kein keine keinem keinen keiner keines
    können konnte könnte machen man manche manchem manchen mancher manches mein meine meinem meinen meiner meines mich
    mir mit muss müssen musste nach nicht nichts noch nun nur ob oder ohne schon sehr sein seine seinem seinen seiner
    seines seit selbst sich sie sind so solche solchem solchen solcher solches soll sollen sollte sondern sonst über um
    und uns unser unsere unserem unseren unserer unseres unter viel vom von vor während wann war waren warst warum was
    weg wegen weil weiter welche welchem welchen welcher welches wem wen wenn wer werde werden wessen wie wieder wieso
    wieviel will wir wird wirst wo wohin wollen wollte worden wurde würde wurden würden zu zum zur zwar zwischen
    """,
        "fr": """
    à ai as au aux avec avez avons c ce cela ces cet cette chez combien comment d dans de depuis des du elle elles en est et
    étaient était été être eu eux il ils j je l la le les leur leurs lui m ma mais me mes moi mon n ne nos notre nous on ont
    ou où par pas pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se ses si son sont sur t ta te tes
    toi ton tu un une vos votre vous y
    """,
        "es": """
    a al como cómo con cuál cuáles cuando cuándo cuánta cuántas cuánto cuántos de del desde donde dónde e el él ella ellas
    ellos en entre era eran es esa ese eso esta está están este esto estos fue fueron ha han hasta hay he la las le les lo
    los me mi mis más muy ni no nos nosotros nuestra nuestro o os para pero por porque qué que quién quiénes se ser si sin
    sobre son su sus también te tiene tienen tu tus un una uno unos y ya yo
    """,
        "pt": """
    a à ao aos as às com como da das de dela dele deles do dos e é ela elas ele eles em entre era eram essa esse esta está
    estão este eu foi foram há isso isto já lhe mas me meu meus minha minhas muito na nas não nem no nos nós nossa nosso num
    numa o onde os ou para pela pelo por porque quais qual quando quanta quantas quanto quantos que quem se sem ser seu seus
    sobre sua suas são também te tem têm teu tinha tu um uma você
    """,
        "it": """
    a ad ai al alla alle allo anche c che chi ci come con cosa cui da dai dal dalla dalle dallo de dei del della delle dello
    di dove e è ed era erano gli ha hai hanno ho i il in io l la le lei li lo loro lui ma mi mia mie mio né negli nei nel
    nella nelle nello noi non nostra nostro o per perché più qual quale quali quando quanta quante quanti quanto quella
    quello questa questo se sei si sia siamo sono sta su sua sue sugli sui sul sulla suo ti tra tu tua tuo un una uno vi voi
    """,
    }.items()
}
STOP_WORDS = FUNCTION_WORDS["en"]
# Function words of other languages that are English words with further forms ("wars"), of the 40 000 most frequent ones.
_INFLECTED = """
    ad ai bin come comment con den dies dove era für hat hay man nun par pour sin son sue ton war
    """
UNINFLECTED = frozenset().union(*FUNCTION_WORDS.values()).difference(_INFLECTED.split())


def _numbered(text: str, first: int = 1) -> dict[str, int]:
    """Number the lines of *text*; the names on a line mean the same."""
    lines = text.strip().splitlines()
    return {name: number for number, line in enumerate(lines, first) for name in line.split()}


MONTHS: Mapping[str, int] = _numbered(
    """
    january jan januar jänner jaenner janvier enero janeiro gennaio
    february feb februar février febrero fevereiro febbraio
    march mar märz maerz mars marzo março
    april apr avril abril aprile
    may mai mayo maio maggio
    june jun juni juin junio junho giugno
    july jul juli juillet julio julho luglio
    august aug août agosto
    september sep sept septembre septiembre setembro settembre
    october oct oktober okt octobre octubre outubro ottobre
    november nov novembre noviembre novembro
    december dec dezember dez décembre diciembre dezembro dicembre
    """
)
WEEKDAYS: Mapping[str, int] = _numbered(
    """
    monday mon montag lundi lunes segunda-feira lunedì
    tuesday tues tue dienstag mardi martes terça-feira martedì
    wednesday wed mittwoch mercredi miércoles quarta-feira mercoledì
    thursday thurs thur thu donnerstag jeudi jueves quinta-feira giovedì
    friday fri freitag vendredi viernes sexta-feira venerdì
    saturday sat samstag sonnabend samedi sábado sabato
    sunday sun sonntag dimanche domingo domenica
    """,
    first=0,
)
# First months of the northern seasons.
SEASONS: Mapping[str, int] = {
    name: 3 * number
    for name, number in _numbered(
        """
        spring frühling frühjahr printemps primavera
        summer sommer été verano verão estate
        autumn fall herbst automne otoño outono autunno
        winter hiver invierno inverno
        """
    ).items()
}
# Words that are more often something else in another of the languages are missing: "due", "once", "un".
NUMBERS: Mapping[str, int] = {
    **_numbered(
        """
        one eins uno
        two zwei deux dos dois
        three drei trois tres três tre
        four vier quatre cuatro quatro quattro
        five fünf cinq cinco cinque
        six sechs seis
        seven sieben sept siete sete sette
        eight acht huit ocho oito otto
        nine neun neuf nueve nove
        ten zehn dix diez dez dieci
        eleven elf onze undici
        twelve zwölf douze doce doze dodici dozen dutzend
        """
    ),
    **dict.fromkeys("hundred hundert cien cem cento".split(), 100),
    **dict.fromkeys("thousand tausend mille".split(), 1_000),
    **dict.fromkeys("million millionen millions millones milhões milioni".split(), 1_000_000),
}
ORDINALS: Mapping[str, int] = _numbered(
    """
    first erste ersten erstes erster
    second zweite zweiten zweites zweiter
    third dritte dritten drittes dritter
    fourth vierte vierten viertes vierter
    fifth fünfte fünften fünftes fünfter
    """
)

NEWEST = frozenset(
    """
    latest newest last neueste neuesten neuester neuestes aktuellste aktuellsten jüngste jüngsten letzte letzten letzter letztes
    dernier dernière derniers dernières último última últimos últimas ultimo ultima ultimi ultime
    """.split()
)
FORMER = frozenset(
    """
    before former formerly previous previously original originally initial initially earlier
    früher frühere früheren früherer ehemalig ehemalige ehemaligen ehemals vorherig vorherige vorherigen damals
    ancien ancienne auparavant anterior antiguo antigua antigo antiga precedente
    """.split()
)

# Italian "mai" is missing, which is a month in German.
_NEGATION = re.compile(
    r"\b(?:not|never|no|cannot|(?:do|does|did|wo|ca|was|is|are|were|has|have|had|must|should|could|would)n['’]t"
    r"|nicht|nichts|kein\w*|nie|niemals|pas|jamais|aucun\w*|nunca|jamás|ning[uú]n\w*|não|nenhum\w*|non(?!-))\b",
    re.IGNORECASE,
)


def denies(text: str) -> bool:
    """Whether *text* contains a word of negation."""
    return _NEGATION.search(text) is not None


def language_of(words: Collection[str]) -> str:
    """Return the language with the most function words among *words*, in lower case; empty with fewer than two."""
    counts = {language: len(some.intersection(words)) for language, some in FUNCTION_WORDS.items()}
    language = max(counts, key=counts.__getitem__)  # English, the first, wins ties
    return language if counts[language] >= LEAST_FUNCTION_WORDS else ""


def script_of(text: str) -> str:
    """Return the script of most letters of *text*, such as ``cyrillic``; empty for Latin letters. Kana count as CJK."""
    scripts = Counter(unicodedata.name(sign, "").partition(" ")[0] for sign in text if sign.isalpha())
    scripts["CJK"] += scripts.pop("HIRAGANA", 0) + scripts.pop("KATAKANA", 0)
    script = max(scripts, key=scripts.__getitem__)
    return script.lower() if scripts[script] and script != "LATIN" else ""


def function_words(words: Collection[str]) -> frozenset[str]:
    """
    Return the function words of the languages of a question: English, another language if it has more of them, and
    each that has two of the other words.

    Args:
        words: The words of the question, in lower case.
    """
    functional = STOP_WORDS | FUNCTION_WORDS[language_of(words) or "en"]
    while language := language_of(UNINFLECTED.intersection(words) - functional):
        functional |= FUNCTION_WORDS[language]
    return functional


def any_of(names: Iterable[str]) -> str:
    """Return a pattern for any of *names*, longest first."""
    return "|".join(re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name)))
