"""The ``tog`` expander: a beam over relations and entities, both chosen by a generator."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from srtk_plugin_structgpt.asking import Asked, choices, options_prompt, unreadable
from srtk_plugin_structgpt.expander_base import Place, Walking
from srtk_plugin_structgpt.fitting import fitting
from srtk_plugin_structgpt.search_state import Branch, Fact, Walk, WalkState
from srtk_plugin_structgpt.templates import CHOOSING
from srtk_plugin_structgpt.wording import lines, names

TEMPLATE = "entities"


@attrs.define(eq=False)
class TogExpander(Walking):
    """Keep the best few paths of entities and relations (Think-on-Graph, Sun et al., ICLR 2024, section 2).

    At each hop a generator chooses, for each entity in the beam by itself, relations to follow, then among all triples
    read those to keep and go on from. A path scores the sum of 1 / place over both kinds of choices. The rest is as in
    `structgpt`.

    Attributes:
        graph: Where to walk.
        generator: Chooses.
        reader: Says after each hop whether the triples suffice; must be able to refuse.
        scorer: Narrows the relations before the generator sees them.
        budget: Limits on triples, tokens, nodes and neighbours.
        stop: End when the `reader` has an answer, or at the `depth` of `max_iterations` only.
        max_iterations: Most hops.
        width: Relations chosen for each entity, then triples kept at each hop; the size of the beam.
        inverse: Also walk against the direction of relations.
        history: Tell the generator what was chosen before.
        show: An option says the `relation`, or the whole `path` with it.
        narrow: Options that the scorer leaves.
        relation_triples: Most triples of one relation of one entity, the first in order; null for all.
        tokens: Most tokens of the relations, triples or values shown in one prompt; null for all. Where relations are
            more, they are shown in several prompts, and those chosen once more.
        constraints: Have the generator choose among statements behind mediators by their values.
        support: Keep only the triples that the answer rests on, and what leads to them.
        closed_book: Where the graph gives no answer, ask the generator for one without it; the trace says so in `stop`.
        by: The generator chooses by its `reply`, or by `rating` each option, if it can.
        mention: What stands for the mentions of linked entities where texts are compared; null leaves the text.
        prompts: Name of a prompt to the YAML file that replaces it.
    """

    own_prompts = (*CHOOSING, TEMPLATE)
    width: int = 3
    relation_triples: int | None = 20

    def _chosen_walks(self, states: Sequence[WalkState]) -> list[tuple[WalkState, Walk]]:
        return self._choose([Place(state, (branch,)) for state in states for branch in state.going])

    def _picked(self, found: list[tuple[WalkState, list[Fact]]]) -> list[tuple[WalkState, list[Fact]]]:
        """Choose the triples to keep, where there are more than the beam holds."""
        wide = [i for i, (_, facts) in enumerate(found) if len(facts) > self.width]
        rows = lines(self.graph, [[one.triple for one in found[i][1]] for i in wide])
        # Triples that read alike are one option.
        options = [list(dict.fromkeys(row)) for row in rows]
        sizes = fitting(self.generator.count_tokens, options, self.tokens)
        template = self.templates[TEMPLATE]
        topics = names(self.graph, [found[i][0].topics for i in wide])
        asked = []
        for i, row, size, start in zip(wide, options, sizes, topics, strict=True):
            state = found[i][0]
            state.drop("tokens", len(row) - size)
            values = {"question": state.question.text, "topics": start}
            shown = row[: max(size, 1)]
            asked.append(Asked(state, template, options_prompt(template, shown, values, 1, self.width, state.query)))
        kept = dict(enumerate(found))
        for i, row, texts, choice in zip(wide, rows, options, choices(self.generator, self.by, asked), strict=True):
            state, facts = found[i]
            if unreadable(choice):
                state.count("unreadable", 1)
                state.end("a call failed" if state.errors else "no reply could be read")
                kept[i] = (state, [])
                continue
            place = {texts[number - 1]: rank for rank, number in enumerate(choice.numbers, 1)}
            chosen = [
                (place[text], one._replace(score=one.score + 1.0 / place[text]))
                for text, one in zip(row, facts, strict=True)
                if text in place
            ]
            state.drop("beam", len(facts) - len(chosen))
            kept[i] = (state, [one for _, one in sorted(chosen, key=lambda pair: pair[0])])
        return [kept[i] for i in range(len(found))]

    def _branches(self, state: WalkState, ends: Sequence[Fact]) -> list[Branch]:
        """Go on from single entities, as many as the beam and the budget's nodes hold."""
        most = min(self.width, self.budget.nodes or self.width)
        state.drop("beam", len(ends[most:]))
        return [Branch(one.entity, one.steps, (one.end,), one.score) for one in ends[:most]]
