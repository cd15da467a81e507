"""The kit itself: good drivers pass, each broken one is caught by its check alone, and no check can be dropped."""

from __future__ import annotations

import itertools
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kit.checked import classes, expected, write_entry_points

from srtk_framework import testing
from srtk_framework.roles import ROLES, Role
from srtk_framework.testing import SAMPLE, ExpanderConformance, PathScorerConformance, conformance_of
from srtk_framework.testing.base import checks_of, loaded_by
from srtk_framework.values import Literal, Question, Subgraph, Triple

SETTINGS = "[pytest]\naddopts = --import-mode=importlib\nfilterwarnings = error\n"
WITHOUT = ("cacheprovider", "timeout", "xdist")
OPTIONS = ["-q", "--assert=plain", "--tb=line", *(word for name in WITHOUT for word in ("-p", f"no:{name}"))]
NUMBERS = itertools.count()
LIGHT = "test_the_module_loads_nothing_heavy"


class Outcomes:
    """Collects which checks failed in which class, as a pytest plugin."""

    def __init__(self) -> None:
        self.failed: dict[str, set[str]] = {}
        self.passed: dict[str, set[str]] = {}
        self.problems: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        _, cls, check = report.nodeid.split("::")
        if report.failed:
            self.failed.setdefault(cls, set()).add(check)
            self.problems.append(f"{cls}.{check}: {report.longreprtext[-400:]}")
        elif report.when == "call" and report.passed:
            self.passed.setdefault(cls, set()).add(check)


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return a function that runs tests of a file, or all, in a pytest session of its own, within this process."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)

    def run(source: str, *tests: str) -> Outcomes:
        tmp_path.joinpath("pytest.ini").write_text(SETTINGS, encoding="utf-8")
        # Modules of sessions within one process share sys.modules, so each has its own name.
        file = tmp_path / f"test_inside_{next(NUMBERS)}.py"
        file.write_text(source, encoding="utf-8")
        outcomes = Outcomes()
        places = ["-c", str(tmp_path / "pytest.ini"), "--rootdir", str(tmp_path), "--basetemp", str(tmp_path / "tmp")]
        chosen = [f"{file}::{test}" for test in tests] or [str(file)]
        pytest.main([*OPTIONS, *places, *chosen], plugins=[outcomes])
        return outcomes

    return run


SOURCE = "from kit.checked import classes\n\nglobals().update(classes({!r}))\n"


@pytest.mark.parametrize("role", sorted(ROLES))
def test_a_good_driver_passes_and_each_broken_one_is_caught_by_its_check(role: str, inside, tmp_path: Path) -> None:
    write_entry_points(role, tmp_path)
    found = inside(SOURCE.format(role), "TestGood", *(f"{cls}::{check}" for cls, check in expected(role).items()))
    assert found.passed.keys() == {"TestGood"}
    assert found.failed == {cls: {check} for cls, check in expected(role).items()}, "\n".join(found.problems)


@pytest.mark.slow
@pytest.mark.parametrize("role", sorted(ROLES))
def test_each_broken_driver_is_caught_by_its_check_alone(role: str, inside, tmp_path: Path) -> None:
    write_entry_points(role, tmp_path)
    found = inside(SOURCE.format(role))
    assert found.passed.keys() == classes(role).keys()
    assert found.failed == {cls: {check} for cls, check in expected(role).items()}, "\n".join(found.problems)


def test_a_driver_whose_module_loads_a_database_is_caught_by_its_check_alone(inside, tmp_path: Path) -> None:
    write_entry_points("path_scorer", tmp_path)
    info = next(tmp_path.glob("*.dist-info")) / "entry_points.txt"
    info.write_text(info.read_text() + "heavy = heavy_scorer:Heavy\n")
    tmp_path.joinpath("heavy_scorer.py").write_text(
        "import polars\n\nfrom srtk_framework.testing import ToyPathScorer\n\n\nclass Heavy(ToyPathScorer):\n    pass\n"
    )
    tmp_path.joinpath("polars.py").write_text("")
    found = inside(
        "import pytest\nfrom srtk_framework.testing import PathScorerConformance\nfrom heavy_scorer import Heavy\n\n\n"
        "class TestHeavy(PathScorerConformance):\n    name = 'heavy'\n\n    @pytest.fixture\n"
        "    def driver(self):\n        return Heavy()\n"
    )
    for module in ("polars", "heavy_scorer"):
        sys.modules.pop(module, None)
    assert found.failed == {"TestHeavy": {LIGHT}}, "\n".join(found.problems)


