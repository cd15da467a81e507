"""The kind of answer that a question in English expects, by its first words, and the ends of a path that are of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

from srtk_framework.text import fold

PERSON, PLACE, WORK, GROUP = "person", "place", "work", "group"
TIME, NUMBER, THING, TRUTH = "time", "number", "thing", "truth"
MARK = "¤"
"""Stands for a topic's mention."""
PHRASES = {
    PERSON: "person",
    PLACE: "place location",
    TIME: "date year",
    NUMBER: "number amount",
}
"""Texts that are compared with relations, for kinds that name no class of their own."""


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


_ASK = word_set("which what what's whats whose")
_ORDER = word_set("name list give show find identify state mention tell count enumerate")
_SKIPPED = word_set(
    """
    a an the all any some each every other of one two three four five me us another both names number is are was were
    many how s
    """
)
_BOUNDS = word_set(
    """
    a an the his her its their of in on at by for from to with within into between among near about before after since
    until during that which who whom whose what where when why how there it he she they is are was were am be been do
    does did has have had can could will would and or not
    """
)
_DETERMINERS = word_set("a an the his her its their")
_WHITHER = word_set("to into through across against over under")
"""Prepositions that follow a verb rather than a noun: *which river flows into*."""
_TIME = re.compile(
    r"^(?:and |so )?(?:(?:since |until |till |from |by )?when\b"
    r"|(?:in |on |since |by |from |until )?(?:what|which) (?:\w+ )?(?:years?|dates?|days?|decade|month|century)\b)"
)
_COUNT = re.compile(
    r"\bhow many\b|\b(?:the|what|total) number of\b|^(?:the )?(?:number|count) of\b|\bcount (?:the|how|all|up)\b"
    r"|^count\b"
)
_NUMBER = re.compile(
    r"^how (?:much|tall|high|long|large|big|old|far|heavy|deep|wide|fast|populous|expensive|dense|strong)\b"
)
_PERSON = re.compile(r"^(?:to |by |with |for |of |and )*(?:who|whom|whose|who's)\b")
_PLACE = re.compile(r"^(?:from |to |and )?where\b")
_TRUTH = re.compile(r"^(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would)\b")
_OPERATES = re.compile(
    r"\b(?:most|least|fewest|worst|(?:first|last)(?! names?\b)|second|third|fourth|fifth|before|(?<!named )after|since"
    r"|until|than|more|less|fewer|except|without|(?:1\d|20)\d\d|\d{1,3}(?:st|nd|rd|th))\b"
)
_SUPERLATIVE = re.compile(r"\b[a-z]+est\b")
_NO_SUPERLATIVES = word_set(
    """
    arrest attest behest bequest breast conquest contest crest detest digest divest forest guest harvest honest infest
    ingest inquest interest invest jest manifest midwest modest molest nest northwest pest priest protest quest request
    rest southwest suggest tempest test unrest vest west wrest zest
    """
)
_WORD = re.compile(r"'s\b|[^\W_]+(?:['.&-][^\W_]+)*|[^\w\s]")
_YEAR = re.compile(r"^-?\d{3,4}(?:-\d\d?(?:-\d\d?)?)?(?:T.*)?$|^\d{1,2}[./ ]\w+[./ ]\d{4}$|^\w+ \d{1,2}, \d{4}$")
_AMOUNT = re.compile(r"^[-+]?\d[\d.,]*(?:e[-+]?\d+)?(?: ?[^\W\d]{1,6}(?:/\w+)?)?$", re.IGNORECASE)


@attrs.frozen
class AnswerKind:
    """The kind of answer that a question expects.

    Attributes:
        kind: ``person``, ``place``, ``work``, ``group``, ``time``, ``number``, ``thing`` or ``truth``.
        noun: The noun phrase that names the class of the answer, in small letters; empty if there is none.
        several: Whether that noun is in plural.
        counted: Whether things are counted: the answer is a number, and the ends of the path are the things.
    """

    kind: str
    noun: str = ""
    several: bool = False
    counted: bool = False

    @property
    def end(self) -> str | None:
        """The kind of the ends that it expects, if its words name it."""
        return noun_kind(self.noun) if self.kind == THING else None if self.kind == TRUTH else self.kind

    @property
    def phrase(self) -> str:
        """The text to compare with relations; empty where the question names no kind of answer."""
        return self.noun or PHRASES.get(self.kind, "")


def answer_kind(text: str) -> AnswerKind:
    """Return the kind of answer that a question expects; imperatives (*list the films*) count as questions.

    Args:
        text: The question; mentions of topics may be marked.
    """
    folded = fold(text).replace("’", "'")
    noun = _noun(_WORD.findall(folded.replace("'s", " 's")))
    plain = " ".join(folded.replace(MARK, " ").split())
    several = noun.endswith("s") and not noun.endswith(("ss", "us", "is"))
    if _COUNT.search(plain):
        return AnswerKind(THING, noun, several, counted=True)
    if _TIME.match(plain):
        return AnswerKind(TIME)
    if _NUMBER.match(plain):
        return AnswerKind(NUMBER)
    if _PERSON.match(plain) and not plain.startswith("whose"):
        return AnswerKind(PERSON)
    if _PLACE.match(plain):
        return AnswerKind(PLACE)
    if _TRUTH.match(plain):
        return AnswerKind(TRUTH)
    return AnswerKind(THING, noun, several)


