"""The commands that SRTK's paper prints (Shen 2023, section 3), each as printed but for addresses and model names.

A server of REL and an Oxigraph server over Wikidata-shaped triples run on loopback; the model is a tiny one with random
weights, saved as SRTK saves its scorers: a plain Hugging Face folder.
"""

from __future__ import annotations

import json
import re
import shlex
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from srtk_framework.cli import main
from srtk_framework.testing import served

HAKATA, FUKUOKA, JAPAN = "Q1330839", "Q26600", "Q17"
QUESTION = "Where is Hakata Ward?"
TRIPLES = [[HAKATA, "P31", FUKUOKA], [HAKATA, "P17", JAPAN]]
LABELS = {HAKATA: "Hakata-ku", FUKUOKA: "Fukuoka", JAPAN: "Japan", "P31": "located in", "P17": "country"}
WORDS = "where is hakata ward ? query relation : located in country end of hop fukuoka japan"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, with its own cache."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture(scope="module")
def sparql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the paper's two triples and their labels, in the form of Wikidata."""
    pytest.importorskip("pyoxigraph")
    from srtk_plugin_sparql.commands.load import load
    from srtk_plugin_sparql.store import DATA

    wd, wdt = "http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/direct/"
    lines = [f"<{wd}{s}> <{wdt}{p}> <{wd}{o}> ." for s, p, o in TRIPLES]
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    lines += [f'<{wd}{id_}> {label} "{name}"@en .' for id_, name in LABELS.items()]
    folder = tmp_path_factory.mktemp("rdf")
    (folder / "data.nt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    load([folder / "data.nt"], folder / "store")
    with served(folder / "store" / DATA) as url:
        yield url


@pytest.fixture
def rel() -> Iterator[str]:
    """Run a server that answers as REL does: a list per mention, with the title of its page."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            text = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"]
            start = text.find("Hakata Ward")
            found = [[start, 11, "Hakata Ward", "Hakata-ku,_Fukuoka", 0.9, 0.99, "LOC"]] if start >= 0 else []
            data = json.dumps(found).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Save a tiny BERT as SRTK saves its scorers, without a pooling setting."""
    pytest.importorskip("torch")
    pytest.importorskip("srtk_plugin_transformers")
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("model")
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    vocabulary = {word: i for i, word in enumerate(dict.fromkeys([*special.values(), *WORDS.split()]))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **special).save_pretrained(folder)
    torch.manual_seed(1)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    BertModel(BertConfig(vocab_size=len(vocabulary), max_position_embeddings=64, **sizes)).save_pretrained(folder)
    return str(folder)


def srtk(command: str, **replaced: str) -> int:
    """Run a command, its addresses and model names replaced."""
    for old, new in replaced.items():
        assert f"<{old}>" in command
        command = command.replace(f"<{old}>", new)
    return main(shlex.split(command))


def write(path: Path, *records: dict[str, Any]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def wikimapper(here: Path) -> Callable[[], None]:
    """Return a function that puts an index of titles where SRTK expects it."""
    pytest.importorskip("srtk_plugin_rel")
    from srtk_plugin_rel.index_builder import build

    def make() -> None:
        (here / "titles.tsv").write_text(f"Hakata-ku,_Fukuoka\t{HAKATA}\n")
        folder = here / "resources" / "wikimapper"
        folder.mkdir(parents=True)
        build([here / "titles.tsv"], [], folder / "index_enwiki.db", force=False)

    return make


LINK = "link --input question.jsonl --output linked.jsonl --knowledge-graph wikidata --el-endpoint <rel>"


def test_link_finds_the_entity_without_a_service_named(here, rel, wikimapper, capsys):
    wikimapper()
    write(here / "question.jsonl", {"question": QUESTION})
    assert srtk(LINK, rel=rel) == 0
    [record] = read(here / "linked.jsonl")
    assert record["question_entities"] == [HAKATA]
    assert record["spans"] == [[9, 20]]
    assert record["entity_names"] == ["Hakata-ku, Fukuoka"]
    assert "no --service given: rel links" in capsys.readouterr().err


def test_link_to_wikidata_without_an_index_says_how_to_get_one(here, rel, capsys):
    pytest.importorskip("srtk_plugin_rel")
    write(here / "question.jsonl", {"question": QUESTION})
    assert srtk(LINK, rel=rel) == 2
    said = capsys.readouterr().err
    assert "resources/wikimapper/index_enwiki.db" in said
    assert "srtk map build" in said


RETRIEVE = (
    "retrieve --input linked.jsonl --output subgraph.jsonl --beam-width 2 --max-depth 1"
    " --scorer-model-path <model> --sparql-endpoint <sparql>"
)


def test_retrieve_takes_the_endpoint_for_wikidatas(here, model, sparql, capsys):
    write(here / "linked.jsonl", {"question": QUESTION, "question_entities": [HAKATA]})
    assert srtk(RETRIEVE, model=model, sparql=sparql) == 0
    [record] = read(here / "subgraph.jsonl")
    assert sorted(record["triplets"]) == sorted(TRIPLES)
    assert f"no --knowledge-graph given: wikidata at {sparql}" in capsys.readouterr().err


def test_retrieve_pools_a_plain_folder_as_srtk_does(here, model, sparql):
    write(here / "linked.jsonl", {"question": QUESTION, "question_entities": [HAKATA]})
    scores = []
    for flags in ("", " --pooling cls", " --pooling mean"):
        (here / "subgraph.jsonl").unlink(missing_ok=True)
        assert srtk(RETRIEVE + flags + " --quiet", model=model, sparql=sparql) == 0
        scores.append(read(here / "subgraph.jsonl")[0]["scores"])
    assert scores[0] == scores[1] != scores[2]


EVALUATE = "retrieve --input test.jsonl --scorer-model-path <model> --evaluate"


def test_retrieve_with_evaluate_prints_both_figures_and_writes_the_metric(here, model, sparql, capsys):
    write(
        here / "test.jsonl",
        {"question": QUESTION, "question_entities": [HAKATA], "answer_entities": [FUKUOKA]},
        {"question": QUESTION, "question_entities": [HAKATA], "answer_entities": ["Q1"]},
    )
    assert srtk(EVALUATE + " --sparql-endpoint <sparql>", model=model, sparql=sparql) == 0
    assert len(read(here / "test.subgraph.jsonl")) == 2
    [metric] = read(here / "test.subgraph.metric")
    assert metric == {"hit": 1, "miss": 1, "recall": 0.5}
    said = capsys.readouterr().out
    assert "Answer coverage rate: 0.5000 (1 / 2)" in said
    assert "Average subgraph size: 2.0000 triples" in said


def test_retrieve_without_endpoint_means_wikidatas_public_one():
    import argparse

    from srtk_plugin_sr import retrieve_command, short_commands

    parser = argparse.ArgumentParser()
    retrieve_command.add_arguments(parser)
    args = parser.parse_args([*shlex.split(EVALUATE.replace("<model>", "artifacts/scorer"))[1:], "--quiet"])
    short_commands.set_output(args, ".subgraph.jsonl")
    short_commands.set_graph(args)
    assert retrieve_command.recipe_data(args)["knowledge_graph"] == {"use": "wikidata"}
    assert args.output == "test.subgraph.jsonl"


def test_evaluate_without_answers_says_so_and_writes_no_metric(here, model, sparql, capsys):
    write(here / "test.jsonl", {"question": QUESTION, "question_entities": [HAKATA]})
    assert srtk(EVALUATE + " --sparql-endpoint <sparql>", model=model, sparql=sparql) == 0
    assert "no question of test.jsonl has answer_entities" in capsys.readouterr().err
    assert not list(here.glob("*.metric"))


def test_visualize_draws_labels_into_a_page_beside_the_input(here, sparql):
    write(here / "subgraph.jsonl", {"question": QUESTION, "question_entities": [HAKATA], "triples": TRIPLES})
    command = "visualize --input subgraph.jsonl --knowledge-graph wikidata --sparql-endpoint <sparql>"
    assert srtk(command, sparql=sparql) == 0
    page = (here / "subgraph.pages" / "page.html").read_text()
    assert "Fukuoka" in page
    assert "located in" in page


def test_visualize_says_which_questions_and_triples_it_leaves_out(here, capsys):
    many = [[HAKATA, "P31", f"Q{i}"] for i in range(61)]
    write(here / "s.jsonl", *({"question": f"{i}?", "triplets": many if i == 1 else TRIPLES} for i in range(5)))
    assert srtk("visualize --input s.jsonl --max-output 3 --quiet") == 0
    said = capsys.readouterr().err
    assert "has the first 3 of 5 questions; draw all with --max-output 5" in said
    assert "draws 60 triples of each of 1 questions that have more" in said
    assert srtk("visualize --input s.jsonl --max-output 5 --quiet -o all") == 0
    assert "of 5 questions" not in capsys.readouterr().err


def test_visualize_counts_what_it_leaves_out_of_the_standard_input_too(here, capsys, monkeypatch):
    write(here / "s.jsonl", *({"question": f"{i}?", "triplets": TRIPLES} for i in range(3)))
    with (here / "s.jsonl").open() as file:
        monkeypatch.setattr("sys.stdin", file)
        assert srtk("visualize --input - -o pages --max-output 2 --quiet") == 0
    assert "has the first 2 of 3 questions" in capsys.readouterr().err
    assert srtk("visualize --input -") == 2
    assert "give --output" in capsys.readouterr().err


TWO = ("a.jsonl", "b.jsonl")


def results(here: Path, name: str, *ids: str, triples: object = TRIPLES, **more: object) -> None:
    records = ({"id": i, "question": f"{i}?", "question_entities": [HAKATA], "triplets": triples, **more} for i in ids)
    write(here / name, *records)


def page_of(here: Path, folder: str) -> dict[str, object]:
    text = (here / folder / "page.html").read_text()
    return {
        name: json.loads(re.search(rf'id="{name}-data">(.*?)</script>', text, re.DOTALL)[1])
        for name in ("index", "summary")
    }


def test_visualize_draws_two_methods_side_by_side(here, capsys):
    results(here, "a.jsonl", "1", "2", "3")
    results(here, "b.jsonl", "4", "2", "1", triples=[])
    assert srtk("visualize a.jsonl b.jsonl --quiet") == 0
    page = page_of(here, "a-b.pages")
    assert page["summary"]["names"] == ["a", "b"]
    assert [(entry["id"], *entry["n"]) for entry in page["index"]] == [
        ("1", len(TRIPLES), 0),
        ("2", len(TRIPLES), 0),
        ("3", len(TRIPLES), None),
        ("4", None, 0),
    ]
    assert "3 of the 3 questions of b on a-b.pages/page.html have no triples" in capsys.readouterr().err
    assert srtk("visualize a.jsonl b.jsonl --quiet --max-output 2 -o few --name beam --name bfs") == 0
    page = page_of(here, "few")
    assert page["summary"]["names"] == ["beam", "bfs"]
    assert page["summary"]["total"] == 3
    assert [entry["id"] for entry in page["index"]] == ["1", "2"]
    results(here, "c.jsonl", "1", "2")
    capsys.readouterr()
    assert srtk("visualize a.jsonl c.jsonl --quiet --max-output 2 -o fewer") == 0
    assert "has the first 2 of 3 questions" in capsys.readouterr().err


def test_visualize_reads_labels_for_both_methods(here, sparql):
    results(here, "a.jsonl", "1", triples=[])
    results(here, "b.jsonl", "1")
    command = "visualize a.jsonl b.jsonl --knowledge-graph wikidata --sparql-endpoint <sparql>"
    assert srtk(command, sparql=sparql) == 0
    page = (here / "a-b.pages" / "page.html").read_text()
    assert "Fukuoka" in page
    assert "located in" in page


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("", "there are no results to draw; name a JSONL file"),
        ("a.jsonl b.jsonl c.jsonl", "3 files are given, and a page shows one or two side by side"),
        ("a.jsonl c.jsonl", "no question of a.jsonl is in c.jsonl (their first ids: 1 and 9)"),
        ("a.jsonl d.jsonl", "a.jsonl and d.jsonl have the same ids for other questions (1: '1?' and 'Who?')"),
        ("a.jsonl - -o pages", "two methods are drawn from two files"),
        ("a.jsonl a.jsonl", "are not distinct; list each file once"),
        ("a.jsonl --name beam", "--name names each of two methods"),
        (". -o pages", ". is no folder of a finished run"),
    ],
)
def test_visualize_refuses_what_no_page_shows_with_a_sentence(here, capsys, command, sentence):
    results(here, "a.jsonl", "1", "2")
    results(here, "b.jsonl", "1", "2")
    results(here, "c.jsonl", "9")
    write(here / "d.jsonl", {"id": "1", "question": "Who?", "triplets": TRIPLES})
    assert srtk(f"visualize {command} --quiet") == 2
    assert sentence in capsys.readouterr().err


