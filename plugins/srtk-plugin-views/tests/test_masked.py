"""The masked graph against the conformance kit, whose oracle lacks the hidden triples, and files of such triples."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_views.masked import MaskedGraph

from srtk_framework.testing import KnowledgeGraphConformance, OracleGraph
from srtk_framework.testing.sample import SAMPLE, Sample
from srtk_framework.values import Budget, DriverError, InputError, Literal, Pattern, Step, Triple

HIDDEN = SAMPLE.triples[::3]
"""Every third triple: with literals, loops, both directions of a border, and all triples of some entities."""


def without(hidden: Sequence[Triple]) -> Sample:
    gone = set(hidden)
    return attrs.evolve(
        SAMPLE,
        triples=tuple(triple for triple in SAMPLE.triples if triple not in gone),
        qualifiers={triple: found for triple, found in SAMPLE.qualifiers.items() if triple not in gone},
    )


def write(path: Path, triples: Sequence[Triple]) -> str:
    path.write_text("".join("\t".join(triple) + "\n" for triple in triples), encoding="utf-8")
    return str(path)


def opened(triples: Sequence[Triple]) -> MaskedGraph:
    graph = MaskedGraph(oracle(SAMPLE), triples=triples)
    graph.open()
    return graph


def oracle(sample: Sample) -> OracleGraph:
    graph = OracleGraph(sample=sample)
    graph.open()
    return graph


class TestMasked(KnowledgeGraphConformance):
    name = "masked"

    @pytest.fixture(scope="class")
    @classmethod
    def sample(cls) -> Sample:
        return without(HIDDEN)

    @pytest.fixture
    def driver(self, tmp_path: Path) -> Iterator[MaskedGraph]:
        inner = MemoryGraph(
            SAMPLE.triples,
            SAMPLE.labels,
            SAMPLE.aliases,
            [[*triple, *pair] for triple, pairs in SAMPLE.qualifiers.items() for pair in pairs],
        )
        graph = MaskedGraph(inner, write(tmp_path / "hidden.tsv", HIDDEN))
        graph.open()
        yield graph
        graph.close()

    @pytest.fixture
    def changed(self, driver: MaskedGraph, tmp_path: Path) -> MaskedGraph:
        graph = MaskedGraph(driver.graph, write(tmp_path / "other.tsv", HIDDEN[1:]))
        graph.open()
        return graph

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> MaskedGraph:
        return MaskedGraph(oracle(SAMPLE), str(tmp_path / "absent.tsv"))


def test_the_sample_loses_entities_literals_and_one_way_of_a_step() -> None:
    left = without(HIDDEN)
    assert set(SAMPLE.entities) - set(left.entities)
    assert any(isinstance(triple.object, Literal) for triple in HIDDEN)
    assert {t.relation for t in HIDDEN} & {t.relation for t in left.triples}


NODES = st.lists(st.sampled_from(SAMPLE.entities), min_size=1, max_size=5)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(SAMPLE.triples), unique=True, max_size=120), NODES, st.sampled_from([None, 1, 2, 4]))
def test_any_triples_may_be_hidden(hidden: list[Triple], nodes: list[str], limit: int | None) -> None:
    graphs = [opened(hidden), oracle(without(hidden))]
    answers = []
    for graph in graphs:
        frontier = graph.frontiers([nodes])
        steps = list(graph.steps(frontier, True)[0])
        at = [frontier[0]] * len(steps)
        reached = graph.follow(at, steps, limit)
        answers.append(
            [
                frontier[0].ids(),
                steps,
                [(list(one.ids()), one.cut) for one in reached],
                [list(row) for row in graph.triples(at, steps, limit)],
                [list(row) for row in graph.steps(reached, False)],
                list(graph.degrees(nodes)),
                [list(row) for row in graph.match([Pattern(node) for node in nodes])],
                [list(row) for row in graph.neighbourhood(frontier, 2, Budget(hub=3))],
                graph.paths([nodes], [nodes], 2, Budget(), False, True),
                list(graph.labels(nodes)),
            ]
        )
    assert answers[0] == answers[1]


def test_triples_that_the_graph_lacks_are_counted_and_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [HIDDEN[0], Triple("Riga", "capital", "Atlantis"), Triple("Nowhere", "borders", "Riga")]
    graph = MaskedGraph(oracle(SAMPLE), write(tmp_path / "hidden.tsv", rows))
    graph.open()
    assert graph.unknown == 2
    assert "hidden.tsv: 2 of 3 triples are not in the graph anyway" in caplog.text


def test_source_and_fingerprint_change_with_the_hidden_triples_but_not_with_their_order() -> None:
    one, turned, other = (opened(rows) for rows in (HIDDEN, HIDDEN[::-1], HIDDEN[1:]))
    for name in ("source", "fingerprint"):
        said = [getattr(graph, name)() for graph in (one, turned, other)]
        assert said[0] == said[1] != said[2]
    assert one.source() != one.graph.source()


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("a\tr\tb\n\nc\tr\n", r"hidden\.tsv:3: 2 cells, 2 of them filled"),
        ("a\tr\t\n", r"hidden\.tsv:1: 3 cells, 2 of them filled"),
        ("a\tr\tb\tc\n", r"hidden\.tsv:1: 4 cells"),
        (b"a\tr\t\xff\n", r"hidden\.tsv:1: not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_says_where(content: str | bytes, error: str, tmp_path: Path) -> None:
    path = tmp_path / "hidden.tsv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=error):
        MaskedGraph(oracle(SAMPLE), str(path)).open()


def test_a_compressed_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "hidden.tsv.gz"
    path.write_bytes(gzip.compress(b"Latvia\tcapital\tRiga\n"))
    graph = MaskedGraph(oracle(SAMPLE), str(path))
    graph.open()
    assert Step("capital") not in graph.steps(graph.frontiers([["Latvia"]]), False)[0]


def test_nothing_to_hide_is_refused_and_an_empty_set_hides_nothing() -> None:
    with pytest.raises(ValueError, match="`hide`"):
        MaskedGraph(oracle(SAMPLE))
    assert list(opened([]).match([Pattern("Latvia")])[0]) == list(oracle(SAMPLE).match([Pattern("Latvia")])[0])


def test_a_view_that_is_not_open_says_so() -> None:
    with pytest.raises(DriverError, match="not open"):
        MaskedGraph(oracle(SAMPLE), triples=HIDDEN).match([Pattern("Riga")])


def test_a_missing_file_is_told_before_the_run(tmp_path: Path) -> None:
    assert MaskedGraph(oracle(SAMPLE), str(tmp_path / "no.tsv")).preflight()[0][0] == "hide"


def test_a_limit_finds_what_is_left_behind_the_most_triples_hidden_at_one_node() -> None:
    rows = [Triple(node, "r", f"o{n}") for node in "ab" for n in range(4)]
    inner = MemoryGraph(triples=rows)
    inner.open()
    graph = MaskedGraph(inner, triples=[*rows[:3], rows[4]])
    graph.open()
    at, step = graph.frontiers([["a", "b"]]), [Step("r")]
    assert graph.triples(at, step, 1) == [[rows[3], rows[5]]]
    assert [frontier.ids() for frontier in graph.follow(at, step, 1)] == [("o1", "o3")]
    assert graph.follow(at, step, 1)[0].cut == 2
