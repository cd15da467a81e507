"""Readers that each break one rule of Reader."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import pytest

from kit.checked import opened
from kit.rules import Fault, batch_faults, changed, kept_under, publish
from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.testing.reader import ReaderConformance, ToyReader
from srtk_framework.values import Answer, Subgraph

GOOD = ToyReader


class Checked(ReaderConformance):
    """Tests one of the readers."""

    under_test: ClassVar[type[ToyReader]] = GOOD

    @pytest.fixture
    def driver(self, graph: OracleGraph) -> ToyReader:
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


def _drops_triples(subgraph: Subgraph, answer: Answer) -> Answer:
    if not answer.enough:
        return answer
    kept = subgraph.ordered(answer.support)
    return attrs.evolve(answer, subgraph=kept, support=tuple(range(len(answer.support))))


def _leaves_gaps(subgraph: Subgraph, answer: Answer) -> Answer:
    return (
        attrs.evolve(answer, subgraph=attrs.evolve(subgraph, scores=subgraph.scores[1:])) if answer.enough else answer
    )


def _guesses(subgraph: Subgraph, answer: Answer) -> Answer:
    return answer if subgraph.triples else Answer("Riga")


def _writes_a_set(subgraph: Subgraph, answer: Answer) -> Answer:
    return attrs.evolve(answer, trace={"named": {1}})


def _stumbles(self: Any, call: Any, questions: Any, subgraphs: Any) -> Any:
    if any('"' in question.text for question in questions):
        raise ValueError("a quote")
    return call(questions, subgraphs)


def _knows_gold(self: Any, call: Any, questions: Any, subgraphs: Any) -> Any:
    pairs = zip(questions, call(questions, subgraphs), strict=True)
    return [Answer(q.answers[0], q.answers[:1]) if q.answers else answer for q, answer in pairs]


def _led_by_options(self: Any, call: Any, questions: Any, subgraphs: Any) -> Any:
    pairs = zip(questions, call(questions, subgraphs), strict=True)
    return [Answer(q.options[0]) if q.options else answer for q, answer in pairs]


FAULTS: list[Fault] = [
    *batch_faults(GOOD, "read", width=2),
    changed(GOOD, "test_no_answer_depends_on_what_was_asked_before", read=kept_under(lambda q, s: q.id)),
    changed(GOOD, "test_no_answer_depends_on_what_was_asked_before", read=kept_under(lambda q, s: q.text)),
    changed(GOOD, "test_gold_changes_no_answer", read=_knows_gold),
    changed(GOOD, "test_options_are_chosen_from_or_left_alone", read=_led_by_options),
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
            ("test_what_a_reader_reads_comes_besides_the_subgraph", _drops_triples),
            ("test_what_a_reader_reads_comes_besides_the_subgraph", _leaves_gaps),
            ("test_an_empty_subgraph_is_no_error", _guesses),
            ("test_the_trace_can_be_written_as_json", _writes_a_set),
        ]
    ),
]
publish(__name__, globals(), FAULTS)
