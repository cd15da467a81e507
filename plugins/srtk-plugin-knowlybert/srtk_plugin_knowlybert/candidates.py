"""Candidates of a pattern: the entities behind the labels that were found, as far as the filters let them pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import attrs

from srtk_framework.values import Step
from srtk_plugin_knowlybert.aggregation import Stability, is_stable
from srtk_plugin_knowlybert.filler_types import FillerTypes, Types
from srtk_plugin_knowlybert.label_search import Found, one_by_one
from srtk_plugin_knowlybert.label_trie import LabelTrie, Tokens


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


@attrs.frozen(eq=False)
class Filters:
    """Filters from labels to entities; each may be off.

    Attributes:
        stability: See ``is_stable``.
        limit: See ``is_stable``.
        types: See ``FillerTypes.allowed``.
        popularity: Least number of triples with the entity as object.
        homonyms: Whether all entities of a label are kept, in place of the most popular one.
    """

    stability: Stability
    limit: float
    types: Types
    popularity: int
    homonyms: bool

    def candidates(
        self, found: Mapping[Tokens, Found], trie: LabelTrie, known: FillerTypes, end: str, step: Step
    ) -> list[Candidate]:
        """Return the entities of labels, best first.

        Of the entities of a label that pass, the most popular one counts; equally popular ones by id. An entity with
        several labels has the score of its best one.

        Args:
            found: The labels.
            trie: Whose entities they are.
            known: What the graph says of fillers.
            end: The known end of the pattern.
            step: The step from it to the open end.
        """
        best: dict[str, Candidate] = {}
        for label, one in one_by_one(found):
            if not is_stable(one.least, one.greatest, self.stability, self.limit):
                continue
            for id_ in self._chosen(trie.entities[label], known, end, step):
                best.setdefault(id_, Candidate(id_, label, one))
        return sorted(best.values(), key=lambda one: (-one.found.score, one.entity))

    def _chosen(self, ids: Sequence[str], known: FillerTypes, end: str, step: Step) -> Sequence[str]:
        passed = [
            id_
            for id_, fits in zip(ids, known.allowed(self.types, end, step, ids), strict=True)
            if fits and known.popularity.get(id_, 0) >= self.popularity
        ]
        if self.homonyms or len(passed) < 2:
            return passed
        return [min(passed, key=lambda id_: (-known.popularity.get(id_, 0), id_))]
