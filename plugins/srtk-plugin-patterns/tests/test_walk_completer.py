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
from srtk_framework.host.observers import Timing
from srtk_framework.recipe import from_data
from srtk_framework.records import checked, with_checksum
from srtk_framework.roles import TrainingTask
from srtk_framework.run import Runner
from srtk_framework.values import DriverError, Pattern, Step, Triple

SMALL = {"least": 1, "hub": None}
EVE = Pattern("eve", "nationality")
FILES = {"path-walk": FILE, "path-rules": "rules.json"}


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


def logistic(values: Any) -> Any:
    return 1 / (1 + np.exp(-np.asarray(values)))


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("regulariser", [0.5, 3.0])
def test_the_weights_minimise_the_loss_and_the_penalty_of_scaled_features(
    people: TripleTable, inverse: bool, regulariser: float
) -> None:
    walks = RandomWalk(people)
    relation = people.relation_numbers["nationality"]
    facts = people.of_relation(relation).astype(np.int64)
    steps = [("born_in", "city_of"), ("works_in",), ("profession", "^profession", "nationality")]
    paths = [tuple(people.step_number(Step.parse(name)) for name in row) for row in steps]
    paths = [tuple(step ^ 1 for step in reversed(path)) for path in paths] if inverse else paths
    model = WalkModel.learn(walks, paths, facts, facts, inverse, 99, regulariser, np.random.default_rng(0), {})
    begin, end = (2, 0) if inverse else (0, 2)
    counts = Counter(facts[:, end].tolist())
    rows, labels = [], []
    for fact in facts:
        held = fact[None]
        ends = [walks.ends(fact[begin : begin + 1], path, held).toarray()[0] for path in paths]
        stored = {int(row[end]) for row in facts if row[begin] == fact[begin]} | {int(fact[begin])}
        reached = {int(node) for one in ends for node in np.flatnonzero(one)}
        for node in [int(fact[end]), *sorted((reached | set(counts)) - stored)]:
            labels.append(float(node == fact[end]))
            probabilities = [one[node] for one in ends]
            # The triple itself is not counted.
            times = np.log1p(max(counts[node] - labels[-1], 0))
            rows.append([*probabilities, *(float(value > 0) for value in probabilities), times])
    features, wanted = np.array(rows), np.array(labels)
    weights = np.array([*model.probability, *model.presence, model.frequency])
    away = logistic(features @ weights + model.shift) - wanted
    scale = features.max(axis=0)
    scale[scale == 0] = 1.0
    slope = (features / scale).T @ away + regulariser * weights * scale
    assert np.abs(slope).max() < 1e-3
    assert abs(away.sum()) < 1e-3
    assert model.fillers.tolist() == sorted(counts)
    assert model.counts.tolist() == [counts[node] for node in sorted(counts)]


def test_a_rating_is_the_logistic_of_frequency_walks_and_their_presence(trained, facts):
    completer = trained(facts)
    model, table = completer._models[Step("nationality")], completer._table
    eve = table.entity_numbers["eve"]
    ends = [completer._walks.ends(np.array([eve]), path).toarray()[0] for path in model.paths]
    for name in ("latvia", "norway"):
        node = table.entity_numbers[name]
        count = dict(zip(model.fillers.tolist(), model.counts.tolist(), strict=True))[node]
        parts = [
            one[node] * p + (one[node] > 0) * q
            for one, p, q in zip(ends, model.probability, model.presence, strict=True)
        ]
        wanted = logistic(model.shift + model.frequency * np.log1p(count) + sum(parts))
        assert completer.rate([EVE], [[name]])[0][0] == pytest.approx(wanted, rel=1e-4)


def test_the_first_entity_is_rated_as_any_other_and_an_unknown_one_not_at_all(trained, facts):
    completer = trained(facts)
    assert completer._table.entities[0] == "actor"
    (rates,) = completer.rate([Pattern("eve", "profession")], [["actor", "nobody"]])
    assert rates[0] > 0 == rates[1]


