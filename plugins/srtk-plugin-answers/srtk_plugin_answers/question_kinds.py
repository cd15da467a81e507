"""The kind of a question by its words: the operation on the facts that answers it."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Container, Sequence
from typing import Literal, get_args

import attrs

from srtk_framework.text import without_mentions
from srtk_framework.values import Link, Question
from srtk_plugin_answers.question_classes import (
    ASKING,
    KEPT_TEXTS,
    PEOPLE,
    asked_classes,
    singular,
    stems_of,
    word_set,
    words_of,
)
from srtk_plugin_answers.question_values import value_constraints

Kind = Literal["lookup", "count", "superlative", "ordinal", "comparison", "yes-no", "difference", "time-bound"]
KINDS: tuple[Kind, ...] = get_args(Kind)


_ORDINALS = {
    word: rank
    for rank, word in enumerate(
        ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"], 1
    )
}
_LAST = frozenset(["last", "latest", "newest"])
_GREAT = word_set(
    """
    best biggest broadest costliest dearest deadliest deepest farthest fastest furthest greatest heaviest highest
    hottest largest longest most northernmost priciest richest strongest tallest top widest youngest
    """
)
# The oldest has the earliest date, the youngest the latest.
_SMALL = word_set(
    """
    cheapest closest coldest earliest fewest least lightest lowest nearest narrowest oldest poorest shallowest
    shortest slowest smallest southernmost weakest
    """
)
_AGED = word_set("oldest youngest older younger")
_MEASURED = {
    word: measure
    for measure, words in {
        "price or cost": "cheapest costliest dearest priciest",
        "age, date of birth, founded": "oldest youngest",
        "date or year": "earliest latest newest last",
        "length or duration": "longest shortest",
        "height or elevation": "tallest highest lowest",
        "depth": "deepest shallowest",
        "weight or mass": "heaviest lightest",
        "speed": "fastest slowest",
        "width": "widest narrowest broadest",
        "distance": "nearest farthest furthest closest",
        "temperature": "hottest coldest",
        "wealth or income": "richest poorest",
        "rating or score": "best",
    }.items()
    for word in words.split()
}
"""What a superlative that stands alone orders by."""
_HOW_MEASURED = {
    adjective: _MEASURED[superlative]
    for adjective, superlative in {
        "tall": "tallest",
        "high": "highest",
        "long": "longest",
        "deep": "deepest",
        "heavy": "heaviest",
        "fast": "fastest",
        "wide": "widest",
        "far": "farthest",
        "expensive": "priciest",
    }.items()
}
"""What *how heavy* asks for."""
_ORDERING = _GREAT | _SMALL | frozenset(["most"])
_MANY = word_set("most fewest least")
_OFTEN = word_set("often frequently times")
_NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
# "The 1990 films" has a year, no number of places; few ask for more than fifty.
_MOST_PLACES = 50
_LESS = word_set("cheaper colder earlier fewer less lower nearer older poorer shorter slower smaller sooner")
_MORE = _LESS | word_set(
    """
    bigger better dearer deeper farther faster further greater heavier higher hotter larger later longer more newer
    richer taller wider younger
    """
)
_AUXILIARY = word_set(
    """
    is are was were am do does did has have had can could will would should may might must isn't aren't wasn't
    weren't don't doesn't didn't hasn't haven't hadn't
    """
)
_REQUESTS = word_set("can could will would")
_NOT_ORDINAL = re.compile(
    r"\b(?:first|last|second|third|fourth)[ -](?:of july|names?|lad(?:y|ies)|person|world|world's|aid|hand|language"
    r"|grade|class|weekday|day|half)\b"
    r"|\b(?:world war|division|part|season|film|episode) (?:one|two|first|second)\b"
)
_COUNT = re.compile(
    r"^(?:the )?(?:number|count) of\b|\bhow many\b|\b(?:the|what|total) number of\b|\bhow often\b"
    r"|\bcount (?:the|how|all|up)\b"
)
_DIFFERENCE = re.compile(
    r"\b(?:not|never|except|excluding|without|besides|neither|nor|apart from|aside from|other than"
    r"|but (?:lost|no|for))\b"
    r"|n't\b|\bcannot\b"
)
_TIME = re.compile(
    r"\b(?:in|during|before|after|since|until|till|by|as of|from|between|around|of) (?:the )?(?:early |late |mid-?)?"
    r"(?:year )?(?:1\d|20)\d\ds?\b|\b(?:1\d|20)\d\d\b|\b(?:currently|nowadays|at present|today)\b"
)
_YEAR = re.compile(r"\b(?:1\d|20)\d\d\b")
_MAJORITY = word_set("do does did for by in among where that to from at")
_COUNTED_IN = re.compile(
    r"\bhow many (?P<noun>[\w-]+(?: (?!is|are|was|were|does|do|did|more|fewer|less|ahead|behind)[\w-]+)?)\b"
)
_TIME_UNITS = word_set("years year months days more fewer less")
_COUNTED = re.compile(r"^(?:the )?(?:number|count) of ", re.IGNORECASE)
_ASKING = re.compile(r"\b(?:which|who|what)\b")
_AMOUNT = re.compile(r"\bthan (?:\d|once|twice|one|two|three|four|five|six|seven|eight|nine|ten|a |an )")
_NO_END = re.compile(r"\bat (?:least|most)\b|\bmost of\b|\bmost likely\b")
_WORD = re.compile(r"[\w'’-]+")
_NUMBERED = re.compile(r"^(\d{1,3})(?:st|nd|rd|th)$")


@attrs.frozen
class QuestionKind:
    """The operation on facts that a question asks for.

    Attributes:
        kind: One of ``KINDS``.
        greatest: Whether the greatest value is asked for (the most, the later) rather than the least; None for neither.
        rank: Place from that end: 1 for the largest, 2 for the second largest.
        year: A year that it names, or None.
        places: How many places of the order are asked for, from the rank on: 3 for the three largest.
    """

    kind: Kind
    greatest: bool | None = None
    rank: int = 1
    year: int | None = None
    places: int = 1


def unnamed_text(question: Question) -> str:
    """Return the text of a question with a letter in place of each linked name.

    Names have words that would decide the kind of a question, such as *not*, *last* or *total*. Mentions without a
    capital letter are words, and stay. Only a mention with *or* between words is replaced: a *sign or symptom* is no
    choice.
    """
    names = [link for link in question.links if _is_name(_mention(question, link))]
    return without_mentions(question, names, {}, "X") if names else question.text


def _mention(question: Question, link: Link) -> str:
    return link.name or "" if link.start is None else question.text[link.start : link.end]


def _is_name(mention: str) -> bool:
    return any(map(str.isupper, mention)) or " or " in mention


@functools.lru_cache(maxsize=KEPT_TEXTS)
def kind_of(question: str) -> QuestionKind:
    """Classify a question in English by its words.

    A question may be of several kinds at once. The first that fits decides, as it needs the most facts: comparison,
    yes-no, count, difference, ordinal, superlative, time-bound. A bound on a number (*more than 2000*) is neither a
    comparison nor a negation nor a year.
    """
    text = " ".join(_without_numbers(question).casefold().replace("’", "'").split())
    found = _YEAR.search(text)
    year = int(found.group()) if found else None
    words = _WORD.findall(text)
    greatest, rank = _end(words, text)
    compared = _compares(words, text, greatest, rank)
    if compared is not None:
        return QuestionKind("comparison", compared, year=year)
    if _is_polar(words):
        return QuestionKind("yes-no", _asks_for_more(words), year=year)
    if _COUNT.search(text):
        return QuestionKind("count", year=year)
    if _DIFFERENCE.search(text):
        return QuestionKind("difference", year=year)
    if rank is not None:
        return QuestionKind("ordinal", greatest, rank, year)
    if greatest is not None:
        return QuestionKind("superlative", greatest, year=year, places=_places(words))
    return QuestionKind("time-bound" if _TIME.search(text) else "lookup", year=year)


def _asks_for_more(words: Sequence[str]) -> bool | None:
    """Return whether the first comparative asks for the greater value (*larger*, *later*); None if there is none."""
    compared = next((word for word in words if word in _MORE), None)
    return None if compared is None else compared not in _LESS


def _compares(words: Sequence[str], text: str, greatest: bool | None, rank: int | None) -> bool | None:
    """Return whether a comparison of two things asks for the greater; None if a question compares nothing."""
    more = _asks_for_more(words)
    if more is not None and "or" in words:
        return more
    if _is_polar(words):
        order = next((word for word in words if word in ("before", "after")), None)
        if order is not None:
            return order == "after"
        return more if "than" in words and not _AMOUNT.search(text) else None
    if _is_choice(text) and (greatest is not None or rank == 1):
        return greatest or False
    if _COUNT.search(text):
        return None
    is_than = "than" in words and not _DIFFERENCE.search(text)
    return more if is_than or (_is_between(text) and not _AMOUNT.search(text)) else None


_BEFORE_ORDER = word_set(
    "the a an is are was were has have had with second third fourth fifth sixth seventh eighth ninth tenth"
)
_ENDS_ORDER = word_set(
    """
    of in on at by for from to with that which who whose is are was were has have had does do did and or the a an its
    their next near bordering neighbouring around among
    """
)


def _is_majority(words: Sequence[str], place: int) -> bool:
    """Return whether *most* stands for most of something: *when do most shops close*; *at least* is a bound."""
    return words[place] in _MANY and place > 0 and words[place - 1] in _MAJORITY


def ordering_words(label: str) -> bool:
    """Return whether a relation's name orders, as *largest city* does."""
    return any(word in _ORDERING or word in _ORDINALS for word in _WORD.findall(label.casefold().replace("_", " ")))


