"""The ``mix`` path scorer: weighted sums, the settings of a search, training of its scorers, and bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import attrs
import pytest
from srtk_plugin_sr.scorer_mix import FILE, MixFitSettings, MixScorer

from srtk_framework.records import with_checksum, write_model
from srtk_framework.roles import PLAIN, PathScorer, SearchSettings, TrainingTask
from srtk_framework.testing import PathScorerConformance
from srtk_framework.testing.path_scorer import ToyPathScorer
from srtk_framework.values import END, DriverError, Question, RankedPath, Step, TrainingExample

BORN, CITY = Step("born_in"), Step("city_of")


@attrs.define(eq=False)
class Scripted(PathScorer):
    """Scores by relation.

    Attributes:
        scores: Score by relation; END is the empty one, and every other is 0.
        suggests: Settings of a search; None for none.
        end: Whether END is scored when it is forced.
        learnt: Whether it is trained.
    """

    scores: dict[str, float]
    suggests: SearchSettings | None = None
    end: bool = False
    learnt: bool = False

    def score(self, questions: Any, paths: Any, candidates: Any) -> Any:
        return [[self.scores.get(step.relation, 0.0) for step in row] for row in candidates]

    def search_settings(self) -> Any:
        return self.suggests

    def scores_end(self) -> bool:
        return self.end

    def is_trained(self) -> bool:
        return self.learnt


def test_each_scorer_prepares_the_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(
        Scripted, "prepare", lambda self, paths: seen.append(paths) or {"texts": len(seen), "encoded": 0}
    )
    assert MixScorer([Scripted({}), Scripted({})]).prepare([(BORN,)]) == {"texts": 3, "encoded": 0}
    assert seen == [[(BORN,)]] * 2


@attrs.frozen
class CounterFitSettings:
    factor: float = 1.0
    mention: str | None = attrs.field(default="as it is", metadata={"as": "expander"})


@attrs.define(eq=False)
class Counter(PathScorer):
    """Scores by how many examples have a relation; keeps what its training was given."""

    learns: ClassVar[str] = "paths"
    counts: dict[str, float] = attrs.field(factory=dict)
    given: list[Any] = attrs.field(init=False, factory=list)

    def score(self, questions: Any, paths: Any, candidates: Any) -> Any:
        return [[self.counts.get(step.relation, 0.0) for step in row] for row in candidates]

    def fit(self, task: TrainingTask, training: CounterFitSettings) -> Any:
        self.given.append((task, training))
        for example in task.examples:
            for step in (step for path in example.paths for step in path.steps):
                self.counts[step.relation] = self.counts.get(step.relation, 0.0) + training.factor
        return {"relations": float(len(self.counts)), **(task.validate() if task.validate else {})}

    def save(self, folder: Path) -> None:
        (folder / "counts.json").write_text(json.dumps(self.counts), encoding="utf-8")

    def load(self, folder: Path) -> None:
        self.counts = json.loads((folder / "counts.json").read_text(encoding="utf-8"))


EXAMPLES = [
    TrainingExample(Question(name, f"Where is {name}?"), (RankedPath(name, (BORN, CITY), 1.0),))
    for name in ("ann", "bob")
]


def task(folder: Path, validate: Any = None) -> TrainingTask:
    return TrainingTask(EXAMPLES, validate, folder)


def mixed(scorer: MixScorer) -> list[float]:
    (row,) = scorer.score(["Where?"], [()], [[BORN, CITY, END]])
    return row


class TestMix(PathScorerConformance):
    name = "mix"

    @pytest.fixture
    def driver(self) -> MixScorer:
        return MixScorer([ToyPathScorer(), ToyPathScorer(end=0.1)], [1.0, 0.5])


def test_scores_are_added_up_by_weight() -> None:
    one, other = Scripted({"born_in": 1.0, "": -2.0}), Scripted({"born_in": 0.5, "city_of": 3.0})
    assert mixed(MixScorer([one, other], [2.0, 0.1])) == [2.05, 0.3, -4.0]
    assert mixed(MixScorer([one, other])) == [1.5, 3.0, -2.0]


def test_a_scorer_alone_scores_as_it_does_without_the_mix() -> None:
    alone = ToyPathScorer()
    assert mixed(MixScorer([alone])) == pytest.approx(alone.score(["Where?"], [()], [[BORN, CITY, END]])[0], abs=1e-4)


def test_end_is_scored_at_the_maximum_depth_where_one_scorer_does_so() -> None:
    assert not MixScorer([Scripted({}), Scripted({})]).scores_end()
    assert MixScorer([Scripted({}), Scripted({}, end=True)]).scores_end()


def test_a_mix_is_trained_if_one_of_its_scorers_is() -> None:
    assert not MixScorer([Scripted({}), Scripted({})]).is_trained()
    assert MixScorer([Scripted({}), Scripted({}, learnt=True)]).is_trained()


def test_a_search_takes_the_settings_of_the_scorer_that_weighs_most() -> None:
    one, other = Scripted({}, PLAIN), Scripted({}, SearchSettings(scale=1.0, mention="it"))
    assert MixScorer([one, other]).search_settings() == PLAIN
    assert MixScorer([one, other], [0.5, 1.0]).search_settings() == SearchSettings(scale=1.0, mention="it")
    assert MixScorer([Scripted({}), Scripted({})]).search_settings() is None


def test_the_unit_of_a_mix_is_measured_where_one_scorer_does_not_say_its_own() -> None:
    said = attrs.evolve(PLAIN, margin=2.0)
    for silent in (Scripted({}), Scripted({}, SearchSettings())):
        found = MixScorer([Scripted({}, said), silent]).search_settings()
        assert found == attrs.evolve(PLAIN, scale=None)


def test_margins_add_up_by_weight_and_one_scorer_without_leaves_none() -> None:
    one = Scripted({}, attrs.evolve(PLAIN, margin=2.0, hop_margin=4.0))
    other = Scripted({}, attrs.evolve(PLAIN, margin=1.0))
    assert MixScorer([one, other], [0.5, 3.0]).search_settings() == attrs.evolve(PLAIN, margin=4.0)


@pytest.mark.parametrize(
    ("scorers", "weights", "said"),
    [
        (0, [], "scorers is empty; list one or more"),
        (2, [1.0], "1 weights for 2 scorers; give one for each"),
        (1, [1.0, 2.0], "2 weights for 1 scorers; give one for each"),
        (2, [1.0, 0.0], "they must be above 0, so leave out a scorer without"),
        (1, [float("nan")], "they must be above 0"),
    ],
)
def test_no_scorers_and_wrong_weights_are_refused(scorers: int, weights: list[float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        MixScorer([Scripted({}) for _ in range(scorers)], weights)


def test_training_trains_every_scorer_that_learns_from_paths(tmp_path: Path) -> None:
    scorer = MixScorer([Counter(), Scripted({"": 1.0}), Counter({"city_of": 5.0})], [1.0, 1.0, 10.0])
    figures = scorer.fit(task(tmp_path), MixFitSettings())
    assert mixed(scorer) == [22.0, 72.0, 1.0]
    assert figures == {"0.relations": 2.0, "2.relations": 2.0}


def test_null_leaves_a_scorer_as_it_is_and_the_others_have_their_own_settings(tmp_path: Path) -> None:
    first, second = Counter(), Counter()
    MixScorer([first, second]).fit(task(tmp_path), MixFitSettings(scorers=[None, {"factor": 3}]))
    assert (first.counts, second.counts) == ({}, {"born_in": 6.0, "city_of": 6.0})


def test_only_the_scorer_trained_last_is_validated_meanwhile_and_then_the_mix(tmp_path: Path) -> None:
    first, second, calls = Counter(), Counter(), []

    def validate() -> dict[str, float]:
        calls.append((dict(first.counts), dict(second.counts)))
        return {"recall": float(len(calls))}

    figures = MixScorer([first, second]).fit(task(tmp_path, validate), MixFitSettings())
    learnt = {"born_in": 2.0, "city_of": 2.0}
    assert calls == [(learnt, learnt)] * 2
    assert (figures["1.recall"], figures["recall"]) == (1.0, 2.0)
    assert "0.recall" not in figures


def test_each_scorer_is_trained_in_a_folder_of_its_own(tmp_path: Path) -> None:
    first, second = Counter(), Counter()
    MixScorer([first, second]).fit(task(tmp_path), MixFitSettings())
    folders = {one.given[0][0].folder for one in (first, second)}
    assert len(folders) == 2
    assert all(tmp_path in folder.parents for folder in folders)


def test_scorers_learn_from_texts_as_the_search_of_the_mix_gives_them(tmp_path: Path) -> None:
    counter = Counter()
    scorer = MixScorer([Scripted({}, SearchSettings(mention="someone")), counter])
    scorer.fit(task(tmp_path), MixFitSettings())
    scorer.fit(task(tmp_path), MixFitSettings(mention="it"))
    scorer.fit(task(tmp_path), MixFitSettings(scorers=[None, {"mention": "she"}]))
    assert [training.mention for _, training in counter.given] == ["someone", "it", "she"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([{}], "`fit: scorers` has 1 entries for 2 scorers"),
        ([None, None], "nothing to train"),
        ([{}, {}], "scorer 2 of the mix does not learn from paths"),
        ([{"facter": 1}, None], "entry 1: .*facter"),
    ],
)
def test_wrong_settings_of_a_training_are_told_before_it_begins(tmp_path: Path, given: Any, said: str) -> None:
    counter = Counter()
    with pytest.raises(DriverError, match=said):
        MixScorer([counter, Scripted({})]).fit(task(tmp_path), MixFitSettings(scorers=given))
    assert counter.counts == {}


def test_a_mix_without_a_scorer_to_train_tells_so_beforehand() -> None:
    assert MixScorer([Counter(), Scripted({})]).training_faults() == []
    assert "nothing to train" in MixScorer([Scripted({})]).training_faults()[0]


def test_a_saved_mix_scores_the_same_in_a_new_one_by_its_path(tmp_path: Path) -> None:
    trained = MixScorer([Scripted({"": 1.0}), Counter()], [1.0, 0.5])
    trained.fit(task(tmp_path / "training"), MixFitSettings())
    trained.save(tmp_path / "model")
    again = MixScorer([Scripted({"": 1.0}), Counter()], [1.0, 0.5], path=str(tmp_path / "model"))
    again.open()
    assert mixed(again) == mixed(trained) == [1.0, 1.0, 1.0]
    again.save(tmp_path / "copy")
    assert (tmp_path / "copy" / FILE).read_bytes() == (tmp_path / "model" / FILE).read_bytes()


def test_the_fingerprint_has_the_weights_and_what_the_scorers_are() -> None:
    prints = {
        MixScorer(scorers, weights).fingerprint()
        for scorers in ([Scripted({}), Counter()], [Scripted({}), Counter({"born_in": 1.0})])
        for weights in ([], [2.0, 1.0])
    }
    assert len(prints) == 4
    one = MixScorer([Counter()], [1.0]).fingerprint()
    assert one == MixScorer([Counter()], path="elsewhere").fingerprint()


def test_a_file_that_is_no_trained_mix_is_told(tmp_path: Path) -> None:
    scorer = MixScorer([Counter(), Counter()], path=str(tmp_path))
    assert scorer.preflight()[0][0] == "path"
    with pytest.raises(DriverError, match="cannot be read"):
        scorer.open()
    for text, said in (
        ('{"version": 1, "scorers": 2', "train it again"),
        ('{"version": 2, "scorers": 2, "trained": [0]}', "no mix of version 1"),
        ('{"version": 1, "scorers": 2, "trained": [2]}', "no mix of version 1"),
        ('{"version": 1, "scorers": 3, "trained": [0]}', "of a mix of 3 scorers, and this one has 2"),
    ):
        (tmp_path / FILE).write_text(with_checksum(text)[0] if text.endswith("}") else text, encoding="utf-8")
        assert scorer.preflight() == []
        with pytest.raises(DriverError, match=said):
            scorer.open()


def test_a_mix_of_scorers_that_cannot_be_trained_does_not_take_a_trained_one(tmp_path: Path) -> None:
    write_model(tmp_path / FILE, {"version": 1, "scorers": 1, "trained": [0]})
    with pytest.raises(DriverError, match="has trained scorer 1, which here cannot be trained"):
        MixScorer([Scripted({})], path=str(tmp_path)).open()
