"""Small graphs in memory, as snapshots, in stores and behind servers, and expanders with scripted generators."""

from __future__ import annotations

import importlib
import urllib.parse
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import attrs
import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_structgpt.reader import LlmReader
from srtk_plugin_structgpt.structgpt import StructGptExpander

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.testing import Sample, ScriptedGenerator, served, to_ntriples
from srtk_framework.values import Link, Question, Triple

SPACE = "http://example.org/show/"

SHOW = [
    ("jeff", "spouse", "lisa"),
    ("jeff", "spouse_s", "m1"),
    ("jeff", "profession", "producer"),
    ("show", "nominee", "jeff"),
    ("show", "nominee", "lisa"),
    ("lisa", "born_in", "oslo"),
    ("oslo", "country", "norway"),
    ("paper1", "venue", "icsa"),
    ("paper2", "venue", "icsa"),
]
"""People, a town and papers; ``m1`` is a mediator with nothing behind it."""

AWARDS = [
    ("jeff", "award", "st1"),
    ("jeff", "award", "st2"),
    ("jeff", "award", "st3"),
    ("st1", "prize", "oscar"),
    ("st1", "country_of_award", "usa"),
    ("st2", "prize", "amanda"),
    ("st2", "country_of_award", "norway"),
    ("st2", "film", "st9"),
    ("st3", "prize", "bodil"),
    ("st3", "nation", "denmark"),
    ("show", "winner", "st2"),
    ("norway", "capital", "oslo"),
    ("amanda", "given_by", "film_festival"),
]
"""Awards as statements: mediators that hold a prize and a country together."""

GraphOf = Callable[..., KnowledgeGraph]


