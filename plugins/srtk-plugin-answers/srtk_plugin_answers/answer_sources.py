"""Where the handlers of questions read."""

from __future__ import annotations

import attrs

from srtk_framework.roles import KnowledgeGraph
from srtk_plugin_answers.operations import Operations
from srtk_plugin_answers.relation_likeness import RelationLikeness
from srtk_plugin_answers.unlinked import UnlinkedSets


@attrs.frozen(eq=False)
class Sources:
    """Where handlers read.

    Attributes:
        graph: The graph.
        operations: Sets of questions, and the names of the graph.
        sets: Sets of questions without a link.
        likeness: How like relations are to words of a question.
        relation_words: Words of the labels of all relations.
    """

    graph: KnowledgeGraph
    operations: Operations
    sets: UnlinkedSets
    likeness: RelationLikeness
    relation_words: frozenset[str]
