"""The order of templates by what a language model proposes for their own sentences."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from srtk_plugin_knowlybert.label_search import Found
from srtk_plugin_knowlybert.template_mining import Mined
from srtk_plugin_knowlybert.template_ranking import by_overlap, by_pairs

from srtk_framework.graph import TripleTable
from srtk_framework.values import Triple

FACTS = [Triple(*row.split()) for row in ("ann speaks danish", "bob speaks latvian", "cid speaks danish")]


def test_templates_come_by_known_subjects_and_objects_together_then_by_their_texts() -> None:
    ids = ["ann", "bob", "cid", "danish", "latvian", "paris"]
    # Labels of best scores by template and side: one knows an end of either side, others two of one side or less.
    best: dict[tuple[str, bool], list[str]] = {
        ("d", False): ["danish", "latvian"], ("d", True): [],
        ("c", False): ["danish", "paris"], ("c", True): ["ann", "bob"],
        ("a", False): [], ("a", True): ["bob", "paris", "cid"],
        ("b", False): ["latvian", "paris", "danish"], ("b", True): ["ann"],
    }  # fmt: skip

    def search(asked: Any) -> Any:
        for one in asked:
            labels = best[one.templates[0], one.subject_is_open]
            yield {(ids.index(name),): Found(1 - i / 9, 0, 1, 0, 0, 0) for i, name in enumerate(labels)}

    fake: Any = SimpleNamespace(
        search=search, trie=SimpleNamespace(entities={(i,): [id_] for i, id_ in enumerate(ids)})
    )
    mined: list[Any] = [Mined(name, (FACTS[0],)) for name in "dcba"]
    ranked = by_overlap(fake, TripleTable.from_triples(FACTS), {}, "speaks", mined, 2)
    # 3 for c, 2 for b and d; of the three best labels of a only two are looked at.
    assert [one.template for one in ranked] == ["c", "b", "d", "a"]


def test_a_pair_is_found_where_its_label_is_the_best_of_as_many_tokens() -> None:
    ids = {"ann": (("ann",), ("anna", "x")), "bob": (("bob",),), "cid": (("cid", "x"),), "danish": (("danish",),)}
    ids["latvian"] = (("latvian",),)
    asked: list[tuple[str, list[tuple[str, ...]]]] = []
    # Template a rates what is right best for danish and bob, template b for danish, latvian and ann too.
    best = {
        ("a", "ann", False): "danish", ("a", "bob", False): "danish", ("a", "cid", False): "latvian",
        ("a", "danish", True): "bob", ("a", "latvian", True): "bob",
        ("b", "ann", False): "danish", ("b", "bob", False): "latvian", ("b", "cid", False): "danish",
        ("b", "danish", True): "ann", ("b", "latvian", True): "ann",
    }  # fmt: skip

    def gap_text(question: Any, template: Any, gaps: int) -> Any:
        return (template, question.name, question.subject_is_open, gaps)

    def rate(texts: Any, fillings: Any) -> Any:
        for (template, name, is_open, gaps), some in zip(texts, fillings, strict=True):
            asked.append((name, some))
            assert {len(one) for one in some} == {gaps}
            wanted = best[template, name, is_open]
            yield [[-0.1 if wanted in label else -2.0] * gaps for label in some]

    fake: Any = SimpleNamespace(gap_text=gap_text, filler=SimpleNamespace(rate=rate), trie=SimpleNamespace(labels=ids))
    mined: list[Any] = [Mined(name, (FACTS[0],)) for name in "ab"]
    table = TripleTable.from_triples(FACTS)
    ranked = by_pairs(fake, table, {}, "speaks", mined, 9, 0)
    # Both ends of three pairs by two templates.
    assert len(asked) == 12
    assert {name for name, _ in asked} == {"ann", "bob", "cid", "danish", "latvian"}
    assert dict(asked)["ann"] == [("danish",), ("latvian",)]
    assert [one.template for one in ranked] == ["b", "a"]
    asked.clear()
    by_pairs(fake, table, {}, "speaks", mined, 1, 0)
    assert len(asked) == 4


def test_a_template_is_asked_with_the_first_triple_that_it_was_made_of() -> None:
    asked: list[tuple[str, bool]] = []

    def search(questions: Any) -> Any:
        asked.extend((one.name, one.subject_is_open) for one in questions)
        return [{} for _ in questions]

    fake: Any = SimpleNamespace(search=search, trie=SimpleNamespace(entities={}))
    mined: list[Any] = [Mined("a", tuple(FACTS))]
    by_overlap(fake, TripleTable.from_triples(FACTS), {"ann": ("Ann", "Anna")}, "speaks", mined, 2)
    assert asked == [("Ann", False), ("danish", True)]
