"""A new version of a snapshot from added and removed triples is the snapshot of what is left and what is new."""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from srtk_plugin_local.commands import update as command
from srtk_plugin_local.snapshot import array_writer, name_writer
from srtk_plugin_local.snapshot import update as kept
from srtk_plugin_local.snapshot.build import build, update
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.data_files import DataFiles
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_plugin_local.snapshot.meta_file import read_meta

from srtk_framework.values import InputError, Literal, Pattern, SnapshotError, Triple

QUALIFIED = 'a\tr\tb\tsince\t"1990"^^xsd:gYear\na\tr\tc\tsince\t"1991"^^xsd:gYear\n'


def write(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def files_of(folder: Path) -> dict[str, Any]:
    """Return the hash of each file of a snapshot, with the counts."""
    meta = read_meta(folder)
    return {"counts": meta.counts, **{name: entry["sha256"] for name, entry in meta.files.items()}}


def lines(rows: list[tuple[str, str, str]]) -> str:
    return "".join("\t".join(row) + "\n" for row in rows)


def stored(**build: Any) -> Any:
    return SimpleNamespace(folder="g", meta=SimpleNamespace(build=build))


def test_an_update_has_the_settings_of_the_build_but_for_its_own() -> None:
    given = BuildSettings(files=("a",), labels=("l",), memory="2GB", noise=("r*",), header=False, prefixes={"a": "b:"})
    assert kept.kept_settings(given) == {"header": False, "noise": ("r*",), "prefixes": {"a": "b:"}}
    assert kept.kept_settings(BuildSettings(files=("a",))) == {}
    snapshot = stored(settings={"header": False, "noise": ["r*"]})
    assert kept.settings_of(snapshot, files=("b",), header=True) == BuildSettings(("b",), header=True, noise=("r*",))


def test_a_setting_that_is_no_more_is_refused_with_the_remedy() -> None:
    with pytest.raises(SnapshotError, match=r"^g: was built with other settings \(.*'old'\); build it again"):
        kept.settings_of(stored(settings={"old": 1}), files=("b",))


@pytest.mark.parametrize(("formats", "found"), [((), False), (("tsv", "csv"), False), (("tsv", "turtle"), True)])
def test_a_snapshot_of_an_rdf_file_holds_rdf(formats: tuple[str, ...], found: bool) -> None:
    assert kept.holds_rdf(stored(reading=[{"format": format_} for format_ in formats])) is found


@pytest.mark.parametrize("seed", range(4))
def test_an_update_has_the_bytes_of_a_build_of_what_is_left_and_what_is_new(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Parts of a few rows, as a large graph has them.
    monkeypatch.setattr(array_writer, "ROWS", 2048 if seed == 0 else 3 * seed)
    monkeypatch.setattr(name_writer, "ROWS", 2048 if seed == 0 else 3 * seed)
    monkeypatch.setattr(kept, "_ROWS", 2048 if seed == 0 else 8 * seed)
    draw = random.Random(seed)
    ends = [f"n{n}" for n in range(60)] + [f'"{n}"^^xsd:integer' for n in range(20)]
    rows = sorted({(draw.choice(ends[:60]), f"r{draw.randrange(4)}", draw.choice(ends)) for _ in range(900)})
    old, new = rows[: 2 * len(rows) // 3], rows[len(rows) // 2 :]
    removed = draw.sample(old, len(old) // 3)
    built = build(BuildSettings(files=(write(tmp_path / "old.tsv", lines(old)),)), tmp_path / "g").folder
    add, remove = write(tmp_path / "new.tsv", lines(new)), write(tmp_path / "less.tsv", lines(removed))
    update(built, {"files": (add,)}, (remove,))
    union = sorted({*old} - {*removed} | {*new})
    fresh = build(BuildSettings(files=(write(tmp_path / "union.tsv", lines(union)),)), tmp_path / "fresh").folder
    assert files_of(built) == files_of(fresh)
    assert read_meta(built).content == read_meta(fresh).content


@pytest.mark.parametrize("rows", [500_000, 1, 2])
def test_labels_aliases_and_qualifiers_stay_and_come_with_the_triples_that_they_are_of(
    tmp_path: Path, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "_ROWS", rows)
    first, second = "a\tr\tb\na\tr\tc\n", "a\tr\td\n"
    labels, aliases = "a\tAda\nr\tknows\nb\tBo\n", "a\tThe Ada\n"
    more = "d\tDee\n"
    given = {
        "labels": (write(tmp_path / "l.tsv", labels),),
        "aliases": (write(tmp_path / "al.tsv", aliases),),
        "qualifiers": (write(tmp_path / "q.tsv", QUALIFIED),),
    }
    built = build(BuildSettings(files=(write(tmp_path / "1.tsv", first),), **given), tmp_path / "g").folder
    labels_too = {"labels": (write(tmp_path / "l2.tsv", more),)}
    removed = (write(tmp_path / "3.tsv", "a\tr\tb\n"),)
    update(built, {"files": (write(tmp_path / "2.tsv", second),), **labels_too}, removed)
    write(tmp_path / "1.tsv", "a\tr\tc\n" + second)
    write(tmp_path / "l.tsv", labels + more)
    write(tmp_path / "q.tsv", QUALIFIED.split("\n", 1)[1])
    fresh = build(BuildSettings(files=(str(tmp_path / "1.tsv"),), **given), tmp_path / "fresh").folder
    assert files_of(built) == files_of(fresh)
    graph = LocalGraph(str(built))
    graph.open()
    assert graph.labels(["a", "d", "r"]) == ["Ada", "Dee", "knows"]
    assert list(graph.qualifiers([Triple("a", "r", "c")])[0]) == [("since", Literal('"1991"^^xsd:gYear'))]


@pytest.mark.parametrize("seed", range(4))
def test_names_that_stay_are_merged_with_the_names_that_change(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(array_writer, "ROWS", 3 * seed + 1)
    monkeypatch.setattr(name_writer, "ROWS", 3 * seed + 1)
    monkeypatch.setattr(kept, "_ROWS", 7 * seed + 3)
    draw = random.Random(seed)
    ids = [f"n{n}" for n in range(60)]
    rows = [(draw.choice(ids), f"to{draw.randrange(3)}", draw.choice(ids)) for _ in range(150)]
    labels = [(id_, "rdfs:label", f"Name {n}") for n, id_ in enumerate(ids)]
    aliases = [(draw.choice(ids), "skos:altLabel", f"Other {draw.randrange(9)}") for _ in range(80)]
    old = [row for row in [*rows, *labels, *aliases] if draw.random() < 0.7]
    new = [row for row in [*rows, *labels, *aliases] if draw.random() < (0.1, 0.9)[seed % 2]]
    removed = draw.sample(old, len(old) // 5)
    built = build(BuildSettings(files=(write(tmp_path / "old.tsv", lines(old)),)), tmp_path / "g").folder
    add, remove = write(tmp_path / "new.tsv", lines(new)), write(tmp_path / "less.tsv", lines(removed))
    update(built, {"files": (add,)}, (remove,))
    # The names of an entity that the old graph lacked are not in it.
    known = {id_ for subject, relation, end in old if relation.startswith("to") for id_ in (subject, end)}
    stay = [row for row in old if row[0] in known or row[1].startswith("to")]
    union = sorted({*stay} - {*removed} | {*new})
    fresh = build(BuildSettings(files=(write(tmp_path / "union.tsv", lines(union)),)), tmp_path / "fresh").folder
    assert files_of(built) == files_of(fresh)


def test_an_entity_that_becomes_a_literal_loses_its_names(tmp_path: Path) -> None:
    rows, label = write(tmp_path / "1.tsv", 'a\tr\t"x"\n'), write(tmp_path / "l.tsv", '"x"\tThe x\na\tAda\n')
    built = build(BuildSettings(files=(rows,), labels=(label,)), tmp_path / "g").folder
    assert read_meta(built).counts["labels"] == 2
    more = write(tmp_path / "2.nt", '<x:b> <x:r> "x" .\n')
    update(built, {"files": (more,)}, ())
    fresh = build(BuildSettings(files=(rows, more), labels=(label,)), tmp_path / "fresh").folder
    assert files_of(built) == files_of(fresh)


def test_the_first_labels_of_a_graph_change_the_names_of_all_ids(tmp_path: Path) -> None:
    rows, labels = write(tmp_path / "1.tsv", "Old_town\tr\tRiver\n"), write(tmp_path / "l.tsv", "River\tDon\n")
    built = build(BuildSettings(files=(rows,)), tmp_path / "g").folder
    update(built, {"files": (write(tmp_path / "2.tsv", "River\tr\tSea\n"),), "labels": (labels,)}, ())
    union = write(tmp_path / "3.tsv", "Old_town\tr\tRiver\nRiver\tr\tSea\n")
    fresh = build(BuildSettings(files=(union,), labels=(labels,)), tmp_path / "fresh").folder
    assert files_of(built) == files_of(fresh)


def test_a_graph_of_one_node_is_updated(tmp_path: Path) -> None:
    loop, label = write(tmp_path / "1.tsv", "a\tr\ta\n"), write(tmp_path / "l.tsv", "a\tAda\n")
    built = build(BuildSettings(files=(loop,), labels=(label,)), tmp_path / "g").folder
    more = write(tmp_path / "2.tsv", "b\tr\ta\n")
    update(built, {"files": (more,)}, ())
    fresh = build(BuildSettings(files=(loop, more), labels=(label,)), tmp_path / "fresh").folder
    assert files_of(built) == files_of(fresh)


def test_a_label_stays_until_it_is_removed(tmp_path: Path) -> None:
    label = "http://www.w3.org/2000/01/rdf-schema#label"
    old = f'<x:a> <x:r> <x:b> .\n<x:a> <{label}> "Zoe"@de .\n'
    built = build(BuildSettings(files=(write(tmp_path / "1.nt", old),)), tmp_path / "g").folder
    better = write(tmp_path / "2.nt", f'<x:a> <{label}> "Ada"@en .\n')
    update(built, {"files": (better,)}, ())
    graph = LocalGraph(str(built))
    graph.open()
    assert (graph.labels(["x:a"]), graph.other_names(["x:a"])) == (["Zoe"], [["Ada"]])
    update(built, {"files": (better,)}, (write(tmp_path / "3.nt", f'<x:a> <{label}> "Zoe"@de .\n'),))
    graph.open()
    assert graph.labels(["x:a"]) == ["Ada"]


def test_an_open_graph_keeps_the_old_version_until_it_is_opened_again(tmp_path: Path) -> None:
    built = build(BuildSettings(files=(write(tmp_path / "1.tsv", "a\tr\tb\n"),)), tmp_path / "g").folder
    graph = LocalGraph(str(built))
    graph.open()
    update(built, {"files": (write(tmp_path / "2.tsv", "a\tr\tc\n"),)}, ())
    assert list(graph.match([Pattern()])[0]) == [Triple("a", "r", "b")]
    graph.open()
    assert list(graph.match([Pattern()])[0]) == [Triple("a", "r", "b"), Triple("a", "r", "c")]


def test_the_files_of_an_update_are_read_by_the_settings_of_the_build(tmp_path: Path) -> None:
    first = write(tmp_path / "1.nt", "<http://x/a> <http://x/r> <http://x/b> .\n")
    built = build(BuildSettings(files=(first,), prefixes={"": "http://x/"}, noise=("r*",)), tmp_path / "g").folder
    made = update(built, {"files": (write(tmp_path / "2.nt", "<http://x/a> <http://x/r> <http://x/c> .\n"),)}, ())
    assert made.meta.schema["noise"] == ["r*"]
    graph = LocalGraph(str(built))
    graph.open()
    assert list(graph.match([Pattern()])[0]) == [Triple("a", "r", "b"), Triple("a", "r", "c")]
    assert [report["rows"] for report in made.meta.build["reading"]] == [1, 1]


def test_triples_to_remove_that_the_graph_lacks_are_counted(tmp_path: Path) -> None:
    rows = write(tmp_path / "1.tsv", "a\tr\tb\na\tr\tc\na\ts\tb\n")
    built = build(BuildSettings(files=(rows,)), tmp_path / "g").folder
    made = update(built, {"files": ()}, (write(tmp_path / "2.tsv", "a\tr\tb\nx\tr\ty\na\tunknown\tb\n"),))
    assert made.ignored == {"triples to remove that the graph lacks": 2}
    assert made.meta.counts["triples"] == 2


def test_a_triple_to_remove_that_comes_twice_is_removed_and_counted_once(tmp_path: Path) -> None:
    built = build(BuildSettings(files=(write(tmp_path / "1.tsv", "a\tr\tb\na\tr\tc\nb\ts\tb\n"),)), tmp_path / "g")
    twice = write(tmp_path / "2.tsv", "a\tr\tb\nx\tr\ty\n" * 2)
    made = update(built.folder, {"files": ()}, (twice, write(tmp_path / "3.tsv", "x\tr\ty\na\tr\tb\n")))
    assert made.ignored == {"triples to remove that the graph lacks": 1}
    union = write(tmp_path / "4.tsv", "a\tr\tc\nb\ts\tb\n")
    fresh = build(BuildSettings(files=(union,)), tmp_path / "fresh").folder
    assert files_of(built.folder) == files_of(fresh)


def test_the_command_changes_the_graph_and_refuses_to_change_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    built = build(BuildSettings(files=(write(tmp_path / "1.tsv", "a\tr\tb\n"),)), tmp_path / "g").folder
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    with pytest.raises(InputError, match="nothing to change; give --add FILE or --remove FILE"):
        command.run(parser.parse_args([str(built)]))
    assert command.run(parser.parse_args([str(built), "--add", write(tmp_path / "2.tsv", "b\tr\tc\n")])) == 0
    assert "2 triples, 3 entities, 1 relation" in capsys.readouterr().out
    csv = write(tmp_path / "facts.nt", "c,r,d\n")
    assert command.run(parser.parse_args([str(built), "--format", "csv", "--add", csv])) == 0
    assert "3 triples, 4 entities, 1 relation" in capsys.readouterr().out
    with pytest.raises(SnapshotError, match="is not a graph snapshot"):
        command.run(parser.parse_args([str(tmp_path / "none"), "--remove", str(tmp_path / "2.tsv")]))


def test_an_update_lets_go_of_each_part_of_the_stored_graph_that_it_has_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count, forget = Counter[str](), DataFiles.forget

    def counted(files: DataFiles) -> None:
        count[sys._getframe(2).f_code.co_name] += 1
        forget(files)

    monkeypatch.setattr(DataFiles, "forget", counted)
    rows = [(f"a{n}", name, f"{name[:2]}{n}") for n in range(40) for name in ("r", "rdfs:label", "skos:altLabel")]
    built = build(BuildSettings(files=(write(tmp_path / "1.tsv", lines(rows)),)), tmp_path / "g").folder
    assert not count
    monkeypatch.setattr(kept, "_ROWS", 10)
    update(built, {"files": ()}, (write(tmp_path / "2.tsv", "a0\tr\tr0\n"),))
    parts = ("without", "stage", "edges", "hashes", "with_labels", "aliases")
    assert [name for name in parts if not count[name]] == []


def test_a_literal_may_be_what_was_a_subject_only_once_no_triple_of_it_is_left(tmp_path: Path) -> None:
    rows = write(tmp_path / "1.tsv", '"x"\tr\tb\n"x"\ts\tb\na\ts\t"x"\n')
    built = build(BuildSettings(files=(rows,)), tmp_path / "g").folder
    more, first = write(tmp_path / "2.nt", '<x:b> <x:r> "x" .\n'), write(tmp_path / "3.tsv", '"x"\tr\tb\n')
    for removed in ((), (first,)):
        with pytest.raises(InputError, match=r'the literal "x" is the subject of a triple'):
            update(built, {"files": (more,)}, removed)
    update(built, {"files": (more,)}, (first, write(tmp_path / "4.tsv", '"x"\ts\tb\n')))
    assert read_meta(built).counts["triples"] == 2
