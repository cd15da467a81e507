"""The ``calibrated`` completer: training on hidden facts, answer sets, files, and the contract of a completer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from srtk_plugin_baselines.frequency import FrequencyCompleter
from srtk_plugin_completers.calibrated import CalibratedCompleter, CalibrationTraining
from srtk_plugin_completers.calibration import Calibration, ProbabilityMap
from srtk_plugin_completers.completer_union import UnionCompleter
from srtk_plugin_completers.hybrid import HybridCompleter, HybridTraining
from srtk_plugin_evaluation import calibration_error
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.records import checked, with_checksum
from srtk_framework.roles import Completer, KnowledgeGraph, TrainingTask
from srtk_framework.testing import SAMPLE, OracleGraph, ToyCompleter
from srtk_framework.testing.completer import CompleterConformance
from srtk_framework.values import Completion, DriverError, Evidence, Literal, Pattern, Triple

LANGUAGES = ["Catalan"] * 5 + ["Danish"] * 15 + ["English"] * 80
FACTS = [Triple(f"p{n:03}", "speaks", LANGUAGES[n * 37 % 100]) for n in range(400)]
HIDDEN, ASKED, KEPT = FACTS[::4], FACTS[1::4], [*FACTS[2::4], *FACTS[3::4]]
PLACES = [Triple(fact.subject, "lives_in", "Earth") for fact in FACTS]


def opened(driver: Any) -> Any:
    driver.open()
    return driver


def over(facts: Any, **settings: Any) -> CalibratedCompleter:
    graph = MemoryGraph(triples=facts)
    return CalibratedCompleter(completer=opened(FrequencyCompleter(graph=graph)), graph=graph, **settings)


def trained(driver: CalibratedCompleter, hidden: Any, folder: Path) -> CalibratedCompleter:
    driver.fit(TrainingTask((), None, folder, 0, hidden), CalibrationTraining())
    return driver


@pytest.mark.parametrize("method", ["isotonic", "platt"])
def test_confidences_become_the_share_that_is_right(method: Any, tmp_path: Path) -> None:
    # Half of the people's languages are stored, a quarter trains, and a quarter is asked for.
    driver = trained(over([*KEPT, *PLACES, *HIDDEN], method=method), HIDDEN, tmp_path)
    rows = driver.complete([Pattern(fact.subject, "speaks") for fact in ASKED], None)
    pairs = [(one.confidence, one.triple in set(ASKED)) for row in rows for one in row]
    assert len(pairs) == 3 * len(ASKED)
    assert calibration_error(*zip(*pairs, strict=True)) < 0.05


def test_the_facts_held_out_are_hidden_from_the_inner_completer(tmp_path: Path) -> None:
    # Every fact is stored: a completer that saw them would propose none.
    figures = over([*FACTS, *PLACES]).fit(TrainingTask((), None, tmp_path, 0, HIDDEN), CalibrationTraining())
    assert figures["held_out"] == len(HIDDEN)
    assert figures["right"] >= len(HIDDEN)


@attrs.define(eq=False)
class Mirror(Completer):
    """Reads what the inverse relation says, and proposes Latin beside it.

    Attributes:
        graph: Graph to complete.
    """

    graph: KnowledgeGraph

    def complete(self, patterns: Any, limit: Any) -> Any:
        """Propose the subjects of the inverse triples first."""
        rows = self.graph.match([Pattern(None, "spoken_by", one.subject or "nobody") for one in patterns])
        why = (Evidence("model", "a mirror"),)
        return [
            [Completion(one.filled(id_), 0.9, why) for id_ in (*(triple.subject for triple in row), "Latin")][:limit]
            for one, row in zip(patterns, rows, strict=True)
        ]


def test_a_completer_that_reads_the_inverse_relation_learns_nothing_from_it(tmp_path: Path) -> None:
    graph = opened(MemoryGraph(triples=[*FACTS, *(Triple(o, "spoken_by", s) for s, _, o in FACTS)]))
    task = TrainingTask((), None, tmp_path, 0, HIDDEN)
    for made, training in (
        (CalibratedCompleter(completer=Mirror(graph), graph=graph), CalibrationTraining),
        (HybridCompleter(completers=[Mirror(graph)], graph=graph), HybridTraining),
    ):
        with pytest.raises(DriverError, match="proposed none of"):
            made.fit(task, training())
        figures = made.fit(task, training(twins=None))
        assert (figures["right"], figures["twin_triples"]) == (len(HIDDEN), 0)


def test_completers_that_hold_completers_are_asked_over_the_hidden_graph_too(tmp_path: Path) -> None:
    driver = over([*FACTS, *PLACES])
    union = attrs.evolve(driver, completer=UnionCompleter([driver.completer]))
    assert trained(union, HIDDEN, tmp_path)._learnt == trained(driver, HIDDEN, tmp_path)._learnt


def test_answer_sets_drop_completions_and_hold_the_right_one_as_promised(tmp_path: Path) -> None:
    driver = trained(over([*KEPT, *PLACES], alpha=0.1), HIDDEN, tmp_path)
    patterns = [Pattern(fact.subject, "speaks") for fact in ASKED]
    rows = driver.complete(patterns, None)
    held = [fact in {one.triple for one in row} for fact, row in zip(ASKED, rows, strict=True)]
    assert 0.85 <= sum(held) / len(held) < 1
    assert sum(map(len, rows)) < 2 * len(rows)  # of three languages
    inside = driver.in_sets(patterns, [[fact.object] for fact in ASKED])
    assert [row[0] for row in inside] == held
    assert [rates[0] > 0 for rates in driver.rate(patterns, [[fact.object] for fact in ASKED])] == held


def test_a_completer_that_learnt_nothing_says_how_to_train_it() -> None:
    with pytest.raises(DriverError, match=r"held_out: \{share"):
        over(FACTS).complete([Pattern("p000", "speaks")], 1)


def test_nothing_held_out_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DriverError, match="no fact was held out"):
        trained(over(FACTS), [], tmp_path)


def test_a_completer_that_proposes_no_held_out_fact_cannot_be_calibrated(tmp_path: Path) -> None:
    driver = over([("a", "knows", "b"), ("c", "likes", "d")])
    with pytest.raises(DriverError, match="proposed none of 1 held-out facts"):
        trained(driver, [Triple("c", "likes", "d")], tmp_path)


def test_a_saved_model_answers_as_before_and_other_settings_are_refused(tmp_path: Path) -> None:
    driver = trained(over([*KEPT, *PLACES, *HIDDEN], alpha=0.1), HIDDEN, tmp_path)
    driver.save(tmp_path)
    again = opened(attrs.evolve(driver, path=str(tmp_path)))
    patterns = [Pattern(fact.subject, "speaks") for fact in ASKED]
    assert again.complete(patterns, 2) == driver.complete(patterns, 2)
    assert again.fingerprint() == driver.fingerprint() != over([*KEPT, *PLACES, *HIDDEN], alpha=0.1).fingerprint()
    with pytest.raises(DriverError, match=r"trained with method isotonic and alpha 0\.1"):
        attrs.evolve(driver, alpha=0.2, path=str(tmp_path)).open()


def test_what_the_graph_is_believed_to_lack_lowers_probabilities_and_changes_no_order(tmp_path: Path) -> None:
    driver = trained(over([*KEPT, *PLACES, *HIDDEN]), HIDDEN, tmp_path)
    driver.save(tmp_path)
    believing = opened(attrs.evolve(driver, path=str(tmp_path), missing=0.01, empty=0.25))
    empty, full = Pattern(ASKED[0].subject, "speaks"), Pattern(KEPT[0].subject, "speaks")
    plain, believed = (one.complete([empty, full], None) for one in (driver, believing))
    for before, after, most in zip(plain, believed, (0.25, 0.01), strict=True):
        assert [one.triple for one in after] == [one.triple for one in before]
        limits = [most * one.confidence + 1e-6 for one in before]
        assert all(0 < one.confidence <= limit for one, limit in zip(after, limits, strict=True))
    assert believed[0][0].confidence == pytest.approx(0.25 * plain[0][0].confidence, rel=1e-5)
    rates = believing.rate([empty], [[one.triple.object for one in believed[0]]])
    assert rates == [[one.confidence for one in believed[0]]]
    assert believing.complete([empty, full], 1) == [row[:1] for row in believed]
    assert believing.fingerprint() != driver.fingerprint()


def test_a_model_that_does_not_know_what_patterns_lack_is_refused_where_it_matters(tmp_path: Path) -> None:
    driver = trained(over([*KEPT, *PLACES, *HIDDEN]), HIDDEN, tmp_path)
    driver.save(tmp_path)
    file = tmp_path / "calibration.json"
    data, _ = checked(file.read_bytes(), file, "")
    del data["lacking"]
    file.write_text(with_checksum(json.dumps(data))[0])
    again = opened(attrs.evolve(driver, path=str(tmp_path)))
    assert again.complete([Pattern("p001", "speaks")], 1) == driver.complete([Pattern("p001", "speaks")], 1)
    with pytest.raises(DriverError, match="does not know which patterns lack a fact"):
        attrs.evolve(driver, path=str(tmp_path), missing=0.1).open()


@pytest.mark.parametrize("text", ["{", "[]", '{"maps": []}', with_checksum('{"maps": []}')[0]])
def test_a_spoilt_model_is_refused(text: str, tmp_path: Path) -> None:
    tmp_path.joinpath("calibration.json").write_text(text)
    with pytest.raises(DriverError, match=r"no model of `calibrated`|no checksums; train it again"):
        over(FACTS, path=str(tmp_path)).open()


class TestCalibrated(CompleterConformance):
    name = "calibrated"

    @pytest.fixture
    def driver(self, graph: OracleGraph, tmp_path: Path) -> Any:
        inner = UnionCompleter([opened(FrequencyCompleter(graph=graph)), opened(ToyCompleter(graph=graph))])
        driver = CalibratedCompleter(completer=inner, graph=graph)
        hidden = [triple for triple in SAMPLE.triples if not isinstance(triple.object, Literal)][::3]
        trained(driver, hidden, tmp_path).save(tmp_path / "model")
        return opened(attrs.evolve(driver, path=str(tmp_path / "model")))

    @pytest.fixture
    def faulty(self, graph: OracleGraph, tmp_path: Path) -> Any:
        inner = FrequencyCompleter(graph=graph)
        return CalibratedCompleter(completer=inner, graph=graph, path=str(tmp_path / "nowhere"))


@attrs.define(eq=False)
class Ranked(Completer):
    """Proposes some languages with falling confidences."""

    shares: dict[str, float]

    def complete(self, patterns: Any, limit: Any) -> Any:
        row = [Completion(Triple("p", "speaks", name), share, ()) for name, share in self.shares.items()]
        return [row[:limit] for _ in patterns]

    def offers(self, node_sets: Any, inverse: Any) -> Any:
        return [[] for _ in node_sets]


def test_what_follows_with_an_equal_probability_comes_first_by_its_triple() -> None:
    # All three are equal in six digits.
    inner = Ranked({"Zulu": 0.5, "Malay": 0.5 - 1e-9, "Arabic": 0.5 - 2e-9, "Zarma": 0.1})
    driver = attrs.evolve(over(FACTS), completer=inner)
    driver._learnt = Calibration(ProbabilityMap((0.0, 1.0), (0.0, 1.0)), {})
    (row,) = driver.complete([Pattern("p", "speaks")], 1)
    assert [one.triple.object for one in row] == ["Arabic"]