def test_many_patterns_of_several_steps_are_answered_as_each_alone(trained, facts):
    more = [*facts, *(Triple(f"p{n}", "born_in", ("riga", "oslo")[n % 2]) for n in range(70))]
    completer = trained(more)
    patterns = [Pattern(f"p{n}", "nationality") for n in range(70)] + [EVE, Pattern(None, "born_in", "riga")]
    patterns[3:3] = [Pattern("nobody", "nationality"), Pattern("eve", "unknown")]
    found = completer.complete(patterns, 2)
    assert found == [completer.complete([pattern], 2)[0] for pattern in patterns]
    assert sum(map(bool, found)) == 72
    ids = [["latvia", "norway"]] * len(patterns)
    assert completer.rate(patterns, ids) == [completer.rate([one], [["latvia", "norway"]])[0] for one in patterns]


def test_at_most_three_reasons_come_by_what_they_add(trained, facts):
    again = [
        Triple(s, {"born_in": "lives_in", "city_of": "part_of"}[r], o)
        for s, r, o in facts
        if r in ("born_in", "city_of")
    ]
    completer = trained([*facts, *again])
    most = 0
    for pattern in (EVE, Pattern(None, "nationality", "latvia"), Pattern(None, "born_in", "riga")):
        for completion in completer.complete([pattern], None)[0]:
            parts = [one.score for one in completion.evidence if one.kind == "path"]
            assert parts == sorted(parts, reverse=True)
            assert all(part > 0 for part in parts)
            most = max(most, len(completion.evidence))
            assert len(completion.evidence) <= 3
    assert most == 3


def test_without_a_path_the_reason_is_how_often_the_relation_has_the_entity(trained, facts):
    completer = trained([*facts, Triple("new", "born_in", "ulm")])
    (found,) = completer.complete([Pattern("new", "nationality")], None)
    texts = {one.triple.object: [(e.kind, e.text, e.score, e.triples) for e in one.evidence] for one in found}
    assert texts["latvia"] == [("model", "50.0% of the relation's triples have it", 0.5, ())]


def test_the_figures_count_ends_paths_and_what_was_held_out(trained, facts, tmp_path, caplog):
    completer = trained(facts)
    figures = completer.fit(TrainingTask((), None, tmp_path), PathWalkFitSettings(**SMALL))
    models = completer._models
    assert figures == {
        "relations": len(models),
        "skipped": 10 - len(models),
        "paths": sum(len(model.paths) for model in models.values()),
        "held_out": 0.0,
        "twins": 0.0,
    }
    assert (f"{10 - len(models)} of 10 ends of relations have no path" in caplog.text) is (len(models) < 10)
    few = completer.fit(TrainingTask((), None, tmp_path), PathWalkFitSettings(**{**SMALL, "paths": 1}))
    assert few["paths"] == few["relations"]
    rare = completer.fit(TrainingTask((), None, tmp_path), PathWalkFitSettings(**{**SMALL, "least": 3}))
    assert rare["paths"] < figures["paths"]
    assert rare["skipped"] > 0
    assert completer.fit(TrainingTask((), lambda: {"hits": 0.5}, tmp_path), PathWalkFitSettings(**SMALL))["hits"] == 0.5


def test_given_patterns_lose_the_paths_that_join_too_few_pairs(trained, facts, people, tmp_path):
    mine(people, MiningSettings(length=2, hub=None, least=1)).save(tmp_path / "patterns")
    every, few = (trained(facts, patterns=str(tmp_path / "patterns"), fit={"least": least}) for least in (1, 4))
    paths = [one._models[Step("nationality")].paths for one in (every, few)]
    assert len(paths[0]) > len(paths[1]) == 1


