from __future__ import annotations

from typing import Any

import pytest
from srtk_plugin_explaining.explainer import Explainer

from srtk_framework.recipe import from_data
from srtk_framework.run.session import Session
from srtk_framework.values import Link, Question

TRIPLES = [["riga", "capital_of", "latvia"], ["latvia", "currency", "euro"], ["oslo", "capital_of", "norway"]]
LINKLESS = '''
"""An expander that searches by words."""
from __future__ import annotations
import attrs
from srtk_framework.graph import finish
from srtk_framework.roles import Expander, KnowledgeGraph
from srtk_framework.values import Budget, Subgraph, Triple

@attrs.define(eq=False)
class ByWords(Expander):
    """Reads what the words of a question name.

    Attributes:
        graph: Graph.
        budget: Limits.
    """
    graph: KnowledgeGraph
    budget: Budget = attrs.field(factory=Budget)
    def needs_links(self):
        return False
    def expand(self, questions):
        starts = self.graph.frontiers([[w for w in q.text.strip("?").split()] for q in questions])
        rows = self.graph.neighbourhood(starts, 1, attrs.evolve(self.budget, triples=99))
        whole = [Subgraph(triples=tuple(row), scores=(1.0,) * len(row), path_of=(-1,) * len(row)) for row in rows]
        return finish(self.graph, [one.first(self.budget.triples or 99, "triples") for one in whole], self.budget)
'''


@pytest.fixture
def by_words(install: Any) -> dict[str, Any]:
    install("srtk-plugin-words", "srtk_words", LINKLESS, {"expander": {"by-words": "ByWords"}})
    return {"srtk": 1, "knowledge_graph": {"use": "memory", "triples": TRIPLES}, "expander": {"use": "by-words"}}


def explained(data: dict[str, Any], question: Question) -> Any:
    with Session(from_data(data)) as session:
        [one] = Explainer(session).explain_all([question])
    return one


@pytest.mark.parametrize("links", [(), (Link("oslo"),)])
@pytest.mark.parametrize(
    ("answer", "kind"), [("latvia", "found"), ("euro", "pruned"), ("yen", "answer-not-in-graph"), ("norway", "pruned")]
)
def test_an_expander_that_needs_no_links_is_never_said_to_lack_them(
    by_words: dict[str, Any], links: tuple[Link, ...], answer: str, kind: str
) -> None:
    question = Question("q", "where is riga ?", links, (answer,), extra={"gold_entities": ["riga"]})
    assert explained(by_words, question).kind == kind


def test_what_a_limit_cut_from_an_expander_without_links_is_found(by_words: dict[str, Any]) -> None:
    data = {**by_words, "budget": {"triples": 1}}
    question = Question("q", "riga and latvia ?", (), ("euro", "latvia"))
    one = explained(data, question)
    assert one.kind == "cut"
    assert {change.setting: change.value for change in one.changes} == {"budget.triples": 2}
