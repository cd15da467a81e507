"""Text from the graph in a prompt: data between delimiters that no name can hold."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping

import attrs

from srtk_framework.text import clean, name, triple_line
from srtk_framework.values import Subgraph

# Delimiters of text from the graph; the prompts say that what stands between them is data.
BEGIN, END = "<data>", "</data>"

NAMELESS = "(no name)"  # Shown in place of a name that has no visible character

_JOINERS = "\u200c\u200d"
# Format characters that words of several scripts are written with.
_VISIBLE = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u08e2"

_FULL_WIDTH = 0xFEE0
# Marks of delimiters, columns, fences, JSON and chat templates, to what ``fold`` takes for the same characters.
_MARKS = str.maketrans({**{mark: chr(ord(mark) + _FULL_WIDTH) for mark in "<>|[]{}"}, "`": "'"})


def harmless(text: str) -> str:
    """Return a text from the graph such that it can neither end the data nor look like a part of the prompt.

    It stands on one line without control characters, invisible characters and marks of writing direction. Brackets of
    all kinds and bars become full-width characters, backticks apostrophes. ``fold`` gives the same for both texts,
    invisible characters apart.
    """
    line = clean(text)
    if not line.isascii():
        line = clean("".join(char for char in line if not _invisible(char)))
    return line.translate(_MARKS)


def _invisible(char: str) -> bool:
    if char in _JOINERS or char in _VISIBLE:
        return False
    # Selectors of variants can spell out whole messages, as tags (category Cf) can.
    return unicodedata.category(char) == "Cf" or "\ufe00" <= char <= "\ufe0f" or "\U000e0000" <= char <= "\U000e0fff"


def harmless_labels(ids: Iterable[str], labels: Mapping[str, str]) -> dict[str, str]:
    """Return the harmless name of each id, for prompts: its label, else its lexical form, else the id itself."""
    return {id_: harmless(name(id_, labels)) or harmless(id_) or NAMELESS for id_ in ids}


def fact_lines(subgraph: Subgraph, labels: Mapping[str, str], qualified: bool = True) -> list[str]:
    """Verbalise the triples of a subgraph for a prompt, one line each."""
    passages = tuple(tuple(attrs.evolve(one, text=harmless(one.text)) for one in row) for row in subgraph.evidence)
    shown = attrs.evolve(subgraph, evidence=passages) if any(passages) else subgraph
    return [triple_line(shown, i, labels, qualified=qualified) for i in range(len(shown.triples))]


def delimited(text: str, block: bool) -> str:
    """Put a harmless text between the delimiters, as a block on lines of its own or within a line."""
    return f"{BEGIN}\n{text}\n{END}" if block else f"{BEGIN}{text}{END}"
