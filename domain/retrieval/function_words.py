"""Function words of European languages beside English, and the language of a question."""

from __future__ import annotations

from collections.abc import Collection
from types import MappingProxyType

LEAST = 2  # function words of a language that a question must have: "die" alone is English as well

_WORDS = {
    "de": """
    aber alle allem allen aller alles als also am an auch auf aus bei beim bin bis bist da dann das dass dein deine dem den
    der des die dies diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines er es etwas euch
    euer für gab gibt habe haben hat hatte hatten hier ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ist ja jede jedem
    jeden jeder jedes kann kein keine keinen können konnte man mein meine meinem meinen meiner mich mir mit muss müssen nach
    nicht noch nun nur ob oder ohne schon sein seine seinem seinen seiner seit sich sie sind so soll sollen über um und uns
    unser unsere unserem unseren unserer unter vom von vor wann war waren warum was wegen welche welchem welchen welcher
    welches wem wen wenn wer werde werden wessen wie wieder wieso wieviel will wir wird wo wohin wollen worden wurde wurden
    zu zum zur
    """,
    "fr": """
    ai as au aux avec avez avons c ce cela ces cet cette chez combien comment d dans de depuis des du elle elles en est et
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
    "nl": """
    aan al als bij daar dan dat de der deze die dit door een en er had hadden heb hebben heeft het hier hij hoe hoeveel ik in
    is je jij jouw kan kunnen maar me met mij mijn na naar niet nog nu of om ons onze ook op over te tegen toen tot u uit van
    veel voor waar waarom wanneer waren was wat we welk welke werd wie wij wil zal ze zich zij zijn zo zonder zou
    """,
}
FUNCTION_WORDS = MappingProxyType({name: frozenset(text.split()) for name, text in _WORDS.items()})


def function_words_in(words: Collection[str], english: Collection[str]) -> frozenset[str]:
    """
    Return the function words of the language of a question; empty for English and for an unknown language.

    The language is the one with most function words in the question: at least `LEAST`, and more than English has.

    Args:
        words: The words of the question, in lower case.
        english: Function words of English.
    """
    asked = frozenset(words)
    found, spoken = max(((len(asked & some), name) for name, some in FUNCTION_WORDS.items()))
    if found < LEAST or found <= len(asked & frozenset(english)):
        return frozenset()
    return FUNCTION_WORDS[spoken]