def order_phrase(text: str) -> str:
    """Return the words of a question from its superlative to the end of its noun: *most populous town*."""
    return order_clause(text)[1]


def measured_noun(question: str) -> str | None:
    """Return the unit that a difference is counted in, as *square kilometres*; None for units of time."""
    found = _COUNTED_IN.search(question.casefold())
    noun = None if found is None else found["noun"]
    return None if noun is None or noun in _TIME_UNITS else noun


def order_noun(order: str) -> str:
    """Return the noun of an order, as *area* of *largest area*; nothing where a superlative or an ordinal has none."""
    words = order.casefold().split()
    rest = next((words[i:] for i, word in enumerate(words) if not _is_place(word)), [])
    named = len(rest) < len(words) and words[0] != "most" and " ".join(rest) not in _MEASURED.values()
    return " ".join(rest) if named else ""


def _is_place(word: str) -> bool:
    return word in _ORDERING or word in _ORDINALS or word in _NUMBERS or word in _LAST or bool(_NUMBERED.match(word))


def value_stems(text: str) -> set[str]:
    """Return the stems of a text's words, and of what its comparatives and superlatives measure: *taller*, height."""
    words = _WORD.findall(text.casefold())
    measures = (_MEASURED.get(f"{word.removesuffix('er')}est" if word.endswith("er") else word, "") for word in words)
    return stems_of(" ".join([*words, *measures]))


