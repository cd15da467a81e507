from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.unset_settings import places, settings, written

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.yaml", "expander: {use: beam, width: 3, search: {margin: 2}}\nseed: 4\n", {"width", "search", "margin"}),
        ("a.yaml", "path_scorer: {use: dense, encoder: {use: onnx, batch_size: 8}}\n", set()),
        ("a.md", "With `{use: beam, width: 3}` it is wider.\n", {"width"}),
        ("a.md", "```yaml\nexpander: {use: beam, depth: 3}\n```\n`width: 3`\n", {"depth"}),
        ("a.py", "recipe = {'expander': {'use': 'beam', 'search': {'margin': 2}}}\n", {"search", "margin"}),
        ("a.py", "run('expander: {use: beam, width: 3}')\n", {"width"}),
        ("a.py", "BeamExpander(graph, width=3)\nOther(depth=2)\n", {"width"}),
    ],
)
def test_settings_are_found_with_the_driver_that_they_are_given_to(
    tmp_path: Path, name: str, text: str, found: set[str]
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    pairs = set(written(tmp_path / name))
    assert {setting for driver, setting in pairs if driver in ("beam", "BeamExpander")} - {"use"} == found


def test_tests_of_a_plugin_count_for_its_drivers(tmp_path: Path) -> None:
    folder = tmp_path / "plugins" / "srtk-plugin-toys" / "tests"
    folder.mkdir(parents=True)
    (folder / "test_a.py").write_text("made(width=3)\n", encoding="utf-8")
    assert ("srtk-plugin-toys", "width") in places(tmp_path)["tests"]


def test_a_setting_counts_once_for_the_class_that_declares_it() -> None:
    every = settings()
    assert len({(one.owner, one.name) for one in every}) == len(every)
    [deadline] = [one for one in every if (one.owner, one.name) == ("Limits", "deadline")]
    assert {"wikidata", "openai"} <= deadline.users
    assert not [one for one in every if one.owner == "BeamExpander" and one.name in ("graph", "scorer", "budget")]
