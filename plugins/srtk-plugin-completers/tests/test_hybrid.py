"""The ``hybrid`` completer: one learnt probability from several completers, files, and the contract of a completer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest
from srtk_plugin_baselines.frequency import FrequencyCompleter
from srtk_plugin_completers.completer_union import UnionCompleter
from srtk_plugin_completers.hybrid import HybridCompleter, HybridTraining
from srtk_plugin_evaluation import calibration_error
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.records import with_checksum
from srtk_framework.roles import Completer, KnowledgeGraph, TrainingTask
from srtk_framework.testing import SAMPLE, OracleGraph, ToyCompleter
from srtk_framework.testing.completer import CompleterConformance
from srtk_framework.values import Completion, DriverError, Evidence, Literal, Pattern, Triple, confidence, open_end

METHODS = ["logistic", "isotonic"]
CITIES = [f"city{n}" for n in range(8)]
PEOPLE = [f"p{n:03}" for n in range(400)]


def home(person: str, relation: str) -> str:
    return CITIES[(int(person[1:]) * 37 % 101 + len(relation)) % len(CITIES)]


FACTS = [Triple(person, relation, home(person, relation)) for relation in ("lives_in", "born_in") for person in PEOPLE]
OTHERS = [Triple(person, "knows", PEOPLE[(n * 7 + 1) % len(PEOPLE)]) for n, person in enumerate(PEOPLE)]
HIDDEN, ASKED = FACTS[::4], FACTS[1::4]
KEPT = [*FACTS[2::4], *FACTS[3::4], *OTHERS]


@attrs.define(eq=False)
class Witness(Completer):
    """Knows where people are, for the relations in which it is reliable; else it is as sure of another city.

    Attributes:
        graph: Graph to complete.
        reliable: Relation of which it says what is true.
        asked: What it was asked to rate.
    """

    graph: KnowledgeGraph
    reliable: str
    asked: list[tuple[Pattern, tuple[str, ...]]] = attrs.field(factory=list)

    def complete(self, patterns: Any, limit: Any) -> Any:
        answers = []
        for pattern in patterns:
            person, step = open_end(pattern)
            if step.inverse or step.relation == "knows":
                answers.append([])
                continue
            right = home(person, step.relation)
            other = CITIES[(CITIES.index(right) + 3) % len(CITIES)]
            first, second = (right, other) if step.relation == self.reliable else (other, right)
            row = []
            for city, sure in ((first, 0.9), (second, 0.4)):
                if not self.graph.match([Pattern(person, step.relation, city)])[0]:
                    row.append(Completion(pattern.filled(city), sure, (Evidence("model", f"{self.reliable} {city}"),)))
            answers.append(sorted(row, key=lambda one: (-one.confidence, one.triple))[:limit])
        return answers

    def rate(self, patterns: Any, candidates: Any) -> Any:
        self.asked += [(pattern, tuple(ids)) for pattern, ids in zip(patterns, candidates, strict=True)]
        return super().rate(patterns, candidates)


def opened(driver: Any) -> Any:
    driver.open()
    return driver


def over(facts: Any, unknown: bool = False, **settings: Any) -> HybridCompleter:
    graph = opened(MemoryGraph(triples=facts))
    frequency = opened(FrequencyCompleter(graph=graph, unknown=unknown))
    parts = [frequency, Witness(graph, "lives_in"), Witness(graph, "born_in")]
    return opened(HybridCompleter(completers=parts, graph=graph, **settings))


def trained(driver: HybridCompleter, hidden: Any, folder: Path, **settings: Any) -> HybridCompleter:
    driver.fit(TrainingTask((), None, folder, 0, hidden), HybridTraining(**settings))
    return driver


def mean_rank(completer: Completer) -> float:
    patterns = [Pattern(fact.subject, fact.relation) for fact in ASKED]
    rows = completer.rate(patterns, [CITIES] * len(patterns))
    ranks = [sum(rate >= row[CITIES.index(fact.object)] for rate in row) for fact, row in zip(ASKED, rows, strict=True)]
    return sum(1 / rank for rank in ranks) / len(ranks)


@pytest.fixture(scope="module", params=METHODS)
def hybrid(request: Any, tmp_path_factory: Any) -> HybridCompleter:
    return trained(over([*KEPT, *HIDDEN], method=request.param), HIDDEN, tmp_path_factory.mktemp("hybrid"))


def test_it_learns_whom_to_believe_of_which_relation(hybrid: HybridCompleter) -> None:
    union = UnionCompleter(completers=hybrid.completers)
    alone = [mean_rank(one) for one in (*hybrid.completers, union)]
    assert mean_rank(hybrid) == 1.0
    assert max(alone) < 0.8


def test_its_confidences_are_the_share_that_is_right(hybrid: HybridCompleter) -> None:
    rows = hybrid.complete([Pattern(fact.subject, fact.relation) for fact in ASKED], 3)
    pairs = [(one.confidence, one.triple in set(ASKED)) for row in rows for one in row]
    assert len(pairs) == 3 * len(ASKED)
    assert calibration_error(*zip(*pairs, strict=True)) < 0.05


def test_each_rates_what_only_others_propose_and_nothing_else(hybrid: HybridCompleter) -> None:
    pattern = Pattern(ASKED[0].subject, ASKED[0].relation)
    witness = hybrid.completers[1]
    own = [one.triple.object for one in witness.complete([pattern], None)[0]]
    before = len(witness.asked)
    hybrid.complete([pattern], 1)
    ((asked, ids),) = witness.asked[before:]
    assert asked == pattern
    pool = {one.triple.object for one in hybrid.complete([pattern], None)[0]}
    assert set(ids) == pool - set(own)
    assert len(own) == 2 < len(pool)


def test_of_an_entity_that_the_graph_lacks_all_that_some_part_proposes_is_a_candidate(tmp_path: Path) -> None:
    pattern = Pattern("p999", "lives_in")
    drivers = [trained(over([*KEPT, *HIDDEN], unknown=unknown), HIDDEN, tmp_path) for unknown in (False, True)]
    few, most = ({one.triple.object for one in driver.complete([pattern], None)[0]} for driver in drivers)
    assert len(few) == 2
    assert few < most == set(CITIES)


@pytest.mark.parametrize("method", METHODS)
def test_a_model_is_learnt_where_all_proposals_are_right(method: str, tmp_path: Path) -> None:
    """Of the reliable relation, the first completion alone is a candidate."""
    graph = opened(MemoryGraph(triples=[*OTHERS, *(fact for fact in HIDDEN if fact.relation == "lives_in")]))
    driver = opened(HybridCompleter(completers=[Witness(graph, "lives_in")], graph=graph, depth=1, method=method))
    hidden = [fact for fact in HIDDEN if fact.relation == "lives_in"]
    figures = driver.fit(TrainingTask((), None, tmp_path, 0, hidden), HybridTraining())
    assert figures["right"] == figures["candidates"]
    (one,) = driver.complete([Pattern(ASKED[0].subject, "lives_in")], None)[0]
    assert 0.5 < one.confidence < 1


@pytest.mark.parametrize("unknown", [False, True])
def test_a_part_that_rates_and_proposes_nothing_is_told(unknown: bool, tmp_path: Path, caplog: Any) -> None:
    """Of the people held out nothing else is known."""
    trained(over([*FACTS[2::4], *FACTS[3::4], *HIDDEN], unknown=unknown), HIDDEN, tmp_path)
    told = [one.getMessage() for one in caplog.records if one.name.startswith("srtk_plugin_completers")]
    assert [text.partition(", though")[0] for text in told] == (
        [] if unknown else [f"FrequencyCompleter proposes nothing for {len(HIDDEN)} of {len(HIDDEN) + 16} patterns"]
    )


def test_the_evidence_is_that_of_all(hybrid: HybridCompleter) -> None:
    pattern = Pattern(ASKED[0].subject, "lives_in")
    best = hybrid.complete([pattern], 1)[0][0]
    texts = [reason.text for reason in best.evidence]
    assert texts[0] == f"lives_in {best.triple.object}"
    assert f"born_in {best.triple.object}" in texts
    assert any("triples have it" in text for text in texts)


def test_what_is_past_the_depth_is_rated_at_most_as_the_last_proposed(tmp_path: Path) -> None:
    driver = trained(over([*KEPT, *HIDDEN], depth=2), HIDDEN, tmp_path)
    patterns = [Pattern(fact.subject, fact.relation) for fact in ASKED[:40]]
    for row, rates in zip(driver.complete(patterns, None), driver.rate(patterns, [CITIES] * 40), strict=True):
        proposed = {one.triple.object: one.confidence for one in row}
        assert len(proposed) <= 6
        assert {city: rate for city, rate in zip(CITIES, rates, strict=True) if city in proposed} == proposed
        past = [rate for city, rate in zip(CITIES, rates, strict=True) if city not in proposed]
        assert max(past, default=0.0) <= min(proposed.values())


def test_the_facts_held_out_are_hidden_from_all_parts(tmp_path: Path) -> None:
    figures = over([*FACTS, *OTHERS]).fit(TrainingTask((), None, tmp_path, 0, HIDDEN), HybridTraining())
    assert figures["held_out"] == len(HIDDEN)
    # Each fact is found from its subject, where 8 cities are candidates; those who live in a city are no candidates.
    assert figures["right"] >= len(HIDDEN)


def test_patterns_are_drawn_by_hash_and_bounded(tmp_path: Path) -> None:
    driver = over([*KEPT, *HIDDEN])
    task = TrainingTask((), None, tmp_path, 0, HIDDEN)
    few = driver.fit(task, HybridTraining(patterns=20))
    assert few["patterns"] == 20
    text = driver._learnt.text
    driver.fit(attrs.evolve(task, held_out=HIDDEN[::-1]), HybridTraining(patterns=20))
    assert driver._learnt.text == text
    driver.fit(attrs.evolve(task, seed=1), HybridTraining(patterns=20))
    assert driver._learnt.text != text


def test_a_saved_model_answers_as_before(hybrid: HybridCompleter, tmp_path: Path) -> None:
    hybrid.save(tmp_path)
    again = opened(attrs.evolve(hybrid, path=str(tmp_path)))
    patterns = [Pattern(fact.subject, fact.relation) for fact in ASKED[:50]]
    assert again.complete(patterns, None) == hybrid.complete(patterns, None)
    assert again.rate(patterns, [CITIES] * 50) == hybrid.rate(patterns, [CITIES] * 50)
    assert again.fingerprint() == hybrid.fingerprint()
    again.save(tmp_path / "again")
    assert (tmp_path / "again" / "hybrid.json").read_text() == (tmp_path / "hybrid.json").read_text()


@pytest.mark.parametrize(
    "change", [{"depth": 7}, {"method": "isotonic"}, {"completers": "reversed"}, {"completers": "fewer"}]
)
def test_a_model_of_other_settings_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    driver = trained(over([*KEPT, *HIDDEN]), HIDDEN, tmp_path)
    driver.save(tmp_path)
    if "completers" in change:
        parts = list(driver.completers)
        change = {"completers": parts[::-1] if change["completers"] == "reversed" else parts[:2]}
    with pytest.raises(DriverError, match="was trained with method logistic and depth 100 over FrequencyCompleter"):
        attrs.evolve(driver, path=str(tmp_path), **change).open()


@pytest.mark.parametrize("text", ["{", "[]", with_checksum('{"method": "isotonic", "completers": 5}')[0]])
def test_a_spoilt_model_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "hybrid.json").write_text(text)
    with pytest.raises(DriverError, match=r"no model of `hybrid`|is damaged"):
        over(FACTS, path=str(tmp_path))


def test_a_missing_model_is_refused_beforehand(tmp_path: Path) -> None:
    driver = attrs.evolve(over(FACTS), path=str(tmp_path / "none"))
    assert driver.preflight()
    with pytest.raises(DriverError, match="cannot be read"):
        driver.open()


def test_what_learnt_nothing_says_how_to_train(tmp_path: Path) -> None:
    driver = over([*KEPT, *HIDDEN])
    with pytest.raises(DriverError, match=r"held_out: \{share"):
        driver.complete([Pattern("p000", "lives_in")], 1)
    with pytest.raises(DriverError, match="no fact was held out"):
        trained(driver, [], tmp_path)
    with pytest.raises(DriverError, match="proposed none of 1 held-out facts"):
        trained(driver, [Triple("p000", "knows", "nobody")], tmp_path)
    trained(driver, HIDDEN, tmp_path).close()
    with pytest.raises(DriverError, match=r"call open\(\) first"):
        driver.rate([], [])


def test_what_the_graph_is_believed_to_lack_lowers_probabilities(tmp_path: Path) -> None:
    driver = trained(over([*KEPT, *HIDDEN]), HIDDEN, tmp_path)
    driver.save(tmp_path)
    believing = opened(attrs.evolve(driver, path=str(tmp_path), missing=0.1, empty=0.5))
    nothing, something = Pattern(ASKED[0].subject, "lives_in"), Pattern(KEPT[0].subject, KEPT[0].relation)
    for pattern, most in ((nothing, 0.5), (something, 0.2)):
        plain, believed = (one.complete([pattern], 1)[0][0] for one in (driver, believing))
        assert believed.triple == plain.triple
        assert believed.confidence <= most * plain.confidence + 1e-6
        assert believed.confidence == believing.rate([pattern], [[plain.triple.object]])[0][0]
    ratio = [one.complete([nothing], 1)[0][0].confidence for one in (believing, driver)]
    assert ratio[0] == pytest.approx(confidence(0.5 * ratio[1]), rel=1e-5)
    assert believing.fingerprint() != driver.fingerprint()


class TestHybrid(CompleterConformance):
    name = "hybrid"

    @pytest.fixture(params=METHODS)
    def driver(self, request: Any, graph: OracleGraph, tmp_path: Path) -> Any:
        parts = [opened(FrequencyCompleter(graph=graph)), opened(ToyCompleter(graph=graph))]
        driver = HybridCompleter(completers=parts, graph=graph, method=request.param)
        hidden = [triple for triple in SAMPLE.triples if not isinstance(triple.object, Literal)][::3]
        trained(driver, hidden, tmp_path).save(tmp_path / "model")
        return opened(attrs.evolve(driver, path=str(tmp_path / "model")))

    @pytest.fixture
    def faulty(self, graph: OracleGraph, tmp_path: Path) -> Any:
        parts = [FrequencyCompleter(graph=graph)]
        return HybridCompleter(completers=parts, graph=graph, path=str(tmp_path / "nowhere"))
