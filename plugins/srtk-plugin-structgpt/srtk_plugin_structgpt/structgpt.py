"""The ``structgpt`` expander: a generator chooses relations hop by hop, until a reader has the answer."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from srtk_plugin_structgpt.expander_base import Place, Walking
from srtk_plugin_structgpt.search_state import Walk, WalkState


@attrs.define(eq=False)
class StructGptExpander(Walking):
    """Read relations, choose, read triples, answer or go on (StructGPT, Jiang et al., EMNLP 2023, section 4).

    At each hop a generator is shown, numbered, the relations around all nodes reached, in both directions, and chooses.
    Their triples are read, through mediators to what hangs on them; then the reader answers or asks for more. Unlike in
    the paper several hops are made, all triples read stay, and the result is those that the answer rests on with the
    paths that lead to them.

    Attributes:
        graph: Where to walk.
        generator: Chooses.
        reader: Says after each hop whether the triples suffice; must be able to refuse.
        scorer: Narrows the relations before the generator sees them.
        budget: Limits on triples, tokens, nodes and neighbours.
        stop: End when the `reader` has an answer, or at the `depth` of `max_iterations` only.
        max_iterations: Most hops.
        width: Relations chosen at each hop.
        inverse: Also walk against the direction of relations.
        history: Tell the generator what was chosen before.
        show: An option says the `relation`, or the whole `path` with it.
        narrow: Options that the scorer leaves.
        relation_triples: Most triples of one relation at one hop: each node gives one in turn, in order, until there
            are so many; null for all.
        tokens: Most tokens of the relations, triples or values shown in one prompt; null for all. Where relations are
            more, they are shown in several prompts, and those chosen once more.
        constraints: Have the generator choose among statements behind mediators by their values.
        support: Keep only the triples that the answer rests on, and what leads to them.
        closed_book: Where the graph gives no answer, ask the generator for one without it; the trace says so in `stop`.
        by: The generator chooses by its `reply`, or by `rating` each option, if it can.
        mention: What stands for the mentions of linked entities where texts are compared; null leaves the text.
        prompts: Name of a prompt to the YAML file that replaces it.
    """

    def _chosen_walks(self, states: Sequence[WalkState]) -> list[tuple[WalkState, Walk]]:
        return self._choose([Place(state, tuple(state.going)) for state in states])
