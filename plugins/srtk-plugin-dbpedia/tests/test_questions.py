"""Real questions over real triples: gold relations reach the answers; a store gives what a snapshot gives."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs
import pytest
from srtk_plugin_baselines.bfs import BfsExpander
from srtk_plugin_dbpedia import titles
from srtk_plugin_dbpedia.graph import DbpediaGraph
from srtk_plugin_dbpedia.vocabulary import NOISE, PREFIXES, RESOURCE
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_plugin_sparql.commands.load import load
from srtk_plugin_sparql.terms import is_iri
from srtk_plugin_sr.beam import BeamExpander

from srtk_framework.roles import PLAIN, Expander, KnowledgeGraph, PathScorer, SearchSettings
from srtk_framework.values import END, Budget, Link, Question, Step, Subgraph
from srtk_framework.values import Path as Steps

DATA = Path(os.environ.get("SRTK_DATA", Path(__file__).parents[3] / "../shared/data")) / "dbpedia" / "derived"
TRIPLES, QUESTIONS = DATA / "dbp15k_en_union.tsv.gz", DATA / "lcquad1_in_dbp15k_union.jsonl"
_TERM = r"(\?\w+|<[^>]*>)"
_PATTERN = re.compile(rf"{_TERM}\s*{_TERM}\s*{_TERM}")


@attrs.define(eq=False)
class Words(PathScorer):
    """Scores a step by the letters of its name that the question has in the same threes; needs no labels."""

    def search_settings(self) -> SearchSettings:
        # Costs by the nodes that a step reaches differ in one question of sixty, where `hub` cuts the reading.
        return PLAIN

    def score(
        self, questions: Sequence[str], paths: Sequence[Steps], candidates: Sequence[Sequence[Step]]
    ) -> list[list[float]]:
        return [[self._one(text, step) for step in row] for text, row in zip(questions, candidates, strict=True)]

    def _one(self, text: str, step: Step) -> float:
        name = titles.words(step.relation)
        threes = {name[at : at + 3] for at in range(max(1, len(name) - 2))}
        return -0.5 if step == END else len([part for part in threes if part in text.lower()]) / len(threes) - 1


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the triples as a store and as a snapshot."""
    if not TRIPLES.is_file() or not QUESTIONS.is_file():
        pytest.skip("no dbpedia/derived in the data folder; name another one by the environment variable SRTK_DATA")
    folder = tmp_path_factory.mktemp("dbp15k")
    with gzip.open(TRIPLES, "rt", encoding="utf-8") as file:
        every = [tuple(line.rstrip("\n").split("\t")) for line in file]
    assert all(map(is_iri, {term for triple in every for term in triple}))
    with (folder / "graph.nt").open("w", encoding="utf-8") as out:
        out.writelines(f"<{s}> <{r}> <{o}> .\n" for s, r, o in part(every))
    load([folder / "graph.nt"], folder / "store")
    settings = BuildSettings(
        files=(str(folder / "graph.nt"),),
        prefixes=PREFIXES,
        type_relations=("rdf:type",),
        subclass_relations=("rdfs:subClassOf",),
        mediators=("dbr:*__*",),
        noise=NOISE,
    )
    build(settings, folder / "snapshot")
    return folder


