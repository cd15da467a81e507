from __future__ import annotations

import sys
import types
import warnings

import attrs
import pytest

from srtk_framework.roles import hook
from srtk_framework.values import deprecated, deprecation
from srtk_framework.values.deprecation import deprecation_of, name_driver


@pytest.fixture(autouse=True)
def nothing_told(monkeypatch):
    monkeypatch.setattr(deprecation, "_told", set())
    monkeypatch.setattr(deprecation, "_drivers", {})


@deprecated(since="0.2", instead="relations", until="0.4")
def edges(graph: str) -> list[str]:
    """List the edges."""
    return [graph]


@deprecated(since="0.2", instead="Bag", until="0.4")
@attrs.frozen
class Sack:
    size: int = 1


class Small(Sack):
    pass


def module(name: str, source: str, **names: object) -> types.ModuleType:
    made = types.ModuleType(name)
    vars(made).update(names)
    exec(source, vars(made))
    return made


def test_a_function_warns_of_its_caller_since_when_what_instead_and_when_it_goes():
    plugin = module("overlap.scorer", "def ask(): return edges('g')", edges=edges)
    name = f"{__name__}.edges"
    with pytest.warns(FutureWarning) as told:
        assert plugin.ask() == ["g"]
    [warning] = told
    assert str(warning.message) == (
        f"overlap.scorer uses {name}, which is deprecated since 0.2 and goes with 0.4; use relations"
    )
    assert edges.__doc__ == "List the edges."


def test_each_user_is_told_once():
    one, two = (module(name, "def ask(): return edges('g')", edges=edges) for name in ("one", "two"))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for plugin in (one, two, one, two):
            plugin.ask()
    assert [str(warning.message).split()[0] for warning in told] == ["one", "two"]


def test_a_driver_s_calls_name_the_driver():
    plugin = module("overlap.scorer", "def ask(): return edges('g')", edges=edges)
    name_driver("overlap.scorer", "path_scorer 'overlap' of srtk-plugin-overlap 1.0")
    with pytest.warns(FutureWarning, match=r"path_scorer 'overlap' of srtk-plugin-overlap 1\.0 uses .*edges"):
        plugin.ask()


def test_a_class_warns_when_it_is_made_and_its_subclass_does_not():
    with pytest.warns(FutureWarning, match="Sack, which is deprecated since 0.2 and goes with 0.4; use Bag"):
        assert Sack(3).size == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Small(2).size == 2


def test_a_hook_is_marked_and_can_be_called_without_a_warning():
    @deprecated(since="0.2", instead="rank", until="1.0")
    @hook(batch="rows")
    def order(self, rows):
        return rows

    assert order(None, [1]) == [1]
    assert deprecation_of(order) == deprecated(since="0.2", instead="rank", until="1.0")


def test_the_order_of_the_two_decorators_is_said():
    with pytest.raises(TypeError, match="write @deprecated above @hook"):

        @hook(batch="rows")
        @deprecated(since="0.2", instead="rank", until="1.0")
        def order(self, rows):
            return rows


def test_what_stays_has_no_deprecation():
    assert deprecation_of(sys) is deprecation_of(3) is deprecation_of(Small) is None
    assert deprecation_of(attrs.fields(Sack).size) is None


@pytest.mark.parametrize(("since", "until"), [("0.2", "0.2.5"), ("0.2.1", "0.2.9"), ("1.3", "1.3"), ("2.0", "1.9")])
def test_nothing_goes_without_a_minor_version_that_warns(since, until):
    with pytest.raises(ValueError, match=f"warns since {since} may go with a later minor version, not with {until}"):
        deprecated(since=since, instead="x", until=until)
