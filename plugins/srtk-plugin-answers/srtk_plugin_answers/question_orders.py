"""The order that a question asks for by its words: its superlative or ordinal, and what it orders."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Container, Mapping, Sequence

import attrs

from srtk_plugin_answers.question_classes import (
    ASKING,
    KEPT_TEXTS,
    singular,
    stems_of,
    word_set,
    words_of,
)

ORDINALS = {
    word: rank
    for rank, word in enumerate(
        ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"], 1
    )
}
_LAST = frozenset(["last", "latest", "newest"])
_GREAT = word_set(
    """
    best biggest broadest costliest dearest deadliest deepest farthest fastest furthest greatest heaviest highest
    hottest largest longest most northernmost priciest quickest richest strongest tallest top widest youngest
    """
)
# The oldest has the earliest date, the youngest the latest.
_SMALL = word_set(
    """
    cheapest closest coldest earliest fewest least lightest lowest nearest narrowest oldest poorest shallowest
    shortest slowest smallest southernmost weakest worst
    """
)
_LENGTHS = word_set("length distance")
TIMES = word_set("duration time minute min hour second day")
"""Words of the names of relations whose least value is the fastest."""
LASTING = word_set("take takes took taken last lasts lasted")
"""Verbs with which *long* means a time and not a length."""
_FAST = word_set("fastest quickest slowest faster quicker slower")
_AGED = word_set("oldest youngest older younger")
MEASURED = {
    word: measure
    for measure, words in {
        "price or cost": "cheapest costliest dearest priciest",
        "age, date of birth, founded": "oldest youngest",
        "date or year": "earliest latest newest last",
        "length or duration": "longest shortest",
        "height or elevation": "tallest highest lowest",
        "depth": "deepest shallowest",
        "weight or mass": "heaviest lightest",
        "speed or duration": "fastest quickest slowest",
        "width": "widest narrowest broadest",
        "distance": "nearest farthest furthest closest",
        "temperature": "hottest coldest",
        "wealth or income": "richest poorest",
        "rating or score": "best worst",
    }.items()
    for word in words.split()
}
"""What a superlative that stands alone orders by."""
ORDERING = _GREAT | _SMALL | frozenset(["most"])
_MANY = word_set("most fewest least")
_OFTEN = word_set("often frequently times")
NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
# "The 1990 films" has a year, no number of places; few ask for more than fifty.
_MOST_PLACES = 50
_NOT_ORDINAL = re.compile(
    r"\b(?:first|last|second|third|fourth)[ -](?:of july|names?|lad(?:y|ies)|person|world|world's|aid|hand|language"
    r"|grade|class|weekday|day|half)\b"
    r"|\b(?:world war|division|part|season|film|episode) (?:one|two|first|second)\b"
)
_MAJORITY = word_set("do does did for by in among where that to from at")
_NO_END = re.compile(r"\bat (?:least|most)\b|\bmost of\b|\bmost likely\b")
WORD = re.compile(r"[\w'’-]+")
_NUMBERED = re.compile(r"^(\d{1,3})(?:st|nd|rd|th)$")
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
    return any(word in ORDERING or word in ORDINALS for word in WORD.findall(label.casefold().replace("_", " ")))


def order_phrase(text: str) -> str:
    """Return the words of a question from its superlative to the end of its noun: *most populous town*."""
    return order_clause(text)[1]


def order_noun(order: str) -> str:
    """Return the noun of an order, as *area* of *largest area*; nothing where a superlative or an ordinal has none."""
    words = order.casefold().split()
    rest = next((words[i:] for i, word in enumerate(words) if not _is_place(word)), [])
    named = len(rest) < len(words) and words[0] != "most" and " ".join(rest) not in MEASURED.values()
    return " ".join(rest) if named else ""


def _is_place(word: str) -> bool:
    return word in ORDERING or word in ORDINALS or word in NUMBERS or word in _LAST or bool(_NUMBERED.match(word))


def value_stems(text: str) -> set[str]:
    """Return the stems of a text's words, and of what its comparatives and superlatives measure: *taller*, height."""
    words = WORD.findall(text.casefold())
    measures = (MEASURED.get(f"{word.removesuffix('er')}est" if word.endswith("er") else word, "") for word in words)
    return stems_of(" ".join([*words, *measures]))


