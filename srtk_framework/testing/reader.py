"""Conformance of readers: answers that rest on the triples read, and refusals without further content."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import attrs
import pytest

from srtk_framework.roles import KnowledgeGraph, Reader
from srtk_framework.testing.batches import BatchConformance, Probe, Probes
from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.testing.sample import SAMPLE, is_plain
from srtk_framework.testing.values import plain
from srtk_framework.text import fold
from srtk_framework.values import Answer, DriverError, Link, Question, Subgraph, Triple

SEVERAL = 12
OPTIONS = ("Riga", "Tallinn", 'the "old" town', "столица")  # Options of the kit's questions for a reader that chooses


class ReaderConformance(BatchConformance):
    """Checks a Reader; its ``driver`` is opened, over ``graph`` if it needs a graph.

    Attributes:
        chooses: Whether the reader chooses among the options of a question; the kit's questions have some then.
    """

    role = Reader
    chooses: ClassVar[bool] = False

    def asked(self, question: Question) -> Question:
        """Give a question options if the reader chooses among them."""
        return attrs.evolve(question, options=OPTIONS) if self.chooses else question

    def retrieved(self, question: Question, subgraph: Subgraph) -> Subgraph:
        """Add to a subgraph of the kit whatever else the reader reads; nothing by default."""
        return subgraph

    @pytest.fixture
    def cases(self) -> list[tuple[Question, Subgraph]]:
        """Return different questions with the triples around their entity; the driver must answer some."""
        made = []
        asked = dict.fromkeys((t.subject, t.relation) for t in SAMPLE.triples)
        for i, (entity, relation) in enumerate(pair for pair in asked if all(map(is_plain, pair))):
            triples = [t for t in SAMPLE.triples if t.subject == entity]
            words = SAMPLE.labels.get(relation, relation).replace("_", " ")
            question = Question(f"q{i}", f"What is the {words} of {entity}?", (Link(entity),))
            found = _subgraph(sorted(triples, key=lambda t: t.relation != relation))
            made.append((self.asked(question), self.retrieved(self.asked(question), found)))
        return made

    @pytest.fixture
    def probes(self, cases: list[tuple[Question, Subgraph]]) -> Probes:
        """Call ``read`` with ``cases``."""
        (one, its), (other, of_other) = cases[:2]
        related = [
            (one, of_other),
            (one, attrs.evolve(its, trace={"hops": 2})),
            (attrs.evolve(other, id=one.id), its),
            (attrs.evolve(other, text=one.text), of_other),
        ]
        return lambda driver: [Probe("read", driver.read, cases, related=related)]

    def use(self, driver: Any) -> None:
        """Read a subgraph."""
        triple = Triple("Latvia", "capital", "Riga")
        question = Question("q", "What is the capital of Latvia?", (Link("Latvia"),))
        driver.read([self.asked(question)], [_subgraph([triple])])

    def read_some(self, driver: Any, cases: list[tuple[Question, Subgraph]]) -> list[tuple[Subgraph, Any]]:
        """Read some subgraphs one by one; return each with its answer."""
        return [(subgraph, driver.read([question], [subgraph])[0]) for question, subgraph in cases[:SEVERAL]]

    def test_something_is_answered(self, driver: Any, cases: list[tuple[Question, Subgraph]]) -> None:
        """At least one question is answered."""
        found = [answer for _, answer in self.read_some(driver, cases)]
        assert all(isinstance(answer, Answer) for answer in found), "read returned what is no Answer"
        assert any(answer.enough for answer in found), "every question is refused"

    def test_gold_changes_no_answer(self, driver: Any, cases: list[tuple[Question, Subgraph]]) -> None:
        """A question with gold answers and triples gets the same answer as without."""
        for question, subgraph in cases[:SEVERAL]:
            places = [triple.subject for triple in subgraph.triples]
            gold = attrs.evolve(question, answers=tuple(places), gold_triples=subgraph.triples[-1:])
            bare, with_gold = driver.read([question], [subgraph])[0], driver.read([gold], [subgraph])[0]
            assert plain(with_gold) == plain(bare), f"{question.id}: with gold the answer is {with_gold}, else {bare}"

    def test_an_answer_has_words(self, driver: Any, cases: list[tuple[Question, Subgraph]]) -> None:
        """An answer has a text, also where it has entities."""
        for _, answer in self.read_some(driver, cases):
            assert not answer.enough or answer.text.strip(), f"{answer} has no words"

    def test_a_refusal_says_nothing_else(self, driver: Any, cases: list[tuple[Question, Subgraph]]) -> None:
        """A refusal has no text, entities or support."""
        for _, answer in self.read_some(driver, [*_empty(cases), *cases]):
            said = answer.text or answer.entities or answer.support
            assert answer.enough or not said, f"a refusal says {said!r}"

    def test_the_entities_of_an_answer_are_in_the_subgraph(
        self, driver: Any, cases: list[tuple[Question, Subgraph]]
    ) -> None:
        """Entities of an answer are distinct nodes of the subgraph, with the triples that the reader read besides."""
        for subgraph, answer in self.read_some(driver, cases):
            nodes = {end for triple in _with_what_was_read(subgraph, answer) for end in (triple.subject, triple.object)}
            strange = [entity for entity in answer.entities if entity not in nodes]
            assert not strange, f"{strange} are not in the subgraph"
            assert len(set(answer.entities)) == len(answer.entities), f"{answer.entities} come twice"

    def test_the_support_of_an_answer_names_triples(self, driver: Any, cases: list[tuple[Question, Subgraph]]) -> None:
        """Support is a sorted list of distinct indices of triples."""
        for subgraph, answer in self.read_some(driver, cases):
            count = len(_with_what_was_read(subgraph, answer))
            fine = all(type(place) is int and 0 <= place < count for place in answer.support)
            assert fine, f"the support {answer.support} lies outside of {count} triples"
            assert list(answer.support) == sorted(set(answer.support)), f"the support {answer.support} is not sorted"

    def test_what_a_reader_reads_comes_besides_the_subgraph(
        self, driver: Any, cases: list[tuple[Question, Subgraph]]
    ) -> None:
        """A subgraph that an answer brings has the triples that were there, and a value in each column for each."""
        for subgraph, answer in self.read_some(driver, cases):
            whole = answer.subgraph or subgraph
            assert set(whole.triples) >= set(subgraph.triples), f"{answer.text!r} drops triples"
            sizes = {name: len(column) for name in Subgraph.COLUMNS if (column := getattr(whole, name))}
            assert set(sizes.values()) <= {len(whole.triples)}, f"the columns have {sizes} values"

    def test_refuses_answers_yes_or_no(self, driver: Any) -> None:
        """``refuses`` returns a bool."""
        assert isinstance(driver.refuses(), bool), f"refuses returned {driver.refuses()!r}"

    def test_an_empty_subgraph_is_no_error(self, driver: Any, cases: list[tuple[Question, Subgraph]]) -> None:
        """An empty subgraph is no error, and is refused by a reader that can refuse."""
        question = cases[0][0]
        try:
            answer = driver.read([question], [Subgraph()])[0]
        except DriverError as error:
            pytest.fail(f"an empty subgraph is an error: {error}")
        assert isinstance(answer, Answer), f"an empty subgraph is answered by {answer!r}"
        assert not (driver.refuses() is True and answer.enough), (
            f"nothing was there to read, and the answer is {answer}"
        )

    def test_options_are_chosen_from_or_left_alone(self, driver: Any, cases: list[tuple[Question, Subgraph]]) -> None:
        """A reader that chooses answers by an option and refuses a question without any; others pass options over."""
        if not self.chooses:
            for question, subgraph in cases[:SEVERAL]:
                with_options = attrs.evolve(question, options=OPTIONS)
                bare, led = (driver.read([one], [subgraph])[0] for one in (question, with_options))
                assert plain(led) == plain(bare), f"{question.id}: with options the answer is {led}, else {bare}"
            return
        for question, subgraph in cases[:SEVERAL]:
            answer = driver.read([question], [subgraph])[0]
            assert not answer.enough or answer.text in question.options, f"{answer.text!r} is no option"
        bare = attrs.evolve(cases[0][0], options=())
        with pytest.raises(DriverError, match=bare.id):
            driver.read([bare], [cases[0][1]])

    def test_the_trace_can_be_written_as_json(self, driver: Any, cases: list[tuple[Question, Subgraph]]) -> None:
        """The trace consists of JSON values."""
        for _, answer in self.read_some(driver, cases):
            json.dumps(dict(answer.trace), allow_nan=False)

    def test_quotes_and_other_scripts_are_read(self, driver: Any) -> None:
        """Questions, ids and labels with quotes and other scripts are no error."""
        for entity in SAMPLE.strange():
            triples = [t for t in SAMPLE.triples if entity in (t.subject, t.object)]
            question = self.asked(Question(entity, f'What of "{entity}"?', (Link(entity),)))
            assert isinstance(driver.read([question], [_subgraph(triples)])[0], Answer), f"{entity!r} is not answered"


def _subgraph(triples: list[Triple]) -> Subgraph:
    return Subgraph(
        triples=tuple(triples),
        scores=(0.0,) * len(triples),
        path_of=(-1,) * len(triples),
        provenance=("sample",) * len(triples),
        qualifiers=tuple(SAMPLE.qualifiers.get(triple, ()) for triple in triples),
    )


def _with_what_was_read(subgraph: Subgraph, answer: Answer) -> tuple[Triple, ...]:
    return (answer.subgraph or subgraph).triples


def _empty(cases: list[tuple[Question, Subgraph]]) -> list[tuple[Question, Subgraph]]:
    return [(attrs.evolve(cases[0][0], id="empty"), Subgraph())]


@attrs.define(eq=False)
class ToyReader(Reader):
    """Answer with the objects of the triples whose relation the question names, or refuse.

    Attributes:
        graph: Where names are read.
        most: Most triples that an answer rests on.
    """

    graph: KnowledgeGraph
    most: int = 5

    def read(self, questions: Sequence[Question], subgraphs: Sequence[Subgraph]) -> list[Answer]:
        """Read the names of all nodes and relations at once, then answer question by question."""
        ids = sorted({id_ for subgraph in subgraphs for triple in subgraph.triples for id_ in triple})
        names = dict(zip(ids, self.graph.labels(ids), strict=True))
        return [self._answer(*pair, names) for pair in zip(questions, subgraphs, strict=True)]

    def _answer(self, question: Question, subgraph: Subgraph, names: dict[str, str]) -> Answer:
        asked = fold(question.text)
        fitting = [i for i, triple in enumerate(subgraph.triples) if fold(names[triple.relation]) in asked]
        support = tuple(fitting[: self.most])
        if not support:
            return Answer(enough=False)
        entities = tuple(dict.fromkeys(subgraph.triples[i].object for i in support))
        return Answer(", ".join(names[entity] for entity in entities), entities, support)

    def refuses(self) -> bool:
        """Return True: where no relation is named, a search may continue."""
        return True


class ToyReaderCase(ReaderConformance):
    """The toy reader keeps the contract of a reader."""

    name = "toy"

    @pytest.fixture
    def driver(self, graph: OracleGraph) -> Iterator[ToyReader]:
        """Open a reader over the sample graph."""
        reader = ToyReader(graph=graph)
        reader.open()
        yield reader
        reader.close()

    def test_the_object_of_the_named_relation_is_the_answer(self, driver: ToyReader) -> None:
        """The other triple of the subgraph plays no part."""
        asked = Question("q", "What is the capital city of Latvia?", (Link("Latvia"),))
        found = Subgraph((Triple("Latvia", "part_of", "Europe"), Triple("Latvia", "capital", "Riga")))
        answer = driver.read([asked], [found])[0]
        assert (answer.text, answer.entities, answer.support) == ("Riga", ("Riga",), (1,))


SUMMARY = "A reader by the names of relations"

RECIPE = """\
knowledge_graph: {use: local, path: build/world}
expander: {use: bfs}
reader: {use: toy, most: 3}
"""
