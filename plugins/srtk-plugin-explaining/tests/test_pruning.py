from __future__ import annotations

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st
from srtk_plugin_explaining.pruning import best_loss, follow
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_sr.beam import BeamExpander
from srtk_plugin_sr.search_settings import SearchBlock

from srtk_framework.roles import Explainable, PathScorer
from srtk_framework.values import END, Link, Question, RankedPath, Step

NODES = ["a", "b", "c", "d"]
RELATIONS = ["p", "q", "r", "s"]
triples = st.lists(
    st.tuples(st.sampled_from(NODES), st.sampled_from(RELATIONS), st.sampled_from(NODES)), min_size=1, max_size=14
)
beams = st.fixed_dictionaries(
    {
        "width": st.integers(1, 4),
        "depth": st.integers(1, 3),
        "long_cost": st.sampled_from([0.0, 0.6]),
        "long_width": st.sampled_from([None, 1, 2]),
        "inverse": st.booleans(),
        "fan_cost": st.sampled_from([0.0, 0.7]),
        "hop_margin": st.sampled_from([None, 0.5]),
        "paths": st.sampled_from([None, 1, 3]),
        "margin": st.sampled_from([None, 0.6]),
        "variant": st.sampled_from(["default", "srtk"]),
        "scale": st.sampled_from([None, 1.0]),
    }
)


@attrs.define
class ByName(PathScorer):
    """Scores each relation as it is told, and END with less than the best."""

    scores: dict[str, float]

    def score(self, questions, paths, candidates):
        return [[self.scores.get(step.relation, -0.8) for step in row] for row in candidates]


def made(rows, values, **changes):
    scores = dict(zip(RELATIONS, values, strict=True))
    search = SearchBlock(**{name: changes[name] for name in changes if hasattr(SearchBlock(), name)})
    changes = {name: value for name, value in changes.items() if not hasattr(search, name)}
    graph = MemoryGraph(triples=[list(row) for row in rows])
    beam = BeamExpander(graph=graph, scorer=ByName(scores), search=search, choice=None, **changes)
    beam.open()
    return beam, Question("q", "?", (Link("a"), Link("b", 0.5)))


scores = st.lists(st.sampled_from([-0.2, -0.5, -1.0, -1.4]), min_size=4, max_size=4)


@settings(max_examples=60, deadline=None)
@given(triples, scores, beams)
def test_what_a_choice_calls_kept_is_what_the_next_step_keeps(rows, values, changes):
    beam, question = made(rows, values, **changes)
    assert isinstance(beam, Explainable)
    [state] = beam.start([question])
    while not state.done:
        [choice] = beam.choices([state])
        [after] = beam.step([state])
        ended = [(p.entity, (*p.steps, END)) for p in after.finished[len(state.finished) :]]
        kept = {(item.path.entity, item.path.steps) for item in after.active} | set(ended)
        told = {(p.entity, p.steps) for p, why in zip(choice.ranked, choice.dropped, strict=True) if not why}
        assert told == kept
        assert len(choice.ranked) == len({(path.entity, path.steps) for path in choice.ranked})
        if not changes["fan_cost"]:
            assert [path.score for path in choice.ranked] == sorted((p.score for p in choice.ranked), reverse=True)
        state = after
    [last] = beam.last_choices([state])
    read = [path for path, why in zip(last.ranked, last.dropped, strict=True) if not why]
    assert tuple(read) == beam.result([state])[0].paths


@settings(max_examples=60, deadline=None)
@given(triples, scores, beams)
def test_a_path_is_either_read_or_lost_at_one_place(rows, values, changes):
    beam, question = made(rows, values, **changes)
    paths = [RankedPath(e, (Step(r), *rest), 0.0) for e in "ab" for r in "pq" for rest in [(), (Step("r"),)]]
    kept, losses = follow(beam, question, paths)
    [subgraph] = beam.expand([question])
    read = {(path.entity, path.steps) for path in subgraph.paths}
    assert {(path.entity, path.steps) for path in kept} == read & {(path.entity, path.steps) for path in paths}
    assert len(kept) + len(losses) == len(paths)
    best = best_loss(losses)
    assert (best is None) == (not losses)
