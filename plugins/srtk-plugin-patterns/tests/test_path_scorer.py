"""The ``patterns`` path scorer: what it learns from, the contract of its role, its file, and a search with it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
import yaml
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_patterns.path_scorer import FILE, PatternFitSettings, PatternScorer

from srtk_framework.cli import main
from srtk_framework.records import checked, with_checksum, write_model
from srtk_framework.roles import PLAIN, TrainingTask
from srtk_framework.testing import PathScorerConformance
from srtk_framework.testing.sample import SAMPLE
from srtk_framework.values import END, DriverError, Link, Question, RankedPath, Step, TrainingExample

LEAD, SEAT, MAYOR = Step("lead"), Step("seat"), Step("mayor")


def example(text: str, *paths: tuple[Step, ...] | RankedPath, entity: str = "firm") -> TrainingExample:
    ranked = [path if isinstance(path, RankedPath) else RankedPath(entity, path, 1.0) for path in paths]
    return TrainingExample(Question(text, text, (Link(entity, name=entity),)), tuple(ranked))


EXAMPLES = [
    example("Who leads firm?", (LEAD,)),
    example("Who is the boss of firm?", (LEAD,)),
    example("Where does firm sit?", (SEAT,)),
    example("Who is mayor where firm sits?", (SEAT, MAYOR)),
]


def trained(folder: Path, examples: Any = EXAMPLES, **settings: Any) -> PatternScorer:
    graph = MemoryGraph(triples=[["firm", "lead", "ann"]])
    graph.open()
    scorer = PatternScorer(graph=graph, **settings)
    scorer.open()
    scorer.fit(TrainingTask(examples, None, folder), PatternFitSettings())
    return scorer


def scores(scorer: PatternScorer, text: str, path: Any = (), steps: Any = (LEAD, SEAT, END)) -> list[float]:
    return scorer.score([text], [path], [list(steps)])[0]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Train on questions about the relations of the kit's sample, some more often than others."""
    folder = tmp_path_factory.mktemp("model")
    examples = [
        example(f"What is the {relation.replace('_', ' ')} of firm?", (Step(relation),))
        for often, relation in enumerate(SAMPLE.relations)
        for _ in range(often + 1)
    ]
    trained(folder / "training", examples).save(folder)
    return str(folder)


class TestPatterns(PathScorerConformance):
    name = "patterns"
    words = True

    @pytest.fixture
    def driver(self, model: str) -> Iterator[PatternScorer]:
        scorer = PatternScorer(graph=MemoryGraph(triples=[["a", "capital", "b"]]), words=self.words, path=model)
        scorer.open()
        yield scorer
        scorer.close()

    @pytest.fixture
    def faulty(self) -> PatternScorer:
        return PatternScorer(graph=MemoryGraph(triples=[["a", "capital", "b"]]), words=self.words, path="nowhere")


class TestPatternsWithoutWords(TestPatterns):
    words = False

    @pytest.mark.xfail(reason="without words the paths of all questions are counted as one", strict=True)
    def test_the_question_counts(self, driver: PatternScorer, relations: list[str]) -> None:
        super().test_the_question_counts(driver, relations)


def test_the_words_of_a_question_choose_its_path(tmp_path: Path) -> None:
    scorer = trained(tmp_path)
    lead, seat, _ = scores(scorer, "Who is the boss of shop?")
    assert lead > seat
    lead, seat, _ = scores(scorer, "Where does shop sit?")
    assert seat > lead


def test_without_words_every_question_gets_the_most_frequent_path(tmp_path: Path) -> None:
    scorer = trained(tmp_path, [*EXAMPLES, EXAMPLES[0]], words=False)
    assert scores(scorer, "Where does shop sit?") == scores(scorer, "Who leads it?")
    lead, seat, end = scores(scorer, "")
    assert lead > seat > end


def test_a_question_counts_once_divided_among_its_paths_by_their_quality(tmp_path: Path) -> None:
    both = example("Who?", RankedPath("firm", (LEAD,), 0.9), RankedPath("firm", (SEAT,), 0.3))
    trained(tmp_path, [both]).save(tmp_path)
    rows = json.loads((tmp_path / FILE).read_text(encoding="utf-8"))["paths"]
    assert [(row["path"], row["weight"]) for row in rows] == [
        (["lead"], pytest.approx(0.75)),
        (["seat"], pytest.approx(0.25)),
    ]


