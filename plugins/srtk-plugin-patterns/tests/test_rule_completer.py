"""Completions by rules: what is proposed, why, and which rules are refused."""

from __future__ import annotations

import io
from pathlib import Path

import attrs
import numpy as np
import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_patterns.mining import mine
from srtk_plugin_patterns.path_patterns import MiningSettings
from srtk_plugin_patterns.rule_completer import PathRuleCompleter, RuleFitSettings
from srtk_plugin_patterns.rules import Rules

from srtk_framework.graph import TripleTable
from srtk_framework.records import checked, with_checksum, write_model
from srtk_framework.roles import TrainingTask
from srtk_framework.values import DriverError, Pattern, Step, Triple

ASKED = Pattern("eve", "nationality")


@pytest.fixture
def graph(people):
    return MemoryGraph(triples=people.named(people.triples))


@pytest.fixture
def learnt(graph, tmp_path):
    def learn(held_out=(), **settings):
        completer = PathRuleCompleter(graph=graph, **settings)
        completer.open()
        figures = completer.fit(TrainingTask([], None, tmp_path, held_out=held_out), RuleFitSettings(least_support=1))
        return completer, figures

    return learn


def test_eve_is_latvian_since_she_was_born_in_a_city_of_latvia(learnt, people):
    completer, _ = learnt()
    (row,) = completer.complete([ASKED], None)
    assert row[0].triple == Triple("eve", "nationality", "latvia")
    texts = {one.text: one for one in row[0].evidence}
    born = texts["nationality(X, Y) ← born_in(X, A), city_of(A, Y) (4 of 5)"]
    assert born.triples == (Triple("eve", "born_in", "riga"), Triple("riga", "city_of", "latvia"))
    assert (born.kind, born.score) == ("path", 0.4)
    assert all(people.holds(people.numbers(one.triples)).all() for reason in row for one in reason.evidence)


def test_the_rules_of_constants_are_told_in_words(learnt):
    completer, _ = learnt()
    rows = completer.complete([ASKED, Pattern(None, "nationality", "latvia"), Pattern("eve", "works_in")], None)
    texts = {one.text for row in rows for completion in row for one in completion.evidence}
    assert "works_in(X, latvia) ← born_in(X, riga) (1 of 3)" in texts
    bare = [text for text in texts if "occurs there" in text]
    assert all("←" in text for text in texts)
    assert not bare or bare[0].split(" ← ")[0].count("(") == 1


def test_both_ends_give_the_same_triple_its_confidence(learnt):
    completer, _ = learnt(aggregation="noisy-or")
    ((ahead,), (back,)) = completer.rate([ASKED, Pattern(None, "nationality", "latvia")], [["latvia"], ["eve"]])
    assert ahead != 0
    # Eve occurs as no subject of the relation, which only the question from her end supposes.
    assert back <= ahead


def test_held_out_facts_are_not_learnt_from(learnt, people):
    held = [Triple("ann", "nationality", "latvia"), Triple("bob", "nationality", "latvia")]
    completer, figures = learnt(held)
    rules, _ = completer._rules()
    without = people.without(held).compact()
    assert figures["held_out"] == 2
    assert rules.trained_on == without.content_hash() != rules.graph == people.content_hash()
    (row,) = completer.complete([ASKED], 1)
    assert "(2 of 5)" in row[0].evidence[0].text or row[0].confidence < 0.4


