from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import pytest

from srtk_framework.recipe import Composer
from srtk_framework.recipe.recipe import from_mapping, parse
from srtk_framework.run.session import Session
from srtk_framework.values import (
    RecipeError,
    SettingsError,
    above,
    at_least,
    between,
    each,
    finite,
    keys_of,
    not_empty,
    one_of,
    positive,
    share,
)


def fault(validator: Any, value: Any) -> str | None:
    """Return what a field with a validator says of a value."""
    made = attrs.make_class("Driver", {"size": attrs.field(validator=validator)})
    try:
        made(value)
    except SettingsError as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    ("validator", "fine", "wrong", "said"),
    [
        (at_least(1), [1, 5], [0, -3], "size must be at least 1, not {}"),
        (at_least(1, "omit it for all"), [1], [0], "size must be at least 1, not {}; omit it for all"),
        (above(0.5), [0.6], [0.5], "size must be above 0.5, not {}"),
        (positive, [1e-9], [0, -1], "size must be above 0, not {}"),
        (share, [0, 1, 0.5], [-0.1, 1.1], "size must be from 0 to 1, not {}"),
        (between(above=0, below=1), [0.5], [0, 1], "size must be above 0 and below 1, not {}"),
        (between(0, below=1), [0], [1], "size must be at least 0 and below 1, not {}"),
        (between(above=0, most=1), [1], [0], "size must be above 0 and at most 1, not {}"),
        (finite, [-1e300, 0], [float("nan"), float("inf"), float("-inf")], "size must be a finite number, not {}"),
        (at_least(0), [0.0], [float("nan"), float("inf")], "size must be at least 0, not {}"),
    ],
)
def test_a_number_out_of_bounds_is_said_with_its_name(validator, fine, wrong, said):
    assert [fault(validator, value) for value in fine] == [None] * len(fine)
    assert [fault(validator, value) for value in wrong] == [said.format(value) for value in wrong]


@pytest.mark.parametrize("value", [None, "auto", True, [0]])
def test_bounds_leave_what_is_no_number_to_the_type(value):
    assert fault(at_least(5), value) is None


def test_texts_lists_and_mappings_are_checked_item_by_item():
    assert fault(one_of(["cut", "drop"]), "dorp") == "size must be cut or drop, not 'dorp'. Did you mean 'drop'?"
    assert fault(one_of(["cut"]), None) is None
    assert fault(not_empty("name one"), []) == "size must not be empty; name one"
    assert (
        fault(each(positive), [1.0, 0.0, -1.0]) == "size[1] must be above 0, not 0.0; size[2] must be above 0, not -1.0"
    )
    assert fault(each(positive), {"a": 0}) == "size['a'] must be above 0, not 0"
    assert fault(keys_of(["de", "en"]), ["en", "xx"]) == "size[1] must be one of de, en, not 'xx'"
    assert (
        fault(keys_of(["match"]), {"mach": 1}) == "size['mach'] must be one of match, not 'mach'. Did you mean 'match'?"
    )


@attrs.define
class Inner:
    least: int = attrs.field(default=1, validator=at_least(1))
    weights: Sequence[float] = attrs.field(default=(), validator=each(positive))
    names: Mapping[str, str] = attrs.field(factory=dict)


def test_every_fault_of_a_recipe_is_told_with_its_place_and_nothing_is_opened(monkeypatch):
    from srtk_plugin_sr.beam import BeamExpander
    from srtk_plugin_sr.dense import DenseScorer

    for cls in (BeamExpander, DenseScorer):
        monkeypatch.setattr(cls, "open", lambda self: pytest.fail("a driver was opened"))
    text = """\
srtk: 1
knowledge_graph: {use: memory}
encoder: {use: onnx, model: minilm}
path_scorer: {use: dense, temperature: -1}
expander:
  use: beam
  width: -3
  depth: 0
  search: {margin: -2}
budget: {triples: 0, mass: 2}
"""
    with pytest.raises(RecipeError) as caught:
        Session(parse(text, "r.yaml"))
    assert sorted(caught.value.problems) == [
        "r.yaml:10:10: triples must be above 0, not 0; omit it for no limit",
        "r.yaml:10:22: mass must be above 0 and at most 1, not 2.0; 0.9 keeps 90 % of the score mass",
        "r.yaml:4:27: temperature must be above 0, not -1.0",
        "r.yaml:7:3: width must be at least 1, not -3",
        "r.yaml:8:3: depth must be at least 1, not 0",
        "r.yaml:9:12: search: margin must be at least 0, not -2.0",
    ]


def test_a_block_that_nothing_needs_is_checked_too_and_not_opened():
    data = {
        "srtk": 1,
        "knowledge_graph": {"use": "memory"},
        "knowledge_graphs": {"other": {"use": "memory", "noise": 3}},
        "encoders": {"one": {"use": "onnx", "model": "minilm"}, "two": {"use": "onnx", "model": "m", "batch_size": 0}},
    }
    with pytest.raises(RecipeError) as caught:
        Session(from_mapping(data))
    assert [problem.partition(": ")[2][:10] for problem in caught.value.problems] == ["noise: exp", "batch_size"]
    data["knowledge_graphs"]["other"]["noise"] = ["r"]
    del data["encoders"]
    assert len(Session(from_mapping(data)).composer.built("knowledge_graph")) == 1


def test_a_check_of_two_settings_has_the_place_that_it_names():
    linker = {"use": "union", "weights": [1.0], "linkers": [{"use": "dictionary"}, {"use": "dictionary", "n_best": 2}]}
    recipe = parse(f"srtk: 1\nknowledge_graph: {{use: memory}}\nentity_linker:\n  {linker!r}\n", "r.yaml")
    composer = Composer(recipe)
    composer.of_role("entity_linker")
    assert composer.problems == ["r.yaml:4:20: there are 2 linkers and 1 weights; give one for each"]


def test_a_standard_validator_of_attrs_is_reported_like_ours():
    from srtk_framework.recipe.settings import structure_fields

    cls = attrs.make_class("Driver", {"size": attrs.field(type=int, validator=attrs.validators.ge(2))})
    said: list[Any] = []
    structure_fields({"size": 1}, {"size": attrs.fields(cls).size}, "a driver", lambda *fault: said.append(fault))
    assert said == [(("size",), "'size' must be >= 2: 1")]


def test_faults_inside_a_value_are_all_told():
    from srtk_framework.recipe import structure

    with pytest.raises(SettingsError) as caught:
        structure({"least": 0, "weights": [1, 0], "names": {"a": 1}, "other": 1}, Inner)
    places = {where for where, _ in caught.value.problems}
    assert places == {("least",), ("weights", 1), ("names", "a"), ("other",)}
