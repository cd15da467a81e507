"""Conformance of supervisions: real paths from a question's entities to its answers, each with its quality."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import pytest

from srtk_framework.graph import follow_path, path_order
from srtk_framework.roles import KnowledgeGraph, Supervision
from srtk_framework.testing.batches import BatchConformance, Probe, Probes
from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.values import END, Budget, Link, Question, RankedPath, Step, Triple, rounded

SEVERAL = 10


class SupervisionConformance(BatchConformance):
    """Checks a Supervision; its ``driver`` is opened, over ``graph`` if it needs a graph."""

    role = Supervision

    @pytest.fixture
    def questions(self) -> list[Question]:
        """Return different questions with links, answers, gold paths and gold triples in ``graph``."""
        capital, island, harbour = Step("capital"), Step("has_island"), Step("harbour")
        of_latvia, of_estonia = Triple("Latvia", "capital", "Riga"), Triple("Estonia", "capital", "Tallinn")
        questions = [
            _asked("Latvia", ["Riga"], [(capital,)], [of_latvia]),
            _asked("Riga", ["Latvia"], [(Step("capital", True),)], [of_latvia]),
            attrs.evolve(
                _asked("Latvia and Estonia", ["Riga", "Tallinn"], [(capital,)], [of_latvia, of_estonia]),
                links=(Link("Latvia"), Link("Estonia")),
            ),
            _asked("Narcissus", ["Echo"], [(Step("admires", True),)], [Triple("Echo", "admires", "Narcissus")]),
        ]
        for number in range(1, 7):
            leads = Triple("Archipelago", "has_island", f"Island_{number}")
            ends = Triple(f"Island_{number}", "harbour", f"Port_{number}")
            questions.append(_asked("Archipelago", [f"Port_{number}"], [(island, harbour)], [leads, ends]))
        for number in range(40):
            kept = Triple(f"Item_{number:02}", "kept_in", "Museum")
            lists = Triple("Catalogue", "lists", f"Item_{number:02}")
            questions.append(_asked(f"Item_{number:02}", ["Museum"], [(Step("kept_in"),)], [kept]))
            questions.append(_asked(f"Item_{number:02}", ["Catalogue"], [(Step("lists", True),)], [lists]))
        return [attrs.evolve(q, id=f"q{i}", text=f"{q.text} ({i})") for i, q in enumerate(questions)]

    @pytest.fixture
    def probes(self, questions: list[Question]) -> Probes:
        """Call ``supervise`` with ``questions``."""
        one, other = questions[:2]
        related = [
            (attrs.evolve(one, answers=other.answers),),
            (attrs.evolve(one, links=(*one.links, *other.links)),),
            (attrs.evolve(other, id=one.id, text=one.text),),
        ]
        items = [(question,) for question in questions]
        return lambda driver: [Probe("supervise", driver.supervise, items, related=related)]

    def use(self, driver: Any) -> None:
        """Supervise a question."""
        driver.supervise([_asked("Latvia", ["Riga"], [(Step("capital"),)], [Triple("Latvia", "capital", "Riga")])])

    def found(self, driver: Any, questions: list[Question]) -> list[tuple[Question, RankedPath]]:
        """Supervise some questions one by one, and pair each path with its question."""
        return [(question, path) for question in questions[:SEVERAL] for path in driver.supervise([question])[0]]

    def test_something_is_found(self, driver: Any, questions: list[Question]) -> None:
        """At least one question has paths."""
        assert self.found(driver, questions), "no question has a path"

    def test_paths_start_from_the_links_of_their_question(self, driver: Any, questions: list[Question]) -> None:
        """Every path starts at a linked entity of its question."""
        for question, path in self.found(driver, questions):
            assert path.entity in {link.entity for link in question.links}, f"{question.id}: {path} starts elsewhere"

    def test_paths_have_steps_and_no_end(self, driver: Any, questions: list[Question]) -> None:
        """Paths have at least one step and no END."""
        for question, path in self.found(driver, questions):
            assert path.steps, f"{question.id}: a path has no step"
            assert END not in path.steps, f"{question.id}: {path} holds END"

    def test_paths_lead_to_an_answer(self, driver: Any, graph: Any, questions: list[Question]) -> None:
        """Every path reaches an answer in the graph."""
        free = Budget(hub=None, nodes=None)
        for question, path in self.found(driver, questions):
            steps = tuple(step for step in path.steps if step != END)
            reached = set(follow_path(graph, [[path.entity]], [steps], free)[0].ids())
            assert reached & set(question.answers or ()), f"{question.id}: {path} leads to no answer"

    def test_qualities_are_between_0_and_1_and_rounded(self, driver: Any, questions: list[Question]) -> None:
        """Qualities are above 0, at most 1, and rounded."""
        for question, path in self.found(driver, questions):
            assert 0 < path.score <= 1, f"{question.id}: quality {path.score}"
            assert path.score == rounded(path.score), f"{question.id}: quality {path.score} is not rounded"

    def test_paths_are_distinct_and_best_first(self, driver: Any, questions: list[Question]) -> None:
        """Paths are distinct and sorted by falling quality, then as in ``graph.path_order``."""
        for question in questions[:SEVERAL]:
            row = driver.supervise([question])[0]
            assert len({(path.entity, path.steps) for path in row}) == len(row), f"{question.id}: a path comes twice"
            assert list(row) == sorted(row, key=path_order), f"{question.id}: paths are out of order"

    def test_a_question_without_gold_has_no_paths(self, driver: Any, questions: list[Question]) -> None:
        """A question without gold has no paths."""
        bare = attrs.evolve(questions[0], answers=None, gold_paths=None, gold_triples=None)
        assert [list(row) for row in driver.supervise([bare])] == [[]], "a question without gold has a path"

    def test_a_question_without_links_has_no_paths(self, driver: Any, questions: list[Question]) -> None:
        """A question without links has no paths."""
        loose = attrs.evolve(questions[0], links=())
        assert [list(row) for row in driver.supervise([loose])] == [[]], "a question without links has a path"

    def test_links_that_the_graph_lacks_are_passed_over(self, driver: Any, questions: list[Question]) -> None:
        """A link to an unknown entity does not change the paths of other links."""
        more = attrs.evolve(questions[0], links=(*questions[0].links, Link("no_such_entity")))
        rows = [list(driver.supervise([question])[0]) for question in (questions[0], more)]
        assert rows[0] == rows[1], "an unknown link changes the paths"


def _asked(entity: str, answers: list[str], paths: list[tuple[Step, ...]], triples: list[Triple]) -> Question:
    return Question(
        id=entity,
        text=f"What of {entity}?",
        links=(Link(entity),),
        answers=tuple(answers),
        gold_paths=tuple(paths),
        gold_triples=tuple(triples),
    )


@attrs.define(eq=False)
class ToySupervision(Supervision):
    """Find the single steps from the linked entities to an answer.

    Attributes:
        graph: Where to look.
        least: Least share of answers among the entities that a step reaches.
    """

    graph: KnowledgeGraph
    least: float = 0.1

    def supervise(self, questions: Sequence[Question]) -> list[list[RankedPath]]:
        """Read the steps at all links of all questions at once, and follow them."""
        pairs = [(i, link.entity) for i, question in enumerate(questions) for link in question.links]
        starts = self.graph.frontiers([[entity] for _, entity in pairs])
        rows = self.graph.steps(starts, True)
        walks = [(*pair, start, step) for pair, start, row in zip(pairs, starts, rows, strict=True) for step in row]
        ends = self.graph.follow([walk[2] for walk in walks], [walk[3] for walk in walks], None)
        found: list[dict[tuple[str, Step], RankedPath]] = [{} for _ in questions]
        for (i, entity, _, step), reached in zip(walks, ends, strict=True):
            hits = set(reached.ids()) & set(questions[i].answers or ())
            share = rounded(len(hits) / reached.size) if hits else 0.0
            if share >= self.least:
                found[i][entity, step] = RankedPath(entity, (step,), share)
        return [sorted(row.values(), key=path_order) for row in found]


class ToySupervisionCase(SupervisionConformance):
    """The toy supervision keeps the contract of a supervision."""

    name = "toy"

    @pytest.fixture
    def driver(self, graph: OracleGraph) -> Iterator[ToySupervision]:
        """Open a supervision over the sample graph."""
        supervision = ToySupervision(graph=graph)
        supervision.open()
        yield supervision
        supervision.close()

    def test_a_step_against_its_direction_is_found(self, driver: ToySupervision) -> None:
        """The answer is the subject of the triple."""
        asked = Question("q", "Which country has Riga as capital?", (Link("Riga"),), answers=("Latvia",))
        assert driver.supervise([asked])[0][0] == RankedPath("Riga", (Step("capital", True),), 1.0)


SUMMARY = "A supervision by single steps"

RECIPE = """\
knowledge_graph: {use: local, path: build/world}
path_scorer: {use: dense}
train: {questions: train.jsonl, supervision: {use: toy}}
"""
