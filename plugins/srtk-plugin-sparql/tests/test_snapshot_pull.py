"""``srtk graph pull``: a run over a real server becomes a snapshot on which the same recipe gives the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_sparql import store
from srtk_plugin_sparql.commands.load import load
from srtk_plugin_views.read_log import READS, Log, read

from srtk_framework.cli import main
from srtk_framework.records import with_checksum
from srtk_framework.testing import SAMPLE, served
from srtk_framework.values import Literal, Pattern, Triple

pytest.importorskip("srtk_plugin_local", reason="srtk-plugin-local builds the snapshots; it is not installed")
pytest.importorskip("srtk_plugin_sr", reason="srtk-plugin-sr brings the beam; it is not installed")

ROOT = Path(__file__).parents[3]
DATA = Path(os.environ.get("SRTK_DATA", ROOT.parent / "shared" / "data"))
SCORER = '''
"""Scores steps by a hash: as good as an encoder to show that two runs are equal."""
import hashlib
import attrs
from srtk_framework.roles import PLAIN, PathScorer

@attrs.define
class Drawn(PathScorer):
    """Draws scores, which are added up as they are: a cost by the size of a hub differs where the hub is cut."""
    def search_settings(self):
        return PLAIN
    def score(self, questions, paths, candidates):
        return [[-hashlib.sha256(repr((question, path, step)).encode()).digest()[0] / 256 for step in steps]
                for question, path, steps in zip(questions, paths, candidates)]
'''
KIT = {"prefixes": {"": "http://example.org/kit/"}, "decode": True, "noise": ["code"]}
QUESTIONS = ("Latvia", "Riga", "Echo", "Museum", 'Say "Hi" & <b>bye</b>', "Archipelago", "Cote_d_Ivoire")


@pytest.fixture(scope="module")
def scorers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Install the scorer for the length of the module."""
    folder = tmp_path_factory.mktemp("drawn")
    (folder / "srtk_drawn.py").write_text(SCORER)
    info = folder / "srtk_plugin_drawn-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: srtk-plugin-drawn\nVersion: 1.0\nRequires-Dist: srtk-framework>=0.1,<1\n"
    )
    (info / "entry_points.txt").write_text("[srtk.path_scorer]\ndrawn = srtk_drawn:Drawn\n")
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))
    sys.modules.pop("srtk_drawn", None)


