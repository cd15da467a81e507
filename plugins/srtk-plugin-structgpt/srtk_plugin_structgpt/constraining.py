"""Have a generator say which of the statements just reached a question asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from srtk_plugin_structgpt.asking import Asked, choices, options_prompt
from srtk_plugin_structgpt.fitting import fitting
from srtk_plugin_structgpt.mediators import Parts, Values, kept, parts_of, values_of
from srtk_plugin_structgpt.search_state import Fact, WalkState
from srtk_plugin_structgpt.wording import followed, names

if TYPE_CHECKING:
    from srtk_plugin_structgpt.expander_base import Walking

TEMPLATE = "constraints"


def statements(walking: Walking, found: Sequence[tuple[WalkState, list[Fact]]]) -> list[Parts]:
    """Read what hangs on the mediators among the ends of triples; keep the statements that the generator chooses.

    Returns:
        Per question the mediators that were kept, with the rest of their statements.
    """
    schema = walking.schema
    if not schema.mediators:
        return [{} for _ in found]
    graph = walking.graph
    parts = parts_of(graph, found, schema.mediators, schema.noise, walking.inverse, walking.budget)
    if not walking.constraints:
        return parts
    ids = sorted({id_ for row in parts for facts in row.values() for one in facts for id_ in one.triple})
    labels = dict(zip(ids, graph.labels(ids), strict=True))
    said = [values_of(row, labels) for row in parts]
    options = [sorted({text for row in one.values() for text in row.values()}) for one in said]
    sizes = fitting(walking.generator.count_tokens, options, walking.tokens)
    for (state, _), row, size in zip(found, options, sizes, strict=True):
        state.drop("tokens", len(row) - size)
    open_ = [i for i, size in enumerate(sizes) if size]
    asked = []
    for i, topics in zip(open_, names(graph, [found[i][0].topics for i in open_]), strict=True):
        state = found[i][0]
        values = {
            "question": state.question.text,
            "topics": topics,
            "history": followed(state.history),
            "count": str(len(said[i])),
        }
        shown = options[i][: sizes[i]]
        prompt = options_prompt(walking.templates[TEMPLATE], shown, values, 0, len(shown), state.query)
        asked.append(Asked(state, walking.templates[TEMPLATE], prompt))
    for i, choice in zip(open_, choices(walking.generator, walking.by, asked), strict=True):
        picked = [options[i][number - 1] for number in choice.numbers]
        if picked:
            _constrain(found[i][0], parts[i], said[i], picked)
    return parts


def _constrain(state: WalkState, parts: Parts, said: Mapping[str, Values], picked: Sequence[str]) -> None:
    """Take the statements that do not have the picked values out of ``parts``."""
    left, rule = kept(said, picked)
    dropped = [id_ for id_ in parts if id_ not in set(left)]
    for id_ in dropped:
        del parts[id_]
    state.count("constrained", len(dropped))
    state.calls[-1] = {**state.calls[-1], "kept": len(left), "dropped": len(dropped), "rule": rule}
