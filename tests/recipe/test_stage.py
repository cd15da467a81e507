"""Stages are found by entry point, and read like drivers: strictly, with the place of each mistake."""

from __future__ import annotations

import pytest

from srtk_framework.recipe import from_data
from srtk_framework.recipe.stage import load_stage, stage_keys
from srtk_framework.values import PluginError

CODE = '''
from __future__ import annotations
import attrs
from srtk_framework import Stage, hookimpl

@attrs.define
class Upload(Stage):
    """Copies what a run wrote.

    Attributes:
        folder: Target.
        tries: Attempts.
    """
    folder: str
    tries: int = 3

@attrs.define
class Mark(Stage):
    """Has no setting."""

@attrs.define
class Unread(Stage):
    """Cannot be read."""
    @classmethod
    def read(cls, value, blocks): raise ValueError("broken")

class Bare(Stage):
    pass

class Foreign:
    pass
'''
ENTRIES = {"stage": {"upload": "Upload", "mark": "Mark", "bare": "Bare", "unread": "Unread", "foreign": "Foreign"}}


@pytest.fixture(autouse=True)
def stages(install):
    install("srtk-plugin-stages", "srtk_stages", CODE, ENTRIES)


def problems(**keys):
    return from_data({"srtk": 1, **keys}).problems


def test_a_stage_has_the_settings_below_its_key():
    recipe = from_data({"srtk": 1, "upload": {"folder": "there"}, "mark": True})
    assert recipe.problems == []
    assert (recipe.stages["upload"].folder, recipe.stages["upload"].tries, recipe.stages["upload"].key) == (
        "there",
        3,
        "upload",
    )
    assert list(recipe.stages) == ["upload", "mark"]


@pytest.mark.parametrize("value", [None, False])
def test_a_stage_acts_only_where_its_key_has_a_value(value):
    assert from_data({"srtk": 1, "mark": value}).stages == {}


def test_settings_of_stages_are_checked_like_settings_of_drivers():
    assert problems(upload={"folder": 3, "trys": 1}) == [
        "recipe: upload: unknown key 'trys'; known are folder, tries. Did you mean 'tries'?",
        "recipe: upload: expected text, got 3",
    ]
    assert problems(upload=True) == ["recipe: upload: key 'folder' is missing"]
    assert problems(upload=["x"]) == ["recipe: upload is a mapping with folder, tries"]
    assert problems(mark=7) == ["recipe: mark is true or false"]


def test_a_known_stage_that_is_not_installed_is_named_with_its_distribution(monkeypatch):
    monkeypatch.setattr("srtk_framework.recipe.recipe.stage_keys", list)
    assert problems(evaluate=True) == [
        "recipe: stage 'evaluate' is not installed; run: pip install srtk-plugin-evaluation"
    ]


@pytest.mark.parametrize(("key", "said"), [("bare", "attrs.define"), ("foreign", "is not a subclass of")])
def test_a_class_that_is_no_stage_is_refused_with_the_change_that_it_needs(key, said):
    with pytest.raises(PluginError, match=said):
        load_stage(key)
    assert said in problems(**{key: True})[0]


def test_a_stage_that_cannot_read_its_settings_is_named():
    assert problems(unread=True) == ["recipe: stage unread: read failed: ValueError: broken"]


@pytest.mark.parametrize(("key", "value"), [("reader", "paths"), ("encoders", {}), ("batch", 3)])
def test_no_stage_has_the_name_of_another_key(install, key, value):
    install("srtk-plugin-late", "srtk_late", CODE, {"stage": {key: "Mark"}})
    said = f"recipe: stage '{key}' of srtk-plugin-late 1.0: no stage can be called '{key}', since `{key}:` is another"
    assert [problem[: len(said)] for problem in problems(**{key: value})] == [said]
    assert problems(mark=True) == []


def test_the_stages_of_all_distributions_are_listed():
    assert {"upload", "mark", "evaluate", "train"} <= set(stage_keys())


def test_no_role_of_another_distribution_can_have_the_name_of_a_stage(install):
    from srtk_framework.host import role_class

    install("srtk-plugin-late", "srtk_late", "class Role: pass", {"role": {"upload": "Role"}})
    with pytest.raises(PluginError, match="`upload:` is another key of recipes"):
        role_class("upload")


@pytest.mark.parametrize("name", ["files", "key", "schema", "batch", "train", "steps"])
def test_a_setting_cannot_have_a_name_of_the_base_class(install, name):
    code = CODE.replace("tries: int = 3", f"{name}: int = 3")
    install("srtk-plugin-stages", "srtk_stages", code, ENTRIES)
    with pytest.raises(PluginError, match=f"no setting of a stage can be called '{name}'"):
        load_stage("upload")


@pytest.mark.parametrize("value", [None, False])
def test_a_stage_that_is_turned_off_need_not_be_installed(monkeypatch, value):
    monkeypatch.setattr("srtk_framework.recipe.recipe.stage_keys", list)
    assert problems(evaluate=value) == []