def test_visualize_draws_the_methods_that_a_run_has_compared(here, capsys):
    results(here, "a.jsonl", "1", answer_entities=["Q1"])
    recipe = "srtk: 1\noutput: out\nquestions: a.jsonl\nexpander: {use: bfs}\n"
    recipe += f"knowledge_graph: {{use: memory, triples: [[{HAKATA}, b, c]]}}\n"
    for more, methods in (("[random]", ["bfs", "random"]), ("[random, ppr]", None)):
        (here / "r.yaml").write_text(f"{recipe}evaluate: {{against: {more}}}\n")
        assert main(["run", "r.yaml", "--quiet", "--fresh"]) == 0
        assert srtk("visualize out --quiet") == (0 if methods else 2)
        if methods:
            assert page_of(here, "out-random.pages")["summary"]["names"] == methods
    said = capsys.readouterr().err
    assert "out has the results of 3 methods" in said
    assert "name one or two of out/journal/bfs.jsonl, out/journal/random.jsonl, out/journal/ppr.jsonl" in said


PREPROCESS = (
    "preprocess --input kbqa_dataset.jsonl --search-path --output train.jsonl --knowledge-graph wikidata"
    " --sparql-endpoint <sparql> --metric jaccard --num-negative 2"
)


def test_preprocess_makes_a_row_for_the_step_and_one_for_the_end(here, sparql):
    record = {"question": QUESTION, "question_entities": [HAKATA], "answer_entities": [FUKUOKA]}
    write(here / "kbqa_dataset.jsonl", record)
    assert srtk(PREPROCESS, sparql=sparql) == 0
    first, last = read(here / "train.jsonl")
    assert (first["positive"], first["query"]) == ("located in", f"{QUESTION} [SEP] ")
    assert "country" in first["negatives"]
    assert last["positive"] == "END OF HOP"


