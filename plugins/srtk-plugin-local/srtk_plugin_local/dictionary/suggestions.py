"""Suggestions: entities whose names are like words of a text without links."""

from __future__ import annotations

from collections.abc import Sequence

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import Link, link_order, rounded
from srtk_plugin_local.dictionary.word_spans import Span, Words
from srtk_plugin_local.name_index import LEAST_LETTERS, letters_of, likeness

MOST_WORDS = 5

# Names of the graph that are compared with each span.
NEAR = 20

# Letters of a span at which its length counts half of what it can: one long name is likelier than a short one.
HALF = 4


def suggest(graph: KnowledgeGraph, parsed: Sequence[Words], limit: int) -> list[list[Link]]:
    """Suggest entities for each text, the likeliest first; see ``EntityLinker.suggest``."""
    spans = [_name_spans(words) for words in parsed]
    names = list({span[0]: None for row in spans for span in row})
    near = dict(zip(names, graph.near_names(names, NEAR, False), strict=True)) if names else {}
    others = list({other: None for row in near.values() for other in row})
    ids = dict(zip(others, graph.find(others), strict=True)) if others else {}
    entities = list({id_: None for row in ids.values() for id_ in row})
    labels = dict(zip(entities, graph.labels(entities), strict=True)) if entities else {}
    degrees = dict(zip(entities, graph.degrees(entities), strict=True)) if entities else {}
    found = []
    for words, row in zip(parsed, spans, strict=True):
        best: dict[str, Link] = {}
        for name, start, end, first, last in row:
            letters = len(letters_of(name))
            for other in near[name]:
                score = rounded(words.looks(first, last) * likeness(name, other) * letters / (letters + HALF))
                for id_ in ids[other]:
                    if score > 0 and (id_ not in best or best[id_].score < score):
                        best[id_] = Link(id_, score, start, end, labels[id_])
        # Of entities whose names are equally like the text, those with the most triples are kept.
        popular = sorted(best.values(), key=lambda link: (-link.score, -degrees[link.entity], link.entity))
        found.append(sorted(popular[:limit], key=link_order))
    return found


def _name_spans(words: Words) -> list[Span]:
    """Return the spans that may be names: they neither begin nor end with a function word in small letters."""
    return [
        (name, start, end, first, last)
        for name, start, end, first, last in words.spans(MOST_WORDS)
        if not any(words.stop[word] and words.lower[word] for word in (first, last))
        # A span of signs that folding takes away has an empty name.
        if name[:1].isalnum() and name[-1:].isalnum() and len(letters_of(name)) >= LEAST_LETTERS
    ]