@pytest.fixture(scope="session")
def store_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return a function that loads triples into a store; equal triples share one."""
    pytest.importorskip("pyoxigraph")
    from srtk_plugin_sparql.commands.load import load

    folders: dict[Any, Path] = {}

    def make(triples: Sequence[Sequence[str]]) -> Path:
        rows = tuple(Triple(*row) for row in triples)
        if rows not in folders:
            folder = tmp_path_factory.mktemp("rdf")
            # Without labels the names of relations would be words from their IRIs, unlike in the other graphs.
            sample = Sample(rows, labels={row.relation: row.relation for row in rows})
            (folder / "data.nt").write_text(to_ntriples(sample, _iri), encoding="utf-8")
            load([folder / "data.nt"], folder / "store")
            folders[rows] = folder / "store"
        return folders[rows]

    return make


def _iri(id_: str) -> str:
    return SPACE + urllib.parse.quote(id_)


@pytest.fixture(scope="session")
def queried() -> Iterator[Callable[..., Any]]:
    """Return a function that opens a SPARQL graph at a URL or in a folder."""
    with ExitStack() as stack:

        def make(endpoint: str, mediators: Sequence[str], noise: Sequence[str], **settings: Any) -> Any:
            from srtk_plugin_sparql.graph import SparqlGraph
            from srtk_plugin_sparql.vocabulary import Vocabulary

            meaning = Vocabulary(prefixes={"": SPACE}, decode=True, mediators=tuple(mediators), noise=tuple(noise))
            graph = SparqlGraph(endpoint, vocabulary=meaning, **settings)
            graph.open()
            stack.callback(graph.close)
            return graph

        yield make


@pytest.fixture
def embedded(store_of: Callable[..., Path], queried: Callable[..., Any]) -> GraphOf:
    """Return a function that opens triples as an embedded store."""

    def make(triples: Sequence[Sequence[str]], mediators: Sequence[str] = (), noise: Sequence[str] = ()) -> Any:
        return queried(str(store_of(triples)), mediators, noise)

    return make


@pytest.fixture(scope="session")
def sparql(store_of: Callable[..., Path], queried: Callable[..., Any]) -> Iterator[GraphOf]:
    """Return a function that serves triples by a SPARQL server; equal triples share one."""
    from srtk_plugin_sparql.store import DATA

    urls: dict[Path, str] = {}
    with ExitStack() as stack:

        def make(
            triples: Sequence[Sequence[str]],
            mediators: Sequence[str] = (),
            noise: Sequence[str] = (),
            through: Callable[[str], str] = str,
            **settings: Any,
        ) -> Any:
            store = store_of(triples)
            if store not in urls:
                urls[store] = stack.enter_context(served(store / DATA))
            return queried(through(urls[store]), mediators, noise, engine="oxigraph", **settings)

        yield make


@pytest.fixture
def memory() -> GraphOf:
    """Return a function that makes a graph of triples in memory."""

    def make(triples: Sequence[Sequence[str]], mediators: Sequence[str] = (), noise: Sequence[str] = ()) -> Any:
        return MemoryGraph(triples=triples, mediators=mediators, noise=noise)

    return make


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphOf]:
    """Return a function that builds and opens a snapshot of triples; equal triples share one."""
    pytest.importorskip("polars")
    from srtk_plugin_local.snapshot.build import build
    from srtk_plugin_local.snapshot.build_settings import BuildSettings
    from srtk_plugin_local.snapshot.graph import LocalGraph

    folders: dict[Any, str] = {}
    with ExitStack() as stack:

        def make(triples: Sequence[Sequence[str]], mediators: Sequence[str] = (), noise: Sequence[str] = ()) -> Any:
            key = (tuple(map(tuple, triples)), tuple(mediators), tuple(noise))
            if key not in folders:
                folder = tmp_path_factory.mktemp("snapshot")
                (folder / "data.tsv").write_text("".join("\t".join(row) + "\n" for row in triples), encoding="utf-8")
                files, meaning = (str(folder / "data.tsv"),), {"mediators": key[1], "noise": key[2]}
                build(BuildSettings(files, literals="none", names=False, **meaning), folder / "graph")
                folders[key] = str(folder / "graph")
            graph = LocalGraph(folders[key])
            graph.open()
            stack.callback(graph.close)
            return graph

        yield make


@pytest.fixture(params=["memory", "local", "embedded", "sparql"])
def graph_of(request: pytest.FixtureRequest) -> GraphOf:
    """Return a function that makes a graph: in memory, as a snapshot, as an embedded store, behind a server."""
    made: GraphOf = request.getfixturevalue(request.param)
    return made


@pytest.fixture(scope="session")
def bench() -> Callable[[str], Any]:
    """Return a function that imports a module of the benchmarks, for their misbehaving servers."""
    folder = Path(__file__).parents[3] / "benchmarks" / "loopback"

    def module(name: str) -> Any:
        if not (folder / f"{name}.py").exists():
            pytest.skip(f"benchmarks/loopback/{name}.py is not here")
        return importlib.import_module(f"benchmarks.loopback.{name}")

    return module


@pytest.fixture
def show_rows() -> list[tuple[str, str, str]]:
    """Return the triples about people, a town and papers."""
    return list(SHOW)


@pytest.fixture
def show(graph_of: GraphOf) -> KnowledgeGraph:
    """Return the graph of people, a town and papers."""
    return graph_of(SHOW)


@pytest.fixture
def awards(graph_of: GraphOf) -> KnowledgeGraph:
    """Return the graph of awards, whose statement nodes are mediators."""
    return graph_of(AWARDS, mediators=["st*"])


@pytest.fixture
def ask() -> Callable[..., Question]:
    """Return a function that makes a question linked to entities."""

    def make(text: str, *entities: str, id_: str = "q") -> Question:
        return Question(id_, text, tuple(Link(entity) for entity in entities))

    return make


@pytest.fixture
def walk() -> Callable[..., Any]:
    """Return a function that opens an expander whose generator and reader follow a script."""

    def make(graph: Any, script: Sequence[tuple[str, Any]], cls: Any = StructGptExpander, **settings: Any) -> Any:
        scripted = ScriptedGenerator(script, default='{"enough": false, "answer": [], "triples": []}')
        if settings.get("stop") != "depth":
            settings.setdefault("reader", LlmReader(graph, scripted))
            settings["reader"].open()
        expander = cls(graph=graph, generator=scripted, **settings)
        expander.open()
        return expander

    return make


@attrs.define(eq=False)
class Watched(KnowledgeGraph):
    """A graph that records its calls.

    Attributes:
        graph: The graph that answers.
        calls: Method and batch of each call, in order.
    """

    graph: KnowledgeGraph
    calls: list[tuple[str, Any]] = attrs.field(factory=list)

    def frontiers(self, node_sets: Any) -> Any:
        return self.graph.frontiers(node_sets)

    def steps(self, frontiers: Any, inverse: bool) -> Any:
        self.calls.append(("steps", [tuple(one.ids()) for one in frontiers]))
        return self.graph.steps(frontiers, inverse)

    def follow(self, frontiers: Any, steps: Any, limit: int | None) -> Any:
        return self.graph.follow(frontiers, steps, limit)

    def triples(self, frontiers: Any, steps: Any, limit: int | None) -> Any:
        self.calls.append(("triples", [(tuple(f.ids()), s) for f, s in zip(frontiers, steps, strict=True)]))
        return self.graph.triples(frontiers, steps, limit)

    def labels(self, ids: Any) -> Any:
        return self.graph.labels(ids)

    def find(self, names: Any) -> Any:
        return self.graph.find(names)

    def schema(self) -> Any:
        return self.graph.schema()

    def source(self) -> str:
        return self.graph.source()


@pytest.fixture
def watched() -> Callable[[Any], Watched]:
    """Return a function that wraps a graph so that it records its calls."""
    return Watched
