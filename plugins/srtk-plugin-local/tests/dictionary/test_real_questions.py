"""The dictionary linker on published questions, whose topic entity is known."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from srtk_plugin_local.dictionary.linker import DictionaryLinker
from srtk_plugin_local.memory import MemoryGraph

DATA = Path(os.environ.get("SRTK_DATA", Path(__file__).parents[5] / "shared" / "data"))


def lines(path: str) -> list[str]:
    if not (DATA / path).is_file():
        pytest.skip(f"{path} is not in the data folder; set SRTK_DATA to where it is")
    return (DATA / path).read_text(encoding="utf-8").splitlines()


def recall(graph: MemoryGraph, texts: list[str], topics: list[str]) -> float:
    """Return how often the best link of a text is its topic, among topics that the graph has."""
    found = DictionaryLinker(graph).link(texts)
    hits = [
        max(links, key=lambda link: (link.score, -(link.start or 0))).entity == topic if links else False
        for links, topic in zip(found, topics, strict=True)
        if graph.frontiers([[topic]])[0].size
    ]
    return sum(hits) / len(hits)


@pytest.fixture(scope="module")
def metaqa() -> MemoryGraph:
    return MemoryGraph([line.split("|") for line in lines("metaqa/kb_from_splits.txt")])


@pytest.mark.slow
@pytest.mark.parametrize(("hops", "least"), [(1, 0.985), (2, 0.995), (3, 0.995)])
def test_topics_of_metaqa_questions_are_linked(metaqa: MemoryGraph, hops: int, least: float) -> None:
    questions = [line.split("\t")[0] for line in lines(f"metaqa/{hops}-hop/qa_dev.txt")][::10]
    topics = [re.findall(r"\[(.*)\]", question)[0] for question in questions]
    texts = [question.replace("[", "").replace("]", "") for question in questions]
    assert recall(metaqa, texts, topics) >= least


@pytest.mark.slow
@pytest.mark.parametrize("hops", [2, 3])
def test_topics_of_pathquestion_questions_are_linked(hops: int) -> None:
    graph = MemoryGraph([line.split("\t") for line in lines(f"pathquestion/{hops}H-kb.txt")])
    rows = [line.split("\t") for line in lines(f"pathquestion/PQ-{hops}H.txt")]
    assert recall(graph, [row[0] for row in rows], [row[2].split("#")[0] for row in rows]) == 1.0
