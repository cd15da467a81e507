"""The inputs of a build: files by name and by pattern."""

import pytest
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings, matched_files

from srtk_framework.cli import main


@pytest.fixture
def parts(tmp_path):
    for name, line in (("part-2.tsv", "b\tr\tc\n"), ("part-1.tsv", "a\tr\tb\n"), ("other.tsv", "x\tr\ty\n")):
        (tmp_path / name).write_text(line)
    return tmp_path


def test_a_pattern_stands_for_its_files_in_order(parts):
    names = BuildSettings((str(parts / "part-*.tsv"), str(parts / "other.tsv"))).files
    assert names == tuple(str(parts / name) for name in ("part-1.tsv", "part-2.tsv", "other.tsv"))


def test_a_pattern_without_files_is_named_as_it_was_given(parts):
    assert matched_files([str(parts / "none-*.tsv")]) == (str(parts / "none-*.tsv"),)


def test_a_file_whose_name_is_a_pattern_is_that_file(parts):
    (parts / "part-[1].tsv").write_text("odd\tr\tname\n")
    assert matched_files([str(parts / "part-[1].tsv")]) == (str(parts / "part-[1].tsv"),)


def test_files_by_pattern_make_the_graph_that_files_by_name_make(parts):
    by_name = build(BuildSettings((str(parts / "part-2.tsv"), str(parts / "part-1.tsv"))), parts / "one")
    by_pattern = build(BuildSettings((str(parts / "part-*.tsv"),)), parts / "two")
    assert by_name.meta.files == by_pattern.meta.files
    assert by_pattern.meta.counts["triples"] == 2


def test_what_a_folder_holds_beside_its_data_files_is_told_and_kept(tmp_path):
    (tmp_path / "in" / "inner").mkdir(parents=True)
    for name in ("b.csv", "a.csv", *(f"{letter}.txt" for letter in "cdefgh"), "i.json", ".hidden"):
        (tmp_path / "in" / name).write_text("name,height\nVert,3120\nAlto,2870\n")
    [first, second] = build(BuildSettings((str(tmp_path / "in"),)), tmp_path / "out").meta.build["reading"]
    assert first["name"].endswith("a.csv")
    said = "whose endings tell no data: c.txt, d.txt, e.txt, f.txt, g.txt and 3 more; give those to read by name"
    assert [said in note for note in first["notes"]].count(True) == 1
    assert not any("endings" in note for note in second["notes"])
    for name in (tmp_path / "in").glob("[d-i].*"):
        name.unlink()
    [few, _] = build(BuildSettings((str(tmp_path / "in"),)), tmp_path / "out").meta.build["reading"]
    assert any("tell no data: c.txt, inner/; give" in note for note in few["notes"])
    by_name = build(BuildSettings((str(tmp_path / "in" / "*.csv"),)), tmp_path / "out").meta.build["reading"]
    assert not any("endings" in note for report in by_name for note in report["notes"])


def test_the_command_takes_a_pattern_that_no_shell_has_replaced(parts, capsys):
    assert main(["graph", "build", "--out", str(parts / "graph"), str(parts / "part-*.tsv")]) == 0
    assert "2 triples" in capsys.readouterr().out
