"""The inputs of a build: files by name and by pattern."""

import os

import pytest
from srtk_plugin_local.snapshot import build_settings
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import (
    ALIASES,
    LABELS,
    BuildSettings,
    files_of,
    fingerprint,
    matched_files,
    names_of_rdf,
    same_file,
)

from srtk_framework.cli import main
from srtk_framework.text import ALIAS_RELATIONS, LABEL_RELATIONS
from srtk_framework.values import InputError


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


def test_a_folder_stands_for_its_data_files_and_one_without_data_for_itself(parts):
    (parts / "empty").mkdir()
    names = [str(parts / name) for name in ("other.tsv", "part-1.tsv", "part-2.tsv")]
    assert [*files_of(str(parts)), *files_of(str(parts / "empty"))] == [*names, str(parts / "empty")]


@pytest.mark.parametrize(
    ("name", "file", "same"),
    [
        ("people", "x/people.csv.gz", True),
        ("people.csv.gz", "x/people.csv.gz", True),
        ("x/people.csv.gz", "x/people.csv.gz", True),
        ("y/../x/people.csv.gz", "x/people.csv.gz", True),
        ("people.csv", "x/people.csv.gz", False),
        ("y/people.csv.gz", "x/people.csv.gz", False),
        ("people", "x/base.db::people", True),
        ("base", "x/base.db::people", True),
        ("base.db", "x/base.db::people", True),
        ("x/base.db::people", "x/base.db::people", True),
        ("towns", "x/base.db::people", False),
        ("", "x/people.csv", False),
    ],
)
def test_a_file_has_a_path_a_name_and_a_name_without_endings(name, file, same):
    assert same_file(name, file) is same


def test_columns_are_texts_and_a_key_is_of_its_file_or_of_all():
    given = BuildSettings(("a.csv",), columns=(1, "to"), keys={"towns": "nr"}, id="id")
    assert given.chosen_columns() == ("1", "to")
    assert [given.key_of(file) for file in ("x/towns.csv", "x/people.csv")] == ["nr", "id"]
    assert BuildSettings(("a.csv",)).key_of("a.csv") is None


def test_every_file_of_a_build_is_an_input_of_it():
    names = ("files", "labels", "aliases", "redirects", "descriptions", "qualifiers")
    given = BuildSettings(**{name: (f"{name}.tsv",) for name in names}, plan="plan.yaml")
    assert sorted(given.every_file()) == sorted([*(f"{name}.tsv" for name in names), "plan.yaml"])
    assert BuildSettings(("a",)).every_file() == ("a",)


@pytest.mark.parametrize("labels", [LABELS, ("name",)])
@pytest.mark.parametrize("aliases", [ALIASES, ("nick",)])
def test_the_names_of_rdf_are_the_usual_ones_of_each_kind_of_which_none_is_chosen(labels, aliases):
    found = names_of_rdf(BuildSettings(("a",), label_relations=labels, alias_relations=aliases))
    usual = [(name, False) for name in LABEL_RELATIONS] if labels == LABELS else []
    assert found == [*usual, *([(name, True) for name in ALIAS_RELATIONS] if aliases == ALIASES else [])]


def test_a_build_is_known_by_its_settings_and_files_but_not_by_its_memory_or_the_order_of_mappings(
    parts, tmp_path, monkeypatch
):
    file = parts / "other.tsv"
    prefixes = {"a": "u:", "b": "v:"}
    first = fingerprint(BuildSettings((str(file),), prefixes=prefixes))
    turned = dict(reversed(prefixes.items()))
    assert fingerprint(BuildSettings((str(file),), prefixes=turned, memory="2GB")) == first
    assert fingerprint(BuildSettings((str(file),), prefixes=prefixes, noise=("x",))) != first
    os.utime(file, ns=(0, 0))
    second = fingerprint(BuildSettings((str(file),), prefixes=prefixes))
    assert second != first
    file.write_text("x\tr\ty\n\n")
    os.utime(file, ns=(0, 0))
    third = fingerprint(BuildSettings((str(file),), prefixes=prefixes))
    assert third != second
    for counter in ("_READER", "VERSION"):
        with monkeypatch.context() as changed:
            changed.setattr(build_settings, counter, -1)
            assert fingerprint(BuildSettings((str(file),), prefixes=prefixes)) != third
    with pytest.raises(InputError, match=r"none\.tsv: cannot be read \(No such file .*; check the path of this input"):
        fingerprint(BuildSettings((str(parts / "none.tsv"),)))
    os.mkfifo(tmp_path / "pipe.tsv")
    with pytest.raises(InputError, match=r"pipe\.tsv: is a pipe or a device, and no file; write what is to be read"):
        fingerprint(BuildSettings((str(tmp_path / "pipe.tsv"),)))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"empty: is a folder without data files, and no file; write what is to"):
        fingerprint(BuildSettings((str(tmp_path / "empty"),)))
