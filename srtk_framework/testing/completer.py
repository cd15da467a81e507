"""Conformance of completers: triples that fit, that the graph lacks, in order, with confidences below 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import pytest

from srtk_framework.roles import Completer, KnowledgeGraph
from srtk_framework.testing.batches import BatchConformance, Probe, Probes
from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.testing.sample import SAMPLE, is_plain
from srtk_framework.values import (
    Completion,
    DriverError,
    Evidence,
    Literal,
    Pattern,
    Step,
    Triple,
    confidence,
    open_end,
)

TOLERANCE = 1e-5  # Single precision differs so much between batches
REFUSED = (
    Pattern(None, "capital", None),
    Pattern("Latvia", "capital", "Riga"),
    Pattern("Latvia", None, None),
    Pattern("Latvia", None, "Riga"),
    Pattern(),
)


class CompleterConformance(BatchConformance):
    """Checks a Completer; its ``driver`` is opened, over ``graph``, or over a graph with the same triples."""

    role = Completer

    @pytest.fixture
    def patterns(self) -> list[Pattern]:
        """Return different patterns with one open end; the driver must complete some."""
        facts = [t for t in SAMPLE.triples if all(map(is_plain, t))]
        relations = list(dict.fromkeys(t.relation for t in facts))
        few = [t for relation in relations for t in [t for t in facts if t.relation == relation][:2]]
        # Ends of stored triples: first each at the other end, then at its own; then ends with other relations.
        asked = [p for s, r, o in few for p in (Pattern(o, r), Pattern(None, r, s))]
        asked += [p for s, r, o in few for p in (Pattern(s, r), Pattern(None, r, o))]
        ends = dict.fromkeys(end for t in few for end in (t.subject, t.object))
        asked += [Pattern(end, relation) for end, relation in zip(ends, relations * len(ends), strict=False)]
        return list(dict.fromkeys([*asked, Pattern("Latvia", "population"), Pattern("Riga", "nickname")]))

    @pytest.fixture
    def probes(self, patterns: list[Pattern]) -> Probes:
        """Call the three hooks with ``patterns``, the entities of the sample, and sets of these."""
        alike = [p for p in patterns if p.relation == "capital"]
        related = [(p,) for p in alike]
        entities = [end for end in SAMPLE.entities if is_plain(end)][:30]
        rated = [(pattern, entities[place % 5 :]) for place, pattern in enumerate(patterns)]
        node_sets = [(SAMPLE.entities[place : place + 1 + place % 3],) for place in range(80)]
        ends = [([end],) for p in alike for end in (p.subject, p.object) if end is not None]
        return lambda driver: [
            Probe("complete", driver.complete, [(p,) for p in patterns], (5,), TOLERANCE, related),
            Probe("rate", driver.rate, rated, (), TOLERANCE, [(p, entities[2:6]) for (p,) in related]),
            Probe("offers", driver.offers, node_sets, (True,), related=ends),
        ]

    def use(self, driver: Any) -> None:
        """Complete one pattern."""
        driver.complete([Pattern("Latvia", "capital")], 3)

    def complete_each(self, driver: Any, patterns: list[Pattern]) -> list[tuple[Pattern, Any]]:
        """Complete patterns one by one; return each with all its completions."""
        return [(pattern, driver.complete([pattern], None)[0]) for pattern in patterns]

    def test_something_is_completed(self, driver: Any, patterns: list[Pattern]) -> None:
        """At least one pattern has a completion, and all are values of the framework."""
        rows = [row for _, row in self.complete_each(driver, patterns)]
        assert all(isinstance(one, Completion) for row in rows for one in row), "complete returned what is none"
        assert any(len(row) for row in rows), f"none of {len(rows)} patterns of the sample is completed"

    def test_completions_fit_their_pattern(self, driver: Any, patterns: list[Pattern]) -> None:
        """A completion has the relation and the bound end of its pattern."""
        for pattern, row in self.complete_each(driver, patterns):
            for one in row:
                fits = all(bound in (None, part) for bound, part in zip(pattern, one.triple, strict=True))
                assert fits, f"{one.triple} does not fit {pattern}"

    def test_no_completion_is_stored(self, driver: Any, patterns: list[Pattern]) -> None:
        """A triple that the graph holds is not proposed."""
        held = set(SAMPLE.triples)
        for pattern, row in self.complete_each(driver, patterns):
            stored = [one.triple for one in row if one.triple in held]
            assert not stored, f"{stored[:1]} is proposed for {pattern}, and the graph holds it"

    def test_completions_are_distinct(self, driver: Any, patterns: list[Pattern]) -> None:
        """A triple is proposed once for a pattern, also by several reasons."""
        for pattern, row in self.complete_each(driver, patterns):
            assert len({one.triple for one in row}) == len(row), f"a triple is proposed twice for {pattern}"

    def test_completions_come_best_first(self, driver: Any, patterns: list[Pattern]) -> None:
        """Completions are ordered by confidence, then by triple."""
        for pattern, row in self.complete_each(driver, patterns):
            places = [(-one.confidence, one.triple) for one in row]
            assert places == sorted(places), f"the completions of {pattern} are not ordered by (-confidence, triple)"

    def test_confidences_are_rounded_and_below_one(self, driver: Any, patterns: list[Pattern]) -> None:
        """A confidence is at least 0, below 1, and rounded by ``values.confidence``."""
        for pattern, row in self.complete_each(driver, patterns):
            wrong = [one.confidence for one in row if one.confidence != confidence(one.confidence)]
            assert not wrong, f"{pattern} has the confidence {wrong[0]!r}; use values.confidence"

    def test_only_entities_are_proposed(self, driver: Any, patterns: list[Pattern]) -> None:
        """An open end is filled by an entity, never by a literal, whatever the graph stores there."""
        for pattern, row in self.complete_each(driver, patterns):
            ends = [one.triple.subject if open_end(pattern)[1].inverse else one.triple.object for one in row]
            literals = [end for end in ends if isinstance(end, Literal) or end in SAMPLE.literals]
            assert not literals, f"{literals[:1]} is proposed for {pattern}, and is a literal"

    def test_a_limit_gives_the_first_completions(self, driver: Any, patterns: list[Pattern]) -> None:
        """With a limit, the first completions are the same as without."""
        for pattern, row in self.complete_each(driver, patterns):
            for limit in (1, 2, 5):
                few = driver.complete([pattern], limit)[0]
                assert list(few) == list(row[:limit]), f"{pattern} has other completions with the limit {limit}"

    def test_rates_agree_with_completions(self, driver: Any, patterns: list[Pattern]) -> None:
        """A candidate that is proposed is rated by its confidence; another that is lacking, no higher than these."""
        held, entities = set(SAMPLE.triples), SAMPLE.entities
        for pattern, row in self.complete_each(driver, patterns):
            proposed = {one.triple: one.confidence for one in row}
            least = min(proposed.values(), default=1.0)
            triples = [pattern.filled(entity) for entity in entities]
            for triple, rate in zip(triples, driver.rate([pattern], [entities])[0], strict=False):
                wanted = proposed.get(triple)
                if wanted is not None:
                    assert abs(rate - wanted) <= TOLERANCE, f"{triple} is rated {rate} and proposed with {wanted}"
                else:
                    assert triple in held or rate <= least + TOLERANCE, (
                        f"{triple} is rated {rate} and not proposed, but others with {least} are"
                    )

    def test_a_rate_stays_with_its_candidate(self, driver: Any, patterns: list[Pattern]) -> None:
        """Every candidate gets one rate at its place, unknown ids and duplicates too."""
        entities = [*SAMPLE.entities[:40], "nobody at all", *SAMPLE.entities[:3]]
        for pattern in patterns[:20]:
            forward, backward = (list(driver.rate([pattern], [ids])[0]) for ids in (entities, entities[::-1]))
            assert len(forward) == len(entities), f"{len(entities)} candidates got {len(forward)} rates"
            assert forward == backward[::-1], f"the rates for {pattern} do not follow the order of the candidates"
            assert forward[40] == 0, f"an unknown id is rated {forward[40]} for {pattern}"

    def test_what_is_unknown_has_no_completions(self, driver: Any) -> None:
        """An entity or a relation that the graph lacks is no error, and nothing is proposed."""
        for pattern in (
            Pattern("nobody at all", "capital"),
            Pattern(None, "capital", "nobody at all"),
            Pattern("Latvia", "never seen"),
            Pattern(None, "never seen", "Riga"),
        ):
            row = driver.complete([pattern], 5)[0]  # any error fails the check
            assert not len(row), f"{pattern} has a part that the graph lacks, and is completed by {row[0]}"
        assert list(driver.offers([["nobody at all"]], True)[0]) == [], "steps are offered at an unknown entity"

    def test_a_pattern_without_one_open_end_is_refused(self, driver: Any) -> None:
        """A pattern with no relation, or with no or two open ends, is a DriverError."""
        for pattern in REFUSED:
            try:
                driver.complete([pattern], 5)
            except DriverError:
                continue
            pytest.fail(f"{pattern} is answered; read patterns by values.open_end, which refuses it")

    def test_evidence_rests_on_the_graph(self, driver: Any, patterns: list[Pattern]) -> None:
        """Reasons are ``Evidence``, and the triples that they name are stored."""
        held = set(SAMPLE.triples)
        for pattern, row in self.complete_each(driver, patterns):
            for reason in (reason for one in row for reason in one.evidence):
                assert isinstance(reason, Evidence), f"a completion of {pattern} has the evidence {reason!r}"
                strange = [triple for triple in reason.triples if triple not in held]
                assert not strange, f"a completion of {pattern} rests on {strange[0]}, which the graph lacks"

    def test_offers_are_sorted_and_forward_unless_asked(self, driver: Any) -> None:
        """Offered steps are distinct and sorted, and inverse ones come only if asked for."""
        for entity in SAMPLE.entities:
            for inverse in (False, True):
                steps = list(driver.offers([[entity]], inverse)[0])
                assert steps == sorted(set(steps)), f"the steps offered at {entity!r} are not sorted and distinct"
                assert inverse or not any(step.inverse for step in steps), (
                    f"inverse steps are offered at {entity!r}, and forward ones were asked for"
                )

    def test_offers_for_a_set_are_those_of_its_entities(self, driver: Any) -> None:
        """A step is offered for a set of entities if it is offered for one of them."""
        entities = SAMPLE.entities[:6]
        single = {step for entity in entities for step in driver.offers([[entity]], True)[0]}
        assert list(driver.offers([entities], True)[0]) == sorted(single), f"offers for {entities} are not their union"

    def test_what_is_offered_can_be_completed(self, driver: Any) -> None:
        """Each step that is offered somewhere has a completion at some entity where it is offered."""
        where: dict[Step, list[str]] = {}
        for entity in filter(is_plain, SAMPLE.entities):
            for step in driver.offers([[entity]], True)[0]:
                if is_plain(step.relation):
                    where.setdefault(step, []).append(entity)
        for step, entities in where.items():
            asked = [Pattern(None, step.relation, e) if step.inverse else Pattern(e, step.relation) for e in entities]
            assert any(len(driver.complete([pattern], 1)[0]) for pattern in asked), (
                f"{step} is offered at {len(entities)} entities, such as {entities[0]!r}, and completed at none"
            )

    def test_quotes_and_other_scripts_are_completed(self, driver: Any) -> None:
        """Ids with quotes and other scripts are no error."""
        for triple in SAMPLE.triples:
            if not all(map(is_plain, triple)) and not isinstance(triple.object, Literal):
                asked = [Pattern(triple.subject, triple.relation), Pattern(None, triple.relation, triple.object)]
                assert len(driver.complete(asked, 3)) == 2, f"{triple} is not completed"


@attrs.define(eq=False)
class ToyCompleter(Completer):
    """Propose the triple that runs back: if (a, r, b) is stored, then (b, r, a).

    Attributes:
        graph: The graph that lacks triples.
        prior: Unanswered triples that each entity counts as having more; a larger number lowers all confidences.
    """

    graph: KnowledgeGraph
    prior: int = 1

    def complete(self, patterns: Sequence[Pattern], limit: int | None) -> list[list[Completion]]:
        """Read the triples of each entity that run back, and rate them by how many are answered."""
        return [self._complete(pattern)[:limit] for pattern in patterns]

    def _complete(self, pattern: Pattern) -> list[Completion]:
        _, step = open_end(pattern)
        held, back = self.graph.match([pattern, Pattern(pattern.object, pattern.relation, pattern.subject)])
        # Per entity at the open end, the triple that runs back from there.
        answered = {triple.object if step.inverse else triple.subject: triple for triple in back}
        lacking = sorted((pattern.filled(end), end) for end in answered if not isinstance(end, Literal))
        stored = set(held)
        share = confidence((1 + sum(triple in stored for triple, _ in lacking)) / (1 + len(lacking) + self.prior))
        return [
            Completion(triple, share, (Evidence("path", f"{step.relation} runs back", triples=(answered[end],)),))
            for triple, end in lacking
            if triple not in stored
        ]

    def offers(self, node_sets: Sequence[Sequence[str]], inverse: bool) -> list[list[Step]]:
        """Offer the steps against which an entity has a triple that is not answered."""
        return [sorted({step for node in nodes for step in self._offers(node, inverse)}) for nodes in node_sets]

    def _offers(self, node: str, inverse: bool) -> list[Step]:
        (steps,) = self.graph.steps(self.graph.frontiers([[node]]), True)
        back = [Step(step.relation, not step.inverse) for step in steps if inverse or step.inverse]
        asked = [Pattern(None, s.relation, node) if s.inverse else Pattern(node, s.relation) for s in back]
        return [step for step, pattern in zip(back, asked, strict=True) if self._complete(pattern)]


class ToyCompleterCase(CompleterConformance):
    """The toy completer keeps the contract of a completer."""

    name = "toy"

    @pytest.fixture
    def driver(self, graph: OracleGraph) -> Iterator[ToyCompleter]:
        """Open a completer over the sample graph."""
        completer = ToyCompleter(graph=graph)
        completer.open()
        yield completer
        completer.close()

    def test_a_border_has_two_sides(self, driver: ToyCompleter) -> None:
        """Lithuania borders Poland, so Poland borders Lithuania."""
        found = driver.complete([Pattern("Poland", "borders")], None)[0]
        assert [one.triple for one in found] == [Triple("Poland", "borders", "Lithuania")]


SUMMARY = "A completer by symmetry"

RECIPE = """\
knowledge_graph: {use: local, path: build/world}
completer: {use: toy, prior: 3}
expander: {use: bfs}
"""
