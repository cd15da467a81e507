"""Methods of a recipe have names of their own, as files too."""

from __future__ import annotations

import pytest

from srtk_framework.recipe.recipe import from_data
from srtk_framework.run.session import Session
from srtk_framework.values import RecipeError

pytestmark = pytest.mark.usefixtures("toys")


def session(*names):
    first, *others = ({"use": "onehop", "name": name} for name in names)
    data = {"srtk": 1, "knowledge_graph": "toy", "entity_linker": "words", "expander": first}
    return Session(from_data({**data, "evaluate": {"against": others}}))


def test_the_main_method_stands_first():
    assert list(session("b", "a", "c").methods) == ["b", "a", "c"]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("a", "a"), "two methods are called 'a'; give one of them a `name:`"),
        (("a b", "a/b"), "the names 'a b' and 'a/b' give the same file name"),
        (("Beam", "beam"), "the names 'Beam' and 'beam' give the same file name"),
        (("\uac00", "\u1100\u1161"), "give the same file name"),
        (("a", "x" * 61), "has more than 60 characters; give the method a shorter `name:`"),
    ],
)
def test_names_that_would_share_a_file_are_refused(names, said):
    with pytest.raises(RecipeError, match=said):
        session(*names)
