"""A reader that goes by the names of relations, and readers that each break one rule of Reader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import attrs
import pytest

from srtk_framework.roles import KnowledgeGraph, Reader
from srtk_framework.testing.broken.checked import opened
from srtk_framework.testing.broken.rules import Fault, batch_faults, changed, publish
from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.testing.reader import ReaderConformance
from srtk_framework.text.folding import fold
from srtk_framework.values import Answer, Question, Subgraph


@attrs.define(eq=False)
class RelationReader(Reader):
    """Answer with the objects of the triples whose relation the question names; refuse where there are none.

    Attributes:
        graph: Where names are read.
    """

    graph: KnowledgeGraph

    def read(self, questions: Sequence[Question], subgraphs: Sequence[Subgraph]) -> list[Answer]:
        """Look for the names in the words."""
        return [self._answer(question, subgraph) for question, subgraph in zip(questions, subgraphs, strict=True)]

    def _answer(self, question: Question, subgraph: Subgraph) -> Answer:
        names = self.graph.labels([triple.relation for triple in subgraph.triples])
        support = [i for i, name in enumerate(names) if fold(name) in fold(question.text)]
        found = list(dict.fromkeys(subgraph.triples[i].object for i in support))
        if not found:
            return Answer(enough=False, trace={"named": 0})
        return Answer(", ".join(self.graph.labels(found)), tuple(found), tuple(support), trace={"named": len(support)})

    def refuses(self) -> bool:
        """It can tell that no relation is named."""
        return True


GOOD = RelationReader


class Checked(ReaderConformance):
    """Tests one of the readers."""

    under_test: ClassVar[type[RelationReader]] = GOOD

    @pytest.fixture
    def driver(self, graph: OracleGraph) -> RelationReader:
        """Open it over the sample graph."""
        return opened(self.under_test(graph=graph))


def _each(change: Any) -> Any:
    """Change every answer."""

    def method(self: Any, call: Any, questions: Any, subgraphs: Any) -> Any:
        answers = call(questions, subgraphs)
        return [change(s, answer) for s, answer in zip(subgraphs, answers, strict=True)]

    return method


def _refused(subgraph: Subgraph, answer: Answer) -> Answer:
    return Answer(enough=False)


def _silent(subgraph: Subgraph, answer: Answer) -> Answer:
    return attrs.evolve(answer, text=" ") if answer.enough else answer


def _talks(subgraph: Subgraph, answer: Answer) -> Answer:
    return answer if answer.enough else attrs.evolve(answer, text="I need more facts")


def _invents(subgraph: Subgraph, answer: Answer) -> Answer:
    return attrs.evolve(answer, entities=("Atlantis",)) if answer.enough else answer


def _repeats(subgraph: Subgraph, answer: Answer) -> Answer:
    return attrs.evolve(answer, entities=answer.entities * 2)


def _outside(subgraph: Subgraph, answer: Answer) -> Answer:
    return attrs.evolve(answer, support=(len(subgraph.triples),)) if answer.enough else answer


def _backwards(subgraph: Subgraph, answer: Answer) -> Answer:
    return attrs.evolve(answer, support=(1, 0)) if answer.enough and len(subgraph.triples) > 1 else answer


def _guesses(subgraph: Subgraph, answer: Answer) -> Answer:
    return answer if subgraph.triples else Answer("Riga")


def _writes_a_set(subgraph: Subgraph, answer: Answer) -> Answer:
    return attrs.evolve(answer, trace={"named": {1}})


def _stumbles(self: Any, call: Any, questions: Any, subgraphs: Any) -> Any:
    if any('"' in question.text for question in questions):
        raise ValueError("a quote")
    return call(questions, subgraphs)


FAULTS: list[Fault] = [
    *batch_faults(GOOD, "read", width=2),
    changed(GOOD, "test_refuses_answers_yes_or_no", refuses=lambda self, call: 1),
    changed(GOOD, "test_quotes_and_other_scripts_are_read", read=_stumbles),
    *(
        changed(GOOD, check, read=_each(change))
        for check, change in [
            ("test_something_is_answered", _refused),
            ("test_an_answer_has_words", _silent),
            ("test_a_refusal_says_nothing_else", _talks),
            ("test_the_entities_of_an_answer_are_in_the_subgraph", _invents),
            ("test_the_entities_of_an_answer_are_in_the_subgraph", _repeats),
            ("test_the_support_of_an_answer_names_triples", _outside),
            ("test_the_support_of_an_answer_names_triples", _backwards),
            ("test_an_empty_subgraph_is_no_error", _guesses),
            ("test_the_trace_can_be_written_as_json", _writes_a_set),
        ]
    ),
]
publish(__name__, globals(), FAULTS)