def order_clause(text: str, nouns: Container[str] = ()) -> tuple[str, str]:
    """Part a question with a superlative or an ordinal in English into its set and its order.

    Args:
        text: The question.
        nouns: Words of the class that is asked for, in singular: they are no part of the order.

    Returns:
        The text without the order, and the words of the order: of *Which neighbour of Latvia has the largest area?*
        they are *Which neighbour of Latvia* and *largest area*. The whole text twice where no word orders.
    """
    words, plain = _order_words(text)
    at = next((i for orders in _ORDERS for i, word in enumerate(plain) if orders(word)), None)
    if at is None:
        return text, text
    end = _order_end(words, plain, at, nouns)
    start, by_verb = _order_start(plain, at, nouns)
    measured = _MEASURED.get(plain[at]) if end == at + 1 and not by_verb else None
    ordered = [word for word in words[start if by_verb else at : end] if word.casefold() != "the"]
    # By area, wherever it stands.
    by = next((i for i in range(end, len(plain) - 1) if plain[i] == "by" and plain[i + 1] not in _ENDS_ORDER), None)
    rest = [*words[:start], *words[end:by], *(words[by + 2 :] if by is not None else [])]
    added = [words[by + 1]] if by is not None else [measured] if measured else []
    return " ".join(rest), " ".join([*ordered, *added])