def part(triples: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Keep what stands around the topics, and around the nodes that a gold relation leads to from them."""
    near: set[str] = set()
    wanted: set[tuple[str, str]] = set()
    for row in map(json.loads, QUESTIONS.read_text(encoding="utf-8").splitlines()):
        near.update(row["topic_entities"])
        wanted.update((topic, name.lower()) for topic in row["topic_entities"] for name in row["relations"])
    for subject, relation, object_ in triples:
        name = relation.rpartition("/")[2].lower()
        near.update(end for end, topic in ((object_, subject), (subject, object_)) if (topic, name) in wanted)
    return [triple for triple in triples if near & {triple[0], triple[2]}]


@pytest.fixture(scope="module")
def store(built: Path) -> Iterator[DbpediaGraph]:
    graph = DbpediaGraph(endpoint=str(built / "store"))
    graph.open()
    with closing(graph):
        yield graph


@pytest.fixture(scope="module")
def snapshot(built: Path) -> Iterator[LocalGraph]:
    graph = LocalGraph(str(built / "snapshot"))
    graph.open()
    with closing(graph):
        yield graph


@pytest.fixture(scope="module")
def rows(built: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]


def short(iri: str) -> str:
    return "dbr:" + iri.removeprefix(RESOURCE)


def follow(graph: KnowledgeGraph, starts: Sequence[str], relation: str, inverse: bool) -> set[str]:
    """Walk every relation of this local name; the questions name some in dbo: that the triples have in dbp:."""
    at = graph.frontiers([starts])[0]
    steps = [
        step
        for step in graph.steps([at], inverse)[0]
        if step.inverse == inverse and step.relation.rpartition(":")[2] == relation
    ]
    reached = graph.follow([at] * len(steps), steps, None) if steps else []
    return {id_ for frontier in reached for id_ in frontier.ids()}


def solve(graph: KnowledgeGraph, query: str) -> tuple[set[str], list[str]]:
    """Walk the gold relations from the topics; return what is reached, and the relations walked."""
    body = query[query.index("{") + 1 : query.rindex("}")]
    found = [terms for terms in _PATTERN.findall(body) if "22-rdf-syntax" not in terms[1]]
    # Those with a constant first: what they bind, the others go on from.
    patterns = sorted(found, key=lambda terms: terms[0].startswith("?") and terms[2].startswith("?"))
    bound: dict[str, set[str]] = {}
    for subject, relation, object_ in patterns:
        name = relation.strip("<>").rpartition("/")[2]
        inverse = subject.startswith("?") and (not object_.startswith("?") or object_ in bound)
        start, end = (object_, subject) if inverse else (subject, object_)
        starts = sorted(bound[start]) if start.startswith("?") else [start.strip("<>")]
        reached = follow(graph, starts, name, inverse)
        bound[end] = bound[end] & reached if end in bound else reached
    return bound["?uri"], [relation.strip("<>").rpartition("/")[2] for _, relation, _ in patterns]


def test_gold_relations_reach_the_answers_from_the_topics(store: DbpediaGraph, rows: list[dict[str, Any]]) -> None:
    wrong = []
    for row in rows:
        answers, _ = solve(store, row["sparql"])
        if answers != set(map(short, row["answer_entities"])):
            wrong.append((row["id"], row["sparql"], sorted(answers ^ set(map(short, row["answer_entities"])))[:4]))
    assert not wrong, f"{len(wrong)} of {len(rows)}: {wrong[:5]}"


def test_topics_are_understood_as_whole_iris_and_found_by_name(store: DbpediaGraph, rows: list[dict[str, Any]]) -> None:
    topics = sorted({topic for row in rows for topic in row["topic_entities"]})
    assert [list(f.ids()) for f in store.frontiers([[topic] for topic in topics])] == [[short(t)] for t in topics]
    names = store.labels([short(topic) for topic in topics])
    assert [short(t) in found for t, found in zip(topics, store.find(names), strict=True)] == [True] * len(topics)


def result(subgraph: Subgraph) -> tuple[object, ...]:
    """Return all of a subgraph but for where it was read."""
    return (subgraph.triples, subgraph.scores, subgraph.paths, subgraph.path_of, dict(subgraph.trace))


@pytest.mark.parametrize("method", ["bfs", "beam"])
def test_a_store_gives_the_subgraphs_of_a_snapshot(
    store: DbpediaGraph, snapshot: LocalGraph, rows: list[dict[str, Any]], method: str
) -> None:
    budget = Budget(triples=200, nodes=100, hub=50)

    def made(graph: KnowledgeGraph) -> Expander:
        if method == "bfs":
            return BfsExpander(graph=graph, depth=2, budget=budget)
        return BeamExpander(graph=graph, scorer=Words(), width=10, depth=2, budget=budget)

    questions = [
        Question(row["id"], row["question"], links=tuple(Link(short(topic)) for topic in row["topic_entities"]))
        for row in rows[:60]
    ]
    found = []
    for graph in (store, snapshot):
        expander = made(graph)
        expander.open()
        with closing(expander):
            found.append([result(subgraph) for subgraph in expander.expand(questions)])
    assert found[0] == found[1]
    assert sum(len(one[0]) for one in found[0]) > 1000  # type: ignore[arg-type]
