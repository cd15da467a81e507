"""The drivers of a question without a recipe: found by entry point, suited to the graph, named if missing."""

from __future__ import annotations

import pytest

from srtk_framework.run import default_drivers as defaults
from srtk_framework.run.default_drivers import default_drivers, missing_drivers, suited_to
from srtk_framework.values import PluginError

TOY = {"use": "toy"}

NEAR = '''
"""A graph that says what suits it."""
import attrs
from srtk_toys import Graph

@attrs.define
class Near(Graph):
    """A graph whose names another linker knows."""
    suited = {"entity_linker": {"use": "words"}, "expander": {"width": 3}, "path_scorer": {"step_cost": 0.25}}
'''


def test_the_default_blocks_are_those_of_one_place():
    blocks = default_drivers({"use": "local", "path": "g"}, {})
    assert {role: block["use"] for role, block in blocks.items()} == {
        "knowledge_graph": "local",
        "entity_linker": defaults.LINKER,
        "expander": defaults.EXPANDER,
        "path_scorer": defaults.SCORER,
        "encoder": defaults.default_encoder(),
    }


def test_the_best_installed_encoder_is_the_default(monkeypatch):
    everything = defaults.find("encoder")
    of_torch = [plugin for plugin in everything if plugin.name == "transformers"]
    monkeypatch.setattr(defaults, "find", lambda role: of_torch)
    assert defaults.default_encoder() == "transformers"


def test_the_first_encoder_goes_before_the_second(install):
    install("srtk-plugin-light", "srtk_light", '"""None."""', {"encoder": {"onnx": "Light"}})
    assert defaults.default_encoder() == "onnx"


def test_an_expander_without_scorer_gets_neither_scorer_nor_encoder(toys):
    blocks = default_drivers(TOY, {"entity_linker": "words", "expander": "onehop"})
    assert blocks == {"knowledge_graph": TOY, "entity_linker": {"use": "words"}, "expander": {"use": "onehop"}}


def test_a_reader_is_given_what_it_needs_and_none_is_added(toys):
    given = {"entity_linker": "words", "expander": "onehop"}
    blocks = default_drivers(TOY, {**given, "reader": {"members": 7}})
    assert blocks["reader"] == {"use": defaults.READER, "members": 7}
    assert blocks["path_scorer"] == {"use": defaults.SCORER}
    assert blocks["encoder"]["use"] == defaults.default_encoder()
    assert "reader" not in default_drivers(TOY, given)


def test_settings_without_a_driver_are_those_of_the_default_driver(toys):
    blocks = default_drivers(TOY, {"entity_linker": "words", "expander": {"width": 3}})
    assert blocks["expander"] == {"use": "beam", "width": 3}


def test_a_graph_says_what_suits_it(toys, install):
    install("srtk-plugin-near", "srtk_near", NEAR, {"knowledge_graph": {"near": "Near"}})
    blocks = default_drivers({"use": "near"}, {"expander": {"depth": 1}})
    assert blocks["entity_linker"] == {"use": "words"}
    assert blocks["expander"] == {"use": "beam", "width": 3, "depth": 1}
    assert blocks["path_scorer"] == {"use": "dense", "step_cost": 0.25}


def test_what_suits_a_graph_suits_a_view_of_it(toys, install):
    install("srtk-plugin-near", "srtk_near", NEAR, {"knowledge_graph": {"near": "Near"}})
    assert suited_to({"use": "mediated", "graph": {"use": "folded", "graph": {"use": "near"}}}) == suited_to(
        {"use": "near"}
    )


def test_what_suits_the_default_driver_is_not_given_to_another(toys, install):
    install("srtk-plugin-near", "srtk_near", NEAR, {"knowledge_graph": {"near": "Near"}})
    blocks = default_drivers({"use": "near"}, {"expander": "onehop"})
    assert blocks["expander"] == {"use": "onehop"}


@pytest.mark.parametrize(
    ("graph", "linker"), [("wikidata", "wikidata-search"), ("dbpedia", "spotlight"), ("local", "dictionary")]
)
def test_each_bundled_graph_has_the_linker_that_suits_it(graph, linker):
    assert default_drivers({"use": graph}, {})["entity_linker"]["use"] == linker


def test_every_setting_that_suits_a_bundled_graph_is_one_of_its_driver():
    from srtk_framework.host import find, load

    of_default = {"expander": defaults.EXPANDER, "path_scorer": defaults.SCORER}
    for plugin in find("knowledge_graph"):
        for role, block in suited_to({"use": plugin.name}).items():
            if role in of_default:
                names = {field.alias for field in load(role, of_default[role]).__attrs_attrs__}
                assert set(block) <= names, plugin.name


def test_everything_that_is_missing_is_named_with_one_line(monkeypatch):
    monkeypatch.setattr(defaults, "find", lambda role: [])
    with pytest.raises(PluginError) as caught:
        default_drivers({"use": "local", "path": "g"}, {})
    said, line = str(caught.value).split("; run: ")
    for name in ("local", "dictionary", "beam", "dense"):
        assert name in said
    assert said.endswith("are not installed")
    assert "paths" not in said
    assert line.startswith("pip install srtk-plugin-local srtk-plugin-")
    assert line.split()[2:] == sorted(set(line.split()[2:]))


def test_a_missing_reader_is_named_with_the_scorer_that_it_needs(monkeypatch):
    monkeypatch.setattr(defaults, "find", lambda role: [])
    with pytest.raises(
        PluginError, match=r"paths, dense, .* are not installed; .*srtk-plugin-answers .*srtk-plugin-sr$"
    ):
        default_drivers({"use": "local"}, {"expander": "bfs", "entity_linker": "dictionary", "reader": "paths"})


def test_a_driver_of_no_known_distribution_is_left_to_the_recipe():
    assert missing_drivers({"expander": "of-nobody", "entity_linker": "some.module:Class"}) is None