# A superlative anywhere in a question orders it before an ordinal does, and *last* is often a word of something else.
_ORDERS: Sequence[Callable[[str], object]] = (
    lambda word: word in _ORDERING or word.rpartition("-")[2] in _ORDERING,
    lambda word: word in _ORDINALS or _NUMBERED.match(word),
    lambda word: word in _LAST,
)


def _order_words(text: str) -> tuple[list[str], list[str]]:
    """Return the words of a question as they are written, and in small letters without marks."""
    words = text.rstrip(" ?.!").split()
    return words, [word.casefold().strip(",;:") for word in words]


def _order_end(words: Sequence[str], plain: Sequence[str], at: int, nouns: Container[str]) -> int:
    """Return the place behind the words of an order: at most two name its value, as in *most populous*."""
    end = at + 1
    if plain[at] in _MANY:
        end += 1
    while end < min(len(plain), at + 3) and plain[end] not in _ENDS_ORDER and singular(plain[end]) not in nouns:
        if words[end - 1].endswith((",", ";")):
            break
        end += 1
    return end


def _order_start(plain: Sequence[str], at: int, nouns: Container[str]) -> tuple[int, bool]:
    """Return the first place of an order, and whether a verb that names its value stands there."""
    start = at
    while start and plain[start - 1] in _BEFORE_ORDER:
        start -= 1
    if start < 2:
        return start, False
    # Which was founded first, or approved the longest.
    by_verb = at == len(plain) - 1 and plain[start - 1].endswith(("ed", "en", "ade", "uilt", "orn", "ame"))
    # That sleep the least; the longest has a measure of its own.
    at_end = plain[start:] == ["the", plain[at]] and plain[at] in _MANY and plain[start - 1] not in nouns
    return (start - 1, True) if by_verb or at_end else (start, False)


@attrs.frozen
class CountedOrder:
    """An order by how many of something each has.

    Attributes:
        noun: The counted noun, such as *official languages*; empty in *was ordered most often*.
        text: The question without its order; of several clauses only the clause with the order.
    """

    noun: str
    text: str


@functools.lru_cache(maxsize=KEPT_TEXTS)
def counted_order(text: str) -> CountedOrder | None:
    """Return the order by counts of a question in English with *the most*, *the fewest* or *by number of*, if any.

    The counted noun is in plural: *the most neighbours*, but *the most money*. Where only words that ask stand before
    *most*, the next word orders: *the most populous towns*.
    """
    words, plain = _order_words(text)
    for place, word in enumerate(plain):
        begin, dropped = place + 1, {"the"}
        if word == "number" and plain[begin : begin + 1] == ["of"]:
            if not (_ORDERING | {"by"}) & {*plain[max(0, place - 2) : place]}:
                continue
            begin, dropped = begin + 1, {"the", "with", "by", *_ORDERING}
        elif word not in _MANY or ASKING.issuperset(plain[:place]) or _is_majority(plain, place):
            continue
        noun = _counted_noun(plain[begin : begin + 3])
        if noun is not None:
            start = place
            while start and plain[start - 1] in dropped:
                start -= 1
            # Of "Of the countries of Africa, which has the most ..." the second part alone says what is counted.
            clause = max((i + 1 for i, one in enumerate(words[:start]) if one.endswith((",", ";", ":"))), default=0)
            rest = [*words[clause:start], *words[begin:]]
            return CountedOrder(noun, " ".join(one for one in rest if one.casefold() != "top"))
    return None


