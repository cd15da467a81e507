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
    ``graph.topic_joins``).

    Attributes:
        graph: Graph to search.
        generator: Chooses relations.
        reader: Decides after each hop whether the triples suffice; must be able to refuse.
        scorer: Limits the relations shown to the generator to the best.
        budget: Limits on triples, tokens, nodes and neighbours.
        stop: `reader` ends the search when the reader has an answer, `depth` after `max_iterations` hops only.
        max_iterations: Most hops.
        width: Most relations chosen at each hop.
        inverse: Also follow relations against their direction.
        revisit: Also follow triples back to nodes reached at an earlier hop, as a path from a person to their parents'
            other children must.
        history: Show the generator the relations chosen at earlier hops.
        show: Text of an option: its `relation`, or the whole `path` with it.
        narrow: Number of options that the scorer keeps.
        relation_triples: Most triples of one relation at one hop, taken from its start nodes in turn; null for all.
        tokens: Most tokens of the relations, triples or values shown in one prompt; null for all. More relations are
            shown on several pages, and those chosen once more.
        constraints: Let the generator choose among the statements behind mediators by their values.
        support: Keep only the triples that support the answer, and those that lead to them.
        closed_book: Where the graph gives no answer, ask the generator without it; `stop` in the trace says so.
        by: The generator chooses by its `reply`, or by `rating` each option.
        mention: Replacement for the mentions of linked entities where texts are compared; null keeps the text.
        prompts: YAML files that replace prompts, by the name of the prompt.
    """

    def _chosen_steps(self, states: Sequence[SearchState]) -> list[tuple[SearchState, ChosenStep]]:
        return self._choose_steps([BranchGroup(state, tuple(state.branches)) for state in states])
