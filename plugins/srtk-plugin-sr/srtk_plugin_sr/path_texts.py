"""Whole paths in words, as a cross-encoder reads them beside the question."""

from __future__ import annotations

from collections.abc import Sequence

from srtk_framework.graph import Instance
from srtk_framework.roles import KnowledgeGraph
from srtk_plugin_sr.path_features import LABELLED, SearchedQuestion
from srtk_plugin_sr.templates import FORMS

_WORDS = FORMS["plain"]


def path_texts(graph: KnowledgeGraph, questions: Sequence[SearchedQuestion]) -> list[list[str]]:
    """Return each question's paths in words, with one call to the graph for the labels.

    A path is its topic, its steps as `dense` words them, a few of its ends, and the number of the others: "Latvia,
    capital: Riga"; "Riga, is capital of, borders: Estonia, Russia, Belarus and 1 more".
    """
    ends = [{rank: _distinct(found) for rank, found in one.read.items()} for one in questions]
    ids = {id_ for one in questions for path in one.paths for id_ in (path.entity, *(s.relation for s in path.steps))}
    ids.update(end for found in ends for own in found.values() for end in own[:LABELLED])
    known = sorted(ids)
    labels = dict(zip(known, graph.labels(known), strict=True)) if known else {}
    texts = []
    for one, found in zip(questions, ends, strict=True):
        row = []
        for rank, path in enumerate(one.paths):
            own = found.get(rank, [])
            walked = [labels[path.entity], *(_WORDS.step(step, labels[step.relation]) for step in path.steps)]
            shown = _WORDS.join.join(labels[end] for end in own[:LABELLED])
            more = f" and {len(own) - LABELLED} more" if len(own) > LABELLED else ""
            row.append(f"{_WORDS.join.join(walked)}: {shown}{more}" if own else _WORDS.join.join(walked))
        texts.append(row)
    return texts


def _distinct(found: Sequence[Instance]) -> list[str]:
    return list(dict.fromkeys(one.end for one in found))
