"""The sparql graph: equal to the local graph on the same RDF, its vocabulary, and ``srtk graph load``."""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs
import pytest
from srtk_plugin_sparql import step_reader
from srtk_plugin_sparql.commands.load import load
from srtk_plugin_sparql.graph import SparqlGraph
from srtk_plugin_sparql.queries import Queries
from srtk_plugin_sparql.sources import RememberedSource
from srtk_plugin_sparql.store import EmbeddedStore
from srtk_plugin_sparql.vocabulary import RDFS_LABEL, Vocabulary
from srtk_plugin_web import MalformedError

from srtk_framework.values import (
    Budget,
    DriverError,
    InputError,
    Literal,
    Pattern,
    RunError,
    SnapshotError,
    Step,
    Triple,
)

E = "http://example.org/e/"
R = "http://example.org/r/"
PREFIXES = {"": E, "r": R, "rdfs": "http://www.w3.org/2000/01/rdf-schema#"}
LINES = f"""
<{E}Riga> <{R}in> <{E}Latvia> .
<{E}Riga> <{R}in> <http://elsewhere.example/Europe> .
<{E}Riga> <{R}size> "614618"^^<http://www.w3.org/2001/XMLSchema#integer> .
<{E}Riga> <{R}size> "large" .
<{E}Riga> <{R}motto> "two\\nlines \\"quoted\\""@en .
<{E}Who%3F%20Me> <{R}in> <{E}Riga> .
<{E}Riga> <{R}near> <{E}Riga> .
<{E}Latvia> <{R}with> _:deal .
_:deal <{R}with> <{E}Estonia> .
<{E}Riga> <{RDFS_LABEL}> "Riga"@en .
<{E}Riga> <{RDFS_LABEL}> "Rīga"@lv .
<{E}Riga> <{RDFS_LABEL}> "Riga city"@en-gb .
<{E}Riga> <{RDFS_LABEL}> "Rīgas pilsēta" .
<{E}Latvia> <{RDFS_LABEL}> "Latvija"@lv .
<{E}Latvia> <{RDFS_LABEL}> "Lettland"@de .
<{E}Estonia> <{RDFS_LABEL}> " Estonia " .
<{E}Nowhere> <{RDFS_LABEL}> "Nowhere"@en .
<{R}in> <{RDFS_LABEL}> "located in"@en .
<{E}Latvia> <http://www.w3.org/2004/02/skos/core#altLabel> "Republic of Latvia"@en .
"""


