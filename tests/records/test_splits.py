"""Parts of a dataset: disjoint, complete, the same everywhere."""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from srtk_framework.recipe.recipe import parse
from srtk_framework.records.splits import Part, part_of
from srtk_framework.values import Question, RecipeError, Step

texts = st.text(alphabet="abc é?", min_size=1, max_size=6)
paths = st.lists(st.sampled_from("rstu"), min_size=1, max_size=2).map(lambda names: tuple(Step(n) for n in names))
questions = st.lists(st.tuples(texts, paths), max_size=40).map(
    lambda rows: [Question(str(i), text, gold_paths=(path,)) for i, (text, path) in enumerate(rows)]
)
ways = st.sampled_from(["text", "id", "relation-path"])


def chosen(part, some):
    return [q.id for q in part.choose(some)]


@given(questions, ways, st.integers(0, 5), st.floats(0.1, 0.9))
def test_two_adjacent_parts_are_disjoint_and_complete(some, by, seed, cut):
    first = chosen(Part((0.0, cut), seed=seed, by=by), some)
    second = chosen(Part((cut, 1.0), seed=seed, by=by), some)
    assert sorted(first + second, key=int) == [q.id for q in some]
    assert not set(first) & set(second)


@given(questions, ways, st.integers(0, 5))
def test_outside_selects_the_complement_of_a_part(some, by, seed):
    inside = Part((0.2, 0.6), seed=seed, by=by)
    rest = chosen(attrs.evolve(inside, outside=True), some)
    assert sorted(chosen(inside, some) + rest, key=int) == [q.id for q in some]


@given(questions)
def test_equal_texts_stay_together(some):
    texts = [{" ".join(q.text.split()) for q in Part(b).choose(some)} for b in ((0.0, 0.5), (0.5, 1.0))]
    assert not texts[0] & texts[1]


@given(questions)
def test_by_relation_path_no_path_is_in_two_parts(some):
    halves = [{q.gold_paths for q in Part(b, by="relation-path").choose(some)} for b in ((0.0, 0.5), (0.5, 1.0))]
    assert not halves[0] & halves[1]


def test_parts_by_relation_path_have_nearly_their_share_of_the_questions():
    some = [Question(str(i), "q", gold_paths=((Step(f"r{i % 20}"),),)) for i in range(1000)]
    assert len(chosen(Part((0.0, 0.5), by="relation-path"), some)) == 500


@given(questions, ways, st.integers(1, 10))
def test_a_smaller_limit_selects_a_subset_of_a_larger_one(some, by, limit):
    whole = chosen(Part((0.2, 0.8), by=by), some)
    more = chosen(Part((0.2, 0.8), by=by, limit=limit + 1), some)
    fewer = chosen(Part((0.2, 0.8), by=by, limit=limit), some)
    assert len(fewer) == min(limit, len(whole))
    assert [id_ for id_ in whole if id_ in more] == more
    assert set(fewer) <= set(more)


def test_a_part_is_the_same_in_every_process_and_version():
    some = [Question(f"q{i}", f"question {i}?") for i in range(12)]
    assert chosen(Part((0.0, 0.5)), some) == PART


PART = ["q0", "q3", "q4", "q8", "q10", "q11"]


def test_a_dataset_without_a_part_is_read_whole():
    whole = object()
    assert part_of(whole, None) is whole
    assert part_of(None, Part((0.0, 0.5))) is None


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("[0.5, 0.2]", "two ascending numbers from 0 to 1, not [0.5, 0.2]"),
        ("[0.5]", "expected 2 values, got 1"),
        ("{between: [0, 1], limit: 0}", "limit must be at least 1, not 0; omit it for the whole part"),
        ("0.5", "part is written as [0.0, 0.5]"),
        ("{between: [0, 1], bye: id}", "unknown key 'bye'"),
        ("{between: [0, 1], by: hops}", "one of text, id, relation-path"),
    ],
)
def test_a_malformed_part_is_refused_with_its_place(written, said):
    recipe = parse(f"srtk: 1\nquestions:\n  use: jsonl\n  part: {written}\n", "r.yaml")
    with pytest.raises(RecipeError) as caught:
        recipe.check()
    assert any(problem.startswith("r.yaml:4:") and said in problem for problem in caught.value.problems), caught.value
