"""Any meta file, valid or not, is read right or refused with its place."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.layout import checksum
from srtk_plugin_local.snapshot.meta_file import parse_meta, read_meta

from srtk_framework.values import SnapshotError

PLACE = Path("g/meta.json")

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([0, 1, -1, 2**31, 2**63, 2**64, 10**30])
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["<u4", "<u8", "|u1", "|O", "../other", "0" * 16, "0" * 64, "srtk-graph"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("right")
    (folder / "t.tsv").write_text("".join(f"n{n}\tr{n % 3}\tn{n * 7 % 50}\n" for n in range(100)))
    (folder / "l.tsv").write_text("n1\tOne\nr1\tIs\n")
    built = build(
        BuildSettings(files=(str(folder / "t.tsv"),), labels=(str(folder / "l.tsv"),), prefixes={"x": "http://x/"}),
        folder / "g",
    )
    data: dict[str, Any] = json.loads((built.folder / "meta.json").read_text())
    return data


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """List the paths of all values."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in places(item, (*path, key)))]


def put(data: dict[str, Any], path: tuple[Any, ...], value: Any) -> Any:
    """Return a copy with another value at a path."""
    if not path:
        return value
    whole = copy.deepcopy(data)
    at: Any = whole
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return whole


def refused(text: str) -> str:
    """Return the error of a meta file; empty if it is read."""
    try:
        parse_meta(text, PLACE)
    except SnapshotError as error:
        return str(error)
    return ""


@settings(max_examples=200)
@given(st.data())
def test_any_value_in_any_place_is_named(right: dict[str, Any], data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(places(right)))
    value = data.draw(VALUES)
    changed = put(right, path, value)
    error = refused(json.dumps(changed))
    if json.dumps(changed, sort_keys=True) == json.dumps(right, sort_keys=True):
        assert error == ""
    else:
        assert error.startswith("g")
        assert "build it again" in error


@settings(max_examples=200)
@given(st.data())
def test_any_value_with_the_right_checksum_is_right_or_named_with_its_place(
    right: dict[str, Any], data: st.DataObject
) -> None:
    inner = [path for path in places(right) if path and path != ("checksum",)]
    path = data.draw(st.sampled_from(inner))
    changed = put(right, path, data.draw(VALUES))
    changed["checksum"] = checksum(changed)
    text = json.dumps(changed)
    error = refused(text)
    if error:
        assert "build it again" in error
        assert path[0] in error or any(word in error for word in ("content", "JSON", "format", "snapshot"))
        return
    meta = parse_meta(text, PLACE)
    # What may differ without a fault: a checksum of a block, and what is not needed to read the graph.
    assert changed == right or path[0] in ("build", "origin", "generation") or "blocks" in path or "sha256" in path
    assert meta.content == right["content"]


@settings(max_examples=150)
@given(st.text(max_size=200) | VALUES.map(json.dumps))
def test_any_text_is_refused(text: str) -> None:
    assert refused(text)


@settings(max_examples=150)
@given(st.data())
def test_any_change_of_the_text_is_named_or_means_the_same(right: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(right, indent=1, sort_keys=True)
    place = data.draw(st.integers(0, len(text) - 1))
    new = data.draw(st.text(max_size=2))
    changed = text[:place] + new + text[place + data.draw(st.integers(0, 3)) :]
    if not refused(changed):
        assert json.loads(changed) == right


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "NaN", '{"format": "srtk-graph", "version": 2}'])
def test_odd_texts_are_refused(text: str) -> None:
    assert "build it again" in refused(text)


def test_a_meta_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "meta.json").write_bytes(b"\xff\xfe{}")
    with pytest.raises(SnapshotError, match=r"meta\.json: is damaged \(invalid start byte\)"):
        read_meta(tmp_path)


def test_a_meta_file_that_is_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "meta.json").mkdir()
    with pytest.raises(SnapshotError, match=r"is not a graph snapshot \(meta\.json cannot be read: Is a directory"):
        read_meta(tmp_path)
