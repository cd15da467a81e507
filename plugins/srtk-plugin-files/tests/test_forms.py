"""Other forms of a result, read back by other libraries: the same triples, scores and sources, whatever the labels."""

from __future__ import annotations

import importlib
import io
import json
import re
import sys
import warnings
from importlib.util import find_spec
from urllib.parse import unquote

import attrs
import networkx
import pyarrow.parquet
import pyoxigraph
import pytest
import rdflib
from networkx.readwrite.graphml import GraphMLReader
from srtk_plugin_files.cypher import Cypher
from srtk_plugin_files.graphml import GraphML
from srtk_plugin_files.mermaid import Mermaid
from srtk_plugin_files.parquet import Parquet
from srtk_plugin_files.pyg import HeteroData
from srtk_plugin_files.rdf import RESULT, TERM, WORD, Rdf

from srtk_framework.run import Result
from srtk_framework.testing.exporter import ExporterConformance
from srtk_framework.values import (
    Answer,
    DriverError,
    Link,
    Literal,
    Question,
    RankedPath,
    Retrieval,
    Step,
    Subgraph,
    Triple,
)

pytestmark = pytest.mark.filterwarnings("ignore:Dataset.default_context:DeprecationWarning")
needs_pyg = pytest.mark.skipif(find_spec("torch_geometric") is None, reason="torch_geometric is not installed")
if find_spec("torch_geometric") is not None:
    with warnings.catch_warnings(action="ignore"):  # it asks torch for what is deprecated
        importlib.import_module("torch_geometric.data")

HOSTILE = "a \"q\" 'p' `tick`]}) <b>&\n\t\r\x1b[31m\\u0060 \\ %% ``` -->|x| _x001B_ \u202eright\u202c \u2028 日𝔊 #5;"
TRIPLES = (
    Triple("Q211", "P36", "Q1773"),
    Triple("http://e.org/a?b=1#c", "http://e.org/p", "http://e.org/100%"),
    Triple("urn:srtk:Q211", "P36", "Q211"),
    Triple(HOSTILE, HOSTILE, HOSTILE),
    Triple(HOSTILE, "P36", Literal.make(HOSTILE)),
    Triple("Q211", "P1", Literal.make("1918-11-18", "xsd:date")),
    Triple("Q211", "P1", Literal.make("Rīga", language="lv")),
    Triple("Q211", "P1", Literal.make("x", "mytype")),
)
SCORES = tuple(round(0.9 - number / 10, 4) for number in range(len(TRIPLES)))
SOURCES = ("local:1", HOSTILE, *("local:1",) * (len(TRIPLES) - 2))
RESULT_ID = f"q {HOSTILE}"
FOUND = Retrieval(
    Question(RESULT_ID, HOSTILE, (Link("Q211"),), answers=("secret",)),
    Subgraph(
        TRIPLES,
        SCORES,
        (RankedPath("Q211", (Step("P36"), Step(HOSTILE, True)), 0.5),),
        (0, *(-1,) * (len(TRIPLES) - 1)),
        SOURCES,
        ((("P580", Literal.make("1918", "xsd:gYear")),), *((),) * (len(TRIPLES) - 1)),
        confidences=(1.0, 0.25, *(1.0,) * (len(TRIPLES) - 2)),
    ),
    Answer("Riga", ("Q1773",), (0,)),
    {"Q211": "Latvia", "P36": "capital", "Q1773": HOSTILE},
)
FACTS = {triple: (score, source) for triple, score, source in zip(TRIPLES, SCORES, SOURCES, strict=True)}


def opened(driver):
    driver.open()
    yield driver
    driver.abort()
    driver.close()


class Case(ExporterConformance):
    cls = None

    @pytest.fixture
    def driver(self, path):
        yield from opened(self.cls(path=str(path)))

    @pytest.fixture
    def faulty(self, tmp_path):
        return self.cls(path=str(tmp_path))


