"""The beam search of `topics.py` whose topics do not support each other."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import attrs
from srtk_plugin_sr.beam import BeamExpander
from srtk_plugin_sr.beam_state import beam_state

from srtk_framework.values import HopState, Subgraph


@attrs.define(eq=False)
class Apart(BeamExpander):
    """Search as ``beam`` does, and read the triples as if all links were alternatives of one topic."""

    def result(self, states: Sequence[HopState]) -> list[Subgraph]:
        """Rank the paths of all topics together, as many as the topics have, and read their triples."""
        found: list[Subgraph] = []
        for state in map(beam_state, states):
            reader = copy.copy(self)
            reader.paths = (self.paths or self.width) * len(set(state.topics.values()))
            together = attrs.evolve(state, topics=dict.fromkeys(state.topics, 0))
            found += BeamExpander.result(reader, [together])
        return found
