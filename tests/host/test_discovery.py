from __future__ import annotations

import pytest

from srtk_framework.host.discovery import find, load
from srtk_framework.values import PluginError

GRAPH = """
import attrs
from srtk_framework.roles import Encoder
@attrs.define
class E(Encoder):
    def encode(self, texts): return None
"""


def test_drivers_are_found_without_importing_them(toys):
    import sys

    names = [(p.name, p.distribution, p.version) for p in find("expander") if p.distribution == "srtk-plugin-toys"]
    assert names == [("many", "srtk-plugin-toys", "1.0"), ("onehop", "srtk-plugin-toys", "1.0")]
    assert "srtk_toys" not in sys.modules


def test_a_driver_is_loaded_by_name(toys):
    assert load("knowledge_graph", "toy").__name__ == "Graph"


def test_an_unknown_driver_names_what_is_installed_and_close_matches(toys):
    with pytest.raises(PluginError, match=r"no expander is called 'onehopp'.*Did you mean 'onehop'.*with pip"):
        load("expander", "onehopp")


@pytest.mark.parametrize(
    ("role", "name", "text"),
    [
        ("encoder", "undecorated", "attrs.define"),
        ("encoder", "loose", "argument 'texts' has a default"),
        ("encoder", "incomplete", "method encode is missing"),
        ("encoder", "absent", "reinstall srtk-plugin-toys"),
        ("knowledge_graph", "misspelt", "looks like the hook 'neighbourhood'"),
    ],
)
def test_a_driver_that_breaks_its_contract_is_refused_with_what_to_change(toys, role, name, text):
    with pytest.raises(PluginError, match=text):
        load(role, name)


def test_two_distributions_with_one_name_are_both_named(toys, install):
    install("srtk-plugin-twin", "srtk_twin", GRAPH, {"encoder": {"vectors": "E"}})
    with pytest.raises(PluginError, match=r"srtk-plugin-toys and from srtk-plugin-twin; uninstall"):
        load("encoder", "vectors")


def test_a_plugin_for_another_version_of_the_framework_is_refused_before_import(install):
    install(
        "srtk-plugin-old",
        "srtk_old",
        "raise RuntimeError",
        {"encoder": {"old": "E"}},
        requires=("srtk-framework>=9,<10",),
    )
    with pytest.raises(PluginError, match=r"made for srtk-framework.*pip install --upgrade srtk-plugin-old"):
        load("encoder", "old")


def test_a_class_of_another_role_is_refused(install):
    install("srtk-plugin-wrong", "srtk_wrong", GRAPH, {"exporter": {"wrong": "E"}})
    with pytest.raises(PluginError, match=r"not a subclass of srtk_framework.roles.exporter.Exporter"):
        load("exporter", "wrong")