class TestRdf(Case, ExporterConformance):
    name = "rdf"
    cls = Rdf

    def validate(self, path):
        list(pyoxigraph.parse(path=str(path), format=pyoxigraph.RdfFormat.N_QUADS))
        rdflib.Dataset().parse(str(path), format="nquads")


class TestGraphML(Case, ExporterConformance):
    name = "graphml"
    cls = GraphML

    def validate(self, path):
        list(GraphMLReader()(path=str(path)))


class TestCypher(Case, ExporterConformance):
    name = "cypher"
    cls = Cypher

    def validate(self, path):
        for line in path.read_text(encoding="ascii").splitlines():
            statement(line)


class TestMermaid(Case, ExporterConformance):
    name = "mermaid"
    cls = Mermaid

    def validate(self, path):
        parts = re.split(r"^```(?:mermaid)?\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert len(parts) % 2 == 1
        for diagram in parts[1::2]:
            drawn(diagram)


class TestParquet(Case, ExporterConformance):
    name = "parquet"
    cls = Parquet

    def validate(self, path):
        pyarrow.parquet.read_table(path)


@needs_pyg
class TestHeteroData(Case, ExporterConformance):
    name = "pyg"
    cls = HeteroData

    def validate(self, path):
        torch = importlib.import_module("torch")
        assert isinstance(torch.load(path, weights_only=False), list)


def text_of(term):
    """Return the lexical form of a literal, or an IRI."""
    return str(term) if isinstance(term, str) else term.value


def back(term):
    """Return the id of an RDF term of rdflib or pyoxigraph."""
    if isinstance(term, rdflib.Literal | pyoxigraph.Literal):
        value, kind = (
            (str(term), term.datatype) if isinstance(term, rdflib.Literal) else (term.value, term.datatype.value)
        )
        return Literal.make(
            value, kind and (unquote(kind[len(TERM) :]) if kind.startswith(TERM) else str(kind)), term.language
        )
    text = term.value if isinstance(term, pyoxigraph.NamedNode) else str(term)
    return unquote(text[len(TERM) :]) if text.startswith(TERM) else text


RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


def test_rdf_1_1_has_a_named_graph_and_statements_that_rdflib_and_pyoxigraph_read():
    text = Result(FOUND).to("rdf")
    assert "secret" not in text
    data = rdflib.Dataset()
    data.parse(data=text, format="nquads")
    [name] = [one.identifier for one in data.graphs() if one.identifier != data.default_graph.identifier]
    assert unquote(name[len(RESULT) :]) == RESULT_ID
    assert {Triple(*map(back, one)) for one in data.graph(name)} == set(TRIPLES)
    plain = data.default_graph
    told = {}
    for one in plain.subjects(rdflib.URIRef(RDF + "type"), rdflib.URIRef(RDF + "Statement")):
        triple = Triple(
            *(back(plain.value(one, rdflib.URIRef(RDF + part))) for part in ("subject", "predicate", "object"))
        )
        score, source = (plain.value(one, rdflib.URIRef(WORD + part)).toPython() for part in ("score", "source"))
        told[triple] = (score, source)
    assert told == FACTS
    quads = list(pyoxigraph.parse(text.encode(), format=pyoxigraph.RdfFormat.N_QUADS))
    named = [quad for quad in quads if isinstance(quad.graph_name, pyoxigraph.NamedNode)]
    assert [Triple(*map(back, quad.triple)) for quad in named] == list(TRIPLES)
    labels = {back(q.subject): q.object.value for q in quads if q.predicate.value.endswith("rdf-schema#label")}
    assert labels == FOUND.labels


def test_rdf_1_2_has_reifiers():
    text = Result(FOUND).to("rdf", version="1.2")
    quads = list(pyoxigraph.parse(text.encode(), format=pyoxigraph.RdfFormat.N_QUADS))
    said = {}
    for quad in quads:
        said.setdefault(quad.subject.value, {})[quad.predicate.value] = quad.object
    told = {
        Triple(*map(back, values[RDF + "reifies"])): (
            float(values[WORD + "score"].value),
            values[WORD + "source"].value,
        )
        for values in said.values()
        if RDF + "reifies" in values
    }
    assert told == FACTS


def plain_xml(text):
    return re.sub(r"_x([0-9A-F]{4})_", lambda found: chr(int(found[1], 16)), text)


def test_graphml_is_read_by_networkx():
    [graph] = GraphMLReader()(string=Result(FOUND).to("graphml"))
    told = {
        Triple(*map(plain_xml, (subject, data["relation"], object_))): (data["score"], plain_xml(data["provenance"]))
        for subject, object_, data in graph.edges(data=True)
    }
    assert told == FACTS
    assert graph.nodes["Q211"] == {"label": "Latvia", "literal": False}
    assert plain_xml(graph.nodes["Q1773"]["label"]) == HOSTILE
    assert networkx.parse_graphml(Result(FOUND).to("graphml")).number_of_edges() == len(TRIPLES)


# Neo4j reads ``\u0027`` as a quote before it parses, so that it would end a string.
STRING = r"'(?:[^'\\`\"\x00-\x1f\x7f-\uffff]|\\\\|\\'|\\\"|\\u(?!0027|0022|005C)[0-9A-F]{4})*'"
VALUE = rf"(?:{STRING}|-?[0-9][0-9.e-]*|null)"
MAP = rf"\{{(?:\w+: {VALUE}(?:, \w+: {VALUE})*)?\}}"
MERGED = re.compile(rf"MERGE \((\w):(Result|Entity|Literal) ({MAP})\) SET \1 \+= ({MAP});")
JOINED = re.compile(
    rf"MATCH \(s:Entity ({MAP})\), \(o:(?:Entity|Literal) ({MAP})\) "
    rf"MERGE \(s\)-\[t:`[A-Za-z0-9_]+` ({MAP})\]->\(o\) SET t \+= ({MAP});"
)


def values(map_):
    """Read a map of Cypher: its strings have the escapes of JSON, but for the single quote."""
    found = {}
    for name, value in re.findall(rf"(\w+): ({VALUE})", map_):
        found[name] = json.loads('"' + value[1:-1].replace("\\'", "'") + '"' if value[0] == "'" else value)
    return found


def statement(line):
    found = MERGED.fullmatch(line) or JOINED.fullmatch(line)
    assert found, line
    return [values(group) for group in found.groups() if group[0] == "{"]


def test_cypher_keeps_to_a_small_grammar_and_has_the_same_facts():
    told, nodes = {}, {}
    for line in Result(FOUND).to("cypher").splitlines():
        parts = statement(line)
        if line.startswith("MERGE (n"):
            nodes[parts[0]["id"]] = parts[1].get("label")
        if line.startswith("MATCH"):
            subject, object_, key, rest = parts
            told[Triple(subject["id"], key["relation"], object_["id"])] = (rest["score"], rest["provenance"])
            assert key["result"] == RESULT_ID
    assert told == FACTS
    assert nodes["Q1773"] == HOSTILE


LABEL = r"((?:[\w .,:()/-]|#[0-9]+;)+)"
NODE, EDGE = re.compile(rf'(\w+)\["{LABEL}"\]'), re.compile(rf'(n\d+) -->\|"{LABEL}"\| (n\d+)')
NOTE, SAID = re.compile(rf"%% score: (\S+) source: {LABEL}"), re.compile(rf"%% (?:question|error): {LABEL}")


def shown(label):
    return re.sub(r"#([0-9]+);", lambda found: chr(int(found[1])), label)


def drawn(diagram):
    """Read a diagram line by line: edges by labels, with score and source."""
    first, *lines = diagram.splitlines()
    assert first == "flowchart LR"
    nodes, edges = {}, []
    for line in lines:
        if found := NODE.fullmatch(line):
            nodes[found[1]] = shown(found[2])
        elif found := EDGE.fullmatch(line):
            edges.append([nodes[found[1]], shown(found[2]), nodes[found[3]]])
        elif found := NOTE.fullmatch(line):
            edges[-1] += [found[1], shown(found[2])]
        else:
            assert SAID.fullmatch(line), line
    return nodes, edges


def test_mermaid_keeps_to_a_line_grammar_and_has_the_same_facts():
    result = Result(FOUND)
    nodes, edges = drawn(result.to("mermaid"))

    def label(id_):
        return id_.lexical if isinstance(id_, Literal) else FOUND.labels.get(id_, id_)

    assert edges == [[*map(label, triple), str(score), source] for triple, (score, source) in FACTS.items()]
    nodes, edges = drawn(result.to("mermaid", max_triples=3))
    assert (len(edges), nodes["rest"]) == (3, "and 5 more triples")
    nodes, _ = drawn(Result(Retrieval(Question("1", "?"), error='no "link"')).to("mermaid"))
    assert nodes == {"none": 'no "link"'}


@pytest.mark.parametrize("as_file", [True, False])
def test_parquet_is_read_by_pyarrow(tmp_path, as_file):
    table = Result(FOUND).to("parquet")
    if as_file:
        driver = Parquet(path=str(tmp_path / "out.parquet"))
        driver.open()
        driver.write([FOUND])
        driver.close()
        table = pyarrow.parquet.read_table(driver.path)
    rows = table.to_pylist()
    told = {Triple(r["subject"], r["relation"], r["object"]): (r["score"], r["provenance"]) for r in rows}
    assert told == FACTS
    assert [row["rank"] for row in rows] == [*range(1, len(TRIPLES) + 1)]
    assert rows[0]["object_label"] == HOSTILE
    assert rows[1]["confidence"] == 0.25


def test_parquet_writes_groups_of_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("srtk_plugin_files.parquet._GROUP", 5)
    driver = Parquet(path=str(tmp_path / "out.parquet"))
    driver.open()
    driver.write([FOUND, FOUND])
    driver.close()
    assert pyarrow.parquet.ParquetFile(driver.path).metadata.num_row_groups == 4
    assert pyarrow.parquet.read_table(driver.path).num_rows == 2 * len(TRIPLES)


@pytest.mark.parametrize(("form", "module"), [("parquet", "pyarrow"), ("pyg", "torch_geometric.data")])
def test_a_form_without_its_library_says_what_to_install(form, module, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    said = rf"is not installed; run: pip install 'srtk-plugin-files\[{form}\]'$"
    with pytest.raises(DriverError, match=said):
        Result(FOUND).to(form)
    with pytest.raises(DriverError, match=said):
        {"parquet": Parquet, "pyg": HeteroData}[form](path=str(tmp_path / "out")).open()
    assert list(tmp_path.iterdir()) == []


@needs_pyg
def test_heterodata_has_the_same_facts():
    torch = importlib.import_module("torch")
    kept = io.BytesIO()
    torch.save(Result(FOUND).to("pyg"), kept)
    data = torch.load(io.BytesIO(kept.getvalue()), weights_only=False)
    assert data.validate()
    told = {}
    for kinds in data.edge_types:
        subject, relation, object_ = kinds
        edges = data[kinds]
        for i, (start, end) in enumerate(edges.edge_index.T.tolist()):
            triple = Triple(data[subject].ids[start], relation, data[object_].ids[end])
            told[triple] = (edges.score[i].item(), edges.provenance[i])
    assert told == FACTS
    assert (data.question, data.text) == (RESULT_ID, HOSTILE)


def test_a_completed_triple_keeps_its_confidence_and_a_path_its_steps():
    retrieval = attrs.evolve(FOUND, labels={})
    assert f'<{WORD}confidence> "0.25"' in Result(retrieval).to("rdf")
    assert '<data key="edge_confidence">0.25</data>' in Result(retrieval).to("graphml")
    assert "confidence: 0.25" in Result(retrieval).to("cypher")
    assert Result(retrieval).to("parquet").column("path")[0].as_py() == str(Step("P36")) + " " + str(
        Step(HOSTILE, True)
    )
