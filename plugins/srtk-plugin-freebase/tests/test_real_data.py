"""Real triples of Freebase with mediator nodes, gold relation paths of WebQSP, and ids of FB15k-237."""

from __future__ import annotations

import json
import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_freebase.graph import FreebaseGraph
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_views.composites import join, split
from srtk_plugin_views.mediated import MediatedGraph

from srtk_framework.values import Pattern, Step, Triple

MID = re.compile(r"[mg]\.[0-9a-z_]+")
Edges = dict[str, list[tuple[str, str]]]


def is_mediator(node: str) -> bool:
    return MID.fullmatch(node) is not None


def read_cwq(data: Path) -> tuple[list[Triple], dict[str, str]]:
    """Read the labelled triples; what has a name gets an id, as it has in Freebase."""
    path = data / "freebase_qa" / "subgraphrag" / "cwq_test_labelled_triples.jsonl"
    if not path.is_file():
        pytest.skip("the labelled triples of CWQ are not here")
    rows = {tuple(row) for line in path.read_text(encoding="utf-8").splitlines() for row in json.loads(line)["triples"]}
    rows = {row for row in rows if re.fullmatch(r"[a-z0-9_]+(\.[a-z0-9_]+)+", row[1])}
    names = sorted({end for s, _, o in rows for end in (s, o) if not is_mediator(end)})
    ids = {name: f"m.name{number:05}" for number, name in enumerate(names)}
    triples = sorted(Triple(ids.get(s, s), r, ids.get(o, o)) for s, r, o in rows)
    return triples, {id_: name for name, id_ in ids.items()}


def read_gold(data: Path) -> set[tuple[str, ...]]:
    paths = set()
    for part in ("train", "validation"):
        file = data / "freebase_qa" / "rog_paths" / f"webqsp_{part}.jsonl"
        if not file.is_file():
            pytest.skip("the gold paths of WebQSP are not here")
        for line in file.read_text(encoding="utf-8").splitlines():
            paths.update(tuple(path) for path in json.loads(line)["ground_paths"] if len(path) == 2)
    return paths


@pytest.fixture(scope="module")
def cwq(data: Path) -> tuple[list[Triple], dict[str, str]]:
    return read_cwq(data)


@pytest.fixture(scope="module")
def out(cwq: Any) -> Edges:
    found: Edges = {}
    for s, r, o in cwq[0]:
        found.setdefault(s, []).append((r, o))
    return found


@pytest.fixture(scope="module")
def view(cwq: Any) -> MediatedGraph:
    graph = MediatedGraph(MemoryGraph(triples=cwq[0], labels=cwq[1]), hidden=("common.*", "freebase.*", "type.*"))
    graph.open()
    return graph


@pytest.fixture(scope="module")
def server(cwq: Any, make_store: Any) -> Any:
    graph = FreebaseGraph(str(make_store(*cwq)))
    graph.open()
    yield graph
    graph.close()


def test_gold_paths_through_mediators_are_one_step(data: Path, cwq: Any, out: Edges, server: Any, view: Any) -> None:
    wanted: dict[tuple[str, str], dict[str, set[str]]] = {}
    gold = read_gold(data)
    for start, first, middle in cwq[0]:
        for second, end in out.get(middle, ()):
            through = is_mediator(middle) and middle not in cwq[1] and start in cwq[1] and end in cwq[1]
            if (first, second) in gold and through and start != end:
                wanted.setdefault((first, second), {}).setdefault(start, set()).add(end)
    assert len(wanted) >= 60
    for graph in (server, view):
        for pair, starts in wanted.items():
            step = Step(join(*pair))
            nodes = sorted(starts)
            frontiers = graph.frontiers([[node] for node in nodes])
            assert all(step in row for row in graph.steps(frontiers, False))
            assert all(
                Step(pair[0]) not in row or pair[0] in {r for r, o in out[n] if o in cwq[1]}
                for n, row in zip(nodes, graph.steps(frontiers, False), strict=True)
            )
            reached = graph.follow(frontiers, [step] * len(nodes), None)
            assert [set(frontier.ids()) for frontier in reached] == [starts[node] for node in nodes]


