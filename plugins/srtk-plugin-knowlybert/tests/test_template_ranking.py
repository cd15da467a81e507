"""The order of templates by what a language model proposes for their own sentences."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from srtk_plugin_knowlybert.label_search import Found
from srtk_plugin_knowlybert.template_mining import Mined
from srtk_plugin_knowlybert.template_ranking import by_overlap

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
