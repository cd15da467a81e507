"""``srtk check`` lists what a stranger's recipe reaches."""

from __future__ import annotations

from pathlib import Path

import pytest

from srtk_framework.cli import main

RECIPE = """
srtk: 1
questions: q.txt
output: elsewhere
vars: {word: {env: OTHER_WORD}, host: "//127.0.0.1:9"}
knowledge_graph: {use: sparql, endpoint: "http:${host}/sparql", engine: oxigraph, headers: {X-Key: "${word}"}}
entity_linker: {use: spotlight, endpoint: "http://127.0.0.1:8/annotate"}
generator: {use: openai, model: m, base_url: "http://127.0.0.1:7/v1", key: {env: SECRET_WORD}}
expander: bfs
exporters: [{use: jsonl, path: found.jsonl}]
"""


def test_each_address_path_and_variable_is_listed_and_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SECRET_WORD", "hidden-word-1")
    monkeypatch.setenv("OTHER_WORD", "hidden-word-2")
    Path("q.txt").write_text("Who?\n", encoding="utf-8")
    Path("r.yaml").write_text(RECIPE, encoding="utf-8")
    code = main(["check", "r.yaml"])
    shown = capsys.readouterr()
    assert code == 0, shown.err
    said = shown.out.partition("it reaches:\n")[2].splitlines()
    for line in (
        "- address http://127.0.0.1:9/sparql (knowledge_graph.endpoint)",
        "- address http://127.0.0.1:7/v1 (generator.base_url)",
        "- path elsewhere (output)",
        "- path found.jsonl (exporters.0.path)",
        "- path q.txt (questions)",
        "- variable SECRET_WORD of the environment as generator.key, sent to http://127.0.0.1:7/v1",
        "- variable OTHER_WORD of the environment as knowledge_graph.headers.X-Key, sent to http://127.0.0.1:9/sparql",
    ):
        assert line in said
    assert not any("user_agent" in line for line in said)
    assert "hidden-word" not in shown.out + shown.err


def test_a_variable_in_a_list_is_listed_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OTHER_WORD", "hidden-word-2")
    Path("q.txt").write_text("Who?\n", encoding="utf-8")
    graph = "{use: memory, triples: [[a, b, {env: OTHER_WORD}]]}"
    recipe = f"{{srtk: 1, questions: q.txt, expander: bfs, knowledge_graph: {graph}}}"
    Path("r.yaml").write_text(recipe, encoding="utf-8")
    assert main(["check", "r.yaml"]) == 0
    assert "- variable OTHER_WORD of the environment as knowledge_graph.triples.0.2\n" in capsys.readouterr().out