def test_saved_rules_give_the_same_bytes_and_the_same_completions(learnt, graph, tmp_path):
    completer, _ = learnt()
    for name in ("one", "two"):
        completer.save(tmp_path / name)
    for file in ("rules.json", "rules.npz"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    loaded = PathRuleCompleter(graph=graph, path=str(tmp_path / "one"))
    loaded.open()
    assert loaded.fingerprint() == completer.fingerprint()
    patterns = [ASKED, Pattern(None, "nationality", "norway")]
    assert loaded.complete(patterns, 3) == completer.complete(patterns, 3)


def test_rules_learnt_without_facts_serve_the_graph_with_and_without_them(learnt, graph, people, tmp_path):
    held = [Triple("riga", "city_of", "latvia"), Triple("ann", "works_in", "latvia")]
    completer, _ = learnt(held)
    completer.save(tmp_path / "model")
    rest = MemoryGraph(triples=people.without(held).named(people.without(held).triples))
    for one in (graph, rest):
        loaded = PathRuleCompleter(graph=one, path=str(tmp_path / "model"))
        loaded.open()
        assert loaded.complete([ASKED], None)[0]


def test_rules_of_another_graph_are_refused(learnt, tmp_path):
    completer, _ = learnt()
    completer.save(tmp_path / "model")
    other = MemoryGraph(triples=[Triple("ann", "born_in", "riga")])
    with pytest.raises(DriverError, match="learnt from another graph"):
        PathRuleCompleter(graph=other, path=str(tmp_path / "model")).open()


def test_mined_patterns_are_read_rather_than_mined_again(learnt, people, tmp_path):
    mine(people, MiningSettings(length=2, hub=None, least=1, most=None)).save(tmp_path / "patterns")
    completer, _ = learnt(patterns=str(tmp_path / "patterns"))
    rules, _ = completer._rules()
    assert (rules.paths.steps[:, 2] == -1).all()
    assert len(rules.paths)


def test_patterns_of_another_graph_are_refused(learnt, tmp_path):
    other = TripleTable.from_triples([Triple("ann", "born_in", "riga"), Triple("ann", "lives_in", "riga")])
    mine(other, MiningSettings(length=1, hub=None, least=1)).save(tmp_path / "patterns")
    with pytest.raises(DriverError, match="another graph"):
        learnt(patterns=str(tmp_path / "patterns"))


def test_a_completer_without_rules_says_how_to_get_them(graph):
    completer = PathRuleCompleter(graph=graph)
    completer.open()
    with pytest.raises(DriverError, match="has learnt nothing: add `train:"):
        completer.complete([ASKED], 1)


def test_a_graph_of_held_out_facts_alone_is_refused(people, tmp_path):
    facts = [Triple("ann", "born_in", "riga")]
    completer = PathRuleCompleter(graph=MemoryGraph(triples=facts))
    completer.open()
    with pytest.raises(DriverError, match="no triple between entities"):
        completer.fit(TrainingTask([], None, tmp_path, held_out=facts), RuleFitSettings())


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("rules.json", None, "cannot be read"),
        ("rules.json", with_checksum('{"format": "x"}')[0], "its format is x"),
        ("rules.npz", "x", "is truncated or damaged"),
    ],
)
def test_damaged_rules_are_refused_in_a_sentence(learnt, tmp_path, file, text, said):
    completer, _ = learnt()
    completer.save(tmp_path / "model")
    if text is None:
        (tmp_path / "model" / file).unlink()
    else:
        (tmp_path / "model" / file).write_text(text)
    with pytest.raises(DriverError, match=said):
        Rules.load(tmp_path / "model")


def test_a_file_without_a_column_is_refused(learnt, tmp_path):
    completer, _ = learnt()
    completer.save(tmp_path / "model")
    file = tmp_path / "model" / "rules.json"
    facts, _ = checked(file.read_bytes(), file, "")
    data = io.BytesIO()
    np.savez(data, path_steps=np.zeros((0, 3)))
    write_model(file, facts, {"rules.npz": data.getvalue()})
    with pytest.raises(DriverError, match="no model of `path-rules`"):
        Rules.load(tmp_path / "model")


