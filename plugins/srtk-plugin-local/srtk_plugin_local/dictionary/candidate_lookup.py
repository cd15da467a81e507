"""Lookup of mentions and their candidates: the spans of texts that are names in the graph."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import attrs

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.text import fold
from srtk_framework.values import Mention as Place
from srtk_framework.values import best_first
from srtk_plugin_local.dictionary import fuzzy_match, short_names
from srtk_plugin_local.dictionary.candidates import Candidate, Mention
from srtk_plugin_local.dictionary.german import base_forms
from srtk_plugin_local.dictionary.relation_phrases import RelationPhrases
from srtk_plugin_local.dictionary.word_spans import Span, Words

T = TypeVar("T")


@attrs.frozen
class LookupLimits:
    """Limits of a lookup.

    Attributes:
        max_words: Maximum number of words of a span.
        candidates: Maximum number of entities of one mention; those with the most triples are kept.
        fuzzy: Minimum similarity of near names; None for exact names only.
        only: Look up detected spans only, not every run of words.
        phrases: Returns the phrases of the graph's relations.
    """

    max_words: int
    candidates: int
    fuzzy: float | None
    only: bool
    phrases: Callable[[], RelationPhrases]


def look_up(
    graph: KnowledgeGraph, parsed: Sequence[Words], places: Sequence[Sequence[Place]] | None, limits: LookupLimits
) -> list[list[Mention]]:
    """Look up the spans of all texts at once.

    Args:
        graph: Graph with the names.
        parsed: Words of each text.
        places: Detected spans of each text; None without a detector.
        limits: Limits of the lookup.

    Returns:
        The mentions of each text with their candidates, not yet scored.
    """
    spans = [words.spans(limits.max_words) for words in parsed]
    if places is not None:
        spans = [
            _detected(words, row, found, limits.only) for words, row, found in zip(parsed, spans, places, strict=True)
        ]
    names = list({span[0]: None for row in spans for span in row})
    inflected = {
        name: base_forms(name) for words, row in zip(parsed, spans, strict=True) if words.german for name, *_ in row
    }
    names = list(dict.fromkeys([*names, *(form for forms in inflected.values() for form in forms)]))
    known = {name: ids for name, ids in zip(names, graph.find(names), strict=True) if len(ids)}
    bases = {name: [form for form in forms if form in known] for name, forms in inflected.items()}
    found = [_mentions(words, row, known, bases) for words, row in zip(parsed, spans, strict=True)]
    if limits.fuzzy is not None:
        fuzzy_match.add_near(graph, parsed, spans, found, known, limits.fuzzy, limits.phrases)
        short_names.add_short(graph, parsed, found, known)
        if any(mention.string < 1 for mentions in found for mention in mentions):
            limits.phrases().leave_out(found)
    _add_candidates(graph, [mention for mentions in found for mention in mentions], known, limits.candidates)
    if limits.fuzzy is not None:
        fuzzy_match.keep_likeliest(graph, found)
    if places is not None:
        _add_scores(found, places)
    return found


def _mentions(
    words: Words, spans: Sequence[Span], known: Mapping[str, Sequence[str]], bases: Mapping[str, Sequence[str]]
) -> list[Mention]:
    """Return the mentions of known names; an inflected name is one of a language that has them, with a capital."""
    mentions: dict[tuple[int, int], Mention] = {}
    for name, start, end, first, last in spans:
        names = (
            [name]
            if name in known
            else bases.get(name, ())
            if words.german and words.capital[last] >= words.marked
            else ()
        )
        if names:
            mention = mentions.get((start, end))
            if mention is None:
                mention = mentions[start, end] = Mention(words, start, end, first, last)
            mention.names += names
    return list(mentions.values())


def _detected(words: Words, spans: Sequence[Span], places: Sequence[Place], only: bool) -> list[Span]:
    """Keep the detected spans, or all; add detected spans that cut words or are too long to be among them."""
    marked = {(place.start, place.end) for place in places}
    kept = [span for span in spans if not only or (span[1], span[2]) in marked]
    starts, ends = [low for low, _ in words.bounds], [high for _, high in words.bounds]
    for start, end in sorted(marked - {(span[1], span[2]) for span in spans}):
        first, last = bisect_right(ends, start), bisect_left(starts, end) - 1
        name = fold(words.text[start:end])
        if name and first <= last:
            kept.append((name, start, end, first, last))
    return kept


def _add_candidates(
    graph: KnowledgeGraph, mentions: Sequence[Mention], known: Mapping[str, Sequence[str]], most: int
) -> None:
    """Fill in the candidates of each mention: the entities of its names with the most triples."""
    rows = [list(dict.fromkeys(id_ for name in m.names for id_ in known[name])) for m in mentions]
    degrees = _read_once(graph.degrees, rows)
    rows = [best_first(row, degrees.__getitem__)[:most] for row in rows]
    labels = _read_once(graph.labels, rows)
    for mention, row in zip(mentions, rows, strict=True):
        best = math.log1p(degrees[row[0]]) or 1.0
        mention.candidates = [
            Candidate(
                id_,
                labels[id_],
                degrees[id_],
                mention.match(labels[id_]),
                math.log1p(degrees[id_]) / best,
                mention.string,
            )
            for id_ in row
        ]


def _add_scores(found: Sequence[Sequence[Mention]], places: Sequence[Sequence[Place]]) -> None:
    """Fill in the detector's score of each mention."""
    for mentions, row in zip(found, places, strict=True):
        scores = {(place.start, place.end): place.score for place in row}
        for mention in mentions:
            mention.detected = scores.get((mention.start, mention.end), 0.0)


def _read_once(read: Callable[[Sequence[str]], Sequence[T]], rows: Sequence[Sequence[str]]) -> dict[str, T]:
    """Call ``read`` once with the distinct ids of all rows; return its values by id."""
    ids = list(dict.fromkeys(id_ for row in rows for id_ in row))
    return dict(zip(ids, read(ids), strict=True)) if ids else {}