def triples_of(count: int) -> Iterator[str]:
    for number in range(count):
        yield f"<{E}n{number % 97}> <{R}p{number % 7}> <{E}n{(number * number) % 89}> ."
        yield f'<{E}n{number % 53}> <{R}code> "{number}" .'


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rdf") / "graph.nt"
    path.write_text(LINES + "\n".join(triples_of(900)) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def store(file: Path) -> Path:
    load([file], file.parent / "store")
    return file.parent / "store"


# Subjects in several namespaces, the longer one inside the shorter, whose ids sort otherwise than their IRIs.
HUB = "".join(
    f"<{space}{name}{number}> <{R}kind> <{E}Hub> .\n"
    for space, name in ((E, "z"), (E, "a:b"), (R, "m"), (R, ""), ("http://a.example/", "x"), (E + "deep/", "d"))
    for number in range(9)
)


def test_the_first_neighbours_of_a_hub_are_chosen_by_the_server(tmp_path: Path) -> None:
    from srtk_plugin_sparql.limits import SparqlLimits

    (tmp_path / "hub.nt").write_text(HUB)
    load([tmp_path / "hub.nt"], tmp_path / "store")
    meaning = Vocabulary(prefixes={**PREFIXES, "deep": E + "deep/"})
    everything = SparqlGraph(str(tmp_path / "store"), vocabulary=meaning)
    paged = attrs.evolve(everything, limits=SparqlLimits(page=25))
    everything.open()
    paged.open()
    step = [Step("r:kind", True)]
    with closing(everything), closing(paged):
        for limit in (1, 5, 12, 24, 30, None):
            answers = [graph.follow(graph.frontiers([["Hub"]]), step, limit)[0] for graph in (everything, paged)]
            assert [(f.ids(), f.cut) for f in answers[:1]] == [(f.ids(), f.cut) for f in answers[1:]]
            rows = [graph.triples(graph.frontiers([["Hub"]]), step, limit) for graph in (everything, paged)]
            assert rows[0] == rows[1]


def test_not_all_neighbours_of_a_hub_are_read(proxy: Any) -> None:
    from srtk_plugin_sparql.limits import SparqlLimits

    meaning = Vocabulary(prefixes={"": "http://example.org/kit/"})
    with closing(SparqlGraph(proxy.url, vocabulary=meaning, limits=SparqlLimits(page=10), engine="oxigraph")) as graph:
        graph.open()
        museum = graph.frontiers([["Museum"]])
        reached = graph.follow(museum, [Step("kept_in", True)], 3)[0]
    assert (list(reached.ids()), reached.cut) == (["Item_00", "Item_01", "Item_02"], 37)
    assert len(proxy.seen) == 4
    assert all("LIMIT 4 " in query for _, query in proxy.seen[2:])


def opened(store: Path | str, **settings: Any) -> SparqlGraph:
    meaning = Vocabulary(prefixes=PREFIXES, **settings.pop("meaning", {}))
    graph = SparqlGraph(str(store), vocabulary=meaning, **settings)
    graph.open()
    return graph


@pytest.mark.parametrize("languages", [(), ("en",), ("lv", "de")])
@pytest.mark.parametrize("limit", [None, 3])
def test_the_same_rdf_reads_as_in_the_local_graph(
    file: Path, store: Path, tmp_path: Path, languages: tuple[str, ...], limit: int | None
) -> None:
    local_graph = pytest.importorskip("srtk_plugin_local.snapshot.graph")
    settings = pytest.importorskip("srtk_plugin_local.snapshot.build_settings")
    build = settings.BuildSettings(files=(str(file),), prefixes=PREFIXES, languages=languages)
    local = local_graph.LocalGraph(str(tmp_path / "local"), build)
    local.open()
    with closing(local), closing(opened(store, meaning={"languages": languages})) as graph:
        nodes = ["Riga", "Latvia", "_:deal", "Estonia", "Who%3F%20Me", "Nowhere", *(f"n{n}" for n in range(97))]
        names = ["riga", "RĪGA", "latvija", "lettland", "republic of latvia", "estonia", "nowhere", "n5", "riga city"]
        for each in (lambda g: g.frontiers([[n] for n in nodes]), lambda g: g.frontiers([nodes])):
            mine, its = each(graph), each(local)
            assert [list(f.ids()) for f in mine] == [list(f.ids()) for f in its]
            steps = local.steps(its, True)
            assert graph.steps(mine, True) == [list(row) for row in steps]
            pairs = [(place, step) for place, row in enumerate(steps) for step in row]
            which = [step for _, step in pairs]
            a = graph.triples([mine[place] for place, _ in pairs], which, limit)
            b = local.triples([its[place] for place, _ in pairs], which, limit)
            assert a == [list(row) for row in b]
            assert [type(t.object) for row in a for t in row] == [type(t.object) for row in b for t in row]
            a = graph.follow([mine[place] for place, _ in pairs], which, limit)
            b = local.follow([its[place] for place, _ in pairs], which, limit)
            assert [(list(f.ids()), f.cut) for f in a] == [(list(f.ids()), f.cut) for f in b]
        assert graph.labels(nodes[:5]) == list(local.labels(nodes[:5]))
        relations = ["r:in", "r:size"]
        expected = zip(relations, local.labels(relations), strict=True)
        # Without a label, the words of the id stand for one.
        assert graph.labels(relations) == [name if name != id_ else id_[2:] for id_, name in expected]
        assert graph.find(names) == [list(row) for row in local.find(names)]
        assert graph.degrees(nodes) == list(local.degrees(nodes))
        patterns = [Pattern(object=Literal('"large"')), Pattern("Riga"), Pattern(object="n0"), Pattern("n3", "r:p3")]
        assert graph.match(patterns) == [list(row) for row in local.match(patterns)]
        budget = Budget(triples=50, nodes=9, hub=4)
        around = [g.neighbourhood(g.frontiers([["Riga"], ["n1"]]), 2, budget) for g in (graph, local)]
        assert [list(row) for row in around[0]] == [list(row) for row in around[1]]


def test_names_are_looked_for_exactly_where_the_graph_is_not_scanned(store: Path) -> None:
    with closing(opened(store, names="exact", meaning={"languages": ("en", "lv", "de")})) as graph:
        found = graph.find(["riga", "RIGA", "latvija", "republic of latvia", "nowhere", "n5", "no such name", ""])
    assert found == [["Riga"], ["Riga"], ["Latvia"], [], [], ["n5"], [], []]


def test_only_wanted_entities_relations_and_objects_are_read(store: Path) -> None:
    meaning: dict[str, Any] = {"entities": (E,), "relations": ("r:",), "hidden": ("r:p*", "r:code"), "literals": False}
    with closing(opened(store, meaning=meaning)) as graph:
        frontiers = graph.frontiers([["Riga"], ["http://elsewhere.example/Europe"], ["n1"]])
        assert [list(f.ids()) for f in frontiers] == [["Riga"], [], []]
        assert graph.steps(frontiers[:1], True) == [
            [Step("r:in"), Step("r:in", True), Step("r:near"), Step("r:near", True)]
        ]
        assert [t.object for t in graph.triples(frontiers[:1], [Step("r:in")], None)[0]] == ["Latvia"]


def test_labels_of_relations_may_stand_elsewhere(tmp_path: Path) -> None:
    lines = f'<{E}Q1> <{R}P1> <{E}Q2> .\n<{E}P1> <{RDFS_LABEL}> "capital"@en .\n'
    (tmp_path / "a.nt").write_text(lines)
    load([tmp_path / "a.nt"], tmp_path / "store")
    with closing(opened(tmp_path / "store", meaning={"label_namespaces": {"r:": E}})) as graph:
        assert graph.labels(["r:P1", "Q1", '"7"^^xsd:integer']) == ["capital", "Q1", "7"]


def test_a_preset_is_a_vocabulary_and_settings_go_before_it() -> None:
    graph = SparqlGraph("http://127.0.0.1:9/", preset="yago", vocabulary=Vocabulary(languages=("de",)))
    assert graph.meaning().languages == ("de",)
    assert graph.schema().type_relations == ("rdf:type",)
    with pytest.raises(DriverError, match="yago"):
        attrs.evolve(graph, preset="yagoo").meaning()


@pytest.mark.parametrize(
    "settings", [{"engine": "virtuso"}, {"names": "all"}, {"preset": "nope"}, {"endpoint": "ftp://x/"}]
)
def test_a_setting_without_sense_is_refused_when_opened(settings: dict[str, str]) -> None:
    graph = SparqlGraph(**{"endpoint": "http://127.0.0.1:9/", **settings})
    with closing(graph), pytest.raises((DriverError, SnapshotError)):
        graph.open()


def test_a_graph_that_is_not_open_is_refused(store: Path) -> None:
    graph = SparqlGraph(str(store))
    with pytest.raises(DriverError, match=r"open\(\)"):
        graph.frontiers([["Riga"]])


def test_a_pattern_without_an_end_is_refused(store: Path) -> None:
    with closing(opened(store)) as graph, pytest.raises(DriverError, match="neither"):
        graph.match([Pattern(relation="r:in")])


# srtk graph load


def test_the_content_hash_is_that_of_the_triples(file: Path, store: Path, tmp_path: Path) -> None:
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line]
    with gzip.open(tmp_path / "half.nt.gz", "wt", encoding="utf-8") as packed:
        packed.write("\n".join(reversed(lines[10:])) + "\n")
    (tmp_path / "rest.nt").write_text("\n".join(lines[:20]) + "\n", encoding="utf-8")
    meta = load([tmp_path / "half.nt.gz", tmp_path / "rest.nt"], tmp_path / "again")
    with closing(opened(store)) as one, closing(opened(tmp_path / "again")) as other:
        assert one.source() == other.source() == f"oxigraph:{meta.content[:16]}"


