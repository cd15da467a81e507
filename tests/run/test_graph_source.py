"""A graph by what it is: files, Python data, a folder, an address, a name; nothing is opened."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import networkx
import pytest

from srtk_framework.run import Graph, Retriever
from srtk_framework.run.graph_source import cache_folder
from srtk_framework.values import InputError

COLUMNS = ["film", "relation", "value"]
ROWS = [("Alien", "directed by", "Ridley Scott"), ("Blade Runner", "directed by", "Ridley Scott")]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "srtk-framework"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "films.csv"
    path.write_text("\n".join(",".join(row) for row in [COLUMNS, *ROWS]) + "\n")
    return path


def triples_of(graph, question="Who made Alien?"):
    with Retriever(graph, expander={"use": "bfs", "depth": 2}) as retriever:
        return sorted(retriever.ask(question).triples)


def test_a_table_becomes_a_build_with_its_settings(table, cache):
    graph = Graph.from_csv(table, columns=COLUMNS)
    assert graph.block["use"] == "local"
    assert graph.block["build"] == {"files": [str(table)], "columns": COLUMNS}
    assert graph.snapshot == cache / "graphs" / graph.snapshot.name
    assert graph.is_new
    assert cache_folder() == cache
    assert not cache.exists(), "nothing is built before the first question"


def test_the_graph_of_a_table_is_built_once_and_kept(table):
    graph = Graph.from_csv(table, columns=COLUMNS)
    assert triples_of(graph) == sorted(ROWS)
    kept = {file: file.stat().st_mtime_ns for file in graph.snapshot.iterdir()}
    again = Graph.from_csv(table, columns=COLUMNS)
    assert again == graph
    assert not again.is_new
    assert triples_of(again) == sorted(ROWS)
    assert {file: file.stat().st_mtime_ns for file in graph.snapshot.iterdir()} == kept


def test_another_content_or_setting_is_another_graph(table, tmp_path):
    names = tmp_path / "names.tsv"
    names.write_text("Alien\tThe Alien\n")
    first = Graph.from_csv(table, columns=COLUMNS)
    labelled = Graph.from_csv(table, columns=COLUMNS, labels=[str(names)])
    names.write_text("Alien\tAlien 1\n")
    renamed = Graph.from_csv(table, columns=COLUMNS, labels=[str(names)])
    stat = table.stat()
    table.write_text(table.read_text().replace("Alien", "Aliem"))
    os.utime(table, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    changed = Graph.from_csv(table, columns=COLUMNS)
    assert len({graph.snapshot for graph in (first, labelled, renamed, changed)}) == 4


def test_a_table_that_grew_is_read_by_the_plan_that_it_was_read_by_before(tmp_path):
    table = tmp_path / "people.csv"
    table.write_text("id,name,code\n1,Ada,17\n2,Bo,18\n")
    assert ("1", "code", '"17"^^xsd:integer') in triples_of(Graph.open(table), "What is the code of Ada?")
    table.write_text("id,name,code\n1,Ada,17\n2,Bo,18\n3,Cy,x9\n4,Di,y\n")
    assert ("1", "code", '"17"^^xsd:integer') in triples_of(Graph.open(table), "What is the code of Ada?")
    table.write_text("id,name,code\n1,Ada,z7\n2,Bo,18\n3,Cy,x9\n4,Di,y\n")
    assert ("2", "code", "18") in triples_of(Graph.open(table), "What is the code of Bo?"), "a corrected one anew"


def test_the_settings_of_a_table_reach_the_build(tmp_path):
    wide = tmp_path / "films.csv"
    wide.write_text("title,director,cast\nAlien,Ridley Scott,Sigourney Weaver|John Hurt\n")
    graph = Graph.from_csv(wide, id="title", split="|")
    assert triples_of(graph) == [
        ("Alien", "cast", "John Hurt"),
        ("Alien", "cast", "Sigourney Weaver"),
        ("Alien", "director", "Ridley Scott"),
    ]


def test_rdf_is_read_by_the_same_graph(tmp_path):
    file = tmp_path / "films.nt"
    at = "http://example.org/"
    file.write_text(f"<{at}Alien> <{at}directedBy> <{at}RidleyScott> .\n")
    graph = Graph.from_rdf(file, prefixes={"": at})
    assert triples_of(graph) == [("Alien", "directedBy", "RidleyScott")]


def test_a_networkx_graph_is_held_in_memory():
    graph = networkx.MultiDiGraph()
    for subject, relation, object_ in ROWS:
        graph.add_edge(subject, object_, key=relation)
    assert triples_of(Graph.from_networkx(graph)) == sorted(ROWS)
    assert triples_of(graph) == sorted(ROWS)


def test_an_edge_without_the_relation_that_is_named_is_refused_with_the_argument():
    with pytest.raises(InputError, match=r"\('a', 'b'\) has no relation; set its attribute 'verb'"):
        Graph.from_networkx(networkx.Graph([("a", "b")]), relation="verb")


def test_what_is_no_networkx_graph_is_refused():
    with pytest.raises(InputError, match="from_networkx takes a networkx graph, not list"):
        Graph.from_networkx([("a", "b")])


class Frame:
    """The two things of a data frame that are used."""

    columns = COLUMNS

    def to_csv(self, index, header):
        assert index is False
        return "".join(",".join(row) + "\n" for row in ([COLUMNS] if header else []) + ROWS)


class Numbered(Frame):
    """A data frame whose columns have no names."""

    columns = range(3)


@pytest.mark.parametrize("frame", [Frame(), Numbered()])
def test_a_data_frame_is_kept_as_a_table(cache, frame):
    graph = Graph.from_pandas(frame)
    [file] = graph.block["build"]["files"]
    assert Path(file).parents[1] == cache / "tables"
    assert triples_of(graph) == sorted(ROWS)
    assert Graph.from_pandas(frame) == graph
    content = Path(file).read_bytes()
    Path(file).write_bytes(content[:-4] + b"dama")
    assert Graph.from_pandas(frame) == graph, "a damaged table of the cache is written anew"
    assert Path(file).read_bytes() == content


@pytest.mark.skipif(find_spec("pandas") is None, reason="pandas is not installed")
def test_a_data_frame_of_pandas_is_a_graph():
    import pandas

    assert triples_of(pandas.DataFrame(ROWS, columns=COLUMNS)) == sorted(ROWS)


def test_what_is_no_data_frame_is_refused():
    with pytest.raises(InputError, match="takes a data frame, not list"):
        Graph.from_pandas([1, 2])


@pytest.mark.parametrize("name", ["films.csv", "facts.nt.gz", "my%20films.TTL", "films.parquet?raw=true"])
def test_the_address_of_a_file_is_no_endpoint(name):
    with pytest.raises(InputError, match="is a file, not a SPARQL endpoint; download it"):
        Graph.open(f"https://example.org/data/{name}")
    assert Graph.open("https://example.org/films.csv/sparql").block["use"] == "sparql"


def test_a_folder_is_a_snapshot_and_an_address_an_endpoint(tmp_path):
    assert Graph.open(tmp_path).block == {"use": "local", "path": str(tmp_path)}
    address = "https://example.org/sparql"
    assert Graph.open(address, engine="virtuoso").block == {
        "use": "sparql",
        "endpoint": address,
        "engine": "virtuoso",
    }


def test_a_folder_whose_files_have_no_ending_of_data_is_refused(tmp_path):
    for name in ("stops.txt", "agency.txt"):
        (tmp_path / name).write_text("id,name\n")
    with pytest.raises(InputError, match=r"no ending of its files tells data; .*such as .*agency\.txt$"):
        Graph.open(tmp_path)
    (tmp_path / "meta.json").write_text("{}")
    assert Graph.open(tmp_path).block["path"] == str(tmp_path)


def test_a_file_is_a_table_and_takes_its_settings(table):
    assert Graph.open(str(table), columns=COLUMNS) == Graph.from_csv(table, columns=COLUMNS)


def test_a_name_is_a_driver_that_needs_nothing(toys):
    assert Graph.open("toy").block == {"use": "toy"}
    assert Graph.open("wikidata", statements=True).block == {"use": "wikidata", "statements": True}


def test_a_driver_that_needs_a_setting_says_which():
    with pytest.raises(InputError, match=r"the graph freebase needs endpoint; give it"):
        Graph.open("freebase")
    assert Graph.open("freebase", endpoint="http://127.0.0.1:1/").name == "freebase"


def test_a_pipe_is_refused_in_plain_words(tmp_path):
    os.mkfifo(tmp_path / "a.csv")
    with pytest.raises(InputError, match=r"a\.csv: is a pipe or a device, and no file; write what is to be"):
        Graph.open(tmp_path / "a.csv")


def test_what_is_nothing_is_told_with_a_near_name():
    with pytest.raises(InputError, match=r"no file or folder 'wikidatta'.*Did you mean 'wikidata'"):
        Graph.open("wikidatta")
    with pytest.raises(InputError, match="no file or folder ''"):
        Graph.open("")
    with pytest.raises(InputError, match="no file or folder"):
        Graph.open("x" * 9999)


def test_a_missing_table_is_named():
    with pytest.raises(InputError, match=r"films\.csv: cannot be read \(No such file"):
        Graph.from_csv("films.csv")


def test_a_graph_a_block_and_a_driver_are_taken_as_they_are(toys):
    from srtk_framework.host import load

    graph = Graph.open({"use": "toy"})
    assert Graph.open(graph) is graph
    driver = load("knowledge_graph", "toy")()
    assert Graph.open(driver).block is driver


@pytest.mark.parametrize("settings", [{"mediated": True}, {"header": True}])
def test_settings_for_a_graph_that_has_its_own_are_refused(table, settings):
    with pytest.raises(InputError, match=f"has its settings; give {next(iter(settings))} where"):
        Graph.open(Graph.from_csv(table), **settings)


def test_a_graph_shows_where_it_is_from_and_its_driver(table):
    assert repr(Graph.from_csv(table)) == f"<Graph {table}: local>"
    assert repr(Graph.open("wikidata")) == "<Graph wikidata>"
    assert repr(Graph.from_networkx(networkx.DiGraph())) == "<Graph a networkx graph: MemoryGraph>"


def test_neither_graph_nor_retriever_imports_a_plugin():
    code = (
        "import sys, srtk_framework\n"
        "srtk_framework.Graph.from_csv(sys.argv[1]); srtk_framework.Retriever; srtk_framework.ask\n"
        "print([name for name in sys.modules if name.startswith('srtk_plugin')])"
    )
    done = subprocess.run([sys.executable, "-c", code, __file__], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_structure_of_a_file_of_rdf_is_one_step_unless_a_setting_says_otherwise(tmp_path):
    file = tmp_path / "crew.ttl"
    file.write_text('@prefix : <http://ex.org/> .\n:crew :members ( :ada :bo ) ; :boat [ :name "Ark" ] .\n')
    at = "http://ex.org/"
    assert triples_of(Graph.open(file), f"Who is in {at}crew?") == [
        (f"{at}crew", f"{at}boat..{at}name", '"Ark"'),
        *((f"{at}crew", f"{at}members", f"{at}{member}") for member in ("ada", "bo")),
    ]
    plain = Graph.open(file, folded=False, mediated=False)
    assert plain.block["use"] == "local"
    assert any(triple.object.startswith("_:") for triple in triples_of(plain, f"Who is in {at}crew?"))
    assert plain.snapshot == Graph.open(file).snapshot, "the view changes nothing in the snapshot"


STATEMENTS = [
    (f"Person {n}", *rest)
    for n in range(4)
    for rest in (("person.employment", f"m.0{n}k_b"), ("person.born_in", "Riga"))
] + [(f"m.0{n}k_b", r, o) for n in range(4) for r, o in (("tenure.employer", f"Firm {n}"), ("tenure.role", "Clerk"))]
JOINED = ("Person 1", "person.employment..tenure.employer", "Firm 1")


def statements(folder, name, rows=STATEMENTS):
    (folder / name).write_text("".join("\t".join(row) + "\n" for row in rows))
    return folder / name


def test_mediators_of_a_known_vocabulary_in_files_of_triples_are_one_step_unless_a_setting_says_otherwise(tmp_path):
    file, question = statements(tmp_path, "kb.tsv"), "Where does Person 1 work?"
    joined, plain = Graph.open(file), Graph.open(file, mediated=False)
    assert JOINED in triples_of(joined, question)
    assert ("Person 1", "person.employment", "m.01k_b") in triples_of(plain, question)
    assert plain.block["use"] == "local"
    assert plain.snapshot == joined.snapshot, "the view changes nothing in the snapshot"


def test_mediators_of_no_known_vocabulary_and_those_in_tables_are_one_step_by_a_setting_alone(tmp_path):
    rows = [tuple(part.replace("m.0", "x").replace("k_b", "") for part in row) for row in STATEMENTS]
    names = tmp_path / "names.tsv"
    names.write_text("".join(f"{end}\t{end}\n" for row in rows for end in row[::2] if not end.startswith("x")))
    file, table = statements(tmp_path, "kb.tsv", rows), statements(tmp_path, "kb.csv")
    for path, settings in ((file, {"labels": [str(names)]}), (table, {"separator": "\t"})):
        question = "Where does Person 1 work?"
        assert JOINED not in triples_of(Graph.open(path, **settings), question)
        assert JOINED in triples_of(Graph.open(path, mediated=True, **settings), question)


@pytest.mark.parametrize("what", ["http://127.0.0.1:9/sparql", {"use": "toy"}])
def test_the_view_of_mediators_is_put_over_any_graph_by_a_setting(what):
    block = Graph.open(what).block
    assert Graph.open(what, mediated=True).block == {"use": "mediated", "graph": block}
    assert Graph.open(what, mediated=False).block == block


def test_a_setting_for_mediators_that_is_neither_true_nor_false_is_refused(tmp_path):
    with pytest.raises(InputError, match="neither true nor false"):
        Graph.open(tmp_path, mediated="m.*")


@pytest.mark.parametrize("name", ["films.csv", "films.csv.gz", "films.graphml"])
def test_tables_and_property_graphs_have_no_view_over_them(tmp_path, name):
    (tmp_path / name).write_bytes(b"")
    assert Graph.open(tmp_path / name).block["use"] == "local"
