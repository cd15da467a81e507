"""The ``structgpt`` expander: relations are chosen hop by hop, until a reader has the answer."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from srtk_plugin_structgpt.candidates import BranchGroup
from srtk_plugin_structgpt.expander_base import IterativeExpander
from srtk_plugin_structgpt.search_state import ChosenStep, SearchState


@attrs.define(eq=False)
class StructGptExpander(IterativeExpander):
    """Iterative reading-then-reasoning (StructGPT, Jiang et al., EMNLP 2023, section 4).

    At each hop the generator sees the numbered relations around all nodes reached, and chooses some. Their triples are
    read, including the statements behind mediators; then the reader answers or asks for more. Unlike in the paper, the
    search takes several hops, keeps all triples read, and returns those that support the answer with the paths that
    lead to them. Where paths from several topics of a question meet, their triples come first (see
    ``srtk_plugin_sr.topic_joins``).
    """

    def _chosen_steps(self, states: Sequence[SearchState]) -> list[tuple[SearchState, ChosenStep]]:
        return self._choose_steps([BranchGroup(state, tuple(state.branches)) for state in states])
