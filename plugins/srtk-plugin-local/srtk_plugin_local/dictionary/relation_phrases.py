"""Words of relations in a text, which no name one slip away is meant by: the IATA code of an airport, not Inta."""

from __future__ import annotations

from collections.abc import Sequence

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.text import fold
from srtk_plugin_local.dictionary.candidates import Mention
from srtk_plugin_local.name_index import words_of


class RelationPhrases:
    """The labels of several words of a graph's relations.

    Args:
        graph: A graph; without a list of its relations it has no phrases.
    """

    def __init__(self, graph: KnowledgeGraph) -> None:
        relations = list(graph.schema().relations)
        labels = [fold(label) for label in graph.labels(relations)] if relations else []
        self._names = list(zip(relations, labels, strict=True))
        self._labels: dict[str, list[frozenset[str]]] = {}
        for label in labels:
            words = frozenset(words_of(label))
            for word in words if len(words) > 1 else ():
                self._labels.setdefault(word, []).append(words)

    def lack(self, label: str, end: str) -> bool:
        """Return whether the relations are known, and none has a folded label or an end of its id."""
        return bool(self._names) and not any(name == label or id_.endswith(end) for id_, name in self._names)

    def leave_out(self, found: Sequence[list[Mention]]) -> None:
        """Drop the mentions of near and short names that, with the word beside them, are words of one relation."""
        for mentions in found:
            if any(mention.string < 1 for mention in mentions):
                mentions[:] = [mention for mention in mentions if mention.string == 1 or not self._holds(mention)]

    def _holds(self, mention: Mention) -> bool:
        own = words_of(fold(mention.text))
        if not own or not all(word in self._labels for word in own):
            return False
        bounds, text = mention.words.bounds, mention.words.text
        beside = {
            fold(text[slice(*bounds[at])]) for at in (mention.first - 1, mention.last + 1) if 0 <= at < len(bounds)
        }
        return any(label.issuperset(own) and beside & (label - set(own)) for label in self._labels[own[0]])