def test_a_graph_whose_fingerprint_is_its_path_is_caught_by_its_check_alone(inside, tmp_path: Path) -> None:
    write_entry_points("knowledge_graph", tmp_path)
    info = next(tmp_path.glob("*.dist-info")) / "entry_points.txt"
    info.write_text(info.read_text() + "forgetful = forgetful_graph:Forgetful\n")
    tmp_path.joinpath("forgetful_graph.py").write_text(
        "from srtk_framework.testing import ToyKnowledgeGraph\n\n\nclass Forgetful(ToyKnowledgeGraph):\n"
        "    def fingerprint(self):\n        return f'Forgetful({self.path})'\n"
    )
    found = inside(
        "from srtk_framework.testing.knowledge_graph import ToyKnowledgeGraphCase\n"
        "from forgetful_graph import Forgetful\n\n\nclass TestForgetful(ToyKnowledgeGraphCase):\n"
        "    name = 'forgetful'\n    examples = 8\n\n    def over(self, sample, folder):\n"
        "        made = super().over(sample, folder)\n"
        "        graph = Forgetful(path=made.path, labels=made._labels)\n        graph.open()\n        return graph\n"
    )
    sys.modules.pop("forgetful_graph", None)
    assert found.failed == {"TestForgetful": {"test_other_data_have_another_fingerprint"}}, "\n".join(found.problems)


def test_every_check_is_proven_by_a_broken_driver() -> None:
    proven = {
        checks_of(conformance_of(ROLES[role]))[check].__qualname__
        for role in ROLES
        for check in [*expected(role).values(), LIGHT]
    }
    every = {check.__qualname__ for role in ROLES for check in checks_of(conformance_of(ROLES[role])).values()}
    assert every == proven


def test_every_role_has_a_conformance_class_and_a_toy() -> None:
    for role in ROLES.values():
        assert conformance_of(role).role is role
        assert issubclass(getattr(testing, f"Toy{role.__name__}"), role)


@pytest.fixture
def seer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> type[Role]:
    """Return a role of a third party, whose kit stands in a module of its own."""
    tmp_path.joinpath("kit_of_seers.py").write_text(
        "from srtk_framework.testing import Conformance\n\n\nclass SeerConformance(Conformance):\n"
        "    role = None\n\n    def test_it_sees(self):\n        pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    return type("Seer", (Role,), {"role": "seer", "kit": "kit_of_seers"})


def test_a_role_of_a_third_party_names_the_module_of_its_checks(seer: type[Role]) -> None:
    assert conformance_of(seer).__name__ == "SeerConformance"
    assert "test_it_sees" in checks_of(conformance_of(seer))


def test_a_check_of_a_third_party_cannot_be_dropped_either(seer: type[Role]) -> None:
    with pytest.raises(TypeError, match="test_it_sees"):
        type("TestMine", (conformance_of(seer),), {"test_it_sees": None})


def test_a_kit_without_the_class_of_its_role_is_named() -> None:
    other = type("Other", (Role,), {"role": "other", "kit": "srtk_framework.testing.reader"})
    with pytest.raises(LookupError, match=r"srtk_framework.testing.reader has no class OtherConformance"):
        conformance_of(other)


def test_a_name_that_no_role_brings_is_missing_from_the_kit() -> None:
    assert "ToyReader" in dir(testing)
    with pytest.raises(AttributeError, match="ToyOracle"):
        testing.ToyOracle  # noqa: B018


def test_a_check_replaced_by_none_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="test_scores_are_finite_numbers"):
        type("TestMine", (PathScorerConformance,), {"test_scores_are_finite_numbers": None})


def test_a_check_overridden_without_a_mark_is_refused() -> None:
    with pytest.raises(TypeError, match=r"test_scores_are_finite_numbers.*xfail"):
        type("TestMine", (PathScorerConformance,), {"test_scores_are_finite_numbers": lambda self: None})


