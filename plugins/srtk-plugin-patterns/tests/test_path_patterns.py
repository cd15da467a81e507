"""Patterns are kept whole, and a damaged or foreign file is refused."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_patterns.mining import given_or_mined, mine
from srtk_plugin_patterns.path_patterns import FILE, MinedPath, MiningSettings, PathPatterns, RelationPaths

from srtk_framework.records import checked, write_model
from srtk_framework.values import DriverError, Step

ALL = MiningSettings(length=3, hub=None, least=1, most=None, twins=None)


def test_what_was_saved_is_loaded(people, tmp_path):
    patterns = mine(people, ALL)
    patterns.save(tmp_path / "patterns")
    assert PathPatterns.load(tmp_path / "patterns") == patterns
    first = (tmp_path / "patterns" / FILE).read_bytes()
    patterns.save(tmp_path / "patterns")
    assert (tmp_path / "patterns" / FILE).read_bytes() == first
    assert [file.name for file in (tmp_path / "patterns").iterdir()] == [FILE]


@given(st.data())
def test_a_file_that_was_cut_is_refused_by_a_sentence(people_file, data):
    whole = people_file.read_bytes()
    cut = data.draw(st.integers(0, len(whole) - 2))
    folder = people_file.parent.parent / "cut"
    folder.mkdir(exist_ok=True)
    (folder / FILE).write_bytes(whole[:cut])
    with pytest.raises(DriverError, match="mine them"):
        PathPatterns.load(folder)


@pytest.fixture(scope="module")
def people_file(people, tmp_path_factory):
    folder = tmp_path_factory.mktemp("patterns") / "whole"
    mine(people, ALL).save(folder)
    return folder / FILE


@pytest.mark.parametrize("change", [{"format": "other"}, {"settings": {"length": 9}}, {"relations": {"r": {}}}])
def test_a_file_of_another_form_is_refused(people_file, tmp_path, change):
    data, _ = checked(people_file.read_bytes(), people_file, "")
    write_model(tmp_path / FILE, {**data, **change})
    with pytest.raises(DriverError, match="no model of `srtk patterns mine`"):
        PathPatterns.load(tmp_path)


def test_a_folder_without_patterns_is_refused(tmp_path):
    with pytest.raises(DriverError, match="cannot be read"):
        PathPatterns.load(tmp_path)


@pytest.mark.parametrize("length", [0, 8])
def test_lengths_beyond_the_bounds_are_refused(length):
    with pytest.raises(ValueError, match=f"length must be from 1 to 7, not {length}"):
        attrs.evolve(ALL, length=length)


def test_patterns_of_another_graph_are_refused(people, tmp_path):
    patterns = mine(people, ALL)
    patterns.save(tmp_path)
    assert given_or_mined(str(tmp_path), people, ALL) == patterns
    with pytest.raises(DriverError, match="mined from another graph"):
        given_or_mined(str(tmp_path), people.without([people.named(people.triples)[0]]), ALL)


def test_a_relation_without_paths_is_named_with_its_neighbour(people):
    with pytest.raises(DriverError, match=r"no paths were mined for 'born_on'.*born_in"):
        mine(people, ALL).of("born_on")


def test_relations_that_look_like_inverse_steps_are_kept(tmp_path):
    from srtk_framework.graph import TripleTable
    from srtk_framework.values import Triple

    table = TripleTable.from_triples([Triple("a", "^r", "b"), Triple("a", "END", "b"), Triple("b", "\\s", "a")])
    patterns = mine(table, ALL)
    patterns.save(tmp_path)
    assert PathPatterns.load(tmp_path) == patterns
    assert {path.steps for path in patterns.of("^r").paths} == {(Step("END"),), (Step("\\s", True),)}


def test_the_lower_bound_of_a_share_is_that_of_wilson() -> None:
    found = RelationPaths("r", 9, 8, ())
    one, rare, never = (MinedPath((Step("s"),), pairs, total) for pairs, total in ((8, 10), (1, 1), (0, 4)))
    # (p + z^2/2n - z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n) with z = 1.96, worked by hand.
    assert found.bound1(one) == pytest.approx(0.490157, abs=1e-6)
    assert found.bound1(rare) == pytest.approx(0.206543, abs=1e-6)
    assert found.bound1(never) == 0.0
    assert (found.score1(one), found.score2(one), found.smoothed1(one, 5)) == (0.8, 1.0, 9 / 15)


def test_of_equally_exclusive_paths_the_shorter_and_then_the_earlier_come_first() -> None:
    paths = [MinedPath(tuple(map(Step, names)), 2, 4) for names in ("ba", "b", "a", "aa")]
    found = RelationPaths("r", 9, 8, (*paths, MinedPath((Step("c"),), 1, 1)))
    assert ["".join(step.relation for step in path.steps) for path in found.best(9)] == ["c", "a", "b", "aa", "ba"]
    assert found.best(2, productive=4) == (paths[2], paths[1])
    assert len(found.best(20)) == 5
    many = RelationPaths("r", 99, 99, tuple(MinedPath((Step(f"{n:02}"),), 2, 4) for n in range(30)))
    assert len(many.best(30)) == 20