def _counted_noun(words: Sequence[str]) -> str | None:
    """Return the words up to the first noun in plural; none for *often*, or at the end of a question."""
    if not words or words[0] in _OFTEN:
        return ""
    for size, word in enumerate(words, 1):
        if word in _ENDS_ORDER:
            return None
        if singular(word) != word:
            return " ".join(words[:size])
    return None


def _places(words: Sequence[str]) -> int:
    """Return how many places of an order are asked for: *top three*, *the five largest*, *two towns with the most*."""
    for place, word in enumerate(words):
        number = int(word) if word.isascii() and word.isdecimal() else _NUMBERS.get(word, 0)
        before, after = words[:place], words[place + 1 :]
        if not 1 < number <= _MOST_PLACES:
            continue
        ordered = _ORDERING & {*after[:1]} or after[:2] == ["of", "the"] or _HAVING & {*after[:4]}
        if before[-1:] == ["top"] or (ASKING.issuperset(before) and "of" not in before and ordered):
            return number
    return 1


_HAVING = word_set("with have has had having by that which who")
# In *countries whose area* nobody asks for an area.
_WHOSE = re.compile(r"^\w+ whose\b", re.IGNORECASE)
_OF_ORDER = re.compile(
    r"^(?!(?:when|where|how|why|in|is|are|was|were|do|does|did|has|have) )"
    rf"(?:the )?(?:top |(?:[\w-]+ ){{1,3}}(?:with|having|that|which|who) .*\b(?:{'|'.join(sorted(_ORDERING))})\b)",
    re.IGNORECASE,
)
"""A question that is the noun phrase of an order: *the country with the most airports*."""


@functools.lru_cache(maxsize=KEPT_TEXTS)
def classes_asked(text: str) -> tuple[str, ...]:
    """Return the phrases of ``asked_classes`` without the words that order: of *most populous city* it is *city*."""
    found = []
    phrases = asked_classes(_COUNTED.sub("how many ", text))
    if asks_for_things(text) and (not phrases or _WHOSE.search(text)):
        phrases = asked_classes(f"which {text}")
    if not phrases and _OF_ORDER.search(text):
        phrases = asked_classes(f"which {text}")
    for phrase in phrases:
        words = phrase.split()
        while len(words) > 1 and (words[0] in _ORDERING or words[0] in _ORDINALS or words[0] in _NUMBERS):
            words = words[2:] if words[0] == "most" and len(words) > 2 else words[1:]
        found.append(" ".join(words))
    return tuple(dict.fromkeys(found))


def class_modifiers(text: str) -> tuple[set[str], str]:
    """Return the words before the noun of the class that a question in English asks for, and it: *blue* and *film*."""
    phrases = [phrase.split() for phrase in classes_asked(text) if phrase not in PEOPLE]
    *first, last = min(phrases, key=len, default=[""])
    # Of *kind of music* the phrase is "music kind".
    return set(first) - _PLAIN if words_of(text).issuperset([*first, last]) else set(), last


_PLAIN = word_set("different other various same distinct further more")


def class_words(text: str) -> set[str]:
    """Return the phrases that may name the class that a question asks for, and their words."""
    return {word for phrase in classes_asked(text) for word in (phrase, *phrase.split())}


def is_of_age(question: str) -> bool:
    """Return whether a question orders by age: of dates the oldest has the least, of numbers of years the greatest."""
    return any(word in _AGED for word in _WORD.findall(question.casefold()))


def is_of_length(question: str) -> bool:
    """Return whether a question orders by length, which of dates is how long ago they are."""
    return any(word.partition("-")[0] in ("longest", "shortest") for word in _WORD.findall(question.casefold()))


