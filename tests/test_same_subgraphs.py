"""One recipe on one graph gives the same bytes wherever the graph is: in a snapshot, a store, behind a server."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from benchmarks.loopback import graphs_in_rdf as rdf
from benchmarks.loopback import servers
from benchmarks.reliability import same_subgraphs as bench

ROOT = Path(__file__).parents[1]


pytestmark = [
    pytest.mark.timeout(1800),
    pytest.mark.skipif(
        bench.lacking("wiki27k/train.txt", "metaqa/kb_from_splits.txt") is not None,
        reason=str(bench.lacking("wiki27k/train.txt", "metaqa/kb_from_splits.txt")),
    ),
    pytest.mark.skipif(
        servers.oxigraph_binary() is None, reason="the oxigraph server is not installed (pip install oxigraph)"
    ),
]
needs_virtuoso = pytest.mark.skipif(servers.virtuoso_lacks() is not None, reason=str(servers.virtuoso_lacks()))


def same(case: Any, out: Path, stores: list[str], methods: tuple[str, ...] = bench.METHODS) -> Any:
    """Run the case on all stores, and return the first run."""
    first, *others = bench.compare(case, out, stores, methods)
    for other in others:
        assert other.differences(first) == {}, other.store
    return first


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("same")


@pytest.fixture(scope="module")
def wiki27k(out: Path) -> Any:
    return rdf.wiki27k(bench.DATA, out)


@pytest.fixture(scope="module")
def metaqa(out: Path) -> Any:
    return rdf.metaqa(bench.DATA, out, 200)


@pytest.mark.parametrize("count", [16, pytest.param(None, marks=pytest.mark.slow, id="all")])
def test_questions_of_wiki27k(count: int | None, out: Path) -> None:
    case = rdf.wiki27k(bench.DATA, out, count)
    first = same(case, out, ["local", "table", "store", "server"])
    assert first.counts()["questions"] == (count or 126)
    assert first.counts()["failed"] == 0
    assert first.counts()["triples"] > 390 * first.counts()["questions"]


@pytest.mark.parametrize("count", [15, pytest.param(200, marks=pytest.mark.slow)])
def test_questions_of_metaqa_with_names_as_ids(count: int, out: Path) -> None:
    first = same(rdf.metaqa(bench.DATA, out, count), out, ["table", "store", "server"])
    assert first.counts()["questions"] == count
    assert first.counts()["triples"] > 250 * count


@pytest.mark.parametrize("count", [15, pytest.param(200, marks=pytest.mark.slow)])
def test_questions_of_metaqa_with_encoded_ids(count: int, out: Path) -> None:
    first = same(bench.encoded(rdf.metaqa(bench.DATA, out, count), out), out, ["local", "store"])
    assert first.counts()["questions"] == count


@pytest.mark.skipif(bench.lacking("fb15k237/train.txt") is not None, reason=str(bench.lacking("fb15k237/train.txt")))
def test_questions_of_freebase(out: Path) -> None:
    first = same(rdf.fb15k237(bench.DATA, out, 4), out, ["store", "server"], ("beam",))
    assert first.counts() == {"questions": 4, "failed": 0, "triples": 4 * 200}


@pytest.mark.slow
def test_200_questions_of_metaqa_with_encoded_ids_of_a_server(metaqa: Any, out: Path) -> None:
    same(bench.encoded(metaqa, out), out, ["local", "server"])


@needs_virtuoso
@pytest.mark.slow
def test_all_questions_of_wiki27k_in_virtuoso(wiki27k: Any, out: Path) -> None:
    same(wiki27k, out, ["local", "virtuoso"])


@needs_virtuoso
@pytest.mark.slow
def test_200_questions_of_metaqa_in_virtuoso(metaqa: Any, out: Path) -> None:
    same(metaqa, out, ["table", "virtuoso"])
    same(bench.encoded(metaqa, out), out, ["local", "virtuoso"])


@needs_virtuoso
@pytest.mark.slow
def test_a_virtuoso_that_gives_500_rows_at_most(wiki27k: Any, out: Path) -> None:
    with ExitStack() as stack:
        places = bench.Stores(wiki27k, out, stack)
        first = bench.run(wiki27k, "local", places.local(), out, ("beam", "bfs"))
        capped = bench.run(wiki27k, "virtuoso", places.virtuoso(500), out, ("beam", "bfs"))
    assert capped.differences(first) == {}


def test_a_difference_is_noticed() -> None:
    one = bench.Run("one", {"beam": ['{"id": "1", "triplets": []}', '{"id": "2", "triplets": []}']}, 0.0)
    two = bench.Run("two", {"beam": ['{"id": "1", "triplets": []}', '{"id": "2", "triplets": [1]}']}, 0.0)
    assert two.differences(one) == {"beam": ["2"]}
    assert one.differences(one) == {}