def test_a_path_of_quality_0_is_no_example(tmp_path: Path) -> None:
    wrong = example("Who leads firm?", RankedPath("firm", (LEAD,), 1.0), RankedPath("firm", (SEAT, MAYOR), 0.0))
    trained(tmp_path / "one", [wrong]).save(tmp_path / "one")
    trained(tmp_path / "other", [EXAMPLES[0]]).save(tmp_path / "other")
    assert (tmp_path / "one" / FILE).read_bytes() == (tmp_path / "other" / FILE).read_bytes()


def test_examples_without_a_right_path_are_told(tmp_path: Path) -> None:
    wrong = [example("Who?", RankedPath("firm", (LEAD,), 0.0)), example("What?")]
    with pytest.raises(DriverError, match="none of the 2 training questions has a relation path of a quality above 0"):
        trained(tmp_path, wrong)


def test_the_mention_of_the_linked_entity_is_no_word(tmp_path: Path) -> None:
    trained(tmp_path).save(tmp_path)
    rows = json.loads((tmp_path / FILE).read_text(encoding="utf-8"))["paths"]
    words = {word for row in rows for word in row["words"]}
    assert "boss" in words
    assert "firm" not in words
    named = TrainingExample(Question("1", "Who leads Big Firm?", (Link("f1"),)), (RankedPath("f1", (LEAD,), 1.0),))
    scorer = PatternScorer(graph=MemoryGraph(triples=[["f1", "lead", "ann"]], labels={"f1": "Big Firm"}))
    scorer.graph.open()
    scorer.fit(TrainingTask([named], None, tmp_path), PatternFitSettings())
    scorer.save(tmp_path / "named")
    rows = json.loads((tmp_path / "named" / FILE).read_text(encoding="utf-8"))["paths"]
    assert set(rows[0]["words"]) == {"who", "leads"}


@pytest.mark.parametrize(("given", "kept"), [("auto", ""), ("", ""), ("the thing", "the thing"), (None, None)])
def test_the_mention_is_replaced_as_the_training_says(tmp_path: Path, given: str | None, kept: str | None) -> None:
    graph = MemoryGraph(triples=[["firm", "lead", "ann"]])
    graph.open()
    scorer = PatternScorer(graph=graph)
    scorer.fit(TrainingTask(EXAMPLES, None, tmp_path), PatternFitSettings(mention=given))
    assert scorer.search_settings().mention == kept
    scorer.save(tmp_path)
    rows = json.loads((tmp_path / FILE).read_text(encoding="utf-8"))["paths"]
    words = {word for row in rows for word in row["words"]}
    assert ("firm" in words, "thing" in words) == (kept is None, kept == "the thing")


def test_two_scorers_are_two_and_do_not_print_what_they_learnt(tmp_path: Path) -> None:
    graph = MemoryGraph(triples=[["firm", "lead", "ann"]])
    graph.open()
    scorer, other = PatternScorer(graph=graph), PatternScorer(graph=graph)
    assert len({scorer, other}) == 2
    before = repr(scorer)
    scorer.fit(TrainingTask(EXAMPLES, None, tmp_path), PatternFitSettings())
    assert repr(scorer) == before


def test_scores_are_logarithms_of_probabilities_of_which_none_is_minus_zero(tmp_path: Path) -> None:
    scorer = trained(tmp_path)
    assert sum(math.exp(score) for score in scores(scorer, "Who is the boss of shop?")) == pytest.approx(1, abs=0.05)
    sure = trained(tmp_path, [EXAMPLES[0]] * 50_000)
    [score] = scores(sure, "Who leads shop?", (), [LEAD])
    assert (score, math.copysign(1.0, score)) == (0.0, 1.0)


def test_it_is_trained_once_it_has_learnt(tmp_path: Path) -> None:
    assert trained(tmp_path, [EXAMPLES[3]]).is_trained()
    assert not PatternScorer(MemoryGraph([("riga", "capital_of", "latvia")])).is_trained()