def test_a_check_replaced_by_another_base_class_is_refused() -> None:
    class Mixin:
        def test_scores_are_finite_numbers(self) -> None:
            """Pass."""

    with pytest.raises(TypeError, match="test_scores_are_finite_numbers"):
        type("TestMine", (Mixin, PathScorerConformance), {})


@pytest.mark.parametrize("mark", [{}, {"reason": " ", "strict": True}, {"reason": "slow"}])
def test_an_expected_failure_needs_a_reason_and_must_be_strict(mark: dict[str, object]) -> None:
    @pytest.mark.xfail(**mark)
    def check(self) -> None:
        """Pass."""

    with pytest.raises(TypeError, match="test_scores_are_finite_numbers"):
        type("TestMine", (PathScorerConformance,), {"test_scores_are_finite_numbers": check})


def test_a_check_that_is_expected_to_fail_for_a_reason_may_be_overridden() -> None:
    @pytest.mark.xfail(reason="scores are unbounded by design", strict=True)
    def check(self) -> None:
        """Fail."""

    mine = type("TestMine", (PathScorerConformance,), {"test_scores_are_finite_numbers": check})
    assert mine.test_scores_are_finite_numbers is check


def test_a_subclass_may_add_tests_of_its_own() -> None:
    mine = type("TestMine", (PathScorerConformance,), {"test_mine": lambda self: None})
    assert "test_mine" not in checks_of(mine)


def test_a_test_class_without_a_driver_is_told_what_to_write(inside) -> None:
    found = inside(
        "from srtk_framework.testing import EncoderConformance\n\n\n"
        "class TestMine(EncoderConformance):\n    name = 'x'\n"
    )
    assert not found.passed.get("TestMine", set()) - {"test_a_failure_is_a_driver_error"}
    assert any("override the fixture `driver`" in problem for problem in found.problems)


def test_the_kit_and_the_core_load_nothing_heavy() -> None:
    assert loaded_by("srtk_framework.testing") == ()


def test_the_sample_has_all_that_trips_graph_code_up() -> None:
    subjects = {triple.subject for triple in SAMPLE.triples}
    degrees = {node: sum(node in (t.subject, t.object) for t in SAMPLE.triples) for node in SAMPLE.entities}
    assert any(triple.subject == triple.object for triple in SAMPLE.triples)
    assert any(entity not in subjects for entity in SAMPLE.entities)
    assert any('"' in entity for entity in SAMPLE.entities)
    assert any(literal.count('"') > 2 for literal in SAMPLE.literals)
    assert max(degrees.values()) >= 40
    by_utf16 = sorted(SAMPLE.entities, key=lambda entity: entity.encode("utf-16-be"))
    assert by_utf16 != SAMPLE.entities


def test_a_sample_without_literals_keeps_its_entity_triples() -> None:
    bare = SAMPLE.without_literals()
    assert not bare.literals
    assert len(bare.triples) == sum(not isinstance(triple.object, Literal) for triple in SAMPLE.triples)


def test_a_renamed_sample_says_the_same_of_other_ids() -> None:
    renamed = SAMPLE.renamed(lambda entity: f"Q-{entity}", lambda relation: f"P-{relation}")
    assert len(renamed.triples) == len(SAMPLE.triples)
    assert renamed.labels["Q-Riga"] == "Riga"
    assert renamed.labels["P-capital"] == SAMPLE.labels["capital"]
    assert renamed.literals == SAMPLE.literals
    assert len(renamed.qualifiers) == len(SAMPLE.qualifiers)


@pytest.mark.parametrize("kept", [True, False])
def test_relative_scores_may_change_under_a_smaller_budget_and_the_best_triple_may_not(kept: bool) -> None:
    best, other = Triple("a", "r", "b"), Triple("a", "r", "c")
    of_budget = {
        None: Subgraph((best, other), scores=(-1.0, -2.0)),
        3: Subgraph((best if kept else other,), scores=(-0.5,)),
    }
    case: Any = SimpleNamespace(
        relative_scores=True,
        limited=lambda driver, budget: nullcontext(of_budget[budget.triples]),
        subgraphs=lambda found, questions: [(questions[0], found)],
    )
    with nullcontext() if kept else pytest.raises(AssertionError, match="the best triple is"):
        ExpanderConformance.test_a_triple_keeps_its_score_in_a_smaller_subgraph(case, None, [Question("q", "x")])
