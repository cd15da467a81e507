"""Which facts ``srtk graph info`` describes."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_local.commands import info
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    info.add_arguments(parser)
    return parser.parse_args(arguments)


def test_info_takes_examples_evenly_and_the_middle_triple_of_a_relation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"a{n}\tr\tb{n}\n" for n in range(5)] + [f"c{n}\ts\td{n}\n" for n in range(2)]
    (tmp_path / "a.tsv").write_text("".join(rows))
    built = build(BuildSettings(files=(str(tmp_path / "a.tsv"),), header=False), tmp_path / "out").folder

    def described(*flags: str) -> dict[str, Any]:
        capsys.readouterr()
        assert info.run(parsed("--json", *flags, str(built))) == 0
        return dict(json.loads(capsys.readouterr().out))

    facts = described("--facts", "3")
    assert [example["triple"][0] for example in facts["examples"]] == ["a0", "a2", "a4"]
    assert [(row["id"], row["triples"], row["example"]["triple"][0]) for row in facts["relations"]] == [
        *(("r", 5, "a2"), ("s", 2, "c1"))
    ]
    assert (facts["verified"], facts["ids_are_names"], facts["label_coverage"], facts["vectors"]) == (
        *(False, True, 0.0, None),
    )
    assert len(described("--facts", "9")["examples"]) == 7
    assert [described("--facts", "1", "--relations", "1")[name] for name in ("examples", "relations")] == [
        *([{"triple": ["a0", "r", "b0"], "labels": ["a0", "r", "b0"]}], facts["relations"][:1])
    ]
    assert described("--verify")["verified"] is True
    given = parsed("g")
    assert (given.relations, given.facts, given.verify, given.json) == (10, 10, False, False)


def test_ten_facts_are_described_and_relations_of_as_many_triples_come_by_their_ids(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("".join(f"a{n}\tr{n % 4}\tb\n" for n in range(12)))
    built = build(BuildSettings(files=(str(tmp_path / "a.tsv"),), header=False), tmp_path / "out").folder
    facts = info.describe(built, 3, False)
    assert len(facts["examples"]) == 10
    assert [(row["id"], row["triples"]) for row in facts["relations"]] == [("r0", 3), ("r1", 3), ("r2", 3)]
    assert [info.describe(built, 0, False, count)["examples"] for count in (0, 1)] == [[], facts["examples"][:1]]


def test_of_a_graph_without_entities_no_share_has_a_label(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("")
    built = build(BuildSettings(files=(str(tmp_path / "a.tsv"),)), tmp_path / "out").folder
    assert info.describe(built, 1, False)["label_coverage"] == 0.0
