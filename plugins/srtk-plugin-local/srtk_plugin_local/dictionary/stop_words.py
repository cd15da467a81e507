"""Function words by language, which are not names by themselves in lower case, and the language of a text by them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from srtk_framework.text import words
from srtk_plugin_local.dictionary.word_spans import Words

STOP_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": """
            a about after all along also am among an and any are as at be because been before being between both but
            by can could did do does doing done down during each else etc ever every few for from give given had has
            have having he her here hers him his how however i if in into is it its itself just let list many may me
            might mine more most much must my name neither no nor not of off on once one only or other others our
            ours out over own per please same shall she should show since so some such tell than that the their
            theirs them then there these they this those through to together too under until up upon us very was we
            were what when where whether which while who whom whose why will with within without would yes yet you
            your yours""",
        "de": """
            ab aber alle allem allen aller alles als also am an auch auf aus bei beim bin bis bist da dann das dass
            dein dem den denn der des die dies diese diesem diesen dieser dieses doch dort du durch ein eine einem
            einen einer eines er es für gegen gib gibt hab habe haben hat hatte hatten hier ich ihm ihn ihr ihre ihrem
            ihren ihrer im in ist ja jede jedem jeden jeder jedes kann kein keine können man mehr mein mit muss nach
            nenne nicht noch nun nur ob oder ohne sein seine seinem seinen seiner seit sich sie sind so über um und uns
            unser unter vom von vor war waren warum was weil welche welchem welchen welcher welches wem wen wenn wer
            werden wessen wie wieder wir wird wo wohin woher wurde wurden zu zum zur zwischen""",
        "fr": """
            à au aux avec ce cela ces cet cette ceux chez comme combien comment d dans de depuis des dont du elle
            elles en entre es est et eu eux il ils j je l la là laquelle le lequel les lesquelles lesquels leur
            leurs lui m ma mais me mes moi mon n ne ni non nos notre nous on ont ou où par pas pendant plus pour
            pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se ses si son sont sous sur t ta te
            tes toi ton tous tout toute toutes tu un une vers vos votre vous y a été était étaient ai as avait""",
        "es": """
            a al algo antes aquel aquella como cómo con contra cual cuál cuales cuáles cuando cuándo cuanto cuánta
            cuántas cuánto cuántos dame de del desde donde dónde durante e el él ella ellas ellos en entre era eran
            es esa ese eso esta está están este esto fue fueron ha hay la las le les lo los más me mi muy nada ni no
            nos o otra otro para pero por porque que qué quien quién quienes quiénes se ser si sí sin sobre son su
            sus también tan te tiene todo todos tu tú un una unas uno unos y ya yo""",
        "it": """
            a ad ai al alla alle allo anche c che chi ci come con cosa cui d da dai dal dalla dalle dei del della
            delle dello di dopo dove e è ed egli era erano essere fra gli ha hanno i il in io l la le lei lo loro
            lui ma mi nei nel nella nelle noi non o ogni per perché più qual quale quali quando quanti quanto quella
            quelle quelli quello questa queste questi questo se si sia sono sono stata stato su sua sue sugli sui
            sul sulla suo suoi tra tu un una uno vi voi""",
        "nl": """
            aan al alle als bij dan dat de deze die dit doch door dus een en er haar had hebben heeft hem hen het
            hij hoe hoeveel hun ik in is ja je kan men met mijn na naar niet nog nu of om onder ons ook op over te
            tegen tot uit van veel voor waar waarom wanneer want waren was wat we welk welke werd werden wie wij zal
            ze zich zij zijn zo zonder""",
        "pt": """
            a ao aos as até com como da das de dela dele delas deles depois do dos e é ela elas ele eles em entre
            era eram essa esse esta está este eu foi foram há isso isto já lhe mais mas me meu minha muito na não
            nas nem no nos nós o onde os ou para pela pelas pelo pelos por porque qual quais quando quanto quantos
            que quem se sem ser seu seus só são sobre sua suas também te tem um uma umas uns você""",
    }.items()
}

DEFAULT = "en"

# Function words by which a text is in another language than English; `die` and `was` are English words too.
SURE = 2


def language_of(words: Iterable[str]) -> str:
    """Return the code of the language that most different words of a text are function words of; English if unsure.

    Args:
        words: Words in lower case.
    """
    some = frozenset(words)
    counts = {language: len(some & known) for language, known in STOP_WORDS.items()}
    best = max(counts, key=lambda language: counts[language])  # of equals the first: English
    return best if counts[best] >= SURE else DEFAULT


def is_foreign(words: Iterable[str]) -> bool:
    """Return whether a text is visibly in another language than English: it has more function words of that language.

    Args:
        words: Words in lower case.
    """
    some = frozenset(words)
    known = STOP_WORDS[language_of(some)]
    return len(some & known) - len(some & STOP_WORDS[DEFAULT]) >= SURE


class FunctionWords:
    """The function words of texts: of the given languages, or of the language of each text.

    Args:
        languages: Codes of languages; None for the language of each text.
        given: Words in the place of the languages' words.
    """

    def __init__(self, languages: Sequence[str] | None, given: Sequence[str] | None = None) -> None:
        self._languages = languages
        if given is None and languages is not None:
            given = [word for language in languages for word in STOP_WORDS[language]]
        self._words = None if given is None else frozenset(word.lower() for word in given)

    def parse(self, text: str) -> Words:
        """Divide a text into words, by its function words and its language."""
        if self._languages is None:
            language = language_of(text[start:end].lower() for start, end in words(text))
        else:
            language = next(iter(self._languages), DEFAULT)
        return Words(text, STOP_WORDS[language] if self._words is None else self._words, language)