def test_a_forced_end_costs_what_it_is_unlikely(tmp_path: Path) -> None:
    scorer = trained(tmp_path, [EXAMPLES[3]] * 20)
    assert scorer.scores_end()
    text = "Who is mayor where shop sits?"
    assert scores(scorer, text, (SEAT, MAYOR), [END])[0] > -0.2
    assert scores(scorer, text, (SEAT,), [END])[0] < -3.0


def test_a_search_takes_the_margins_that_kept_the_paths_of_held_out_questions(tmp_path: Path) -> None:
    few, many = trained(tmp_path), trained(tmp_path, EXAMPLES * 20)
    assert few.search_settings() == attrs.evolve(PLAIN, mention="")
    margin = many.search_settings().margin
    assert margin == many.search_settings().hop_margin
    assert 0.0 < margin < 2.0
    plain = trained(tmp_path, EXAMPLES * 20, words=False).search_settings().margin
    assert plain > margin
    assert PatternScorer(graph=many.graph).search_settings() == attrs.evolve(PLAIN, mention="")


def test_a_saved_model_scores_the_same_and_is_the_same_bytes(tmp_path: Path) -> None:
    scorer = trained(tmp_path / "training")
    scorer.save(tmp_path / "model")
    again = PatternScorer(graph=scorer.graph, path=str(tmp_path / "model"))
    assert again.fingerprint() != scorer.fingerprint()
    again.open()
    assert again.fingerprint() == scorer.fingerprint()
    for text in ("Who leads shop?", "Где?", ""):
        assert scores(again, text) == scores(scorer, text)
    again.save(tmp_path / "copy")
    assert (tmp_path / "copy" / FILE).read_bytes() == (tmp_path / "model" / FILE).read_bytes()
    again.close()
    with pytest.raises(DriverError, match="has learnt nothing"):
        scores(again, "Who?")


def test_the_fingerprint_has_what_was_learnt_and_whether_words_count(tmp_path: Path) -> None:
    some = (EXAMPLES, EXAMPLES[:2])
    prints = {trained(tmp_path, one, words=words).fingerprint() for one in some for words in (False, True)}
    assert len(prints) == 4


def test_an_untrained_scorer_says_how_to_train_it(tmp_path: Path) -> None:
    scorer = PatternScorer(graph=MemoryGraph(triples=[["firm", "lead", "ann"]]))
    scorer.open()
    with pytest.raises(DriverError, match=r"has learnt nothing; train it .* or name a trained model as `path`"):
        scores(scorer, "Who?")
    with pytest.raises(DriverError, match="nothing that could be saved"):
        scorer.save(tmp_path)


