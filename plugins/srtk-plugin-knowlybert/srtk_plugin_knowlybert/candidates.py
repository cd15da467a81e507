"""Candidates of a pattern: the entities behind the labels that were found, as far as the filters let them pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from srtk_framework.values import Step
from srtk_plugin_knowlybert.aggregation import is_stable
from srtk_plugin_knowlybert.filler_types import FillerTypes
from srtk_plugin_knowlybert.label_search import Found, one_by_one
from srtk_plugin_knowlybert.label_trie import LabelTrie, Tokens
from srtk_plugin_knowlybert.variants import Rules


class Candidate(NamedTuple):
    """An entity that may stand at the open end of a pattern.

    Attributes:
        entity: Its id.
        label: Tokens of the label by which it was found.
        found: Scores of this label.
    """

    entity: str
    label: Tokens
    found: Found


def candidates_of(
    found: Mapping[Tokens, Found],
    trie: LabelTrie,
    known: FillerTypes,
    end: str,
    step: Step,
    rules: Rules,
    homonyms: bool,
) -> list[Candidate]:
    """Return the entities of labels that the rules let pass, best first.

    Of the passing entities of a label, the most popular counts; ties by id. An entity with several labels has its best
    score.

    Args:
        found: The labels.
        trie: Labels with their entities.
        known: Known fillers of the graph.
        end: The known end of the pattern.
        step: The step from it to the open end.
        rules: Stability, types and popularity.
        homonyms: Whether all entities of a label are kept, in place of the most popular.
    """
    best: dict[str, Candidate] = {}
    for label, one in one_by_one(found):
        if not is_stable(one.least, one.greatest, rules.stability, rules.stability_limit):
            continue
        ids = trie.entities[label]
        passed = [
            id_
            for id_, fits in zip(ids, known.allowed(rules.types, end, step, ids), strict=True)
            if fits and known.popularity.get(id_, 0) >= rules.popularity
        ]
        if passed and not homonyms:
            passed = [min(passed, key=lambda id_: (-known.popularity.get(id_, 0), id_))]
        for id_ in passed:
            best.setdefault(id_, Candidate(id_, label, one))
    return sorted(best.values(), key=lambda one: (-one.found.score, one.entity))
