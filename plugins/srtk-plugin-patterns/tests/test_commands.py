"""``srtk patterns mine`` and ``srtk patterns show``, as the command line calls them."""

from __future__ import annotations

import pytest
from srtk_plugin_patterns.path_patterns import MinedPath, MiningSettings, PathPatterns, RelationPaths

from srtk_framework.cli import main
from srtk_framework.values import Step


@pytest.fixture(scope="module")
def world(people, tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    (folder / "people.tsv").write_text("".join("\t".join(fact) + "\n" for fact in people.named(people.triples)))
    assert (
        main(["graph", "build", str(folder / "people.tsv"), "--out", str(folder / "kg"), "--no-header", "--quiet"]) == 0
    )
    return folder / "kg"


def mined(world, out, *flags):
    return main(["patterns", "mine", "-kg", str(world), "-o", str(out), "--quiet", *flags])


def test_patterns_are_mined_and_shown(world, people, tmp_path, capsys):
    out = tmp_path / "patterns"
    assert mined(world, out, "--length", "3", "--least", "1", "--hub", "none") == 0
    assert "paths of 5 relations, mined from 17 pairs" in capsys.readouterr().out
    assert PathPatterns.load(out).content == people.content_hash()
    assert main(["patterns", "show", str(out), "nationality", "--count", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "nationality: 4 of 4 pairs, 5 paths"
    assert lines[2].split(maxsplit=4) == ["4", "1.000", "0.800", "0.376", "born_in, city_of"]
    assert len(lines) == 5
    assert all(len(line) <= 80 for line in lines)


def test_several_processes_mine_the_patterns_of_one(world, tmp_path):
    flags = ("--length", "3", "--least", "1", "--hub", "none")
    assert mined(world, tmp_path / "one", *flags) == mined(world, tmp_path / "two", *flags, "--workers", "2") == 0
    assert (tmp_path / "two" / "patterns.json").read_bytes() == (tmp_path / "one" / "patterns.json").read_bytes()


def test_relations_are_listed(world, tmp_path, capsys):
    mined(world, tmp_path, "--length", "2")
    capsys.readouterr()
    assert main(["patterns", "show", str(tmp_path)]) == 0
    assert [line.split()[-1] for line in capsys.readouterr().out.splitlines()[1:]] == [
        "born_in",
        "city_of",
        "nationality",
        "profession",
        "works_in",
    ]


@pytest.mark.parametrize("length", ["0", "8"])
def test_a_length_beyond_the_bounds_is_refused(world, tmp_path, capsys, length):
    assert mined(world, tmp_path / "out", "--length", length) != 0
    assert f"length must be from 1 to 7, not {length}" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_relation_without_pairs_is_refused_with_its_neighbour(world, tmp_path, capsys):
    assert mined(world, tmp_path / "out", "--relation", "born_inn") != 0
    assert "no relation 'born_inn' between entities" in (said := capsys.readouterr().err)
    assert "born_in" in said


def test_a_folder_that_is_no_graph_is_refused(tmp_path, capsys):
    assert mined(tmp_path / "nowhere", tmp_path / "out") != 0
    assert "there is no such folder" in capsys.readouterr().err


def test_patterns_of_no_relation_and_no_patterns_are_refused(world, tmp_path, capsys):
    mined(world, tmp_path)
    assert main(["patterns", "show", str(tmp_path), "nationalty"]) != 0
    assert "no paths were mined for 'nationalty'" in capsys.readouterr().err
    assert main(["patterns", "show", str(tmp_path / "nothing")]) != 0
    assert "cannot be read" in capsys.readouterr().err


def test_so_many_paths_are_shown_by_productivity_or_of_these_by_exclusiveness(world, tmp_path, capsys):
    mined(world, tmp_path, "--length", "3", "--least", "1", "--hub", "none")
    capsys.readouterr()

    def shown(*flags):
        assert main(["patterns", "show", str(tmp_path), "nationality", *flags]) == 0
        return [line.split(maxsplit=4)[-1] for line in capsys.readouterr().out.splitlines()[2:]]

    whole = shown()
    assert len(whole) == 5
    assert shown("--count", "2") == whole[:2]
    assert shown("--productive", "20", "--count", "1") == ["works_in"]
    assert shown("--productive", "2", "--count", "1") == ["born_in, city_of"]


def test_a_hundred_edges_a_thousand_paths_and_four_steps_are_the_limits_of_mining(world, tmp_path):
    mined(world, tmp_path)
    found = PathPatterns.load(tmp_path).settings
    assert (found.length, found.hub, found.pairs, found.least, found.most, found.seed) == (4, 100, None, 2, 1000, 0)
    mined(world, tmp_path, "--most", "none", "--pairs", "3", "--seed", "7", "--twins", "0.9", "--relation", "born_in")
    changed = PathPatterns.load(tmp_path)
    assert (changed.settings.most, changed.settings.pairs, changed.settings.seed) == (None, 3, 7)
    assert changed.settings.twins == 0.9
    assert set(changed.relations) == {"born_in"}


def test_a_list_of_relations_has_their_pairs_and_paths(world, tmp_path, capsys):
    mined(world, tmp_path, "--length", "3", "--least", "1", "--hub", "none")
    capsys.readouterr()
    assert main(["patterns", "show", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "    pairs   paths  relation"
    assert lines[3] == "        4       5  nationality"


def test_twenty_paths_are_shown_unless_told_otherwise(tmp_path, capsys):
    paths = tuple(MinedPath((Step(f"s{n:02}"),), 30 - n, 30) for n in range(25))
    PathPatterns({"r": RelationPaths("r", 1234, 30, paths)}, MiningSettings(), "", {}).save(tmp_path)
    assert main(["patterns", "show", str(tmp_path), "r"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "r: 30 of 1,234 pairs, 25 paths"
    assert [line.split()[-1] for line in lines[2:]] == [f"s{n:02}" for n in range(20)]