def test_a_broken_model_is_told_with_its_file(tmp_path: Path) -> None:
    trained(tmp_path).save(tmp_path)
    text = (tmp_path / FILE).read_text(encoding="utf-8")
    whole, _ = checked(text.encode(), "", "")
    row = whole["paths"][0]
    scorer = PatternScorer(graph=MemoryGraph(triples=[["firm", "lead", "ann"]]), path=str(tmp_path))
    assert scorer.preflight() == []
    for broken, said in (
        (text[: len(text) // 2], "train it again"),
        ("[]", "train it again"),
        (json.dumps({**whole, "version": 2}), "of version 2, and this is version 1"),
        (json.dumps({**whole, "paths": []}), "its paths or its mention are missing or broken"),
        (json.dumps({**whole, "paths": [{**row, "weight": 0}]}), "its paths or its mention are missing or broken"),
        (json.dumps({**whole, "paths": ["lead"]}), "train it again"),
        (json.dumps({**whole, "paths": [{**row, "words": ["who"]}]}), "train it again"),
        (json.dumps({**whole, "tuning": {**whole["tuning"], "margin": -0.5}}), "-0.5 is no weight"),
        (json.dumps({**whole, "mention": 3}), "its paths or its mention are missing or broken"),
    ):
        (tmp_path / FILE).write_text(with_checksum(broken)[0] if broken[-1] == "}" else broken, encoding="utf-8")
        with pytest.raises(DriverError, match=said) as told:
            scorer.open()
        assert FILE in str(told.value)
    (tmp_path / FILE).unlink()
    assert scorer.preflight()[0][0] == "path"


def test_a_model_may_have_margins_of_0(tmp_path: Path) -> None:
    trained(tmp_path).save(tmp_path)
    whole, _ = checked((tmp_path / FILE).read_bytes(), "", "")
    write_model(tmp_path / FILE, {**whole, "tuning": {"power": 0.0, "margin": 0.0, "plain_margin": 0.0}})
    scorer = PatternScorer(graph=MemoryGraph(triples=[["firm", "lead", "ann"]]), path=str(tmp_path))
    scorer.open()
    assert scorer.search_settings().margin == 0.0


def test_odd_names_of_relations_survive_the_file(tmp_path: Path) -> None:
    odd = (Step("^up"), Step("END", True), Step("\\b"))
    scorer = trained(tmp_path, [example("Who?", odd)])
    scorer.save(tmp_path)
    again = PatternScorer(graph=scorer.graph, path=str(tmp_path))
    again.open()
    for depth in range(3):
        assert scores(again, "Who?", odd[:depth], odd) == scores(scorer, "Who?", odd[:depth], odd)
        assert scores(again, "Who?", odd[:depth], odd)[depth] == max(scores(again, "Who?", odd[:depth], odd))


FACTS = [
    *([f"firm{i}", "lead", f"person{i % 7}"] for i in range(40)),
    *([f"firm{i}", "seat", f"city{i % 6}"] for i in range(40)),
    *([f"city{i}", "mayor", f"person{i}"] for i in range(6)),
]
KINDS = (("who leads {}", ["lead"]), ("where does {} sit", ["seat"]), ("who is mayor where {} sits", ["seat", "mayor"]))


def asked(file: Path, firms: range) -> str:
    lines = []
    for i in firms:
        for number, (text, path) in enumerate(KINDS):
            answer = {"lead": f"person{i % 7}", "seat": f"city{i % 6}", "mayor": f"person{i % 6}"}[path[-1]]
            record = {"id": f"{i}-{number}", "question": text.format(f"firm{i}"), "question_entities": [f"firm{i}"]}
            lines.append(json.dumps({**record, "answer_entities": [answer], "gold_paths": [path]}) + "\n")
    file.write_text("".join(lines), encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("supervision", [{"use": "gold-path"}, {"use": "shortest-path", "hops": 2}])
def test_a_recipe_learns_paths_and_its_search_finds_little_but_the_answers(tmp_path: Path, supervision: Any) -> None:
    recipe = {
        "srtk": 1,
        "output": str(tmp_path / "run"),
        "questions": asked(tmp_path / "ask.jsonl", range(20, 40)),
        "knowledge_graph": {"use": "memory", "triples": FACTS},
        "path_scorer": {"use": "patterns"},
        "expander": {"use": "beam", "width": 5, "depth": 2},
        "train": {
            "questions": asked(tmp_path / "learn.jsonl", range(20)),
            "validation": 0.2,
            "supervision": supervision,
        },
        "evaluate": True,
    }
    (tmp_path / "train.yaml").write_text(yaml.safe_dump(recipe), encoding="utf-8")
    assert main(["run", "--quiet", str(tmp_path / "train.yaml")]) == 0
    found = json.loads((tmp_path / "run" / "evaluation.json").read_text(encoding="utf-8"))["methods"]["beam"]
    assert found["answer_recall"]["mean"] > 0.9
    assert found["triples"]["mean"] < 2.5
    using = {key: value for key, value in recipe.items() if key != "train"}
    using.update(
        output=str(tmp_path / "use"), path_scorer={"use": "patterns", "path": str(tmp_path / "run/training/model")}
    )
    (tmp_path / "use.yaml").write_text(yaml.safe_dump(using), encoding="utf-8")
    assert main(["run", "--quiet", str(tmp_path / "use.yaml")]) == 0
    again = json.loads((tmp_path / "use" / "evaluation.json").read_text(encoding="utf-8"))["methods"]["beam"]
    assert again["answer_recall"] == found["answer_recall"]
    assert math.isclose(again["triples"]["mean"], found["triples"]["mean"])
