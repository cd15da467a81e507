"""Completions by random walks: what is learnt, proposed and given as reason."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_patterns.mining import mine
from srtk_plugin_patterns.path_patterns import MiningSettings
from srtk_plugin_patterns.path_triples import triples_along
from srtk_plugin_patterns.random_walk import RandomWalk
from srtk_plugin_patterns.step_matrices import StepMatrices
from srtk_plugin_patterns.walk_completer import FILE, PathWalkCompleter, PathWalkFitSettings
from srtk_plugin_patterns.walk_model import WalkModel, _candidates, _features

from srtk_framework.graph import TripleTable
from srtk_framework.records import checked, with_checksum
from srtk_framework.roles import TrainingTask
from srtk_framework.values import DriverError, Pattern, Step, Triple

SMALL = {"least": 1, "hub": None}
EVE = Pattern("eve", "nationality")


@pytest.fixture
def facts(people: TripleTable) -> list[Triple]:
    return people.named(people.triples)


@pytest.fixture
def trained(tmp_path: Path) -> Callable[..., PathWalkCompleter]:
    def train(facts: list[Triple], held_out: Any = (), seed: int = 0, fit: Any = None, **settings: Any) -> Any:
        graph = MemoryGraph(triples=facts)
        graph.open()
        completer = PathWalkCompleter(graph=graph, **settings)
        completer.open()
        completer.fit(TrainingTask((), None, tmp_path, seed, held_out), PathWalkFitSettings(**{**SMALL, **(fit or {})}))
        return completer

    return train


def test_eve_has_the_nationality_of_her_town(trained, facts):
    completer = trained(facts)
    (found,) = completer.complete([EVE], 3)
    assert found[0].triple == Triple("eve", "nationality", "latvia")
    assert found[0].confidence > 0.5
    assert all(one.confidence < found[0].confidence for one in found[1:])


def test_reasons_are_paths_whose_triples_stand_in_the_graph(trained, facts):
    (found,) = trained(facts).complete([EVE], 1)
    reasons = found[0].evidence
    assert reasons[0].kind == "path"
    assert reasons[0].text.startswith("nationality by ")
    for reason in reasons:
        assert reason.triples
        assert set(reason.triples) <= set(facts)
        assert {reason.triples[0].subject, reason.triples[0].object} & {"eve"}
        assert {reason.triples[-1].subject, reason.triples[-1].object} & {"latvia"}


def test_subjects_are_completed_by_the_paths_turned_round(trained, facts):
    (found,) = trained(facts).complete([Pattern(None, "nationality", "latvia")], 1)
    assert found[0].triple == Triple("eve", "nationality", "latvia")


def test_a_candidate_is_rated_as_it_is_proposed(trained, facts):
    completer = trained(facts)
    for pattern in (EVE, Pattern(None, "nationality", "latvia"), Pattern("eve", "works_in")):
        (found,) = completer.complete([pattern], None)
        ends = [one.triple.object if pattern.object is None else one.triple.subject for one in found]
        assert completer.rate([pattern], [ends])[0] == [one.confidence for one in found]


def test_a_limit_gives_the_first_completions(trained, facts):
    completer = trained(facts)
    (every,) = completer.complete([EVE], None)
    for limit in range(len(every) + 1):
        assert completer.complete([EVE], limit)[0] == every[:limit]


def test_an_unknown_subject_is_rated_by_frequency_alone(trained, facts):
    completer = trained([*facts, *(Triple(f"p{n}", "nationality", "latvia") for n in range(20))])
    (rates,) = completer.rate([Pattern("nobody", "nationality")], [["latvia", "norway", "riga"]])
    assert rates[0] > rates[1] > rates[2] == 0
    assert completer.complete([Pattern("nobody", "nationality")], 3) == [[]]


def test_held_out_facts_are_not_learnt_from(trained, facts):
    own = Triple("ann", "nationality", "latvia")
    with_it, without_it = trained(facts), trained(facts, held_out=[own])
    assert with_it._content != without_it._content
    counts = without_it._models[Step("nationality")].counts
    assert counts.sum() == 3


@pytest.mark.parametrize("walk", ["any", "simple"])
def test_what_was_saved_rates_as_before(trained, facts, tmp_path, walk):
    completer = trained(facts, walk=walk)
    completer.save(tmp_path / "model")
    graph = MemoryGraph(triples=facts)
    graph.open()
    again = PathWalkCompleter(graph=graph, walk=walk, path=str(tmp_path / "model"))
    again.open()
    assert again.complete([EVE], None) == completer.complete([EVE], None)
    assert again.fingerprint() == completer.fingerprint()
    first = (tmp_path / "model" / FILE).read_bytes()
    trained(facts, walk=walk).save(tmp_path / "other")
    assert (tmp_path / "other" / FILE).read_bytes() == first


def test_a_model_of_another_graph_is_refused(trained, facts, tmp_path):
    trained(facts).save(tmp_path / "model")
    graph = MemoryGraph(triples=facts[1:])
    graph.open()
    with pytest.raises(DriverError, match="learnt from another graph"):
        PathWalkCompleter(graph=graph, path=str(tmp_path / "model")).open()


def test_a_model_learnt_without_held_out_facts_serves_both_graphs(trained, facts, tmp_path):
    trained(facts, held_out=facts[:1]).save(tmp_path / "model")
    for some in (facts, facts[1:]):
        graph = MemoryGraph(triples=some)
        graph.open()
        PathWalkCompleter(graph=graph, path=str(tmp_path / "model")).open()


def _without_weight(text: str) -> str:
    data = json.loads(text)
    data["models"][0][2]["presence"].pop()
    return json.dumps(data)


def _with_unknown_step(text: str) -> str:
    data = json.loads(text)
    data["models"][0][2]["paths"][0] = ["never seen"]
    return json.dumps(data)


def _with_listed_fillers(text: str) -> str:
    data = json.loads(text)
    data["models"][0][2]["fillers"] = ["riga"]
    return json.dumps(data)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[: len(text) // 2],
        lambda text: json.dumps({"format": "other"}),
        _without_weight,
        _with_unknown_step,
        _with_listed_fillers,
    ],
)
def test_a_damaged_model_is_refused(trained, facts, tmp_path, spoil):
    trained(facts).save(tmp_path / "model")
    file = tmp_path / "model" / FILE
    whole, _ = checked(file.read_bytes(), file, "")
    text = spoil(json.dumps(whole))
    file.write_text(with_checksum(text)[0] if text[-1] == "}" else text)
    graph = MemoryGraph(triples=facts)
    graph.open()
    what = r"is no model of `path-walk`" if text[-1] == "}" else "is damaged"
    with pytest.raises(DriverError, match=f"{what}.*train it again"):
        PathWalkCompleter(graph=graph, path=str(tmp_path / "model")).open()


def test_an_untrained_completer_says_how_to_train_it(facts):
    graph = MemoryGraph(triples=facts)
    graph.open()
    completer = PathWalkCompleter(graph=graph)
    completer.open()
    with pytest.raises(DriverError, match=r"path-walk is not trained: add `train:"):
        completer.complete([EVE], 1)


def test_mined_patterns_are_used_and_those_of_another_graph_refused(trained, facts, people, tmp_path):
    mine(people, MiningSettings(length=2, hub=None, least=1)).save(tmp_path / "patterns")
    completer = trained(facts, patterns=str(tmp_path / "patterns"))
    assert max(len(path) for model in completer._models.values() for path in model.paths) == 2
    with pytest.raises(DriverError, match=r"16 triples that are left to learn from; omit `patterns`"):
        trained(facts, held_out=facts[:1], patterns=str(tmp_path / "patterns"))


def test_a_model_of_another_kind_of_walk_is_refused(trained, facts, tmp_path):
    trained(facts, walk="simple").save(tmp_path / "model")
    graph = MemoryGraph(triples=facts)
    graph.open()
    with pytest.raises(DriverError, match="learnt with `walk: simple`, not any"):
        PathWalkCompleter(graph=graph, path=str(tmp_path / "model")).open()


def test_wrong_entities_are_never_stored_ones(people):
    walks = RandomWalk(people)
    number, relation = people.entity_numbers, people.relation_numbers["born_in"]
    path = (2 * relation, 2 * relation + 1, 2 * relation)
    starts = np.array([number["ann"], number["cid"]])
    right = np.array([number["riga"], number["oslo"]])
    held = np.stack([starts, [relation] * 2, right], axis=1)
    columns = [walks.ends(starts, path, held)]
    rows, entities, labels = _candidates(
        columns,
        starts,
        right,
        np.unique(people.of_relation(relation)[:, 2]),
        lambda node: people.fillers(node, relation),
        10,
        np.random.default_rng(0),
    )
    found = {(int(starts[row]), int(end)): bool(label) for row, end, label in zip(rows, entities, labels, strict=True)}
    assert found == {
        (number["ann"], number["riga"]): True,
        (number["ann"], number["oslo"]): False,
        (number["cid"], number["oslo"]): True,
        (number["cid"], number["riga"]): False,
    }


def test_named_relations_alone_are_learnt(trained, facts):
    completer = trained(facts, fit={"relations": ["nationality"]})
    assert {step.relation for step in completer._models} == {"nationality"}
    assert completer.complete([Pattern("eve", "profession")], 3) == [[]]
    with pytest.raises(DriverError, match="has no relation 'nation'"):
        trained(facts, fit={"relations": ["nation"]})


def test_a_graph_without_a_path_is_refused(trained):
    with pytest.raises(DriverError, match="no relation has both a path and triples"):
        trained([Triple("a", "r", "b"), Triple("c", "s", "d")])


def test_the_seed_alone_decides_what_is_drawn(trained, facts):
    more = [*facts, *(Triple(f"p{n}", "born_in", "riga") for n in range(30))]
    more += [Triple(f"p{n}", "nationality", f"c{n % 7}") for n in range(30)]
    one, same, other = (trained(more, seed=seed, fit={"negatives": 1, "facts": 5}) for seed in (1, 1, 2))
    assert one.complete([EVE], None) == same.complete([EVE], None) != other.complete([EVE], None)


def test_a_way_that_visits_no_entity_twice_is_preferred(people):
    path = [people.step_number(Step.parse(name)) for name in ("born_in", "^born_in", "nationality")]
    number = people.entity_numbers
    found = triples_along(people, number["ann"], path, number["latvia"])
    assert [tuple(fact) for fact in found] == [
        ("ann", "born_in", "riga"),
        ("bob", "born_in", "riga"),
        ("bob", "nationality", "latvia"),
    ]
    assert triples_along(people, number["eve"], path, number["norway"]) == ()


def test_the_walk_back_is_taken_where_there_is_no_other(people):
    path = [people.step_number(Step.parse(name)) for name in ("nationality", "^nationality")]
    alone = people.without([Triple("bob", "nationality", "latvia")])
    ann = alone.entity_numbers["ann"]
    assert len(triples_along(alone, ann, path, ann)) == 2


def test_probabilities_are_bounded_for_extreme_weights(trained, facts):
    completer = trained(facts, fit={"regulariser": 1e-6})
    (rates,) = completer.rate([EVE], [list(completer._table.entities)])
    assert np.isfinite(rates).all()
    assert max(rates) < 1


def test_the_wrong_entities_of_an_example_are_reached_or_fill_and_are_not_stored() -> None:
    """Rows are examples; the second path alone reaches 4, the first alone 3; 2 is stored with the second start."""
    reached = [csr_array([[0, 1, 0, 0.5, 0], [0, 0, 0.2, 0, 0]]), csr_array([[0, 0, 0, 0, 0.1], [0, 0, 0, 0, 0]])]
    stored = {0: np.array([1]), 3: np.array([1, 2])}
    starts, right, fillers = np.array([0, 3]), np.array([1, 1]), np.array([0, 1, 2])
    draw = np.random.default_rng(0)
    rows, entities, labels = _candidates(reached, starts, right, fillers, stored.__getitem__, 9, draw)
    assert list(zip(rows.tolist(), entities.tolist(), labels.tolist(), strict=True)) == [
        *((0, 1, 1), (0, 2, 0), (0, 3, 0), (0, 4, 0)),
        *((1, 1, 1), (1, 0, 0)),
    ]
    rows, entities, labels = _candidates(reached, starts, right, fillers, stored.__getitem__, 1, draw)
    assert labels.tolist() == [1, 0, 0, 1, 0]
    assert {*entities.tolist()[1:3]} in ({2, 3}, {2, 4})

    found = _features(reached, np.array([0, 0, 1, 1]), np.array([1, 4, 2, 0])).toarray()
    assert found.tolist() == [[1.0, 0, 1, 0], [0, 0.1, 0, 1], [0.2, 0, 1, 0], [0, 0, 0, 0]]


def test_a_model_adds_probability_and_presence_and_shares_of_fillers() -> None:
    fillers, counts = np.array([2, 5, 9]), np.array([1, 2, 5])
    model = WalkModel(((0,), (2,)), np.array([2.0, 3.0]), np.array([0.5, -1.0]), 0.25, -4.0, fillers, counts)
    assert model.parts([0.5, 0.0]).tolist() == [1.5, 0.0]
    assert model.parts([0.0, 0.25]).tolist() == [0.0, -0.25]
    assert [model.share(entity) for entity in (0, 2, 3, 5, 9, 10)] == [0.0, 0.125, 0.0, 0.25, 0.625, 0.0]


FACTS = [(0, 0, 1), (0, 0, 2), (1, 0, 2), (2, 0, 0), (1, 1, 3), (3, 1, 1), (2, 1, 2), (3, 1, 2), (0, 1, 3), (4, 0, 4)]


@pytest.mark.parametrize("length", [1, 2, 3])
def test_simple_paths_are_counted_as_by_walking_them(length: int) -> None:
    table = TripleTable.from_triples([Triple(f"n{s}", f"r{r}", f"n{o}") for s, r, o in FACTS])
    matrices = StepMatrices(table)
    edges = [(s, 2 * r, o) for s, r, o in FACTS] + [(o, 2 * r + 1, s) for s, r, o in FACTS]
    for steps in itertools.product(range(4), repeat=length):
        walks = [[start] for start in range(5)]
        for step in steps:
            walks = [[*walk, o] for walk in walks for s, one, o in edges if s == walk[-1] and one == step]
            walks = [walk for walk in walks if len({*walk}) == len(walk)]
        counts = Counter((walk[0], walk[-1]) for walk in walks)
        found = matrices.reached(np.array([3, 0, 1, 2, 4]), steps).toarray()
        assert found.tolist() == [[counts[start, end] for end in range(5)] for start in (3, 0, 1, 2, 4)], steps