def test_a_malformed_file_is_refused_with_its_line_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "bad.nt").write_text(f"<{E}a> <{R}b> <{E}c> .\n<{E}a> <{R}b> .\n")
    with pytest.raises(InputError, match=r"bad\.nt:2"):
        load([tmp_path / "bad.nt"], tmp_path / "store", strict=True)
    assert [path.name for path in tmp_path.iterdir()] == ["bad.nt"]


@pytest.mark.parametrize("name", ["missing.nt", "data.json", "cut.nt.gz"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    whole = gzip.compress(f"<{E}a> <{R}b> <{E}c> .\n".encode() * 500)
    (tmp_path / "cut.nt.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=name.split(".")[0]):
        load([tmp_path / name], tmp_path / "store")


def test_what_stands_at_the_target_and_is_no_store_stays(file: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("years of work")
    with pytest.raises(RunError, match="--force"):
        load([file], tmp_path / "out")
    assert (tmp_path / "out" / "thesis.txt").exists()


def test_a_store_is_replaced_by_a_new_one(tmp_path: Path) -> None:
    for number in range(2):
        (tmp_path / "a.nt").write_text(f"<{E}a{number}> <{R}b> <{E}c> .\n")
        load([tmp_path / "a.nt"], tmp_path / "store")
    with closing(opened(tmp_path / "store")) as graph:
        assert [f.size for f in graph.frontiers([["a0"], ["a1"]])] == [0, 1]


def test_a_folder_that_is_no_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="graph load"):
        SparqlGraph(f"oxigraph:{tmp_path}").open()


def test_turtle_with_blank_nodes_can_be_walked(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(f"<{E}a> <{R}b> [ <{R}c> <{E}d> ] .")
    load([tmp_path / "a.ttl"], tmp_path / "store")
    with closing(opened(tmp_path / "store")) as graph:
        reached = graph.follow(graph.frontiers([["a"]]), [Step("r:b")], None)
        assert [list(f.ids()) for f in graph.follow(reached, [Step("r:c")], None)] == [["d"]]


def test_the_command_loads_and_prints_a_summary(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from srtk_framework.cli import main

    assert main(["graph", "load", "--out", str(tmp_path / "store"), str(file)]) == 0
    assert "triples" in capsys.readouterr().out


def counted(graph: SparqlGraph) -> list[str]:
    """Return the list to which each query of a graph is added from now on."""
    asked: list[str] = []
    source = graph._source
    assert source is not None
    select = source.select

    def count(query: str, divisible: bool, fresh: bool = False) -> Any:
        asked.append(query)
        return select(query, divisible, fresh)

    source.select = count  # type: ignore[method-assign]
    return asked


def test_names_that_a_graph_does_not_use_are_in_no_later_query(tmp_path: Path) -> None:
    skos = "http://www.w3.org/2004/02/skos/core#"
    names = f'<{E}riga> <{skos}altLabel> "Riga" ; <http://www.w3.org/2008/05/skos-xl#prefLabel> <{E}label> .'
    (tmp_path / "a.ttl").write_text(f"<{E}mill> <{E}in> <{E}riga> . {names}")
    load([tmp_path / "a.ttl"], tmp_path / "store")
    graph = SparqlGraph(str(tmp_path / "store"), names="exact", vocabulary=Vocabulary(prefixes={"": E}))
    graph.open()
    with closing(graph):
        assert graph.find(["Riga"]) == [["riga"]]
        asked = counted(graph)
        assert graph.steps(graph.frontiers([["riga"]]), True) == [[Step("in", True)]]
        assert len(asked) == 1
        assert f"{skos}altLabel" in asked[0]
        assert f"{skos}prefLabel" not in asked[0]


@pytest.mark.parametrize("both", [True, False])
def test_neighbours_are_known_to_be_there_and_their_classes_are_one_query(tmp_path: Path, both: bool) -> None:
    facts = " ".join(f"<{E}n{n}> <{E}in> <{E}riga> ; <{E}kind> <{E}mill> , <{E}k{n}> ." for n in range(3))
    (tmp_path / "a.ttl").write_text(f"{facts} <{E}n0> <{E}size> 5 .")
    load([tmp_path / "a.ttl"], tmp_path / "store")
    vocabulary = Vocabulary(prefixes={"": E}, type_relations=("kind",))
    graph = SparqlGraph(str(tmp_path / "store"), names="exact", both=both, vocabulary=vocabulary)
    graph.open()
    with closing(graph):
        near = graph.follow(graph.frontiers([["riga"]]), [Step("in", True)], None)
        asked = counted(graph)
        assert [row.ids() for row in graph.frontiers([[*near[0].ids(), "riga"]])] == [("n0", "n1", "n2", "riga")]
        assert asked == []
        kinds = graph.triples(near, [Step("kind")], None)[0]
        assert [tuple(triple) for triple in kinds[:3]] == [
            ("n0", "kind", "k0"), ("n0", "kind", "mill"), ("n1", "kind", "k1"),
        ]  # fmt: skip
        assert len(kinds) == 6
        assert len(asked) == 1
        assert "COUNT" not in asked[0]
        assert graph.steps(near, False) == [[Step("in"), Step("kind"), Step("size")]]
        assert len(asked) == 2


def test_steps_of_many_nodes_come_in_a_row_for_each_step(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(" ".join(f"<{E}n{n}> <{E}in> <{E}riga> , <{E}m{n % 2}> ." for n in range(40)))
    load([tmp_path / "a.ttl"], tmp_path / "store")
    graph = SparqlGraph(str(tmp_path / "store"), names="exact", vocabulary=Vocabulary(prefixes={"": E}))
    graph.open()
    with closing(graph):
        reader = graph._reader
        assert reader is not None
        rows = reader.ask_all(
            enumerate([f"{E}n{n}" for n in range(40)]), lambda some: reader.queries.steps(some, True, True), "?d ?p"
        )
        assert len(rows) == 1
        [frontier] = graph.frontiers([[f"n{n}" for n in range(40)]])
        assert graph.steps([frontier], True) == [[Step("in")]]
        assert graph.degrees(["n7", "riga", "m1"]) == [2, 40, 20]


def test_steps_and_neighbours_take_few_queries(store: Path) -> None:
    with closing(opened(store)) as graph:
        asked = counted(graph)
        frontiers = graph.frontiers([[f"n{n}"] for n in range(50)])
        rows = graph.steps(frontiers, True)
        pairs = list(
            itertools.chain.from_iterable([(f, s) for s in row] for f, row in zip(frontiers, rows, strict=True))
        )
        graph.follow([f for f, _ in pairs], [s for _, s in pairs], None)
        graph.triples([f for f, _ in pairs], [s for _, s in pairs], None)
    assert len(asked) <= 4


@pytest.mark.parametrize(("both", "hidden", "counts"), [(True, (), 0), (False, (), 0), (True, ("none",), 1)])
def test_words_are_looked_for_without_the_steps_of_what_they_name(
    tmp_path: Path, both: bool, hidden: tuple[str, ...], counts: int
) -> None:
    facts = f"<{E}mill> <{E}in> <{E}riga> . <{E}riga> <{E}size> 5 , 6 . <{E}in> <{E}kind> <{E}word> ."
    (tmp_path / "a.ttl").write_text(facts)
    load([tmp_path / "a.ttl"], tmp_path / "store")
    vocabulary = Vocabulary(prefixes={"": E}, hidden=hidden)
    graph = SparqlGraph(str(tmp_path / "store"), names="exact", both=both, vocabulary=vocabulary)
    graph.open()
    with closing(graph):
        graph.find(["nothing"])
        asked = counted(graph)
        assert graph.find(["mill", "Riga", "word", "sea"]) == [["mill"], ["riga"], ["word"], []]
        assert sum("COUNT(DISTINCT" in query for query in asked) == counts
        assert sum("EXISTS" in query for query in asked) == 1 - counts
        asked.clear()
        assert graph.match([Pattern("mill", None, "riga"), Pattern("riga", None, "mill")])[1] == []
        assert len(asked) == 1


@pytest.mark.parametrize(
    ("node", "steps", "queries"),
    [
        ("riga", [Step("has"), Step("in", True), Step("near", True)], 0),
        ("mill", [Step("in"), Step("near"), Step("has", True)], 0),
        ("mill", [Step("in"), Step("has", True)], 1),  # near may lead there too
        ("mill", [Step("in"), Step("near")], 1),
    ],
)
def test_relations_between_two_nodes_are_asked_for_unless_all_neighbours_of_one_were_read(
    tmp_path: Path, node: str, steps: list[Step], queries: int
) -> None:
    (tmp_path / "a.ttl").write_text(
        f"<{E}mill> <{E}in> <{E}riga> ; <{E}near> <{E}riga> . <{E}riga> <{E}has> <{E}mill> ."
    )
    load([tmp_path / "a.ttl"], tmp_path / "store")
    graph = SparqlGraph(str(tmp_path / "store"), names="exact", vocabulary=Vocabulary(prefixes={"": E}))
    graph.open()
    with closing(graph):
        frontiers = graph.frontiers([[node]]) * len(steps)
        graph.steps(frontiers, True)
        graph.follow(frontiers, steps, None)
        graph.find(["mill", "riga"])
        asked = counted(graph)
        patterns = [Pattern("mill", None, "riga"), Pattern("mill", "in", "riga"), Pattern("riga", None, "mill")]
        found = graph.match(patterns)
        assert [[triple.relation for triple in row] for row in found] == [["in", "near"], ["in"], ["has"]]
        assert len(asked) == queries


def test_literals_are_looked_for_in_one_query(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(f'<{E}a> <{E}r> "x" ; <{E}s> 5 . <{E}b> <{E}r> "x" , "y" ; <{E}none> "y" .')
    load([tmp_path / "a.ttl"], tmp_path / "store")
    graph = SparqlGraph(str(tmp_path / "store"), vocabulary=Vocabulary(prefixes={"": E}, hidden=("none",)))
    graph.open()
    with closing(graph):
        asked = counted(graph)
        literals = [Literal.make("x", "other"), *map(Literal.make, ("x", "y", "5")), Literal.make("x", "xsd:integer")]
        found = graph.match([Pattern(None, None, one) for one in literals])
        assert [[triple.subject for triple in row] for row in found] == [[], ["a", "b"], ["b"], [], []]
        assert len(asked) == 1
        asked.clear()
        assert graph.match([Pattern("b", None, literals[2])]) == [[Triple("b", "r", literals[2])]]
        assert not any("(?i ?o)" in query for query in asked)


def test_an_answer_about_a_literal_that_was_not_asked_about_is_refused(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Queries.with_literals
    monkeypatch.setattr(Queries, "with_literals", lambda own, rows: write(own, [(n + 1, term) for n, term in rows]))
    with closing(opened(store)) as graph, pytest.raises(MalformedError, match="a literal that the query does not name"):
        graph.match([Pattern(None, None, Literal.make("large"))])


def test_what_is_not_needed_is_not_asked_for(store: Path) -> None:
    with closing(opened(store, both=False)) as graph:
        asked = counted(graph)
        assert graph._open.exist(["Riga"]) == {"Riga"}
        assert ["BIND(1 AS ?d)" in query for query in asked] == [False]
    with closing(opened(store)) as graph:
        asked = counted(graph)
        # A triple from a node to itself has a relation that leads from it and to it.
        assert graph.degrees(["Latvia", "Riga", Literal.make("large")]) == [2, 7, 0]
        loops = [query for query in asked if "?n ?p ?n" in query]
        assert ["Latvia" in query for query in loops] == [False]


def test_chunks_of_nodes_have_the_rows_of_a_page_and_so_many_nodes() -> None:
    sizes = {"a": 2, "b": 2, "c": 1, "d": 9, "e": 1}
    assert step_reader._packed("abcde", sizes, 5, 9) == [["a", "b", "c"], ["d"], ["e"]]
    assert step_reader._packed("abcde", sizes, 4, 9) == [["a", "b"], ["c"], ["d"], ["e"]]
    assert step_reader._packed("abe", sizes, 9, 2) == [["a", "b"], ["e"]]


def test_queries_of_another_form_are_asked_for_steps_alone(store: Path) -> None:
    class Outgoing(Queries):
        def steps(self, nodes: Iterable[str], forward: bool, inverse: bool) -> str:
            return super().steps(nodes, forward, False)

    with closing(opened(store)) as graph:
        asked, reader = counted(graph), graph._open
        reader.queries.__class__ = Outgoing
        assert reader.are_there(["Riga", "nobody"]) == {"Riga"}
        assert ["COUNT(DISTINCT" in query for query in asked] == [True]


def test_nodes_are_asked_about_once_until_the_memory_is_full(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(opened(store)) as graph:
        asked, reader = counted(graph), graph._open
        reader.exist(["Latvia"])
        asked.clear()
        assert reader.are_there(["Latvia"]) == {"Latvia"}
        assert not asked
    with closing(opened(store)) as graph:
        asked, reader = counted(graph), graph._open
        for times in (1, 2):
            assert reader.are_there(["n1", "nobody", "n1"]) == {"n1"}
            assert reader.are_there(["nobody", "n1"]) == {"n1"}
            assert [query.count("EXISTS") for query in asked] == [2] * times
            monkeypatch.setattr(step_reader, "MEMORY", 0)
            reader.forget()


def test_neighbours_are_asked_for_once_and_their_rows_are_not_kept_too(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(opened(store)) as graph:
        source = graph._source
        assert isinstance(source, RememberedSource)
        nodes, steps = graph.frontiers([[f"n{number}" for number in range(9)]]), [Step("r:p1")]
        read = graph.triples(nodes, steps, None)
        assert len(read[0]) > 1
        assert {query.partition(" WHERE ")[0] for query in source._known} == {STEPS}
        monkeypatch.setattr(EmbeddedStore, "select", None)  # nothing can be asked
        assert graph.triples(nodes, steps, None) == read


STEPS = 'SELECT ?d ?p (GROUP_CONCAT(CONCAT(STR(?i), ":", STR(?k)); SEPARATOR=" ") AS ?c) (COUNT(*) AS ?m)'
KIT = Vocabulary(prefixes={"": "http://example.org/kit/"}, decode=True)


def test_the_engine_of_a_server_is_asked_for_once_and_kept_by_cache_and_record(
    kit_server: str, front: Any, tmp_path: Path
) -> None:
    def opened(url: str, **settings: Any) -> tuple[int, int]:
        graph = SparqlGraph(url, vocabulary=KIT, **settings)
        graph.open()
        with closing(graph):
            graph.frontiers([["Latvia"]])
            return graph._open.most_named, graph._open._workers

    unknown, named = opened(front(kit_server).url), opened(kit_server, engine="oxigraph")
    assert unknown == (128, 2)
    assert opened(kit_server) == named == (500, 4)
    proxy = front(kit_server)
    proxy.headers = {"Server": "Oxigraph/0.5"}
    kept = {"cache": str(tmp_path / "cache.db"), "record": str(tmp_path / "record")}
    assert opened(proxy.url, **kept) == named
    assert len(proxy.seen) == 2
    proxy.headers = {}
    assert opened(proxy.url, **kept) == named
    assert opened("http://127.0.0.1:9/query", replay=kept["record"]) == named
    assert len(proxy.seen) == 2


def test_a_server_that_is_down_when_a_graph_is_opened_is_asked_later(kit_server: str, front: Any) -> None:
    proxy = front(kit_server)
    proxy.plan = ["500"]
    graph = SparqlGraph(proxy.url, vocabulary=KIT)
    graph.open()
    with closing(graph):
        assert graph.frontiers([["Latvia"]])[0].size == 1
    assert len(proxy.seen) == 3