def operates(text: str) -> bool:
    """Return whether a question without its mentions has words of an order, a comparison, a negation or a year."""
    plain = fold(text)
    return _OPERATES.search(plain) is not None or any(
        word not in _NO_SUPERLATIVES for word in _SUPERLATIVE.findall(plain)
    )


def literal_kind(label: str) -> str | None:
    """Return ``time`` or ``number`` for the text of a date or of an amount, else None."""
    text = label.strip()
    if _YEAR.match(text):
        return TIME
    return NUMBER if _AMOUNT.match(text) else None


def _noun(words: Sequence[str]) -> str:
    """Return the words between *which*, *how many* or an imperative and the next word that ends the phrase."""
    for place, word in enumerate(words):
        begins = word in _ASK or (place == 0 and word in _ORDER) or (word in ("many", "number") and place > 0)
        if not begins:
            continue
        run: list[str] = []
        bound = ""
        for one in words[place + 1 :]:
            if one == "'s":
                run = []  # What is asked for comes last: Anna's daughter's name.
                continue
            if not run and (one in _SKIPPED or one == MARK):
                continue
            if one in _BOUNDS or not one[0].isalpha():
                bound = one
                break
            run.append(one)
        if word in _ASK and len(run) > 1 and _is_verb(run[-1], run[-2], bound):
            run.pop()
        return " ".join(run[:3])
    return ""


def _is_verb(word: str, before: str, bound: str) -> bool:
    """Return whether the last word before the end of a phrase is a verb: *which building houses the archive*.

    *Which film stars ¤* has a verb before its end, and *which football club ¤ plays for* has none.
    Participles stay, as they are often in the name of the relation: *person directed*, directed by.
    """
    if word.endswith(("ed", "ing")):
        return False
    if bound in _DETERMINERS or bound == MARK:
        return _known(word) is None or _known(before) is not None
    return bound in _WHITHER and _known(word) is None and word.endswith("s") and not before.endswith("s")


_NOUNS = {
    PERSON: word_set(
        """
        person people human man woman actor actress artist author writer screenwriter novelist poet director producer
        creator founder inventor composer singer musician performer president leader monarch ruler king queen head
        mayor chancellor minister governor chairman officer ceo spouse wife husband partner couple child children kid
        son daughter offspring heir parent father mother dad mom sibling brother sister relative ancestor descendant
        predecessor successor player footballer athlete coach trainer manager owner member employee student pupil
        teacher advisor scientist physicist philosopher politician painter architect designer editor narrator
        cinematographer star cast crew nominee winner character celebrity lyricist developer engineer bishop
        """
    ),
    PLACE: word_set(
        """
        place location country nation land city town village state province region district county territory
        continent capital birthplace headquarters residence area island river mountain sea lake ocean border
        neighbour neighbor municipality venue nationality citizenship republic kingdom destination street
        """
    ),
    WORK: word_set(
        """
        film movie book novel song album show series episode play game poem painting single musical opera magazine
        comic anime soundtrack flick picture
        """
    ),
    GROUP: word_set(
        """
        team club band organization organisation company corporation firm party university school college employer
        league agency institution label studio network airline bank association federation
        """
    ),
    TIME: word_set("date year day month century decade birthday time anniversary"),
    NUMBER: word_set("population number amount height length elevation depth width weight density votes rating size"),
}
_OF_SUBJECT = {
    PERSON: word_set(
        """
        birth born death died birthplace spouse wife husband child children parent father mother sibling gender sex
        nationality citizenship occupation profession religion education educated mater position plays team club
        instrument ethnicity residence employer party relation doctoral
        """
    ),
    PLACE: word_set("capital currency population border borders continent timezone official governor mayor leader"),
    WORK: word_set(
        """
        directed written starred starring cast director writer screenwriter producer release released genre composer
        author publisher cinematography distributor screenplay
        """
    ),
}
_AGENT = ("by",)
_LOCATED = word_set("in at from")


def noun_kind(noun: str) -> str | None:
    """Return the kind of thing that a noun phrase names, by its last word; None where it is not known."""
    words = noun.split()
    return None if not words else _known(words[-1])


def end_kind(label: str, inverse: bool) -> str | None:
    """Return the kind of thing that a step leads to, by its relation's label in words; None where it is not known.

    *directed by* leads to a person, and against its direction to a work.
    """
    words = fold(label).split()
    if not words:
        return None
    if inverse:
        return next((kind for kind, known in _OF_SUBJECT.items() if known & set(words)), None)
    if words[-1] in _AGENT:
        return PERSON
    if words[-1] in _LOCATED and len(words) > 1:
        return PLACE
    if len(words) > 2 and words[-2] in ("in", "for") and (known := _known(words[-1])):
        return known  # Plays in club, is in country.
    # Place of birth, date of death: the word before the preposition.
    stop = next((place for place, word in enumerate(words) if place and word in ("of", "in", "for")), len(words))
    return _known(words[stop - 1])


def _known(word: str) -> str | None:
    forms = {word, word.removesuffix("s"), word.removesuffix("es")}
    if word.endswith("ies"):
        forms.add(word[:-3] + "y")
    return next((kind for kind, known in _NOUNS.items() if known & forms), None)
