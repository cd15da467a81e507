"""The ``tog`` expander: a beam over relations and entities, both chosen by a generator."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from srtk_framework.values import Path, at_least
from srtk_plugin_structgpt.candidates import BranchGroup, ChoiceRequest, choose, unreadable
from srtk_plugin_structgpt.expander_base import IterativeExpander
from srtk_plugin_structgpt.search_state import Branch, ChosenStep, FoundTriple, SearchState
from srtk_plugin_structgpt.templates import SEARCH_TEMPLATES, node_names, token_fit, triple_lines

TEMPLATE = "entities"


@attrs.define(eq=False)
class TogExpander(IterativeExpander):
    """Beam search over paths of relations and entities (Think-on-Graph, Sun et al., ICLR 2024, section 2).

    At each hop the generator chooses relations for each entity in the beam separately, then chooses among all triples
    read those to keep and to go on from. The score of a path is the sum of 1 / rank over both kinds of choices. All
    else is as in `structgpt`.

    Attributes:
        generator: Chooses relations and triples.
        width: Size of the beam: most relations chosen for each entity, then most triples kept at each hop.
        relation_triples: Most triples of one relation of one entity, the first in order; null for all.
    """

    prompt_names = (*SEARCH_TEMPLATES, TEMPLATE)
    width: int = attrs.field(default=3, validator=at_least(1))
    relation_triples: int | None = attrs.field(default=20, validator=at_least(1))

    def _chosen_steps(self, states: Sequence[SearchState]) -> list[tuple[SearchState, ChosenStep]]:
        return self._choose_steps([BranchGroup(state, (branch,)) for state in states for branch in state.branches])

    def _kept_triples(
        self, read: list[tuple[SearchState, list[FoundTriple]]]
    ) -> list[tuple[SearchState, list[FoundTriple]]]:
        """Let the generator choose the triples to keep where there are more than the beam holds."""
        wide = [i for i, (_, triples) in enumerate(read) if len(triples) > self.width]
        rows = triple_lines(self.graph, [[one.triple for one in read[i][1]] for i in wide])
        # Triples with equal text are one option.
        options = [list(dict.fromkeys(row)) for row in rows]
        sizes = token_fit(self.generator.count_tokens, options, self.tokens)
        template = self.templates[TEMPLATE]
        topics = node_names(self.graph, [read[i][0].topics for i in wide])
        requests = []
        for i, row, size, start in zip(wide, options, sizes, topics, strict=True):
            state = read[i][0]
            state.count_cut("tokens", len(row) - size)
            values = {"question": state.question.text, "topics": start}
            prompt = template.choice_prompt(row[: max(size, 1)], values, 1, self.width, state.query)
            requests.append(ChoiceRequest(state, template, prompt))
        kept = list(read)
        choices = choose(self.generator, self.by, requests)
        for i, row, texts, choice in zip(wide, rows, options, choices, strict=True):
            state, triples = read[i]
            if unreadable(choice):
                state.count("unreadable", 1)
                state.end_without_choice()
                kept[i] = (state, [])
                continue
            rank = {texts[number - 1]: place for place, number in enumerate(choice.numbers, 1)}
            ranked = [
                (rank[text], one._replace(score=one.score + 1.0 / rank[text]))
                for text, one in zip(row, triples, strict=True)
                if text in rank
            ]
            state.count_cut("beam", len(triples) - len(ranked))
            kept[i] = (state, [one for _, one in sorted(ranked, key=lambda pair: pair[0])])
        return kept

    def _branches(self, state: SearchState, ends: Sequence[FoundTriple]) -> list[Branch]:
        """Return one branch per entity, as many as the beam and the budget's nodes allow."""
        most = min(self.width, self.budget.nodes or self.width)
        scores: dict[tuple[str, Path, str], float] = {}
        for one in ends:
            scores.setdefault((one.entity, one.steps, one.end), one.score)
        branches = [Branch(entity, steps, (end,), score) for (entity, steps, end), score in scores.items()]
        state.count_cut("beam", len(branches[most:]))
        return branches[:most]
