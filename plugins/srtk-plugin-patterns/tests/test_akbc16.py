"""Path files are read as they are meant, and what was written is read again."""

from __future__ import annotations

import re

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_patterns.akbc16 import (
    PARTS,
    JoinedPair,
    JoiningPath,
    pair_line,
    parse_pair,
    part_file,
    read_pairs,
    write_pairs,
)

from srtk_framework.values import InputError, Step

entities = st.from_regex(r"/m/0[0-9a-z_]{1,5}", fullmatch=True)
relations = st.from_regex(r"[a-z/,][a-z/,\-]{0,8}", fullmatch=True).filter(lambda text: "/m/" not in text)
steps = st.builds(Step, relations, st.booleans())


@st.composite
def joining_paths(draw) -> JoiningPath:
    inner = tuple(draw(st.lists(entities, max_size=4)))
    return JoiningPath(tuple(draw(steps) for _ in range(len(inner) + 1)), inner)


pairs = st.builds(
    JoinedPair,
    entities,
    entities,
    st.lists(joining_paths(), max_size=3).map(tuple),
    st.sampled_from([None, True, False]),
)

LINE = "/m/01\t/m/02\t/people/born-/m/03-_/people/born###was,well-known,in-/m/04-_/a/b-/m/05-lives\t-1"
PAIR = JoinedPair(
    "/m/01",
    "/m/02",
    (
        JoiningPath((Step("/people/born"), Step("/people/born", True)), ("/m/03",)),
        JoiningPath((Step("was,well-known,in"), Step("/a/b", True), Step("lives")), ("/m/04", "/m/05")),
    ),
    False,
)


def test_a_relation_may_hold_the_sign_between_the_parts_of_a_path():
    assert parse_pair(LINE) == PAIR
    assert pair_line(PAIR) == LINE


@given(pairs)
def test_what_was_written_is_read_again(pair):
    again = parse_pair(pair_line(pair))
    assert again == pair
    for path in again.paths:
        assert len(path.steps) == len(path.inner) + 1
        assert all(re.fullmatch(r"/m/[0-9a-z_]+", node) for node in path.inner)


def test_files_are_read_line_by_line_and_labels_may_lack(tmp_path):
    unlabelled = attrs.evolve(PAIR, label=None)
    file = part_file(tmp_path, PARTS[0])
    assert file.name == "positive_matrix.tsv.translated"
    write_pairs([PAIR, unlabelled], file)
    assert list(read_pairs(file)) == [PAIR, unlabelled]


def test_blanks_of_a_relation_are_written_as_commas():
    pair = JoinedPair("/m/01", "/m/02", (JoiningPath((Step("was born in"),)),))
    assert pair_line(pair) == "/m/01\t/m/02\twas,born,in"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("/m/01\t/m/02", "a line has source, target, paths"),
        ("Q1\t/m/02\tr", "'Q1' is no id of Freebase"),
        ("/m/01\t/m/02\tr\t2", "the label '2' is neither 1 nor -1"),
        ("/m/01\t/m/02\tr-/m/03-", "lacks a relation"),
        ("/m/01\t/m/02\tr###", "lacks a relation"),
    ],
)
def test_a_line_of_another_form_is_refused_with_its_place(tmp_path, line, message):
    file = tmp_path / "file"
    file.write_text(f"{LINE}\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"file:2: .*{message}"):
        list(read_pairs(file))


@pytest.mark.parametrize(
    "pair",
    [
        JoinedPair("ann", "/m/02", ()),
        JoinedPair("/m/01", "/m/02", (JoiningPath((Step("_r"),)),)),
        JoinedPair("/m/01", "/m/02", (JoiningPath((Step("a\tb"),)),)),
        JoinedPair("/m/01", "/m/02", (JoiningPath((Step("a\nb"),)),)),
        JoinedPair("/m/01", "/m/02", (JoiningPath((Step("a-/m/03-b"),)),)),
        JoinedPair("/m/01", "/m/02", (JoiningPath((Step("a#"),)), JoiningPath((Step("b"),)))),
        JoinedPair("/m/01", "/m/02", (JoiningPath((Step("a"),), ("/m/03",)),)),
        JoinedPair("/m/01", "/m/02", (JoiningPath((Step("a"), Step("b"))),)),
        JoinedPair("/m/01", "/m/02", (JoiningPath(()),)),
    ],
)
def test_what_would_be_read_as_something_else_is_not_written(pair):
    with pytest.raises(InputError, match="cannot be written"):
        pair_line(pair)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="the paths cannot be read"):
        list(read_pairs(tmp_path / "none"))