Arithmetic = Literal["sum", "average", "distance"]

_SUM = re.compile(r"\b(?:total(?! number)|sum of|combined|altogether|in all|(?:taken|put|all) together)\b")
_AVERAGE = re.compile(r"\b(?:average|mean|on average)\b")
_DISTANCE = re.compile(
    r"\bdifferences? (?:in|between|of)\b|\bapart\b|\bby how (?:much|many)\b"
    r"|^how (?:much|many|far)\b.*\b(?:ahead of|behind)\b|\bhow (?:many years|long) passed\b"
    r"|\bhow (?:much|many)(?: [\w-]+)? (?:more|fewer|less|older|younger|longer|shorter|taller|higher|lower|larger"
    r"|bigger|smaller|heavier|lighter|cheaper|earlier|later|faster|slower|further)\b"
    r"|\bhow (?:many (?:years|months|days)|long) (?:\w+ ){0,3}"
    r"(?:between|after|before|separate|elapsed|passed|lie|older|younger)\b"
)


@functools.lru_cache(maxsize=KEPT_TEXTS)
def arithmetic_of(question: str) -> Arithmetic | None:
    """Return whether a question in English asks for a sum, an average or a distance of numbers; else None."""
    text = question.casefold().replace("’", "'")
    if _DISTANCE.search(text):
        return "distance"
    if _AVERAGE.search(text):
        return "average"
    return "sum" if _SUM.search(text) else None


ValueKind = Literal["date", "number", "name"]
_WHEN = re.compile(
    r"^(?:and |so )?"
    r"(?:(?:since |until |till |from |by )?when\b"
    r"|(?:in |on |since |by |from |until )?(?:what|which) (?:\w+ )?(?:year|date|day|decade|month)\b)"
)
_HOW = re.compile(
    r"^how (?:much|tall|high|long|large|big|old|far|heavy|deep|wide|fast|populous|expensive|dense|strong)\b"
)
_NAMED = re.compile(r"^(?:to |by |with |for |of )?(?:who|whom|whose|where)\b")


def value_kind(question: str) -> ValueKind | None:
    """Return the kind of end that a question in English asks for by its first words, if they name one."""
    text = question.casefold().replace("’", "'").strip()
    if _WHEN.match(text):
        return "date"
    if _HOW.match(text):
        return "number"
    return "name" if _NAMED.match(text) else None


def measure_asked(question: str) -> str | None:
    """Return the measure that *how heavy* and the like ask for in English, or None: *heavy weight or mass*."""
    how, adjective, *_ = [*question.casefold().split(), "", ""]
    return f"{adjective} {_HOW_MEASURED[adjective]}" if how == "how" and adjective in _HOW_MEASURED else None


def asks_for_age(question: str) -> bool:
    """Return whether a question in English asks how old something is."""
    return question.casefold().strip().startswith("how old")


_RELATION = re.compile(
    r"^(?:what|who)(?:'s| is| are| was| were) (?:the |an? )?(?P<noun>[\w-]+(?: [\w-]+){0,2}?) (?:of|in|for) \w"
    r"|^(?:what|who)(?:'s| is| are| was| were) (?:[\w.-]+ ){0,4}?[\w.-]+(?:'s|s') (?P<own>[\w-]+(?: [\w-]+){0,2})\??$"
    r"|^(?:the )?(?P<bare>[\w-]+(?: [\w-]+)?) of \w"
    r"|^(?:the )?(?!(?:who|whom|whose|what|which|where|when|how|why|is|are|was|were|do|does|did|name|list|show|find)\b)"
    r"(?P<within>[\w-]+(?: [\w-]+)?) in \w"
)


def asked_relation(question: str) -> str | None:
    """Return the noun of a question in English that asks for a relation to something: *who is the N of X*."""
    found = _RELATION.match(question.casefold().replace("’", "'").strip())
    return None if found is None else found["noun"] or found["own"] or found["bare"] or found["within"]