TRAIN = "train --train-dataset data/train.jsonl --output-dir artifacts/scorer --model-name-or-path <model>"


@pytest.fixture
def rows(here: Path) -> None:
    """Write the rows that the command trains on."""
    (here / "data").mkdir()
    row = {"query": f"{QUESTION} [SEP] ", "positive": "located in", "negatives": ["country", "END OF HOP"]}
    write(here / "data" / "train.jsonl", *({**row, "query": f"{i} {QUESTION} [SEP] "} for i in range(40)))


def test_train_on_a_gpu_or_says_that_there_is_none(here, rows, model, capsys):
    pytest.importorskip("lightning")
    import torch

    assert srtk(TRAIN + " --accelerator gpu --max-epochs 1", model=model) == 0
    assert (here / "artifacts" / "scorer" / "model.safetensors").exists()
    assert ("there is no GPU here" in capsys.readouterr().err) == (not torch.cuda.is_available())
    pooling = json.loads((here / "artifacts" / "scorer" / "1_Pooling" / "config.json").read_text())
    assert pooling["pooling_mode_cls_token"] is True


WANDB = " --wandb-project retrieval --wandb-group contrastive --wandb-savedir logs"


def test_train_takes_the_flags_of_wandb(here, rows, model, capsys, monkeypatch):
    from importlib.util import find_spec

    pytest.importorskip("lightning")
    monkeypatch.setenv("WANDB_MODE", "offline")
    assert srtk(TRAIN + " --accelerator cpu --max-epochs 1" + WANDB, model=model) == 0
    assert (here / "artifacts" / "scorer" / "model.safetensors").exists()
    if find_spec("wandb") is None:
        assert "wandb is not installed, so nothing is logged to it" in capsys.readouterr().err
    else:
        assert list((here / "logs").rglob("run-*.wandb"))


def test_train_without_the_flags_of_wandb_says_nothing_about_it(here, rows, model, capsys):
    pytest.importorskip("lightning")
    assert srtk(TRAIN + " --accelerator cpu --max-epochs 1 --quiet", model=model) == 0
    assert "wandb" not in capsys.readouterr().err
