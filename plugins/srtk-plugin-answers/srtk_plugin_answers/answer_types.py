"""What a question asks for by its words: a class of things, a relation, a kind of value, or arithmetic."""

from __future__ import annotations

import functools
import re
from typing import Literal

from srtk_plugin_answers.question_classes import (
    ASKING,
    KEPT_TEXTS,
    PEOPLE,
    asked_classes,
    singular,
    word_set,
    words_of,
)
from srtk_plugin_answers.question_kinds import AUXILIARY
from srtk_plugin_answers.question_orders import LASTING, MEASURED, NUMBERS, ORDERING, ORDINALS

_HOW_MEASURED = {
    adjective: MEASURED[superlative]
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
_COUNTED_IN = re.compile(
    r"\bhow many (?P<noun>[\w-]+(?: (?!is|are|was|were|does|do|did|more|fewer|less|ahead|behind)[\w-]+)?)\b"
)
_TIME_UNITS = word_set("years year months days more fewer less")
_BARE = re.compile(
    rf"(?!(?:{'|'.join(sorted(ASKING | AUXILIARY))}|when|where|how|why|who)\b)(?:[^\W\d_]+ ){{1,2}}[^\W\d_]+s\W*$",
    re.IGNORECASE,
)
"""A question that is a noun in plural alone: *landlocked countries*."""
_TOP = re.compile(rf"\btop (?:\d+|{'|'.join(NUMBERS)})\b", re.IGNORECASE)
_COUNTED = re.compile(r"^(?:the )?(?:number|count) of ", re.IGNORECASE)


def measured_noun(question: str) -> str | None:
    """Return the unit that a difference is counted in, as *square kilometres*; None for units of time."""
    found = _COUNTED_IN.search(question.casefold())
    noun = None if found is None else found["noun"]
    return None if noun is None or noun in _TIME_UNITS else noun


# In *countries whose area* nobody asks for an area.
_WHOSE = re.compile(r"^\w+ whose\b", re.IGNORECASE)
_SUPERLATIVE = f"(?:{'|'.join(sorted(ORDERING))})"
_OF_ORDER = re.compile(
    r"^(?!(?:when|where|how|why|in|is|are|was|were|do|does|did|has|have) )"
    rf"(?:the )?(?:top |{_SUPERLATIVE} [^\W\d_]|(?:[\w-]+ ){{1,3}}(?:with|having|that|which|who) .*\b{_SUPERLATIVE}\b)",
    re.IGNORECASE,
)
"""A question that is the noun phrase of an order: *the country with the most airports*."""


def _is_bare(text: str) -> bool:
    """Return whether a question is a noun in plural alone, without a name: not *Nora Finch novels*."""
    return bool(_BARE.match(text)) and text[1:] == text[1:].lower()


@functools.lru_cache(maxsize=KEPT_TEXTS)
def classes_asked(text: str) -> tuple[str, ...]:
    """Return the phrases of ``asked_classes`` without the words that order: of *most populous city* it is *city*."""
    found = []
    text = _TOP.sub("top", text)
    phrases = asked_classes(_COUNTED.sub("how many ", text))
    if asks_for_things(text) and (not phrases or _WHOSE.search(text)):
        phrases = asked_classes(f"which {text}")
    if not phrases and (_OF_ORDER.search(text) or _is_bare(text)):
        phrases = asked_classes(f"which {text}")
    for phrase in phrases:
        words = phrase.split()
        while len(words) > 1 and (words[0] in ORDERING or words[0] in ORDINALS or words[0] in NUMBERS):
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
    how, adjective, *rest = [*question.casefold().strip(" ?.!").split(), "", ""]
    if (how, adjective) == ("how", "long") and LASTING & {*rest}:
        return "long duration or time"
    return f"{adjective} {_HOW_MEASURED[adjective]}" if how == "how" and adjective in _HOW_MEASURED else None


def asks_how_long(question: str) -> bool:
    """Return whether a question in English asks how long something is."""
    return question.casefold().strip().startswith("how long")


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
    return found["verb"] if found and found["verb"] not in AUXILIARY else None


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
