"""Conformance of expanders: true triples, aligned columns, budgets obeyed, and nothing cut in silence."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar

import attrs
import pytest

from srtk_framework.graph import PathKey, facts, path_order
from srtk_framework.roles import Expander, KnowledgeGraph
from srtk_framework.testing.batches import BatchConformance, Probe, Probes
from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.testing.path_scorer import ToyPathScorer
from srtk_framework.testing.sample import SAMPLE, SINGER, is_plain
from srtk_framework.testing.values import plain
from srtk_framework.text import subgraph_tokens
from srtk_framework.values import (
    Budget,
    Frontier,
    Link,
    Literal,
    NodeSet,
    Path,
    Pattern,
    Question,
    RankedPath,
    Subgraph,
    Triple,
    rounded,
)

SEVERAL = 10
LITTLE = 0.001  # A share of the score mass that the best path, or triple, has alone


class ExpanderConformance(BatchConformance):
    """Checks an Expander; its ``driver`` is opened over ``graph``, with ``budget`` and perhaps with ``scorer``."""

    role = Expander

    relative_scores: ClassVar[bool] = False
    """Whether a score is a share of what was read, so that a smaller budget, which reads less, may change it."""

    @pytest.fixture
    def scorer(self) -> ToyPathScorer:
        """Return the opened toy scorer, for expanders that need a scorer."""
        scorer = ToyPathScorer()
        scorer.open()
        return scorer

    @pytest.fixture
    def budget(self) -> Budget:
        """Return the budget of the driver; checks of other budgets copy the driver."""
        return Budget()

    @pytest.fixture
    def questions(self) -> list[Question]:
        """Return different questions; most have something to find in ``graph``."""
        several = [
            _asked("capital", "What is the capital of Latvia?", Pattern("Latvia", "capital")),
            _asked("two", "What borders Latvia and Estonia?", Pattern("Latvia", "borders"), Link("Estonia")),
            attrs.evolve(
                _asked("n-best", "What is the capital of Georgia?", Pattern("Georgia_country", "capital")),
                links=(Link("Georgia_country", 0.7, 23, 30), Link("Georgia_state", 0.3, 23, 30)),
            ),
            _asked("loop", "Who admires Narcissus?", Pattern(None, "admires", "Narcissus")),
            _asked("inverse", "What borders Poland?", Pattern(None, "borders", "Poland")),
            _asked("literals", "When was Riga founded?", Pattern("Riga", "founded")),
            _asked("hub", "What lists the catalogue?", Pattern("Catalogue", "lists")),
            _asked("chain", "Which harbour has the archipelago?", Pattern("Archipelago", "has_island")),
        ]
        rest = [entity for entity in SAMPLE.entities if is_plain(entity) and not entity.startswith(SINGER)]
        return several + [Question(f"q{i}", f"What is {e}?", (Link(e),)) for i, e in enumerate(rest)]

    @pytest.fixture
    def wide(self) -> tuple[str, str, str]:
        """Return an entity, a relation from it to more than two nodes, and the only relation onward from these."""
        return "Archipelago", "has_island", "harbour"

    @pytest.fixture
    def probes(self, questions: list[Question]) -> Probes:
        """Call ``expand`` with ``questions``."""
        one, other = questions[:2]
        related = [
            (attrs.evolve(other, id=one.id),),
            (attrs.evolve(other, text=one.text),),
            (attrs.evolve(one, text=other.text),),
            (attrs.evolve(one, links=(*one.links, *questions[3].links)),),
            (attrs.evolve(one, links=questions[3].links),),
        ]
        items = [(question,) for question in questions]
        return lambda driver: [Probe("expand", driver.expand, items, related=related)]

    def use(self, driver: Any) -> None:
        """Expand a question."""
        driver.expand([Question("capital", "What is the capital of Latvia?", (Link("Latvia"),))])

    def limited(self, driver: Any, budget: Budget) -> AbstractContextManager[Any]:
        """Open a copy of the driver with another budget."""
        kinds = attrs.fields(attrs.resolve_types(type(driver)))
        fields = [field.alias for field in kinds if field.type is Budget and field.init]
        assert fields, f"{type(driver).__name__} has no field of type Budget, so a recipe's budget does not reach it"
        return self.copy_of(driver, **{fields[0]: budget})

    def subgraphs(self, driver: Any, questions: list[Question]) -> list[tuple[Question, Subgraph]]:
        """Expand some questions one by one."""
        return [(question, driver.expand([question])[0]) for question in questions[:SEVERAL]]

    def test_something_is_found(self, driver: Any, questions: list[Question]) -> None:
        """At least one of the questions gets triples."""
        assert any(found.triples for _, found in self.subgraphs(driver, questions)), "every subgraph is empty"

    def test_every_triple_is_in_the_graph(self, driver: Any, graph: Any, questions: list[Question]) -> None:
        """Triples exist in the graph, in their own direction."""
        for question, found in self.subgraphs(driver, questions):
            assert_true(graph, question, found)

    def test_triples_are_distinct(self, driver: Any, questions: list[Question]) -> None:
        """A triple occurs once, however many paths lead to it."""
        for question, found in self.subgraphs(driver, questions):
            assert len(set(found.triples)) == len(found.triples), f"{question.id}: a triple comes more than once"

    def test_scores_are_aligned_finite_and_rounded(self, driver: Any, questions: list[Question]) -> None:
        """Each triple has one score; scores of triples and paths are finite and rounded."""
        for question, found in self.subgraphs(driver, questions):
            assert len(found.scores) == len(found.triples), f"{question.id}: scores are not aligned with triples"
            for score in [*found.scores, *(path.score for path in found.paths)]:
                assert math.isfinite(score), f"{question.id}: score {score}"
                assert score == rounded(score), f"{question.id}: score {score} is not rounded; use types.rounded"

    def test_triples_come_best_first(self, driver: Any, questions: list[Question]) -> None:
        """Triples are sorted by falling score."""
        for question, found in self.subgraphs(driver, questions):
            fine = all(one >= other for one, other in itertools.pairwise(found.scores))
            assert fine, f"{question.id}: the scores of the triples rise: {found.scores[:SEVERAL]}"

    def test_a_triple_keeps_its_score_in_a_smaller_subgraph(self, driver: Any, questions: list[Question]) -> None:
        """A triple with the same path has the same score whether all triples are asked for or three.

        With ``relative_scores``, its score may change; the best triple of three is then the best of all.
        """
        with self.limited(driver, Budget()) as free, self.limited(driver, Budget(triples=3)) as tight:
            pairs = zip(self.subgraphs(free, questions), self.subgraphs(tight, questions), strict=True)
            for (question, whole), (_, part) in pairs:
                if self.relative_scores:
                    best, first = whole.triples[:1], part.triples[:1]
                    assert first == best, f"{question.id}: the best triple is {best}, but {first} where 3 are asked for"
                    continue
                known = scores_by_path(whole)
                for (triple, path), score in scores_by_path(part).items():
                    before = known.get((triple, path), score)
                    assert score == before, (
                        f"{question.id}: {triple} scores {before}, but {score} where 3 triples are asked for"
                    )

    def test_gold_changes_no_subgraph(self, driver: Any, questions: list[Question]) -> None:
        """A question with gold answers, triples and paths gets the same subgraph as without."""
        found = self.subgraphs(driver, questions)
        others = [subgraph for _, subgraph in found if subgraph.triples]
        for question, bare in found:
            for other in others[-2:]:
                gold = attrs.evolve(
                    question,
                    answers=(other.triples[-1].object,),
                    gold_triples=other.triples[-1:],
                    gold_paths=tuple(path.steps for path in other.paths[:1]),
                    gold_links=(Link(other.triples[-1].subject),),
                )
                assert plain(driver.expand([gold])[0]) == plain(bare), (
                    f"{question.id}: the subgraph is another one where gold is known"
                )

    def test_paths_come_best_first(self, driver: Any, questions: list[Question]) -> None:
        """Paths are sorted by falling score, then by steps, then by entity (``graph.path_order``)."""
        for question, found in self.subgraphs(driver, questions):
            keys = [path_order(path) for path in found.paths]
            assert keys == sorted(keys), f"{question.id}: paths are out of order"

    def test_path_of_points_to_a_path_for_each_triple(self, driver: Any, questions: list[Question]) -> None:
        """``path_of`` holds an index into ``paths``, or -1, for each triple."""
        for question, found in self.subgraphs(driver, questions):
            assert len(found.path_of) == len(found.triples), f"{question.id}: path_of is not aligned with triples"
            wrong = [index for index in found.path_of if not -1 <= index < len(found.paths)]
            assert not wrong, f"{question.id}: path_of points to {wrong}, there are {len(found.paths)} paths"

    def test_paths_start_at_links(self, driver: Any, questions: list[Question]) -> None:
        """Every path starts at a linked entity of the question."""
        for question, found in self.subgraphs(driver, questions):
            linked = {link.entity for link in question.links}
            wrong = [path.entity for path in found.paths if path.entity not in linked]
            assert not wrong, f"{question.id}: paths start at {wrong}, the links are {sorted(linked)}"

    def test_every_triple_of_a_path_lies_on_it(self, driver: Any, graph: Any, questions: list[Question]) -> None:
        """A triple lies on an instance of its path that reaches the last step."""
        for question, found in self.subgraphs(driver, questions):
            for number, path in enumerate(found.paths):
                mine = {triple for triple, index in zip(found.triples, found.path_of, strict=False) if index == number}
                wrong = sorted(mine - instances(graph, path)) if mine else []
                assert not wrong, f"{question.id}: {wrong} are not on {path}"

    def test_a_cut_leaves_triples_of_paths_connected_to_a_link(self, driver: Any, questions: list[Question]) -> None:
        """The triples that a budget keeps of a path are connected to its first entity."""
        for most in (1, 2, 3):
            with self.limited(driver, Budget(triples=most)) as copy:
                for question, found in self.subgraphs(copy, questions):
                    loose = unconnected(found, {link.entity for link in question.links})
                    assert not loose, f"{question.id}: with {most} triples, {loose} hang on nothing"

    def test_the_budget_of_triples_is_obeyed(self, driver: Any, questions: list[Question]) -> None:
        """No subgraph has more triples than the budget."""
        for most in (1, 3):
            with self.limited(driver, Budget(triples=most)) as copy:
                for question, found in self.subgraphs(copy, questions):
                    assert len(found.triples) <= most, f"{question.id}: {len(found.triples)} triples, not {most}"

    def test_a_cut_by_the_budget_of_triples_is_counted(self, driver: Any, questions: list[Question]) -> None:
        """``trace["cut"]`` counts the triples beyond the budget."""
        with self.limited(driver, Budget()) as free, self.limited(driver, Budget(triples=1)) as tight:
            pairs = zip(self.subgraphs(free, questions), self.subgraphs(tight, questions), strict=True)
            for (question, whole), (_, part) in pairs:
                if len(whole.triples) > 1:
                    assert_counted(question, part)

    def test_the_budget_of_tokens_is_obeyed(self, driver: Any, graph: Any, questions: list[Question]) -> None:
        """The text of a subgraph has no more tokens than the budget."""
        for most in (12, 60):
            with self.limited(driver, Budget(tokens=most)) as copy:
                for question, found in self.subgraphs(copy, questions):
                    ids = sorted({id_ for row in (*found.triples, *itertools.chain(*found.qualifiers)) for id_ in row})
                    size = subgraph_tokens(found, dict(zip(ids, graph.labels(ids), strict=True)))
                    assert size <= most, f"{question.id}: the subgraph has {size} tokens, not {most}"

    def test_a_cut_by_the_budget_of_tokens_is_counted(self, driver: Any, questions: list[Question]) -> None:
        """``trace["cut"]`` counts the triples beyond the budget."""
        with self.limited(driver, Budget()) as free, self.limited(driver, Budget(tokens=12)) as tight:
            pairs = zip(self.subgraphs(free, questions), self.subgraphs(tight, questions), strict=True)
            for (question, whole), (_, part) in pairs:
                if len(set(part.triples)) < len(set(whole.triples)):
                    assert_counted(question, part)

    def test_the_budget_of_hubs_is_obeyed(self, driver: Any, wide: tuple[str, str, str]) -> None:
        """No more neighbours of a node are read along a step than the budget of hubs."""
        found = self.wide_subgraph(driver, wide, Budget(hub=2, nodes=None))
        read = [triple for triple in found.triples if triple[:2] == wide[:2]]
        assert len(read) <= 2, f"with hub=2, {wide[0]} gave {len(read)} neighbours: {read}"

    def test_a_cut_by_the_budget_of_hubs_is_counted(self, driver: Any, wide: tuple[str, str, str]) -> None:
        """``trace["cut"]`` counts the neighbours that were not read."""
        found = self.wide_subgraph(driver, wide, Budget(hub=2, nodes=None))
        if any(triple[:2] == wide[:2] for triple in found.triples):
            assert_counted(wide_question(wide), found)

    def test_the_budget_of_nodes_is_obeyed(self, driver: Any, wide: tuple[str, str, str]) -> None:
        """No more nodes of a frontier are expanded than the budget of nodes."""
        found = self.wide_subgraph(driver, wide, Budget(nodes=2, hub=None))
        onward = [triple for triple in found.triples if triple.relation == wide[2]]
        assert len(onward) <= 2, f"with nodes=2, the search went on from {len(onward)} nodes: {onward}"

    def test_a_cut_by_the_budget_of_nodes_is_counted(self, driver: Any, wide: tuple[str, str, str]) -> None:
        """``trace["cut"]`` counts the nodes that were not expanded."""
        found = self.wide_subgraph(driver, wide, Budget(nodes=2, hub=None))
        if any(triple.relation == wide[2] for triple in found.triples):
            assert_counted(wide_question(wide), found)

    def test_the_budget_of_mass_is_obeyed(self, driver: Any, questions: list[Question]) -> None:
        """A small share of the score mass keeps some triples, and not all where scores differ beyond one path."""
        for question, whole, mass, part in self.by_mass(driver, questions):
            kept, every = len(set(part.triples)), len(set(whole.triples))
            assert kept <= every, f"{question.id}: mass={mass} gives {kept} triples, no such budget {every}"
            longest = max((len(path.steps) for path in whole.paths), default=0)
            if len(set(whole.scores)) > 1 and every > longest and mass == LITTLE:
                assert kept < every, f"{question.id}: with mass={mass} all {every} triples are kept"
            assert kept or not every, f"{question.id}: with mass={mass} nothing is kept of {every} triples"

    def test_a_cut_by_the_budget_of_mass_is_counted(self, driver: Any, questions: list[Question]) -> None:
        """``trace["cut"]["mass"]`` counts the triples beyond a share of the score mass."""
        for question, whole, mass, part in self.by_mass(driver, questions):
            if len(set(part.triples)) < len(set(whole.triples)):
                counted = part.trace.get("cut", {}).get("mass", 0)
                assert counted > 0, f"{question.id}: mass={mass} cut what the trace does not count: {dict(part.trace)}"

    def by_mass(self, driver: Any, questions: list[Question]) -> list[tuple[Question, Subgraph, float, Subgraph]]:
        """Expand some questions without a limit of mass and with some."""
        with self.limited(driver, Budget()) as copy:
            free = self.subgraphs(copy, questions)
        rows = []
        for mass in (LITTLE, 0.5):
            with self.limited(driver, Budget(mass=mass)) as copy:
                parts = self.subgraphs(copy, questions)
            rows += [(q, whole, mass, part) for (q, whole), (_, part) in zip(free, parts, strict=True)]
        return rows

    def wide_subgraph(self, driver: Any, wide: tuple[str, str, str], budget: Budget) -> Subgraph:
        """Expand a question about the wide part of the graph."""
        with self.limited(driver, budget) as copy:
            found: Subgraph = copy.expand([wide_question(wide)])[0]
        return found

    def test_a_question_without_links_gets_an_empty_subgraph_with_a_reason(self, driver: Any) -> None:
        """It is no error."""
        assert_empty(driver.expand([Question("none", "What is the capital of Latvia?")])[0])

    def test_an_unknown_entity_gets_an_empty_subgraph_with_a_reason(self, driver: Any) -> None:
        """It is no error."""
        assert_empty(driver.expand([Question("unknown", "What is this?", (Link("no_such_entity"),))])[0])

    def test_provenance_is_given_for_each_triple(self, driver: Any, questions: list[Question]) -> None:
        """Every triple has a provenance."""
        for question, found in self.subgraphs(driver, questions):
            assert len(found.provenance) == len(found.triples), f"{question.id}: provenance is not aligned with triples"
            assert all(found.provenance), f"{question.id}: a triple has an empty provenance"

    def test_provenance_is_what_the_graph_says(self, driver: Any, graph: Any, questions: list[Question]) -> None:
        """A triple has the provenance, confidence and evidence of its ``origins`` in the graph."""
        for question, found in self.subgraphs(driver, questions):
            known = graph.origins(found.triples)
            for triple, place, origin in zip(found.triples, found.provenance, known, strict=False):
                assert place == origin.provenance, (
                    f"{question.id}: {triple} of {origin.provenance!r} is said to come from {place!r}; take what"
                    " `origins` of the graph returns, as graph.finish does"
                )
            sure = tuple(origin.confidence for origin in known)
            assert found.confidences in (sure, () if all(one == 1 for one in sure) else sure), (
                f"{question.id}: confidences are {found.confidences}, not {sure}"
            )

    def test_literals_stay_literals(self, driver: Any, graph: Any, questions: list[Question]) -> None:
        """Objects and qualifier values that are ``Literal`` in the graph are ``Literal`` in the subgraph."""
        for question, found in self.subgraphs(driver, questions):
            for triple in found.triples:
                for known in graph.match([Pattern(*triple)])[0]:
                    assert isinstance(triple.object, Literal) == isinstance(known.object, Literal), (
                        f"{question.id}: the object of {triple} is a {type(triple.object).__name__}"
                    )
            for triple, pairs in zip(found.triples, found.qualifiers, strict=False):
                for (name, value), (_, known) in zip(pairs, graph.qualifiers([triple])[0], strict=False):
                    assert isinstance(value, Literal) == isinstance(known, Literal), (
                        f"{question.id}: the qualifier {name} of {triple} is a {type(value).__name__}"
                    )

    def test_qualifiers_are_those_of_each_triple(self, driver: Any, graph: Any, questions: list[Question]) -> None:
        """Each triple has the qualifiers that the graph has for it."""
        for question, found in self.subgraphs(driver, questions):
            assert len(found.qualifiers) == len(found.triples), (
                f"{question.id}: qualifiers are not aligned with triples"
            )
            for triple, row in zip(found.triples, found.qualifiers, strict=True):
                assert tuple(row) == tuple(graph.qualifiers([triple])[0]), f"{question.id}: qualifiers of {triple}"

    def test_the_trace_can_be_written_as_json(self, driver: Any, questions: list[Question]) -> None:
        """The trace consists of JSON values."""
        for question, found in self.subgraphs(driver, questions):
            assert json.loads(json.dumps(dict(found.trace))) == found.trace, f"{question.id}: trace {found.trace!r}"

    def test_quotes_and_other_scripts_are_searched(self, driver: Any, graph: Any) -> None:
        """Questions and ids with quotes and other scripts are no error."""
        for entity in graph.sample.strange() if isinstance(graph, OracleGraph) else ():
            question = Question(f"of {entity}", f'Who said "{entity}" to <b>whom</b>?', (Link(entity),))
            assert_true(graph, question, driver.expand([question])[0])


def wide_question(wide: tuple[str, str, str]) -> Question:
    """Ask about the wide part of the graph, in the words of its relations."""
    return _asked("wide", f"{wide[1]} {wide[2]}", Pattern(wide[0], wide[1]))


def _asked(id_: str, text: str, pattern: Pattern, *links: Link) -> Question:
    """Ask in words and by a pattern; its bound end is linked, and the entities that fit are its candidates."""
    end = pattern.object if pattern.subject is None else pattern.subject
    fitting = [t for t in SAMPLE.triples if all(part in (None, own) for part, own in zip(pattern, t, strict=True))]
    ends = {triple.subject if pattern.subject is None else triple.object for triple in fitting}
    candidates = tuple(sorted(one for one in ends if not isinstance(one, Literal)))
    return Question(id_, text, (Link(str(end)), *links), pattern=pattern, candidates=candidates)


def assert_true(graph: Any, question: Question, found: Subgraph) -> None:
    """Check that the triples are in the graph."""
    for triple in found.triples:
        assert triple in graph.match([Pattern(*triple)])[0], f"{question.id}: {triple} is not in the graph"


def assert_counted(question: Question, found: Subgraph) -> None:
    """Check that something was counted as cut."""
    cut = found.trace.get("cut", {})
    assert sum(cut.values()) > 0, f"{question.id}: a cut was made that the trace does not count: {dict(found.trace)}"


def assert_empty(found: Subgraph) -> None:
    """Check that a subgraph is empty and that its trace has a reason."""
    assert not found.triples, f"triples came from nowhere: {found.triples}"
    assert found.trace.get("reason"), f"an empty subgraph must say why in trace['reason']: {dict(found.trace)}"


def instances(graph: Any, path: RankedPath) -> set[Triple]:
    """Read the triples on the instances of a path that reach its last step."""
    frontier = graph.frontiers([[path.entity]])[0]
    levels: list[list[Triple]] = []
    for step in path.steps:
        levels.append(list(graph.triples([frontier], [step], None)[0]))
        frontier = graph.follow([frontier], [step], None)[0]
    found: set[Triple] = set()
    alive: set[str] | None = None
    for step, triples in zip(reversed(path.steps), reversed(levels), strict=True):
        kept = [t for t in triples if alive is None or (t.subject if step.inverse else t.object) in alive]
        alive = {t.object if step.inverse else t.subject for t in kept}
        found.update(kept)
    return found


def scores_by_path(found: Subgraph) -> dict[tuple[Triple, tuple[str, Path] | None], float]:
    """Return the score of each triple, by the triple and the entity and steps of its path."""
    starts = [(path.entity, path.steps) for path in found.paths]
    rows = zip(found.triples, found.path_of, found.scores, strict=False)
    return {(triple, starts[i] if 0 <= i < len(starts) else None): score for triple, i, score in rows}


def unconnected(found: Subgraph, links: Iterable[str]) -> list[Triple]:
    """List the triples of paths that no chain of such triples joins to a link."""
    left = [triple for triple, index in zip(found.triples, found.path_of, strict=False) if index >= 0]
    reached = set(NodeSet(links).ids())
    while joined := [t for t in left if t.subject in reached or t.object in reached]:
        reached.update(end for t in joined for end in (t.subject, t.object))
        left = [t for t in left if t not in joined]
    return left


@attrs.define(eq=False)
class ToyExpander(Expander):
    """Take the facts along every path of up to ``hops`` steps from the links of each question, short paths first.

    Attributes:
        graph: Where to read.
        budget: Limits of each question.
        hops: Most steps of a path.
        inverse: Whether to follow relations against their direction too.
    """

    graph: KnowledgeGraph
    budget: Budget = attrs.field(factory=Budget)
    hops: int = 2
    inverse: bool = True

    def expand(self, questions: Sequence[Question]) -> list[Subgraph]:
        """Search hop by hop, all questions at once, then read the triples along the paths."""
        known: list[dict[PathKey, Frontier]] = [{} for _ in questions]
        cuts = [{"hub": 0, "nodes": 0} for _ in questions]
        pairs = [(i, link.entity) for i, question in enumerate(questions) for link in question.links]
        for (i, entity), start in zip(pairs, self.graph.frontiers([[entity] for _, entity in pairs]), strict=True):
            if start.size:
                known[i][entity, ()] = start
        ends = [(i, key) for i, walked in enumerate(known) for key in walked]
        for _ in range(self.hops):
            ends = self._walk(ends, known, cuts)
        paths = [
            sorted((RankedPath(entity, steps, -float(len(steps))) for entity, steps in walked if steps), key=path_order)
            for walked in known
        ]
        traces = [_trace(row, cut) for row, cut in zip(paths, cuts, strict=True)]
        return facts(self.graph, paths, self.budget, known, traces)

    def _walk(
        self,
        ends: Sequence[tuple[int, PathKey]],
        known: Sequence[dict[PathKey, Frontier]],
        cuts: Sequence[dict[str, int]],
    ) -> list[tuple[int, PathKey]]:
        """Take every step from every end; return the new ends, each with the index of its question."""
        rows = self.graph.steps([known[i][key] for i, key in ends], self.inverse)
        walks = [(i, key, step) for (i, key), row in zip(ends, rows, strict=True) for step in row]
        at, steps = [known[i][key] for i, key, _ in walks], [step for *_, step in walks]
        reached = self.graph.follow(at, steps, self.budget.hub)
        kept = [list(frontier.ids())[: self.budget.nodes] for frontier in reached]
        made: list[tuple[int, PathKey]] = []
        rest = zip(walks, reached, self.graph.frontiers(kept), strict=True)
        for (i, (entity, path), step), whole, frontier in rest:
            cuts[i]["hub"] += whole.cut
            cuts[i]["nodes"] += whole.size - frontier.size
            made.append((i, (entity, (*path, step))))
            known[i][made[-1][1]] = frontier
        return made


def _trace(paths: Sequence[RankedPath], cut: dict[str, int]) -> dict[str, object]:
    """Count the paths and the cuts of the budget, and give the reason where there is no path."""
    trace: dict[str, object] = {"paths": len(paths), "cut": {limit: count for limit, count in cut.items() if count}}
    if not paths:
        trace["reason"] = "no link of the question has facts in the graph"
    return trace


class ToyExpanderCase(ExpanderConformance):
    """The toy expander keeps the contract of an expander."""

    name = "toy"

    @pytest.fixture
    def driver(self, graph: OracleGraph, budget: Budget) -> Iterator[ToyExpander]:
        """Open an expander over the sample graph."""
        expander = ToyExpander(graph=graph, budget=budget)
        expander.open()
        yield expander
        expander.close()

    def test_facts_of_a_link_are_found_in_both_directions(self, driver: ToyExpander) -> None:
        """As subject and as object."""
        found = driver.expand([Question("q", "What of Riga?", (Link("Riga"),))])[0].triples
        assert {Triple("Latvia", "capital", "Riga"), Triple("Riga", "twin_town", "Vilnius")} <= set(found)


SUMMARY = "An expander by breadth"

RECIPE = """\
knowledge_graph: {use: local, path: build/world}
expander: {use: toy, hops: 1}
budget: {triples: 100}
"""
