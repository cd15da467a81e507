"""The kind of a question by its words: the operation on the facts that answers it."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Literal, get_args

import attrs

from srtk_framework.text import fold, without_mentions
from srtk_framework.values import Link, Question
from srtk_plugin_answers.question_classes import KEPT_TEXTS, without_names, word_set
from srtk_plugin_answers.question_orders import WORD, end_and_rank, places_asked
from srtk_plugin_answers.question_values import value_constraints

Kind = Literal["lookup", "count", "superlative", "ordinal", "comparison", "yes-no", "difference", "time-bound"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_LESS = word_set("cheaper colder earlier fewer less lower nearer older poorer shorter slower smaller sooner")
COMPARATIVES = _LESS | word_set(
    """
    bigger better dearer deeper farther faster further greater heavier higher hotter larger later longer more newer
    richer taller wider younger
    """
)
AUXILIARY = word_set(
    """
    is are was were am do does did has have had can could will would should may might must isn't aren't wasn't
    weren't don't doesn't didn't hasn't haven't hadn't
    """
)
_REQUESTS = word_set("can could will would")
_COUNT = re.compile(
    r"^(?:the )?(?:number|count) of\b|\bhow many\b|\b(?:the|what|total) number of\b|\bhow often\b"
    r"|\bcount (?:the|how|all|up)\b"
)
_DIFFERENCE = re.compile(
    r"\b(?:not|never|except|excluding|without|besides|neither|nor|apart from|aside from|other than"
    r"|but (?:lost|no|for))\b"
    r"|n't\b|\bcannot\b"
)
# Of an order O-1008 the figures are no year.
_PLAIN_YEAR = r"(?:(?<![a-z]-)|(?<=mid-))\b(?:1\d|20)\d\d\b"
_YEAR = re.compile(_PLAIN_YEAR)
NOT_CLEAR = "what the question excludes is not clear"
_NOT = re.compile(
    r"\b(?:not|never|no|without|neither|except(?: for)?|excluding|besides|(?:apart|aside) from|other than)\b|n['’]t\b",
    re.IGNORECASE,
)
NEITHER = re.compile(r"\bneither\b.+\bnor\b", re.IGNORECASE)
_NOR = re.compile(r",? nor\b", re.IGNORECASE)
_CLAUSE = re.compile(r"\b(?:and|but|or|nor|that|which|who)\b", re.IGNORECASE)
_TIME = re.compile(
    r"\b(?:in|during|before|after|since|until|till|by|as of|from|between|around|of) (?:the )?(?:early |late |mid-?)?"
    rf"(?:year )?(?:1\d|20)\d\ds?\b|{_PLAIN_YEAR}|\b(?:currently|nowadays|at present|today)\b"
)
_ASKING = re.compile(r"\b(?:which|who|what)\b")
_AMOUNT = re.compile(r"\bthan (?:\d|once|twice|one|two|three|four|five|six|seven|eight|nine|ten|a |an )")


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


def marked_text(question: Question) -> str:
    """Return the text of a question, folded, with the sign of a mention in place of each linked name."""
    return " ".join(fold(without_names(question)).split())


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
    words = WORD.findall(text)
    greatest, rank = end_and_rank(words, text)
    compared = _compares(words, text, greatest, rank)
    if compared is not None:
        return QuestionKind("comparison", compared, year=year)
    if is_polar(words):
        return QuestionKind("yes-no", _asks_for_more(words), year=year)
    if _COUNT.search(text):
        return QuestionKind("count", year=year)
    if _DIFFERENCE.search(text):
        return QuestionKind("difference", greatest, rank or 1, year, places_asked(words))
    if rank is not None:
        return QuestionKind("ordinal", greatest, rank, year)
    if greatest is not None:
        return QuestionKind("superlative", greatest, year=year, places=places_asked(words))
    return QuestionKind("time-bound" if _TIME.search(text) else "lookup", year=year)


def _asks_for_more(words: Sequence[str]) -> bool | None:
    """Return whether the first comparative asks for the greater value (*larger*, *later*); None if there is none."""
    compared = next((word for word in words if word in COMPARATIVES), None)
    return None if compared is None else compared not in _LESS


def _compares(words: Sequence[str], text: str, greatest: bool | None, rank: int | None) -> bool | None:
    """Return whether a comparison of two things asks for the greater; None if a question compares nothing."""
    more = _asks_for_more(words)
    if more is not None and "or" in words:
        return more
    if is_polar(words):
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


def is_yes_no(question: str) -> bool:
    """Return whether a question in English is answered by yes or no: an auxiliary begins it, and no *or* is in it."""
    text = _without_numbers(question).casefold().replace("’", "'").replace("# or #", "#")
    words = WORD.findall(text)
    return is_polar(words) and "or" not in words


def is_negated(question: str) -> bool:
    """Return whether a question in English has *not* outside of its bounds: *is X not in Y*, but *isn't X in Y*."""
    return bool(re.search(r"\b(?:not|never)\b", _without_numbers(question).casefold()))


def excluded_text(question: str) -> str | None:
    """Return what stands behind *not* or *without* in a question in English; None where neither is in it.

    Nothing where a further clause follows it, as what is excluded is not clear then.
    """
    question = _without_numbers(question)
    if NEITHER.search(question):
        question = _NOR.sub(",", question, count=1)
    _, marked, text = _NOT.sub("¬", question, count=1).partition("¬")
    return None if not marked else "" if _CLAUSE.search(text) else text


def is_polar(words: Sequence[str]) -> bool:
    """Return whether an auxiliary begins a question; *can you name* is a request."""
    is_request = words[1:2] == ["you"] and words[0] in _REQUESTS
    return bool(words) and words[0] in AUXILIARY and not is_request


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