def measures_of(order: str) -> set[str]:
    """Return words of the names of relations by which a superlative alone orders: of *oldest* age and birth."""
    measure = next((MEASURED[word] for word in order.casefold().split() if word in MEASURED), "")
    return words_of(measure) - {"date", "or", "of", "year"}


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
    measured = MEASURED.get(plain[at]) if end == at + 1 and not by_verb else None
    ordered = [word for word in words[start if by_verb else at : end] if word.casefold() != "the"]
    # By area, wherever it stands.
    by = next((i for i in range(end, len(plain) - 1) if plain[i] == "by" and plain[i + 1] not in _ENDS_ORDER), None)
    rest = [*words[:start], *words[end:by], *(words[by + 2 :] if by is not None else [])]
    added = [words[by + 1]] if by is not None else [measured] if measured else []
    return " ".join(rest), " ".join([*ordered, *added])


# A superlative anywhere in a question orders it before an ordinal does, and *last* is often a word of something else.
_ORDERS: Sequence[Callable[[str], object]] = (
    lambda word: word in ORDERING or word.rpartition("-")[2] in ORDERING,
    lambda word: word in ORDINALS or _NUMBERED.match(word),
    lambda word: word in _LAST,
)


def _order_words(text: str) -> tuple[list[str], list[str]]:
    """Return the words of a question as they are written, and in small letters without marks."""
    words = text.rstrip(" ?.!").split()
    return words, [word.casefold().strip(",;:") for word in words]


def _order_end(words: Sequence[str], plain: Sequence[str], at: int, nouns: Container[str]) -> int:
    """Return the place behind the words of an order: at most two name its value, as in *most populous*."""
    end = at + 1
    if plain[at] in _MANY and plain[end : end + 1] and plain[end] not in _ENDS_ORDER:
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
            if not (ORDERING | {"by"}) & {*plain[max(0, place - 2) : place]}:
                continue
            begin, dropped = begin + 1, {"the", "with", "by", *ORDERING}
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


def places_asked(words: Sequence[str]) -> int:
    """Return how many places of an order are asked for: *top three*, *the five largest*, *two towns with the most*."""
    for place, word in enumerate(words):
        number = int(word) if word.isascii() and word.isdecimal() else NUMBERS.get(word, 0)
        before, after = words[:place], words[place + 1 :]
        if not 1 < number <= _MOST_PLACES:
            continue
        ordered = ORDERING & {*after[:1]} or after[:2] == ["of", "the"] or _HAVING & {*after[:4]}
        if before[-1:] == ["top"] or (ASKING.issuperset(before) and "of" not in before and ordered):
            return number
    return 1


_HAVING = word_set("with have has had having by that which who")


def is_of_age(question: str) -> bool:
    """Return whether a question orders by age: of dates the oldest has the least, of numbers of years the greatest."""
    return any(word in _AGED for word in WORD.findall(question.casefold()))


def long_meant(question: str, labels: Mapping[str, str]) -> tuple[set[str], bool]:
    """Return the relations that *long* means where some are lengths and some are times, and whether a verb says which.

    What *takes* long has a time; else a length is meant. None where only one of both is there.
    """
    words = {relation: words_of(label) for relation, label in labels.items()}
    lengths = {relation for relation, own in words.items() if own & _LENGTHS}
    times = {relation for relation, own in words.items() if own & TIMES} - lengths
    if not (lengths and times):
        return set(), True
    is_lasting = bool(LASTING & {*WORD.findall(question.casefold())})
    return times if is_lasting else lengths, is_lasting


def is_of_speed(question: str) -> bool:
    """Return whether a question orders by how fast something is: of times the fastest has the least."""
    return any(word in _FAST for word in WORD.findall(question.casefold()))


def is_of_length(question: str) -> bool:
    """Return whether a question orders by length, which of dates is how long ago they are."""
    return any(word.partition("-")[0] in ("longest", "shortest") for word in WORD.findall(question.casefold()))


def end_and_rank(words: Sequence[str], text: str) -> tuple[bool | None, int | None]:
    """Return the end of an order that is asked for, and the place from it that the question names, if any."""
    parts = [part for word in WORD.findall(_NO_END.sub(" ", text)) for part in word.split("-")]
    small = any(part in _SMALL for part in parts)
    great = any(part in _GREAT and not _is_majority(parts, place) for place, part in enumerate(parts))
    greatest = False if small else True if great else None
    if _NOT_ORDINAL.search(text):
        return greatest, None
    for word in words:
        start = word.partition("-")[0]
        if start in ORDINALS:
            return greatest, ORDINALS[start]
        if numbered := _NUMBERED.match(start):
            return greatest, int(numbered.group(1))
        if word in _LAST:
            return True, 1
    return (True, 1) if "most recent" in text else (greatest, None)