_WHO_DOES = re.compile(r"^whom? (?:else )?(?:has |have |had )?(?P<verb>[^\W\d_]{3,})(?: (?!of\b)\w+){0,2} ¤")


def verb_of_who(text: str) -> str | None:
    """Return the verb of a question for who does something to a thing, which stands as a mention: *who directed ¤*."""
    found = _WHO_DOES.match(" ".join(text.casefold().split()))
    return found["verb"] if found and found["verb"] not in _AUXILIARY else None


_OF_THINGS = re.compile(
    r"^(?:(?:in|on|by|with|for|of|to|at) )?(?:which|name|list|give|show|find)\b"
    r"|^what (?!is\b|was\b|does\b|has\b)\w+s\b(?! of\b)"
)


def asks_for_things(question: str) -> bool:
    """Return whether a question in English names the class of its answer, and not a relation to it."""
    return _begins_with_things(question) or bool(_OF_THINGS.match(question.casefold().replace("’", "'").strip()))


def _begins_with_things(question: str) -> bool:
    """Return whether a question begins with a noun in plural: *countries whose area is over 8 million*."""
    first = question.casefold().replace("’", "'").strip().partition(" ")[0]
    return first.isalpha() and singular(first) != first and first not in ("does", "whats", "this")


def is_yes_no(question: str) -> bool:
    """Return whether a question in English is answered by yes or no: an auxiliary begins it, and no *or* is in it."""
    text = _without_numbers(question).casefold().replace("’", "'").replace("# or #", "#")
    words = _WORD.findall(text)
    return _is_polar(words) and "or" not in words


def is_negated(question: str) -> bool:
    """Return whether a question in English has *not* outside of its bounds: *is X not in Y*, but *isn't X in Y*."""
    return bool(re.search(r"\b(?:not|never)\b", _without_numbers(question).casefold()))


def _is_polar(words: Sequence[str]) -> bool:
    """Return whether an auxiliary begins a question; *can you name* is a request."""
    is_request = words[1:2] == ["you"] and words[0] in _REQUESTS
    return bool(words) and words[0] in _AUXILIARY and not is_request


def _is_between(text: str) -> bool:
    """Return whether a question begins with two things to choose from: *between A and B, which …*."""
    first, joined, rest = text.partition("?")[0].partition(" and ")
    return bool(joined) and first.startswith(("of ", "between ")) and bool(_ASKING.search(rest))


def _is_choice(text: str) -> bool:
    """Return whether a question ends with things to choose from: *which is larger: A or B*."""
    tail = text[max(map(text.rfind, ",:;")) + 1 :] if any(mark in text for mark in ",:;") else ""
    return tail.startswith(" ") and " or " in tail.strip()


def _without_numbers(question: str) -> str:
    """Replace the bounds on numbers in a question by a sign that is no word."""
    for one in reversed(value_constraints(question)):
        if not one.date:
            question = f"{question[: one.start]}#{question[one.end :]}"
    return question


def _end(words: Sequence[str], text: str) -> tuple[bool | None, int | None]:
    """Return the end of an order that is asked for, and the place from it that the question names, if any."""
    parts = [part for word in _WORD.findall(_NO_END.sub(" ", text)) for part in word.split("-")]
    small = any(part in _SMALL for part in parts)
    great = any(part in _GREAT and not _is_majority(parts, place) for place, part in enumerate(parts))
    greatest = False if small else True if great else None
    if _NOT_ORDINAL.search(text):
        return greatest, None
    for word in words:
        start = word.partition("-")[0]
        if start in _ORDINALS:
            return greatest, _ORDINALS[start]
        if numbered := _NUMBERED.match(start):
            return greatest, int(numbered.group(1))
        if word in _LAST:
            return True, 1
    return (True, 1) if "most recent" in text else (greatest, None)