def test_only_so_many_facts_are_learnt_from_and_the_seed_draws_them(trained, facts):
    more = [*facts, *(Triple(f"p{n}", "born_in", f"c{n % 9}") for n in range(40))]
    more += [Triple(f"p{n}", "nationality", f"l{n % 5}") for n in range(40)]
    whole, part, other = (
        trained(more, seed=seed, fit={"facts": count})._models[Step("nationality")]
        for seed, count in ((0, 2000), (0, 12), (1, 12))
    )
    assert len({tuple(np.round(model.probability, 9)) for model in (whole, part, other)}) == 3
    # Frequencies are those of all facts.
    assert part.counts.tolist() == whole.counts.tolist()


def test_a_step_is_offered_where_it_has_a_model(trained, facts):
    completer = trained(facts, fit={"relations": ["nationality"]})
    assert completer.offers([["eve"], ["latvia"], ["nobody"]], False)[0] == [Step("nationality")]
    assert {step.relation for row in completer.offers([["eve"], ["latvia"]], True) for step in row} <= {"nationality"}


@pytest.mark.parametrize("seed", range(3))
def test_a_way_along_a_path_is_the_first_that_visits_no_entity_twice(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = {(f"n{a}", "rs"[r], f"n{b}") for a, r, b in random.integers(0, [6, 2, 6], size=(16, 3)).tolist()}
    table = TripleTable.from_triples([Triple(*row) for row in sorted(rows)])
    size = len(table.entities)
    edges = {(s, 2 * r, o) for s, r, o in table.triples.tolist()} | {
        (o, 2 * r + 1, s) for s, r, o in table.triples.tolist()
    }
    for path in [*itertools.product(range(4), repeat=2), (0, 1, 0), (2, 0, 3), (1, 1, 2)]:
        for start, end in itertools.product(range(size), repeat=2):
            ways = [
                (start, *inner, end)
                for inner in itertools.product(range(size), repeat=len(path) - 1)
                if all(hop in edges for hop in zip((start, *inner), path, (*inner, end), strict=True))
            ]
            simple = [way for way in ways if len({*way}) == len(way)]
            wanted = next(iter(simple or ways), None)
            found = triples_along(table, start, path, end)
            if wanted is None:
                assert found == ()
                continue
            hops = zip(path, wanted, wanted[1:], strict=False)
            named = [(b, r, a) if r % 2 else (a, r, b) for r, a, b in hops]
            assert [tuple(fact) for fact in found] == [
                (table.entities[s], table.relations[r // 2], table.entities[o]) for s, r, o in named
            ]


@pytest.mark.parametrize("completer", ["path-walk", "path-rules"])
def test_a_training_on_two_processes_is_that_on_one(tmp_path, completer):
    towns = [Triple(f"p{n}", "born_in", f"town{n % 7}") for n in range(70)]
    lands = [Triple(f"p{n}", "nationality", f"land{n % 7 % 3}") for n in range(70)]
    of = [Triple(f"town{n}", "city_of", f"land{n % 3}") for n in range(7)]
    fit = {"least": 1, "hub": None} if completer == "path-walk" else {"least_support": 1}

    def trained(place: str, **more: Any) -> tuple[Any, ...]:
        recipe = {
            "srtk": 1,
            "output": str(tmp_path / place),
            "knowledge_graph": {"use": "memory", "triples": [list(fact) for fact in [*towns, *lands, *of]]},
            "completer": completer,
            "train": {"driver": "completer", "held_out": {"share": 0.2}, "fit": fit},
            **more,
        }
        timing = Timing()
        found = Runner(from_data(recipe), False, [timing], train_only=True).run().stages["train"]
        maps = timing.table.get("executor:processes.map", {"calls": 0})["calls"]
        return (found.figures, found.fingerprint, (found.model / FILES[completer]).read_bytes()), maps

    alone, none = trained("alone")
    both, maps = trained("both", executor={"use": "processes", "workers": 2})
    assert (none, maps) == (0, 2)  # mining and ranking
    assert both == alone
    assert 0 < alone[0]["mrr"] < 1
