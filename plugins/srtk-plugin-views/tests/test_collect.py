"""The collecting view against the conformance kit, and what it writes down."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_views.collect import CollectingGraph
from srtk_plugin_views.read_log import READS, read

from srtk_framework.testing import KnowledgeGraphConformance
from srtk_framework.testing.sample import SAMPLE, Sample
from srtk_framework.values import DriverError, InputError, Literal, Step, Triple


@pytest.fixture
def inner() -> MemoryGraph:
    return MemoryGraph(SAMPLE.triples, SAMPLE.labels, SAMPLE.aliases, noise=["code"])


class TestCollect(KnowledgeGraphConformance):
    name = "collect"

    @pytest.fixture(scope="class")
    @classmethod
    def sample(cls) -> Sample:
        return SAMPLE.without_qualifiers()

    @pytest.fixture
    def driver(self, inner: MemoryGraph, tmp_path: Path) -> Iterator[CollectingGraph]:
        view = CollectingGraph(inner, str(tmp_path / "reads"))
        view.open()
        yield view
        view.close()

    @pytest.fixture
    def faulty(self, inner: MemoryGraph, tmp_path: Path) -> CollectingGraph:
        (tmp_path / "taken").write_text("")
        return CollectingGraph(inner, str(tmp_path / "taken"))


def opened(graph: MemoryGraph, folder: Path) -> CollectingGraph:
    view = CollectingGraph(graph, str(folder))
    view.open()
    return view


def test_all_that_is_read_is_written_down(inner: MemoryGraph, tmp_path: Path) -> None:
    with closing(opened(inner, tmp_path)) as view:
        riga = view.frontiers([["Riga", "Atlantis"]])
        view.steps(riga, True)
        view.follow(riga, [Step("capital", True)], None)
        view.triples(riga, [Step("nickname")], None)
        view.labels(["Riga", "capital", "Echo"])
        view.find(["lettland", "nobody"])
    reads = read(tmp_path)
    assert set(reads.triples) == {
        Triple("Latvia", "capital", "Riga"),
        Triple("Riga", "nickname", Literal('"The "Paris" of the North"@en')),
        Triple("Riga", "nickname", Literal('"Pērle"@lv')),
    }
    assert all(isinstance(t.object, Literal) == (t.relation == "nickname") for t in reads.triples)
    assert reads.nodes == {"Riga": True}
    assert set(reads.seen) == {"Riga"}
    assert reads.labels == {"Riga": "Riga", "capital": "capital city", "Echo": "Echo"}
    assert reads.found == {"lettland": ("Latvia",)}
    assert reads.graph["source"] == inner.source()
    assert reads.graph["schema"]["noise"] == ["code"]


def test_qualifiers_are_written_down_with_their_literals(tmp_path: Path) -> None:
    fact = Triple("Latvia", "capital", "Riga")
    said = (("since", Literal('"1918"^^xsd:gYear')), ("under", "Europe"))

    graph = MemoryGraph(SAMPLE.triples, qualifiers=[[*fact, *pair] for pair in said])
    with closing(opened(graph, tmp_path)) as view:
        view.qualifiers([fact, Triple("Estonia", "capital", "Tallinn")])
    reads = read(tmp_path)
    assert reads.qualifiers == {fact: said}
    assert [isinstance(value, Literal) for _, value in reads.qualifiers[fact]] == [True, False]


def test_nothing_is_written_twice(inner: MemoryGraph, tmp_path: Path) -> None:
    def look() -> None:
        with closing(opened(inner, tmp_path)) as view:
            view.triples(view.frontiers([["Latvia"]]), [Step("borders")], None)
            view.labels(["Latvia"])

    look()
    lines = (tmp_path / READS).read_text().splitlines()
    look()
    added = (tmp_path / READS).read_text().splitlines()[len(lines) :]
    assert [line[:5] for line in added] == ['{"at"', '{"at"']


def test_a_line_that_was_not_finished_is_dropped(inner: MemoryGraph, tmp_path: Path) -> None:
    with closing(opened(inner, tmp_path)) as view:
        view.labels(["Latvia"])
    whole = (tmp_path / READS).read_bytes()
    (tmp_path / READS).write_bytes(whole + b'{"labels":{"Rig')
    assert read(tmp_path).labels == {"Latvia": "Latvia"}
    with closing(opened(inner, tmp_path)) as view:
        view.labels(["Riga"])
    assert read(tmp_path).labels == {"Latvia": "Latvia", "Riga": "Riga"}


def test_reads_of_another_graph_are_not_added_to(inner: MemoryGraph, tmp_path: Path) -> None:
    opened(inner, tmp_path).close()
    with pytest.raises(InputError, match=r"another graph \(source 'memory:.*', now 'memory:"):
        opened(MemoryGraph([["Riga", "in", "Latvia"]]), tmp_path)


@pytest.mark.parametrize("line", ["[1]", "{", '{"format":"else"}'])
def test_a_broken_line_is_named(line: str, tmp_path: Path) -> None:
    (tmp_path / READS).write_text(line + "\n")
    with pytest.raises(InputError, match=r"reads\.jsonl:1"):
        read(tmp_path)


def test_a_log_without_a_line_is_refused_and_one_that_was_not_closed_says_it(
    inner: MemoryGraph, tmp_path: Path
) -> None:
    with closing(opened(inner, tmp_path)) as view:
        view.labels(["Latvia"])
    assert read(tmp_path).closed
    lines = (tmp_path / READS).read_text().splitlines(keepends=True)
    (tmp_path / READS).write_text("".join(lines[:-1]))
    assert not read(tmp_path).closed
    (tmp_path / READS).write_text("")
    with pytest.raises(InputError, match="holds no line"):
        read(tmp_path)


def test_a_view_that_is_not_open_is_refused(inner: MemoryGraph, tmp_path: Path) -> None:
    with pytest.raises(DriverError, match="not open"):
        CollectingGraph(inner, str(tmp_path)).labels(["Riga"])
