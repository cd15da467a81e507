"""The ``ngrams`` mention detector: runs of words that are labels or aliases in the graph."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from srtk_framework.roles import KnowledgeGraph
from srtk_plugin_local.detectors.known_names import KnownNamesDetector


@attrs.define(eq=False)
class NgramDetector(KnownNamesDetector):
    """Find runs of words that are names in the graph, also in lower case.

    A score is how much the words look like a name in their text: 1 for capitalised words, less for lower case in a
    text that capitalises names, and less for function words.

    Attributes:
        graph: Graph whose labels and aliases are looked up.
    """

    graph: KnowledgeGraph

    def fingerprint(self) -> str:
        """Identify the graph and the settings."""
        names = ("overlaps", "languages", "min_score")
        how = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"mention_detector:ngrams(graph={self.graph.fingerprint()}, {how})"

    def _known(self, names: Sequence[str]) -> list[bool]:
        return [len(ids) > 0 for ids in self.graph.find(names)]
