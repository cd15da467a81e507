"""``srtk adapt``: adaptation to a graph without questions."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("torch")
pytest.importorskip("srtk_plugin_transformers")

from srtk_plugin_sr import adapt_command
from srtk_plugin_sr.adaptation import Adapted
from srtk_plugin_sr.scorer_form import ScorerForm, write_form

from srtk_framework.cli import main

FACTS = [
    *([f"firm{i}", "lead", f"person{i % 7}"] for i in range(40)),
    *([f"firm{i}", "seat", f"city{i % 6}"] for i in range(40)),
    *([f"city{i}", "mayor", f"person{i}"] for i in range(6)),
]
WORDS = "what who is the of lead seat mayor those that have as has are name " + " ".join(f"firm{i}" for i in range(40))


@pytest.fixture
def graph(tmp_path: Path) -> str:
    file = tmp_path / "facts.tsv"
    file.write_text("".join("\t".join(fact) + "\n" for fact in FACTS))
    assert main(["graph", "build", "--no-header", str(file), "--out", str(tmp_path / "graph"), "--quiet"]) == 0
    return str(tmp_path / "graph")


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


def test_it_says_what_it_did_and_writes_weights_that_a_recipe_takes_in_their_form(
    graph: str, tiny: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "adapted"
    flags = ["adapt", "-kg", graph, "-o", str(out), "-m", str(tiny(WORDS)), "--questions", "150"]
    assert main(flags) == 0
    said = capsys.readouterr().err
    assert "questions made" in said
    assert "a right path comes first on the questions held out: " in said
    assert "kept: " in said
    assert f"encoder: {{use: transformers, model: {out}}}" in said
    form = json.loads((out / "path_scorer.json").read_text())
    assert (form["rule"], form["mention"]) == ("gain", "")
    figures = json.loads((out / "training" / "training.json").read_text())["figures"]
    assert figures["share"] == 0 or figures["blends"][str(figures["share"])] > figures["start"]
    # What an adaptation was measured with stands in its record.
    inputs = json.loads((out / "training" / "training.json").read_text())["inputs"]
    measured = {"steps": "60", "epochs": "20", "batch_size": "16", "learning_rate": "5e-05", "validate_every": "20"}
    measured |= {"loss": "listwise", "patience": "2", "depth": "2", "minutes": "5.0", "monitor": "accuracy"}
    assert {name: inputs[name] for name in measured} == measured
    assert figures["learning"] > 32
    assert 3 <= figures["held_out"] <= 25
    card = (out / "README.md").read_text()
    assert f"- {figures['questions']} questions made; {figures['learning']} with rivals" in card
    assert main(flags) == 0
    assert "an earlier adaptation of the same has finished" in capsys.readouterr().err
    assert main([*flags, "--seed", "1"]) == 2
    assert "differs in seed, the made questions" in capsys.readouterr().err


@pytest.mark.parametrize("share", [0.0, 0.4])
def test_the_recipe_beside_the_weights_fuses_both_searches_where_they_differ(
    share: float, graph: str, tiny: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kept(encoder: Any, *_: Any) -> Adapted:
        return Adapted(0.5, 0.6, {0.4: 0.6}, share, 20)

    monkeypatch.setattr("srtk_plugin_sr.adapt_command.adapt", kept)
    out, start = tmp_path / "adapted", str(tiny(WORDS))
    assert main(["adapt", "-kg", graph, "-o", str(out), "-m", start, "--questions", "100", "--quiet"]) == 0
    models = [start, str(out)] if share else [start]
    questions, found = tmp_path / "questions.jsonl", tmp_path / "found.jsonl"
    record = {"question": "what is the lead of firm3", "question_entities": ["firm3"]}
    questions.write_text(json.dumps({"id": "1", **record}) + "\n")
    sets = [f"questions={questions}", f"output={tmp_path}", f"exporters=[{{use: jsonl, path: {found}}}]"]
    flags = [part for value in sets for part in ("--set", value)]
    assert main(["run", str(out / "recipe.yaml"), "--quiet", *flags]) == 0
    [written] = map(json.loads, found.read_text().splitlines())
    assert ["firm3", "lead", "person3"] in written["triplets"]
    assert len(written["trace"].get("parts", ["one"])) == len(models)
    recipe = (out / "recipe.yaml").read_text()
    assert all(f"model: {model}\n" in recipe for model in models)
    assert yaml.safe_load(recipe)["expander"].get("weights") == ([1, 1] if share else None)


def test_equal_input_gives_equal_weights(graph: str, tiny: Callable[..., Path], tmp_path: Path) -> None:
    flags = ["adapt", "-kg", graph, "-m", str(tiny(WORDS)), "--questions", "100", "--quiet"]
    for name in ("one", "other"):
        assert main([*flags, "-o", str(tmp_path / name)]) == 0
    assert weights(tmp_path / "one") == weights(tmp_path / "other")


def test_no_second_batch_is_searched_and_no_second_round_begins_where_the_minutes_are_used_up(
    graph: str, tiny: Callable[..., Path], tmp_path: Path
) -> None:
    out = tmp_path / "adapted"
    flags = ["adapt", "-kg", graph, "-m", str(tiny(WORDS)), "--questions", "100", "--quiet"]
    assert main([*flags, "-o", str(out), "--minutes", "0.0001"]) == 0
    figures = json.loads((out / "training" / "training.json").read_text())["figures"]
    assert figures["updates"] == 20
    assert figures["learning"] <= 32


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--depth", "0"], "--depth is 0; it must be at least 1"),
        (["--questions", "0"], "--questions is 0; it must be at least 1"),
        (["--questions", "1"], "too few whose path has rivals to learn from some and hold out others; raise"),
        (["--minutes", "-1"], "minutes must be above 0, not -1.0; change the flag of that name"),
        (["--generator", "{use: nobody}"], "nobody"),
    ],
)
def test_what_cannot_be_is_said(
    flags: list[str],
    sentence: str,
    graph: str,
    tiny: Callable[..., Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    common: list[Any] = ["adapt", "-kg", graph, "-o", str(tmp_path / "o"), "-m", str(tiny(WORDS))]
    assert main([*common, *flags]) == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "o" / "model.safetensors").exists()


def test_a_graph_whose_triples_lead_nowhere_is_not_asked_for_more_questions(
    tiny: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, folder = tmp_path / "loops.tsv", str(tmp_path / "graph")
    file.write_text("".join(f"n{i}\tsame\tn{i}\n" for i in range(50)))
    assert main(["graph", "build", "--no-header", str(file), "--out", folder, "--quiet"]) == 0
    assert main(["adapt", "-kg", folder, "-o", str(tmp_path / "o"), "-m", str(tiny(WORDS))]) == 2
    said = capsys.readouterr().err
    assert "has no triple between two different entities, so that no question is made" in said
    assert "raise" not in said


def test_a_graph_of_hubs_alone_is_not_asked_for_more_questions(
    tiny: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, folder = tmp_path / "hubs.tsv", str(tmp_path / "graph")
    file.write_text("".join(f"a{i}\tnear\tb{j}\n" for i in range(101) for j in range(101)))
    assert main(["graph", "build", "--no-header", str(file), "--out", folder, "--quiet"]) == 0
    assert main(["adapt", "-kg", folder, "-o", str(tmp_path / "o"), "-m", str(tiny(WORDS)), "--depth", "1"]) == 2
    said = capsys.readouterr().err
    assert "or to too many entities to be asked for; use the weights as they are" in said


def test_weights_that_rate_single_steps_are_refused(
    graph: str, tiny: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trained = shutil.copytree(tiny(WORDS), tmp_path / "trained")
    write_form(ScorerForm(rule="log-softmax"), trained)
    assert main(["adapt", "-kg", graph, "-o", str(tmp_path / "o"), "-m", str(trained)]) == 2
    assert "by the rule log-softmax, which rates single steps" in capsys.readouterr().err


def test_half_of_the_minutes_is_for_the_search_and_the_rest_for_the_training(
    graph: str, tiny: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits, given = [], []
    search = adapt_command.find_rivals

    def watched(dense: Any, questions: Any, depth: int, until: float) -> Any:
        limits.append(until - time.process_time())
        return search(dense, questions, depth, until)

    def kept(encoder: Any, learning: Any, held_out: Any, form: Any, settings: Any, *_: Any) -> Adapted:
        given.append(settings.minutes)
        return Adapted(0.5, 0.6, {0.4: 0.6}, 0.0, 20)

    monkeypatch.setattr(adapt_command, "find_rivals", watched)
    monkeypatch.setattr(adapt_command, "adapt", kept)
    flags = ["-kg", graph, "-o", str(tmp_path / "o"), "-m", str(tiny(WORDS)), "--questions", "100", "--quiet"]
    assert main(["adapt", *flags, "--minutes", "100"]) == 0
    assert limits[0] == pytest.approx(3000, abs=10)
    assert 99 < given[0] < 100
