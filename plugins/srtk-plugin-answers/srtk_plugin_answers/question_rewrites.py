"""Questions in the words of a graph: what is *unpaid* is not paid, and what is *out of stock* has a stock of 0."""

from __future__ import annotations

import re
from collections.abc import Callable

import attrs

from srtk_framework.values import Question

_PREFIXED = re.compile(
    r"\b(?P<word>non-?(?P<non>[^\W\d_]{3,})|un(?P<un>[^\W\d_]{3,}))\b(?P<noun> +[^\W\d_]{3,})?", re.I
)
_IS = re.compile(r"(?:\b(?:is|are|was|were|be|been|being)|['’]s)(?: ¤)? +$", re.IGNORECASE)
_POLAR = re.compile(r"^\W*(?:is|are|was|were)\b", re.IGNORECASE)
_HOW_MANY = re.compile(r"\bhow many\b", re.IGNORECASE)
_STOCK = re.compile(r"\b(?:(?P<none>out of|no longer in|not in)|in) stock\b|\b(?P<sold>sold out)\b", re.IGNORECASE)


_NONE_OF = re.compile(
    r"\b(?:(?:(?P<verb>has|have|had)|(?!with\b|there\b)[^\W\d_]{3,}) no|(?P<with>with no|without(?: any)?)"
    r"|(?:do|does|did)(?: not|n['’]t) have any) (?P<first>[^\W\d_]{3,})(?P<second> [^\W\d_]{3,})?",
    re.IGNORECASE,
)


def rewritten(
    question: Question,
    is_name: Callable[[str], bool],
    is_number: Callable[[str], bool],
    is_called: Callable[[str], bool],
    has: Callable[[Question, str], bool],
) -> Question:
    """Return a question with a negation in place of a prefix, and with bounds in place of *in stock*.

    Args:
        question: The question.
        is_name: Whether a relation has a text as its name.
        is_number: Whether a relation has a text as its name, and leads to numbers alone.
        is_called: Whether a node or a text of the graph is called so: *non-fiction* may be a genre.
        has: Whether something that a question links has a relation with a name.
    """
    text = question.text
    if (found := _STOCK.search(text)) and is_name("stock") and not is_name("in stock"):
        if _HOW_MANY.search(text) and has(question, "stock"):
            return question  # how many copies of a book
        is_none = found["none"] or found["sold"]
        return replaced(question, found.start(), found.end(), f"with a stock {'of exactly' if is_none else 'over'} 0")
    for none in _NONE_OF.finditer(text):
        noun = next((noun for noun in (f"{none['first']}{none['second'] or ''}", none["first"]) if is_number(noun)), "")
        if noun:
            having = none["verb"] or ("with" if none["with"] else "have")
            return replaced(question, none.start(), none.start("first") + len(noun), f"{having} a {noun} of exactly 0")
    found = _PREFIXED.search(text)
    if found is None:
        return question
    word, of_column = (found["non"] or found["un"]).lower(), bool(found["un"])
    whole = found["word"].lower()
    # Nonsense is no sense that is left out.
    is_known = is_name(word) or (not of_column and is_called(word))
    if not is_known or is_name(whole) or is_called(whole):
        return question
    start, end = found.span("word")
    if any(link.start is not None and link.start < end and start < (link.end or 0) for link in question.links):
        return question
    if found["noun"] is None or _IS.search(text, max(0, start - 20), start) or _POLAR.match(text):
        return replaced(question, start, end, f"not {word}")
    # The negation stands at the end, where all that is behind it is excluded: orders of Ida that are not paid.
    mark = text.rstrip(" ?.!")
    last = replaced(question, len(mark), len(text), f" that are not {word}?")
    return replaced(last, start, found.start("noun") + 1, "")


def replaced(question: Question, start: int, end: int, new: str) -> Question:
    """Return a question with other words in a place; links behind it move."""
    moved = len(new) - (end - start)
    links = tuple(
        link
        if link.start is None or link.end is None or link.end <= start
        else attrs.evolve(link, start=link.start + moved, end=link.end + moved)
        for link in question.links
        if link.start is None or link.end is None or link.end <= start or link.start >= end
    )
    return attrs.evolve(question, text=f"{question.text[:start]}{new}{question.text[end:]}", links=links)
