from __future__ import annotations

from importlib import metadata

import pytest

from srtk_framework.host import discovery
from srtk_framework.host.discovery import find, load
from srtk_framework.host.ports import port
from srtk_framework.values import PluginError, Step, deprecation

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


def test_a_driver_in_a_group_of_no_role_is_found_where_it_is(install):
    install("srtk-plugin-lost", "srtk_lost", GRAPH, {"scorer": {"lost": "E"}})
    said = (
        r"no path_scorer is called 'lost'.* srtk-plugin-lost has a 'lost' in the entry-point group srtk\.scorer; that"
    )
    with pytest.raises(PluginError, match=said + r" of this role is srtk\.path_scorer"):
        load("path_scorer", "lost")


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
    with pytest.raises(PluginError, match=r"not a subclass of srtk_framework.roles.Exporter"):
        load("exporter", "wrong")


OLD = """
import attrs
from srtk_framework.roles import PathScorer
@attrs.define
class Old(PathScorer):
    def score(self, paths, candidates):
        return [[float(len(path))] * len(row) for path, row in zip(paths, candidates, strict=True)]
"""


def test_a_driver_written_before_its_hook_gained_an_argument_loads_and_runs(install):
    install("srtk-plugin-old", "srtk_old_scorer", OLD, {"path_scorer": {"old": "Old"}})
    driver = load("path_scorer", "old")()
    steps = [[Step("a"), Step("b")]]
    assert driver.score(["q"], [(Step("x"),)], steps) == [[1.0, 1.0]]
    assert port(driver, "path_scorer", "old").score(["q"], [(Step("x"),)], steps) == [[1.0, 1.0]]


def test_an_argument_that_the_hook_does_not_have_is_refused_with_the_distribution(install):
    code = OLD.replace("paths, candidates)", "paths, candidate)")
    install("srtk-plugin-new", "srtk_new_scorer", code, {"path_scorer": {"new": "Old"}})
    text = r"'new' of srtk-plugin-new 1.0: score\(paths, candidate\) takes 'candidate'.*Did you mean 'candidates'"
    with pytest.raises(PluginError, match=text):
        load("path_scorer", "new")


def test_a_known_driver_that_is_not_installed_names_its_distribution(monkeypatch):
    monkeypatch.setattr("srtk_framework.host.discovery.find", lambda role: [])
    with pytest.raises(PluginError, match="expander 'bfs' is not installed; run: pip install srtk-plugin-baselines"):
        load("expander", "bfs")


def test_the_metadata_of_distributions_are_read_once(toys, monkeypatch):
    read = []
    everything = discovery.distributions
    monkeypatch.setattr(discovery, "distributions", lambda: read.append(1) or everything())
    discovery._installed.cache_clear()
    first = find("expander")
    first.clear()
    assert {plugin.name for plugin in find("expander")} >= {"many", "onehop"}
    assert find("encoder")
    assert len(read) == 1


def test_the_metadata_of_distributions_without_drivers_are_not_read(toys, monkeypatch):
    read = []
    original = metadata.PathDistribution.read_text

    def counted(self, name):
        text = original(self, name)
        if name == "METADATA":
            read.append(text)
        return text

    monkeypatch.setattr(metadata.PathDistribution, "read_text", counted)
    discovery._installed.cache_clear()
    brought = {plugin.distribution for found in discovery._installed(()).values() for plugin in found}
    assert len(brought) == len(read) < len(list(metadata.distributions()))


def test_a_distribution_that_is_removed_or_installed_meanwhile_is_noticed(install):
    def names():
        return [plugin.name for plugin in find("encoder")]

    folder = install("srtk-plugin-late", "srtk_late", GRAPH, {"encoder": {"late": "E"}})
    [metadata] = folder.glob("*.dist-info")
    assert "late" in names()
    away = metadata.rename(folder.with_name("away"))
    assert "late" not in names()
    away.rename(metadata)
    assert "late" in names()


LATE = """
from __future__ import annotations
from abc import abstractmethod
import attrs
from srtk_framework import deprecated
from srtk_framework.roles import Role, hook
class Ranker(Role):
    role = "ranker"
    @hook(batch="rows")
    @abstractmethod
    def rank(self, rows): ...
    @deprecated(since="0.2", instead="`rank`", until="0.4")
    @hook(batch="rows")
    def order(self, rows): return rows
@deprecated(since="0.3", instead="`sorted`", until="0.5")
def by_name(rows): return rows
@attrs.define
class Late(Ranker):
    depth: int = attrs.field(default=3, metadata={"deprecated": deprecated(since="0.2", instead="hops", until="0.4")})
    def rank(self, rows): return by_name(rows)
    def order(self, rows): return rows
@attrs.define
class Current(Ranker):
    def rank(self, rows): return rows
@deprecated(since="0.2", instead="`current`", until="0.4")
@attrs.define
class Gone(Ranker):
    def rank(self, rows): return rows
"""


@pytest.fixture
def late(install, monkeypatch):
    monkeypatch.setattr(deprecation, "_told", set())
    monkeypatch.setattr(deprecation, "_drivers", {})
    rankers = {"late": "Late", "current": "Current", "gone": "Gone"}
    install("srtk-plugin-late", "srtk_late", LATE, {"role": {"ranker": "Ranker"}, "ranker": rankers})


def test_a_driver_that_implements_a_deprecated_hook_is_named_once(late):
    with pytest.warns(FutureWarning) as told:
        cls, _ = [load("ranker", "late") for _ in range(2)]
    assert [str(one.message) for one in told] == [
        "ranker 'late' of srtk-plugin-late 1.0: the hook 'order' is deprecated since 0.2 and goes with 0.4; use `rank`"
    ]
    with pytest.warns(FutureWarning, match=r"^ranker 'late' of srtk-plugin-late 1.0 uses srtk_late.by_name, which is"):
        assert port(cls(), "ranker", "late").rank([1, 2]) == [1, 2]


def test_a_driver_that_uses_nothing_deprecated_warns_of_nothing(late):
    assert port(load("ranker", "current")(), "ranker", "current").rank([1]) == [1]


def test_a_deprecated_driver_is_named_when_it_is_loaded(late):
    text = r"ranker 'gone' of srtk-plugin-late 1.0: the driver is deprecated since 0.2 and goes with 0.4; use `current`"
    with pytest.warns(FutureWarning, match=text):
        load("ranker", "gone")
