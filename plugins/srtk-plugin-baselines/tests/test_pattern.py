"""Look-ups of triple patterns."""

from __future__ import annotations

import attrs
import pytest
from srtk_plugin_baselines.pattern import PatternExpander
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.roles import GraphView
from srtk_framework.values import Budget, DriverError, Origin, Pattern, Question, Triple

TRIPLES = [
    Triple("ulm", "in", "germany"),
    Triple("einstein", "born_in", "ulm"),
    Triple("einstein", "field", "physics"),
    Triple("planck", "field", "physics"),
]


@attrs.define(eq=False)
class Doubted(GraphView):
    """A graph that is not sure of what is said of Einstein."""

    def origins(self, triples):
        return [Origin("x", 0.5, "toy") if t.subject == "einstein" else Origin("x") for t in triples]


def found(*parts, budget=None, graph=MemoryGraph):
    memory = MemoryGraph(TRIPLES)
    memory.open()
    expander = PatternExpander(memory if graph is MemoryGraph else graph(memory), budget or Budget())
    return expander.expand([Question("1", "", pattern=Pattern(*parts))])[0]


def test_the_answer_names_what_stands_at_the_open_end():
    one = found(None, "field", "physics")
    assert one.triples == (TRIPLES[2], TRIPLES[3])
    assert one.answer.entities == ("einstein", "planck")
    assert one.answer.support == (0, 1)


def test_the_most_confident_comes_first_and_scores_the_logarithm_of_its_confidence():
    one = found(None, "field", "physics", graph=Doubted)
    assert one.answer.entities == ("planck", "einstein")
    assert one.scores == (0.0, -0.6931)
    assert one.confidences == (1.0, 0.5)
    assert one.provenance == ("x", "toy:x")


def test_a_hub_is_cut_and_counted():
    one = found(None, "field", "physics", budget=Budget(hub=1))
    assert one.answer.entities == ("einstein",)
    assert one.trace["cut"] == {"hub": 1}


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        (("bohr", "field", None), "the graph has no bohr, so nothing fits (bohr, field, ?); check the id"),
        (("einstein", "fields", None), "no triple of the graph fits (einstein, fields, ?). Did you mean 'field'?"),
        ((None, "in", "ulm"), "no triple of the graph fits (?, in, ulm)."),
    ],
)
def test_an_empty_answer_says_why(parts, reason):
    one = found(*parts)
    assert (one.triples, one.answer, one.trace["reason"]) == ((), None, reason)


def test_a_question_in_words_alone_gets_a_reason():
    memory = MemoryGraph(TRIPLES)
    memory.open()
    one = PatternExpander(memory).expand([Question("1", "Who was born in Ulm?")])[0]
    assert one.trace["reason"].startswith("the question has no pattern")


@pytest.mark.parametrize("parts", [(None, "in", None), ("ulm", "in", "germany"), ("ulm", None, None)])
def test_a_pattern_without_a_relation_and_one_open_end_is_refused(parts):
    with pytest.raises(DriverError, match="bind the relation and either the subject or the object"):
        found(*parts)