def written(folder: Path, graph: dict[str, Any], **changes: Any) -> Path:
    """Write a recipe and its questions."""
    asked = changes.pop("asked", QUESTIONS)
    lines = [
        {"id": str(number), "question": f"What of {name}?", "question_entities": [name]}
        if isinstance(name, str)
        else {"id": str(number), **name}
        for number, name in enumerate(asked)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    recipe = {
        "srtk": 1,
        "questions": str(folder / "questions.jsonl"),
        "knowledge_graph": graph,
        "path_scorer": "drawn",
        "expander": {"use": "beam", "width": 5, "depth": 2},
        "batch": 2,
        "output": str(folder / "out"),
        **changes,
    }
    (folder / "recipe.yaml").write_text(json.dumps(recipe))
    return folder / "recipe.yaml"


def kit(url: str, **settings: Any) -> dict[str, Any]:
    return {"use": "sparql", "endpoint": url, "engine": "oxigraph", "vocabulary": KIT, **settings}


def results(recipe: Path, *sets: str, method: str = "beam") -> list[dict[str, Any]]:
    """Run a recipe and return its records without provenance."""
    assert main(["run", str(recipe), "--quiet", *(part for one in sets for part in ("--set", one))]) == 0
    lines = (recipe.parent / "out" / "journal" / f"{method}.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    for record in found:
        record.pop("provenance", None)
        del record["journal"]
    return found


def pull(source: Path, out: Path, *flags: str) -> int:
    return main(["graph", "pull", str(source), "--out", str(out), "--quiet", *flags])


def local(out: Path) -> str:
    return "knowledge_graph=" + json.dumps({"use": "local", "path": str(out)})


def content(out: Path) -> str:
    return str(json.loads((out / "meta.json").read_text())["content"])


def triples(out: Path) -> set[Any]:
    from srtk_plugin_local.snapshot.graph import LocalGraph

    graph = LocalGraph(str(out))
    graph.open()
    return set(graph.match([Pattern()])[0])


@pytest.mark.usefixtures("scorers")
def test_a_whole_snapshot_gives_the_same_results_as_the_server(kit_server: str, tmp_path: Path) -> None:
    against = {"against": ["bfs"]} if _has("srtk_plugin_baselines") else True
    recipe = written(tmp_path, kit(kit_server), evaluate=against)
    live = results(recipe)
    assert sum(len(record["triplets"]) for record in live) > 20
    assert pull(recipe, tmp_path / "snapshot", "--whole") == 0
    assert results(recipe, local(tmp_path / "snapshot")) == live
    if against is not True:
        offline = results(recipe, local(tmp_path / "snapshot"), method="bfs")
        assert offline == results(recipe, method="bfs")


@pytest.mark.usefixtures("scorers")
def test_questions_are_linked_as_on_the_server(kit_server: str, tmp_path: Path) -> None:
    asked = [{"question": "Does Georgia border Lettland?"}, {"question": "who runs the ivory coast and riga"}]
    recipe = written(tmp_path, kit(kit_server), asked=asked, entity_linker="dictionary")
    live = results(recipe)
    assert all(record["question_entities"] for record in live)
    assert pull(recipe, tmp_path / "snapshot", "--whole") == 0
    assert results(recipe, local(tmp_path / "snapshot")) == live


@pytest.mark.usefixtures("scorers")
@pytest.mark.parametrize("hub", [None, "0"])
def test_a_hub_is_read_up_to_the_limit_of_the_recipe(kit_server: str, tmp_path: Path, hub: str | None) -> None:
    recipe = written(tmp_path, kit(kit_server), asked=["Museum"], budget={"hub": 10})
    live = results(recipe)
    assert pull(recipe, tmp_path / "snapshot", "--whole", *(("--hub", hub) if hub else ())) == 0
    offline = results(recipe, local(tmp_path / "snapshot"))
    kept = [t for t in triples(tmp_path / "snapshot") if t.object == "Museum"]
    if hub:
        assert offline == live
        assert len(kept) == 40
    else:
        assert {f"Item_{number:02}" for number in range(10)} <= {t.subject for t in kept}
        assert len(kept) < 40
        for record in (*live, *offline):
            record["trace"].pop("cut", None)
        assert offline == live


@pytest.mark.usefixtures("scorers")
def test_without_more_a_snapshot_holds_what_was_fetched(kit_server: str, tmp_path: Path) -> None:
    recipe = written(tmp_path, kit(kit_server), expander={"use": "beam", "width": 1, "depth": 1}, asked=["Latvia"])
    live = results(recipe)
    assert pull(recipe, tmp_path / "snapshot") == 0
    held = triples(tmp_path / "snapshot")
    assert {tuple(row) for row in live[0]["triplets"]} == {tuple(map(str, triple)) for triple in held}
    assert held < set(SAMPLE.triples)


@pytest.mark.usefixtures("scorers")
def test_a_whole_snapshot_has_ids_prefixes_literals_labels_and_schema(kit_server: str, tmp_path: Path) -> None:
    from srtk_plugin_local.snapshot.graph import LocalGraph

    recipe = written(tmp_path, kit(kit_server))
    assert pull(recipe, tmp_path / "snapshot", "--whole") == 0
    held = triples(tmp_path / "snapshot")
    assert held <= set(SAMPLE.triples)
    assert {t for t in SAMPLE.triples if t.subject in ("Latvia", "Riga")} <= held
    graph = LocalGraph(str(tmp_path / "snapshot"))
    graph.open()
    ids = sorted({end for t in held for end in t})
    assert graph.labels(ids) == [SAMPLE.labels.get(id_, _unlabelled(id_)) for id_ in ids]
    assert dict(graph.schema().prefixes) == {"": "http://example.org/kit/"}
    assert graph.schema().noise == ("code",)


def _unlabelled(id_: str) -> str:
    if isinstance(id_, Literal):
        return id_.lexical
    return id_ if id_[:1].islower() else id_.replace("_", " ")  # relations keep their ids


@pytest.mark.usefixtures("scorers")
def test_the_same_reads_give_the_same_bytes(kit_server: str, tmp_path: Path) -> None:
    for place, asked in (("a", QUESTIONS), ("b", QUESTIONS[::-1])):
        assert pull(written(tmp_path / place, kit(kit_server), asked=asked), tmp_path / place / "snapshot") == 0
    first = content(tmp_path / "a" / "snapshot")
    assert content(tmp_path / "b" / "snapshot") == first
    assert pull(tmp_path / "a" / "recipe.yaml", tmp_path / "a" / "snapshot") == 0
    assert content(tmp_path / "a" / "snapshot") == first


@pytest.mark.usefixtures("scorers")
def test_a_snapshot_records_its_source(kit_server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = written(tmp_path, kit(kit_server, version="2026-11"))
    assert pull(recipe, tmp_path / "snapshot", "--whole") == 0
    capsys.readouterr()
    assert main(["graph", "info", str(tmp_path / "snapshot"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["origin"]
    assert told["source"] == kit_server
    assert told["version"] == "2026-11"
    assert told["recipe"] == "recipe.yaml"
    assert told["questions"] == len(QUESTIONS)
    assert told["whole"] == "up to 1000 neighbours a step"
    assert told["read_from"] <= told["read_to"]
    assert main(["graph", "info", str(tmp_path / "snapshot")]) == 0
    assert kit_server in capsys.readouterr().out.replace("\n", "")


@pytest.mark.usefixtures("scorers")
def test_pulling_again_asks_nothing_that_is_there(proxy: Any, tmp_path: Path) -> None:
    recipe = written(tmp_path, kit(proxy.url))
    assert pull(recipe, tmp_path / "snapshot", "--whole") == 0
    first, asked = content(tmp_path / "snapshot"), len(proxy.seen)
    assert pull(recipe, tmp_path / "snapshot", "--whole") == 0
    assert (content(tmp_path / "snapshot"), len(proxy.seen)) == (first, asked)
    assert pull(recipe, tmp_path / "snapshot", "--whole", "--fresh") == 0
    assert (content(tmp_path / "snapshot"), len(proxy.seen)) == (first, 2 * asked)


@pytest.mark.parametrize(
    ("how", "part"),
    [
        (signal.SIGINT, "run"),
        (signal.SIGKILL, "whole"),
        pytest.param(signal.SIGKILL, "run", marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, "whole", marks=pytest.mark.slow),
    ],
)
def test_an_interrupted_pull_goes_on(proxy: Any, scorers: Path, tmp_path: Path, how: signal.Signals, part: str) -> None:
    recipe = written(tmp_path / "a", kit(proxy.url), batch=1)
    assert pull(recipe, tmp_path / "a" / "snapshot", "--whole") == 0
    whole = len(proxy.seen)
    recipe = written(tmp_path / "b", kit(proxy.url), batch=1)
    out = tmp_path / "b" / "snapshot"
    ready = tmp_path / "b" / "snapshot.reads"

    def going() -> bool:
        if part == "run":
            journal = next(ready.glob("run/*/journal/beam.jsonl"), None)
            return journal is not None and len(journal.read_text().splitlines()) >= 2
        return '"state": "complete"' in "".join(path.read_text() for path in ready.glob("run/*/manifest.json"))

    sent = threading.Event()
    proxy.held = lambda: not sent.is_set() and going()  # the rest is few requests, and must not end before the signal
    code = "import sys; from srtk_framework.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "graph", "pull", str(recipe), "--out", str(out), "--whole"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(scorers), os.environ.get("PYTHONPATH", "")])}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        until = time.monotonic() + 120
        while not going() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(how)
        sent.set()
        said = process.communicate(timeout=60)[0]
    finally:
        sent.set()
        process.kill()
    assert process.returncode == (130 if how == signal.SIGINT else -how), said
    assert "the same command goes on" in said or how == signal.SIGKILL
    assert not out.exists()
    asked = len(proxy.seen)
    assert pull(recipe, out, "--whole") == 0
    assert content(out) == content(tmp_path / "a" / "snapshot")
    assert len(proxy.seen) - asked < whole


@pytest.mark.usefixtures("scorers")
def test_a_failed_question_is_reported_and_retried_by_the_next_pull(
    proxy: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = written(tmp_path, kit(proxy.url), batch=1)
    proxy.plan = [None, "403"]
    assert pull(recipe, tmp_path / "snapshot") == 0
    assert "questions failed, and what they would have read is missing" in capsys.readouterr().err
    assert json.loads((tmp_path / "snapshot" / "meta.json").read_text())["origin"]["failed"] >= 1
    assert pull(recipe, tmp_path / "snapshot") == 0
    assert "failed" not in json.loads((tmp_path / "snapshot" / "meta.json").read_text())["origin"]
    assert pull(written(tmp_path / "b", kit(proxy.url)), tmp_path / "b" / "snapshot") == 0
    assert content(tmp_path / "b" / "snapshot") == content(tmp_path / "snapshot")


@pytest.mark.usefixtures("scorers")
def test_a_record_becomes_a_snapshot(kit_server: str, tmp_path: Path) -> None:
    recipe = written(tmp_path, kit(kit_server, record=str(tmp_path / "record")))
    assert pull(recipe, tmp_path / "pulled") == 0
    assert pull(tmp_path / "record", tmp_path / "snapshot") == 0
    assert triples(tmp_path / "snapshot") == triples(tmp_path / "pulled")
    live = results(recipe)
    labels = {id_: name for record in live for id_, name in record["labels"].items()}
    offline = {id_: name for r in results(recipe, local(tmp_path / "snapshot")) for id_, name in r["labels"].items()}
    assert {id_: offline[id_] for id_ in labels.keys() & offline.keys()} == {
        id_: labels[id_] for id_ in labels.keys() & offline.keys()
    }
    origin = json.loads((tmp_path / "snapshot" / "meta.json").read_text())["origin"]
    assert (origin["source"], origin["record"]) == (kit_server, "record")


@pytest.mark.usefixtures("scorers")
def test_the_reads_of_a_pull_become_the_same_snapshot(kit_server: str, tmp_path: Path) -> None:
    recipe = written(tmp_path, kit(kit_server))
    assert pull(recipe, tmp_path / "first", "--whole") == 0
    assert pull(tmp_path / "first.reads", tmp_path / "second") == 0
    assert content(tmp_path / "second") == content(tmp_path / "first")


@pytest.mark.usefixtures("scorers")
def test_another_recipe_is_added_to_what_was_read(kit_server: str, tmp_path: Path) -> None:
    for asked in (["Latvia"], ["Echo"]):
        assert pull(written(tmp_path, kit(kit_server), asked=asked), tmp_path / "snapshot") == 0
    subjects = {triple.subject for triple in triples(tmp_path / "snapshot")}
    assert {"Latvia", "Echo"} <= subjects


def test_strange_ids_literals_and_qualifiers_come_through(tmp_path: Path) -> None:
    from srtk_plugin_local.snapshot.graph import LocalGraph

    facts = [
        Triple('"Heroes"', "by", "Bowie"),
        Triple("Bowie", "called", Literal('"Low"')),
        Triple("Bowie", "motto", Literal('"two\nlines\tand a "quote""@en')),
        Triple("Bowie", "born", Literal('"1947-01-08"^^xsd:date')),
        Triple("Bowie", "length", Literal('"1"^^http://example.org/metre')),
    ]
    said = (("as", Literal('"Ziggy"')), ("in", "Berlin"), ("since", Literal('"1977"^^xsd:gYear')))
    schema = {"type_relations": ["by"], "subclass_relations": [], "mediators": ["_:*"], "noise": ["n*"], "prefixes": {}}
    log = Log(tmp_path / "reads", {"source": "x", "version": "", "schema": schema, "names": False})
    log.add_triples(facts)
    log.add_labels({'"Heroes"': '"Heroes"@en, an album', "Bowie": "Bowie", "by": "made by"})
    log.add_found({"ziggy stardust": ["Bowie"], "bowie": ["Bowie"]})
    log.add_qualifiers({facts[0]: said})
    log.close()
    assert pull(tmp_path / "reads", tmp_path / "snapshot") == 0
    assert triples(tmp_path / "snapshot") == set(facts)
    graph = LocalGraph(str(tmp_path / "snapshot"))
    graph.open()
    held = graph.match([Pattern(subject="Bowie"), Pattern(object="Bowie")])
    assert all(isinstance(triple.object, Literal) for triple in held[0])
    assert not isinstance(held[1][0].subject, Literal)
    assert graph.qualifiers(facts[:2]) == [said, ()]
    assert graph.labels(['"Heroes"', "Bowie", "by"]) == ['"Heroes"@en, an album', "Bowie", "made by"]
    assert graph.find(["Ziggy Stardust", "Bowie"]) == [["Bowie"], ["Bowie"]]
    told = graph.schema()
    assert (told.type_relations, told.mediators, told.noise) == (("by",), ("_:*",), ("n*",))


@pytest.mark.usefixtures("scorers")
def test_a_replayed_recipe_is_pulled_without_the_server(kit_server: str, tmp_path: Path) -> None:
    recipe = written(tmp_path, kit(kit_server, record=str(tmp_path / "record")))
    assert pull(recipe, tmp_path / "first") == 0
    replayed = kit("http://127.0.0.1:9/query", replay=str(tmp_path / "record"))
    assert pull(written(tmp_path / "b", replayed), tmp_path / "second") == 0
    assert content(tmp_path / "second") == content(tmp_path / "first")


@pytest.mark.usefixtures("scorers")
def test_a_graph_inside_of_a_block_is_collected(kit_server: str, tmp_path: Path) -> None:
    recipe = written(tmp_path, "memory")
    data = json.loads(recipe.read_text())
    del data["knowledge_graph"]
    data["expander"]["graph"] = kit(kit_server)
    recipe.write_text(json.dumps(data))
    assert pull(recipe, tmp_path / "snapshot") == 0
    assert triples(tmp_path / "snapshot") <= set(SAMPLE.triples)


@pytest.mark.usefixtures("scorers")
def test_what_cannot_be_pulled_is_refused_with_a_reason(
    kit_server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "snapshot"
    (tmp_path / "none").mkdir()
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "answers.jsonl").write_text(with_checksum('{"source":"x"}')[0])
    (tmp_path / "other").mkdir()
    facts = {"driver": "a.B", "plain": False, "version": "", "vocabulary": {}, "schema": {}}
    (tmp_path / "other" / "answers.jsonl").write_text(with_checksum(json.dumps({"source": "x", "graph": facts}))[0])
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "mine.txt").write_text("mine")
    both = written(tmp_path / "both", kit(kit_server), expander={"use": "beam", "graph": kit(kit_server, version="2")})
    nothing = written(tmp_path / "nothing", {"use": "local", "path": "x"})
    good = written(tmp_path / "good", kit(kit_server))
    for source, flags, told in (
        (tmp_path / "missing.yaml", (), "there is no such recipe or folder"),
        (tmp_path / "none", (), "holds no answers.jsonl"),
        (tmp_path / "old", (), "with `replay: "),
        (tmp_path / "other", (), "a graph a.B, whose answers are more than single triples"),
        (tmp_path / "old", ("--whole",), "--whole goes with a recipe"),
        (both, (), "has several SPARQL graphs"),
        (nothing, (), "has no SPARQL graph to pull from (its knowledge_graph is local)"),
        (good, ("--hub", "5"), "together with --whole"),
        (good, ("--set", "questions=null"), "there are no questions"),
        (good, ("--set", "expander.width=wide"), "width"),
    ):
        assert pull(source, out, *flags) == 2, told
        assert told in capsys.readouterr().err
    assert pull(good, taken) == 2
    assert "is not a graph snapshot" in capsys.readouterr().err
    assert not out.exists()
    assert [path.name for path in taken.iterdir()] == ["mine.txt"]


@pytest.mark.usefixtures("scorers")
def test_an_empty_record_makes_no_snapshot(kit_server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = written(tmp_path, kit(kit_server, record=str(tmp_path / "record")), asked=["Atlantis"])
    assert pull(recipe, tmp_path / "snapshot") == 1
    assert "1 of 1 questions failed" in capsys.readouterr().err
    assert pull(tmp_path / "record", tmp_path / "snapshot") == 2
    assert "no triple was read" in capsys.readouterr().err
    assert not (tmp_path / "snapshot").exists()


def _has(module: str) -> bool:
    from importlib.util import find_spec

    return find_spec(module) is not None


WD, WDT, LABEL = "http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/direct/", "rdf-schema#label"


@pytest.fixture(scope="module")
def wiki_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the URL of a server over Wiki27K in the form of Wikidata's direct claims."""
    import pyoxigraph as ox

    source = DATA / "wiki27k"
    if not source.is_dir():
        pytest.skip("the data of Wiki27K is not there (set SRTK_DATA)")
    folder = tmp_path_factory.mktemp("wiki27k")
    label = f"<http://www.w3.org/2000/01/{LABEL}>"
    with (folder / "wiki.nt").open("w", encoding="utf-8") as file:
        for part in ("train.txt", "valid.txt", "test.txt"):
            for line in (source / part).read_text(encoding="utf-8").splitlines():
                subject, relation, object_ = line.split("\t")
                file.write(f"<{WD}{subject}> <{WDT}{relation}> <{WD}{object_}> .\n")
        names = dict(line.split("\t", 1) for line in _lines(source / "entity2label.txt"))
        names |= json.loads((source / "relation2label.json").read_text(encoding="utf-8"))
        for id_, text in names.items():
            file.write(f"<{WD}{id_}> {label} {ox.Literal(text, language='en')} .\n")
    load([folder / "wiki.nt"], folder / "store")
    with served(folder / "store" / store.DATA) as url:
        yield url


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


@pytest.mark.slow
@pytest.mark.usefixtures("scorers")
def test_real_questions_over_wikidata_give_the_same_offline(wiki_server: str, tmp_path: Path) -> None:
    graph = {
        "use": "sparql",
        "endpoint": wiki_server,
        "engine": "oxigraph",
        "vocabulary": {
            "prefixes": {"": WD, "wdt": WDT},
            "entities": [f"{WD}Q"],
            "relations": ["wdt:"],
            "label_namespaces": {WDT: WD},
            "languages": ["en"],
            "type_relations": ["wdt:P31"],
        },
    }
    rows = [json.loads(line) for line in _lines(DATA / "wiki27k" / "derived" / "mintaka_reachable.jsonl")[:5]]
    asked = [{"question": row["question"], "question_entities": row["topic_entities"]} for row in rows]
    recipe = written(
        tmp_path,
        {**graph, "record": str(tmp_path / "record")},
        asked=asked,
        expander={"use": "beam", "width": 10, "depth": 2},
        budget={"triples": 100, "nodes": 50, "hub": 2000},
    )
    live = results(recipe)
    assert sum(len(record["triplets"]) for record in live) > 100
    assert pull(recipe, tmp_path / "snapshot", "--whole") == 0
    offline = results(recipe, local(tmp_path / "snapshot"))
    # A snapshot of what was read lacks neighbours that a limit left out, and counts fewer of them.
    for record in (*live, *offline):
        record["trace"].pop("cut", None)
    assert offline == live
    assert pull(tmp_path / "record", tmp_path / "recorded") == 0
    assert triples(tmp_path / "recorded") >= {tuple(row) for record in live for row in record["triplets"]}
    reads = read(tmp_path / "snapshot.reads")
    assert (tmp_path / "snapshot.reads" / READS).is_file()
    assert len(reads.triples) == len(triples(tmp_path / "snapshot"))