@pytest.mark.parametrize("settings", [{"aggregation": "mean"}, {"overlap": 0.0}, {"overlap": 1.5}])
def test_settings_out_of_range_are_refused(graph, settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        PathRuleCompleter(graph=graph, **settings)


@pytest.mark.parametrize("length", [0, 4])
def test_paths_longer_than_three_steps_or_of_none_are_refused(length):
    with pytest.raises(ValueError, match="length"):
        RuleFitSettings(length=length)


def test_steps_are_offered_where_entities_of_a_common_step_have_them(learnt):
    completer, _ = learnt()
    (steps,) = completer.offers([["eve"]], True)
    assert Step("nationality") in steps
    assert completer.offers([["unknown"]], True) == [[]]


def test_what_the_graph_does_not_know_has_no_completions(learnt):
    completer, _ = learnt()
    patterns = [Pattern("nobody", "nationality"), Pattern("eve", "unknown")]
    assert completer.complete(patterns, None) == [[], []]
    assert completer.rate(patterns, [["latvia"], ["latvia"]]) == [[0.0], [0.0]]


UMLS = Path(__file__).parents[4] / "shared" / "data" / "small_kgs" / "umls" / "train.txt"


@pytest.mark.skipif(not UMLS.exists(), reason="the data sets are not here")
def test_on_real_data_every_reason_is_a_path_of_the_graph(tmp_path):
    facts = [Triple(*line.split("\t")) for line in UMLS.read_text(encoding="utf-8").splitlines()][::2]
    completer = PathRuleCompleter(graph=MemoryGraph(triples=facts))
    completer.open()
    settings = RuleFitSettings(length=2, least_confidence=0.3, paths=50, constants=50)
    completer.fit(TrainingTask([], None, tmp_path), settings)
    held, asked = (
        set(facts),
        [Pattern(s, r) for s, r, _ in facts[::100]] + [Pattern(None, r, o) for _, r, o in facts[::100]],
    )
    told = 0
    for pattern, row in zip(asked, completer.complete(asked, 5), strict=True):
        for one in row:
            for reason in one.evidence:
                assert set(reason.triples) <= held
                nodes = {end for t in reason.triples for end in (t.subject, t.object)}
                told += len(reason.triples)
                if " ← " in reason.text and reason.text.split(" (")[0].endswith("Y)") and len(reason.triples) > 1:
                    assert {one.triple.subject, one.triple.object} <= nodes
        assert all(one.evidence for one in row), pattern
    assert told > 100


def test_a_training_tells_what_it_learnt_and_left_out(learnt, people):
    completer, figures = learnt([Triple("ann", "works_in", "latvia")])
    rules, _ = completer._rules()
    assert figures == {
        "triples": 16.0,
        "held_out": 1.0,
        "twins": 0.0,
        "path_rules": len(rules.paths),
        "constant_rules": len(rules.constants),
        **rules.cut,
    }
    assert rules.training == {
        "fit": attrs.asdict(RuleFitSettings(least_support=1)),
        "mined": attrs.asdict(MiningSettings(3, None, None, 1, 1000, 0)),
        "seed": 0,
    }


def test_a_completion_has_three_reasons_at_most_the_most_confident_first(learnt):
    completer, _ = learnt()
    rows = completer.complete([ASKED, Pattern(None, "nationality", "latvia")], None)
    counts = {len(one.evidence) for row in rows for one in row}
    assert max(counts) == 3
    for row in rows:
        for one in row:
            scores = [reason.score for reason in one.evidence]
            assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("aggregation", ["max", "noisy-or"])
def test_many_patterns_are_answered_as_each_alone_and_rated_as_proposed(graph, people, tmp_path, aggregation):
    more = people.named(people.triples) + [Triple(f"p{n}", "born_in", ("riga", "oslo")[n % 2]) for n in range(40)]
    completer = PathRuleCompleter(graph=MemoryGraph(triples=more), aggregation=aggregation)
    completer.open()
    completer.fit(TrainingTask([], None, tmp_path), RuleFitSettings(least_support=1))
    patterns = [Pattern(f"p{n}", "nationality") for n in range(40)] + [ASKED, Pattern("eve", "profession")]
    patterns[3:3] = [Pattern("nobody", "nationality"), Pattern(None, "born_in", "riga"), Pattern("eve", "unknown")]
    found = completer.complete(patterns, None)
    assert found == [completer.complete([pattern], None)[0] for pattern in patterns]
    for limit in (0, 1, 2):
        assert completer.complete(patterns, limit) == [row[:limit] for row in found]
    for pattern, row in zip(patterns, found, strict=True):
        ends = [one.triple.subject if pattern.subject is None else one.triple.object for one in row]
        assert completer.rate([pattern], [[*ends, "nowhere"]])[0] == [*(one.confidence for one in row), 0.0]
        assert [one.confidence for one in row] == sorted((one.confidence for one in row), reverse=True)
    # The first entity of all, which has the number 0.
    assert "actor" in {one.triple.object for one in found[-1]}


def test_the_fingerprint_has_the_graph_the_rules_and_how_they_are_taken_together(graph, learnt):
    completer, _ = learnt()
    prints = {completer.fingerprint(), learnt([Triple("ann", "works_in", "latvia")])[0].fingerprint()}
    prints |= {learnt(aggregation=how)[0].fingerprint() for how in ("noisy-or", "clustered")}
    prints |= {learnt(aggregation="clustered", overlap=0.25)[0].fingerprint()}
    assert len(prints) == 5
    assert learnt(overlap=0.25)[0].fingerprint() == completer.fingerprint()
    rules = completer._rules()[0]
    changes = [{"graph": "x"}, {"trained_on": "x"}, {"entities": rules.entities[::-1]}, {"relations": ("x",)}]
    changes.append({"paths": rules.paths[1:]})
    assert len({rules.fingerprint(), *(attrs.evolve(rules, **one).fingerprint() for one in changes)}) == 6


def test_rules_say_the_same_with_the_numbers_of_a_larger_graph(learnt, people):
    rules = learnt()[0]._rules()[0]
    facts = [*people.named(people.triples), Triple("aaa", "a first", "bbb"), Triple("zzz", "city_of", "bbb")]
    larger = TripleTable.from_triples(facts)
    moved = rules.numbered(larger)
    assert rules.numbered(people) is rules

    def told(some, table):
        step = [*(str(table.step(number)) for number in range(2 * len(table.relations))), ""]
        name = [*table.entities, ""]
        paths, constants = some.paths, some.constants
        return (
            [
                (table.relations[r], *(step[s] for s in row))
                for r, row in zip(paths.relations, paths.steps, strict=True)
            ],
            [
                (table.relations[r], bool(at), name[c], step[s], name[v])
                for r, at, c, s, v in zip(
                    constants.relations,
                    constants.at_subject,
                    constants.constants,
                    constants.steps,
                    constants.values,
                    strict=True,
                )
            ],
        )

    assert told(moved, larger) == told(rules, people)
    assert moved.constants.support.tolist() == rules.constants.support.tolist()


def test_a_file_with_pickled_columns_is_refused(learnt, tmp_path):
    completer, _ = learnt()
    completer.save(tmp_path / "model")
    file = tmp_path / "model" / "rules.json"
    facts, _ = checked(file.read_bytes(), file, "")
    data = io.BytesIO()
    columns = completer._rules()[0]._columns()
    np.savez(data, **{name: column.astype(object) for name, column in columns.items()})
    write_model(file, facts, {"rules.npz": data.getvalue()})
    with pytest.raises(DriverError, match="no model of `path-rules`"):
        Rules.load(tmp_path / "model")