def test_the_server_and_the_view_give_the_same_graph(cwq: Any, server: Any, view: Any) -> None:
    nodes = sorted(cwq[1])[::3]
    answers = []
    for graph in (server, view):
        frontiers = graph.frontiers([[node] for node in nodes])
        rows = graph.steps(frontiers, True)
        at = [frontier for frontier, row in zip(frontiers, rows, strict=True) for _ in row]
        steps = [step for row in rows for step in row]
        triples = [list(row) for row in graph.triples(at, steps, None)]
        facts = sorted({triple for row in triples for triple in row})
        answers.append(
            (
                [list(frontier.ids()) for frontier in frontiers],
                [list(row) for row in rows],
                triples,
                [list(row) for row in graph.qualifiers(facts)],
                [(list(f.ids()), f.cut) for f in graph.follow(at, steps, 1)],
                list(graph.degrees(nodes)),
                list(graph.labels(sorted({step.relation for step in steps}))),
            )
        )
    assert answers[0] == answers[1]
    assert sum(map(len, answers[0][3])) > 200
    assert not any(
        is_mediator(node) and node not in cwq[1] for row in answers[0][2] for t in row for node in (t[0], t[2])
    )


def test_no_name_of_a_relation_is_mistaken_for_a_composite(cwq: Any, data: Path) -> None:
    file = data / "fb15k237" / "relation2text.txt"
    if not file.is_file():
        pytest.skip("FB15k-237 is not here")
    names = [line.split("\t")[0] for line in file.read_text(encoding="utf-8").splitlines()]
    assert sum("./" in name for name in names) > 100
    assert all(split(name) == (name,) for name in [*names, *(triple.relation for triple in cwq[0])])


@pytest.fixture(scope="module")
def fb15k(data: Path) -> tuple[list[Triple], dict[str, str]]:
    folder = data / "fb15k237"
    if not (folder / "valid.txt").is_file():
        pytest.skip("FB15k-237 is not here")
    rows = [Triple(*line.split("\t")) for line in (folder / "valid.txt").read_text(encoding="utf-8").splitlines()]
    texts = (folder / "entity2text.txt").read_text(encoding="utf-8").splitlines()
    nodes = {end for s, _, o in rows for end in (s, o)}
    return rows[:6000], {k: v for k, v in (line.split("\t") for line in texts) if k in nodes}


def dotted(name: str) -> str:
    return name[1:].replace("./", "..").replace("/", ".")


def test_fb15k_reads_the_same_from_a_store_as_from_its_own_file(fb15k: Any, make_store: Any) -> None:
    rows, labels = fb15k
    store = make_store(
        [Triple(*map(dotted, triple)) for triple in rows], {dotted(id_): name for id_, name in labels.items()}
    )
    inside = MemoryGraph(triples=rows, labels=labels)
    nodes = sorted({end for s, _, o in rows for end in (s, o)})[::7]
    with closing(FreebaseGraph(str(store), ids="slash", mediators="keep", both=True, hidden=())) as kept:
        kept.open()
        with closing(MediatedGraph(inside)) as joined:
            joined.open()
            answers = []
            for graph in (inside, joined, kept):
                frontiers = graph.frontiers([[node] for node in nodes])
                steps = [list(row) for row in graph.steps(frontiers, True)]
                at = [frontier for frontier, row in zip(frontiers, steps, strict=True) for _ in row]
                read = graph.triples(at, [step for row in steps for step in row], 5)
                answers.append((steps, [list(row) for row in read], list(graph.labels(nodes))))
    assert answers[0] == answers[1] == answers[2]
    assert any("./" in step.relation for row in answers[0][0] for step in row)


def test_fb15k_ids_are_read_where_dots_are_shown(fb15k: Any, make_store: Any) -> None:
    rows = [triple for triple in fb15k[0] if "./" not in triple.relation][:200]
    labels = {id_: name for id_, name in fb15k[1].items() if any(id_ in (t.subject, t.object) for t in rows)}
    store = make_store([Triple(*map(dotted, t)) for t in rows], {dotted(i): name for i, name in labels.items()})
    with closing(FreebaseGraph(str(store), hidden=())) as graph:
        graph.open()
        found = graph.match([Pattern(t.subject, t.relation, t.object) for t in rows])
    assert found == [[Triple(*map(dotted, triple))] for triple in rows]
