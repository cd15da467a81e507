"""An expander that does not keep the budget of its recipe is told so, and wins no comparison by it."""

from __future__ import annotations

import attrs
import pytest

from srtk_framework.recipe.recipe import from_data
from srtk_framework.roles import Expander, KnowledgeGraph
from srtk_framework.run.session import Session
from srtk_framework.values import Budget, Link, Question, RecipeError, Subgraph, Triple

FOUND = tuple(Triple("paris", "is near", name) for name in ("a", "b", "c"))
QUESTIONS = [Question("near", "what is near?", (Link("paris"),)), Question("none", "and far?", (Link("paris"),))]


@attrs.define
class Endless(Expander):
    """Returns three triples where the question asks what is near."""

    graph: KnowledgeGraph

    def expand(self, questions):
        found = [FOUND if "near" in question.text else () for question in questions]
        return [Subgraph(triples, (1.0,) * len(triples)) for triples in found]


@attrs.define
class Limited(Endless):
    """Has a budget, and does not look at it."""

    budget: Budget = attrs.field(factory=Budget)


@attrs.define
class Around(Expander):
    """Leaves limits to the expander that it holds."""

    inner: Expander

    def expand(self, questions):
        return self.inner.expand(questions)


def session(expander, **keys):
    return Session(from_data({"srtk": 1, "knowledge_graph": "toy", "expander": expander, **keys}))


@pytest.mark.usefixtures("toys")
@pytest.mark.parametrize(("most", "failed"), [(2, True), (3, False), (None, False)])
def test_a_question_with_more_triples_than_its_budget_fails_alone(most, failed):
    with session({"use": Limited}, budget={"triples": most}) as open_:
        near, none = open_.retrieve(QUESTIONS)
    said = "Limited: expand returned 3 triples, and its budget allows 2; cut them by graph.finish or Subgraph.first"
    assert near.error == (said if failed else None)
    assert none.error is None


@pytest.mark.usefixtures("toys")
def test_a_budget_that_the_expander_has_no_field_for_is_refused():
    with pytest.raises(RecipeError, match="expander 'Endless' has no field of the type Budget, and would not"):
        session({"use": Endless}, budget={"triples": 2})


@pytest.mark.usefixtures("toys")
@pytest.mark.parametrize(
    ("expander", "keys"),
    [({"use": Endless}, {}), ({"use": Around, "inner": {"use": Limited}}, {"budget": {"triples": 9}})],
)
def test_a_budget_is_missed_only_where_it_is_given_and_nothing_keeps_it(expander, keys):
    with session(expander, **keys) as open_:
        assert [one.error for one in open_.retrieve(QUESTIONS)] == [None, None]
