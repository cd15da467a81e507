"""Fuzzy names: names of the graph that differ from a text by one typo or by an ending such as -ian."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.text import by_form
from srtk_framework.values import DriverError, rounded
from srtk_plugin_local.dictionary.candidates import Mention
from srtk_plugin_local.dictionary.word_spans import Words

INSTALL = 'fuzzy names need rapidfuzz; run `pip install "srtk-plugin-local[fuzzy]"`'

MOST_WORDS = 5
LEAST_LETTERS = 5
"""Shorter names have too many other names within one typo."""

_MARKS = " !?.'-&"
_ALPHABETS = tuple(
    (frozenset(letters), letters)
    for letters in ("abcdefghijklmnopqrstuvwxyz", "абвгдежзийклмнопрстуфхцчшщъыьэюяё", "αβγδεζηθικλμνξοπρσςτυφχψω")
)
_ENDINGS = (
    ("ians", ("", "ia", "y")), ("ian", ("", "ia", "y")), ("eans", ("", "e", "ea")), ("ean", ("", "e", "ea")),
    ("ans", ("", "a")), ("an", ("", "a")), ("ese", ("", "a")), ("ish", ("", "land")), ("'s", ("",)), ("es", ("",)),
)  # fmt: skip
"""Endings and their replacements: Italian and Italy, Bulgarian and Bulgaria, Japanese and Japan."""

_AT_ONCE = 200_000


def check() -> None:
    """Raise an error if rapidfuzz is not installed.

    Raises:
        DriverError: With the command that installs it.
    """
    try:
        import rapidfuzz  # noqa: F401
    except ImportError as error:
        raise DriverError(INSTALL) from error


def typos(name: str) -> Iterator[str]:
    """Yield the variants of a folded name within one insertion, deletion, substitution or transposition.

    Digits are never changed, since another number is another name.
    """
    letters = next((letters for some, letters in _ALPHABETS if some & set(name)), "")
    for at, letter in enumerate(name):
        if not letter.isdigit():
            yield name[:at] + name[at + 1 :]
            yield from (name[:at] + other + name[at + 1 :] for other in letters + _MARKS if other != letter)
        if at and letter != name[at - 1] and not (letter + name[at - 1]).isdigit():
            yield name[: at - 1] + letter + name[at - 1] + name[at + 1 :]
        yield from (name[:at] + other + name[at:] for other in letters + _MARKS)
    yield from (name + other for other in letters + _MARKS)


def without_endings(name: str) -> Iterator[str]:
    """Yield the names that a folded name may be derived from: Italy for Italian, Japan for Japanese."""
    for ending, others in _ENDINGS:
        if name.endswith(ending):
            yield from (name[: -len(ending)] + other for other in others)


def similarity(one: str, other: str) -> float:
    """Return the normalised optimal string alignment similarity; an ending counts as one difference."""
    from rapidfuzz.distance import OSA

    if other in without_endings(one):
        return rounded(1 - 1 / len(one))
    return rounded(OSA.normalized_similarity(one, other))


def near_names(
    graph: KnowledgeGraph, names: Sequence[str], least: float
) -> list[tuple[float, list[tuple[str, Sequence[str]]]]]:
    """Find the most similar names of the graph for folded names that it lacks.

    Args:
        graph: Graph with the names.
        names: Folded names.
        least: Minimum similarity.

    Returns:
        For each name the similarity of the names found (0 for none), and these names with their entities.
    """
    variants = [list(dict.fromkeys(v.strip() for v in (*typos(name), *without_endings(name)))) for name in names]
    wanted = list(dict.fromkeys(v for row in variants for v in row if len(v) >= LEAST_LETTERS - 1))
    known: dict[str, Sequence[str]] = {}
    for start in range(0, len(wanted), _AT_ONCE):
        some = wanted[start : start + _AT_ONCE]
        known.update((name, ids) for name, ids in zip(some, graph.find(some), strict=True) if len(ids))
    found: list[tuple[float, list[tuple[str, Sequence[str]]]]] = []
    for name, row in zip(names, variants, strict=True):
        alike = [(similarity(name, other), other) for other in row if other in known]
        best = max((value for value, _ in alike), default=0.0)
        if best < least:
            found.append((0.0, []))
        else:
            found.append((best, [(other, known[other]) for value, other in sorted(alike) if value == best]))
    return found


def open_spans(words: Words, spans: Sequence[tuple[str, int, int, int, int]], exact: Sequence[Mention]) -> list[int]:
    """Choose the spans that look like names but are not part of an exact mention.

    Args:
        words: Words of the text.
        spans: Spans from ``Words.spans``.
        exact: Mentions of exact names.

    Returns:
        Indices into ``spans``. In a text that capitalises names, these are names by their form; in other texts, runs
        of words that no mention overlaps in part and that do not end in a function word.
    """
    taken = {(mention.start, mention.end) for mention in exact}
    whole = [(m.start, m.end) for m in exact if m.looks > 0]
    formed = {(m.start, m.end) for m in by_form([words.text])[0]} if words.marked else set()
    chosen = []
    for place, (name, start, end, first, last) in enumerate(spans):
        if (start, end) in taken or len(name) < LEAST_LETTERS or last - first >= MOST_WORDS:
            continue
        if not (name[0].isalnum() and name[-1].isalnum()):
            continue
        if any(low <= start and end <= high for low, high in whole):
            continue
        if words.marked:
            fits = (start, end) in formed
        else:
            across = any(low < end and start < high and not (start <= low and high <= end) for low, high in whole)
            fits = not across and not words.stop[last] and (first < last or not words.stop[first])
        if fits:
            chosen.append(place)
    return chosen
