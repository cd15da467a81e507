"""Short names: initials, and parts of a name that many names have, resolved by the entity with by far the most triples.

People write *the US*, *NFL* and *United States* where a graph has *United States of America* and *National Football
League*. Many names begin or abbreviate so; which is meant is clear if one entity is much better known than all others.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence

import attrs

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.text import fold
from srtk_framework.values import best_first
from srtk_plugin_local.dictionary.candidates import Mention
from srtk_plugin_local.dictionary.fuzzy_match import is_linked
from srtk_plugin_local.dictionary.word_spans import Span, Words
from srtk_plugin_local.name_index import JOINING, LEAST_LETTERS, PART, initials_of, letters_of, words_of

# Names of the graph that are compared with each short name.
MOST_NAMES = 500

# How many times the triples of any other entity the one that is meant must have.
DOMINANT = 2.0

# An entity with fewer triples is not so well known that a part of its name would do.
LEAST_TRIPLES = 20

# Similarity of initials to the name, and of its beginning before a joining word.
STRING = 0.9

_INITIALS = re.compile(
    r"(?<![\w.&-])(?:[A-Z]\.){2,6}(?!\w)|(?<![\w.&-])[A-Z]{2,6}(?=(?:'s|’s|s)?(?![\w&-])|-[^\W\d_][^\W\d_A-Z])"
)
# Initials of plurals, which Spanish doubles: EE. UU. for Estados Unidos.
_PLURAL = re.compile(r"(?<!\w)(?:([A-Z])\1\.? ?([A-Z])\2|([a-z])\3\. ?([a-z])\4)(?!\w)\.?")
_END = r"(?=(?:'s|’s)?(?![\w&-])|-[^\W\d_]{2})"
_SMALL_INITIALS = re.compile(
    rf"(?<![\w.&-])(?:(?:[a-z]\.){{2,6}}(?!\w)|us(?=-[^\W\d_]{{2}})|[b-df-hj-np-tv-z]{{3,6}}{_END})", re.IGNORECASE
)
_DETERMINED = re.compile(
    r"(?<![\w-])(?:(?:the|de[nr]) ((?=.?[aeiou])[a-z]{2,4})|"
    rf"(?:what|which|whose|first|second|third|last|[a-z]{{3,}}est) (us|[a-z]{{3,4}})){_END}",
    re.IGNORECASE,
)
_VOWEL = re.compile("[aeiou]")
_PLAIN_END = re.compile(r"-[a-z]+\Z")
# Function words that are initials too; where a determiner precedes them, they are no pronouns.
_PRONOUNS = ("us",)
# Words of a part of a name in a text in small letters.
_MOST_PART = 4
# Letters from which a single capitalised word may be a part of a name.
_ALONE = 5


@attrs.define
class _Short:
    """A short name in a text.

    Attributes:
        mentions: Mentions of the text.
        words: Words of the text.
        span: Its place.
        initials: Whether it is an abbreviation; else it is a part of a name.
        plural: Whether it abbreviates plurals.
    """

    mentions: list[Mention]
    words: Words
    span: Span
    initials: bool
    plural: bool = False


def add_short(
    graph: KnowledgeGraph, parsed: Sequence[Words], found: Sequence[list[Mention]], known: dict[str, Sequence[str]]
) -> None:
    """Add mentions of short names where a text has initials, and to texts without a sure name.

    Args:
        graph: Graph with the names.
        parsed: Words of each text.
        found: Mentions of each text so far; short names are added.
        known: Entities by folded name; entities of short names are added.
    """
    every = [
        short
        for words, mentions in zip(parsed, found, strict=True)
        for short in (_shorts(words, mentions) if words.marked else _small_shorts(words, mentions))
    ]
    every = _with_known_words(graph, every)
    if not every:
        return
    # What a mention of a near name is of, such as Italy for Italian, has to be less well known too.
    places = {id(mentions): Places(mentions) for mentions in found}
    rivals = [
        {
            id_
            for mention in places[id(short.mentions)].overlapping(*short.span[1:3])
            if mention.string < 1
            for name in mention.names
            for id_ in known[name]
        }
        for short in every
    ]
    dropped: set[int] = set()
    held = _Holders.of(graph, every, rivals)
    for short, others in zip(every, rivals, strict=True):
        name, start, end, first, last = short.span
        best, names = held.meant(short, others)
        if best is None or not names:
            continue
        string = STRING if short.initials or any(_is_core(other, name) for other in names) else PART
        key = f"{name} = {best}"
        known[key] = [best]
        there = places[id(short.mentions)]
        dropped.update(id(other) for other in there.overlapping(start, end) if other.looks >= STRING)
        mention = Mention(short.words, start, end, first, last, names=[key], string=string, short=True)
        if short.initials:
            mention.looks = 1.0  # in capitals, even a function word (us) is a name
        short.mentions.append(mention)
        there.add(mention)
    for mentions in found:
        mentions[:] = [mention for mention in mentions if id(mention) not in dropped]


def _with_known_words(graph: KnowledgeGraph, shorts: Sequence[_Short]) -> list[_Short]:
    """Leave out parts of names with a word that is in no name."""
    rows = [[] if short.initials else words_of(short.span[0]) for short in shorts]
    words = list({word: None for row in rows for word in row})
    known = graph.known_words(words) if words else ()
    unknown = {word for word, is_known in zip(words, known, strict=True) if not is_known}
    return [short for short, row in zip(shorts, rows, strict=True) if unknown.isdisjoint(row)]


class Places:
    """Mentions of a text by their place; a long text has thousands."""

    _BLOCK = 64

    def __init__(self, mentions: Sequence[Mention]) -> None:
        self._blocks: dict[int, list[Mention]] = {}
        for mention in mentions:
            self.add(mention)

    def add(self, mention: Mention) -> None:
        """Add a mention."""
        for block in range(mention.start // self._BLOCK, (mention.end - 1) // self._BLOCK + 1):
            self._blocks.setdefault(block, []).append(mention)

    def overlapping(self, start: int, end: int) -> list[Mention]:
        """Return the mentions with a character between two offsets; some come twice."""
        return [
            mention
            for block in range(start // self._BLOCK, (end - 1) // self._BLOCK + 1)
            for mention in self._blocks.get(block, ())
            if mention.start < end and start < mention.end
        ]


@attrs.frozen
class _Holders:
    """The names that short names may mean, with their entities.

    Attributes:
        near: Names of the graph that are like each short name.
        ids: Entities of each name.
        degrees: Number of triples of each entity.
        written: Names, as they are written, of the entities that initials are a name of.
    """

    near: Mapping[str, Sequence[str]]
    ids: Mapping[str, Sequence[str]]
    degrees: Mapping[str, int]
    written: Mapping[str, set[str]]

    @classmethod
    def of(cls, graph: KnowledgeGraph, every: Sequence[_Short], rivals: Sequence[set[str]]) -> _Holders:
        """Look up the names and entities of some short names and their rivals."""
        asked = list({short.span[0]: None for short in every})
        near = dict(zip(asked, graph.near_names(asked, MOST_NAMES, False), strict=True))
        names = list({name: None for row in near.values() for name in row} | dict.fromkeys(asked))
        ids = dict(zip(names, graph.find(names), strict=True))
        entities = list({id_: None for row in (*ids.values(), *rivals) for id_ in row})
        degrees = dict(zip(entities, graph.degrees(entities), strict=True)) if entities else {}
        written = _written(graph, [id_ for short in every if short.initials for id_ in ids[short.span[0]]])
        return cls(near, ids, degrees, written)

    def meant(self, short: _Short, rivals: set[str]) -> tuple[str | None, list[str]]:
        """Return the entity that is by far the best known of all that may be meant, and its names; else None."""
        name, start, end, _, _ = short.span
        if short.initials and any(short.words.text[start:end] in self.written[id_] for id_ in self.ids[name]):
            return None, []
        names = self._names(short)
        clear = short.initials and len(letters_of(name)) > 2 and (short.words.marked or not _VOWEL.search(name))
        entities = {*rivals, *(id_ for other in [*names, name] for id_ in self.ids[other])}
        ranked, degrees = best_first(entities, self.degrees.__getitem__)[:2], self.degrees
        if not ranked or degrees[ranked[0]] < (1 if clear else LEAST_TRIPLES):
            return None, []
        if len(ranked) > 1 and degrees[ranked[0]] < DOMINANT * degrees[ranked[1]]:
            return None, []
        return ranked[0], [other for other in names if ranked[0] in self.ids[other]]

    def _names(self, short: _Short) -> list[str]:
        """Return the names that a short one abbreviates, or is a part of."""
        name = short.span[0]
        letters = letters_of(name)
        fits = (lambda other: letters in initials_of(other)) if short.initials else (lambda other: _holds(other, name))
        names = list(filter(fits, self.near[name]))
        if short.plural:
            return [other for other in names if all(word.endswith("s") for word in words_of(other))]
        cores = [] if short.initials else [other for other in names if _is_core(other, name)]
        return cores if cores or not (short.initials or short.words.marked) else names


def _written(graph: KnowledgeGraph, ids: Sequence[str]) -> dict[str, set[str]]:
    """Return the names of entities as they are written."""
    some = list(dict.fromkeys(ids))
    if not some:
        return {}
    rows = zip(some, graph.labels(some), graph.other_names(some), strict=True)
    return {id_: {label, *others} for id_, label, others in rows}


def _shorts(words: Words, mentions: list[Mention]) -> list[_Short]:
    """Return the short names that a text may have: those that no mention covers, and initials that one folds."""
    shorts = [_Short(mentions, words, span, True, True) for span in _plurals(words)]
    there = Places(mentions)
    spans = [_span(words, *match.span()) for match in _INITIALS.finditer(words.text)]
    shorts += [_Short(mentions, words, span, True) for span in spans if span and _is_free(span, there)]
    exact = [mention for mention in mentions if mention.string == 1]
    if is_linked(words, exact):
        return shorts
    taken = [(short.span[1], short.span[2]) for short in shorts]
    # A word of a well-known name is likelier than a name one slip away.
    taken += [(mention.start, mention.end) for mention in exact if mention.looks >= STRING]
    return shorts + [_Short(mentions, words, span, False) for span in _parts(words, taken)]


def _small_shorts(words: Words, mentions: list[Mention]) -> list[_Short]:
    """Return the short names that a text in small letters may have.

    Initials are letters with full stops (``u.s.``) and letters without a vowel (``nfl``). After a determiner or a
    superlative a few letters are no pronoun, but initials, too (``the us``, ``which us state``). A part of a name is at
    least two words that no name overlaps.
    """
    exact = [mention for mention in mentions if mention.string == 1]
    places = [match.span() for match in _SMALL_INITIALS.finditer(words.text)]
    places += [match.span(match.lastindex or 0) for match in _DETERMINED.finditer(words.text)]
    shorts = [_Short(mentions, words, span, True, True) for span in _plurals(words)]
    spans, there = [_span(words, *place) for place in dict.fromkeys(places)], Places(exact)
    named = [span for span in spans if span and (not words.stop[span[3]] or span[0] in _PRONOUNS)]
    shorts += [_Short(mentions, words, span, True) for span in named if _is_free(span, there)]
    return shorts + [_Short(mentions, words, span, False) for span in _small_parts(words, exact)]


def _is_free(span: Span, there: Places) -> bool:
    """Return whether nothing overlaps a place but exact mentions of just this place."""
    _, start, end, _, _ = span
    covered = there.overlapping(start, end)
    return all((mention.start, mention.end) == (start, end) and mention.string == 1 for mention in covered)


def _parts(words: Words, taken: Sequence[tuple[int, int]]) -> Iterator[Span]:
    """Yield the places of names by form that may be a part of a name; of those that are taken, none."""
    free = bytearray(b"\1" * len(words.text))
    for low, high in taken:
        free[low:high] = bytes(high - low)
    for low, high in words.formed():
        # Of a compound with a plain word, such as Portuguese-speaking, the first part is the name.
        plain = _PLAIN_END.search(words.text, low, high)
        span = _span(words, low, plain.start() if plain else high)
        if span is None or 0 in free[low:high]:
            continue
        name, _, _, first, last = span
        long = len(letters_of(name)) >= (_ALONE if first == last else LEAST_LETTERS)
        if long and not (words.opens[first] or words.is_common_noun(last)):
            yield span


def _small_parts(words: Words, exact: Sequence[Mention]) -> Iterator[Span]:
    """Yield the places of two words or more, with blanks between them, that no exact mention of several overlaps."""
    text, bounds = words.text, words.bounds
    several = [mention for mention in exact if mention.length > 1]
    taken = {at for mention in several for at in range(mention.first, mention.last + 1)}
    for first in range(len(bounds)):
        for last in range(first + 1, min(first + _MOST_PART, len(bounds))):
            if words.stop[first] or words.stop[last] or not taken.isdisjoint(range(first, last + 1)):
                continue
            start, end = bounds[first][0], bounds[last][1]
            if all(text[bounds[at][1] : bounds[at + 1][0]] == " " for at in range(first, last)):
                yield fold(text[start:end]), start, end, first, last


def _plurals(words: Words) -> list[Span]:
    """Return the places of doubled initials, each with one letter of a pair for its name."""
    found = ((match, _span(words, *match.span())) for match in _PLURAL.finditer(words.text))
    return [(fold("".join(filter(None, match.groups()))), *span[1:]) for match, span in found if span]


def _span(words: Words, start: int, end: int) -> Span | None:
    """Return the words at a place; None if it holds none."""
    first = bisect_left(words.bounds, (start,))
    last = bisect_right(words.bounds, end, key=lambda bound: bound[1]) - 1
    return (fold(words.text[start:end]), start, end, first, last) if first <= last else None


def _holds(name: str, short: str) -> bool:
    """Return whether a name holds the words of a short name in their order."""
    left = iter(words_of(name))
    return all(word in left for word in words_of(short))


def _is_core(name: str, short: str) -> bool:
    """Return whether a name is a short name with an addition by a joining word: United States of America."""
    words, part = words_of(name), words_of(short)
    joining = [at for at, word in enumerate(words) if word in JOINING]
    return bool(joining) and part in (words[: joining[0]], words[joining[-1] + 1 :])
