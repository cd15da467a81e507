"""Any meta file, valid or not, is read right or refused with its place."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
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


def with_checksum(data: dict[str, Any]) -> str:
    return json.dumps({**data, "checksum": checksum(data)})


COUNTS = "counts: must have whole numbers, not below 0, of entities, literals,"
LISTS = "schema: must have lists of texts, type_relations, subclass_relations, mediators, noise, and prefixes"
HASH, BLOCKS = ("files", "nodes.hash", "sha256"), ("files", "nodes.hash", "blocks")


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        *((("counts", "triples"), value, COUNTS) for value in (-1, True, 1.0, "1", None)),
        *((("counts",), [], COUNTS), (("counts", "odd"), 1, COUNTS)),
        *((("schema", "noise"), value, LISTS) for value in ("x", [1], {"a": "b"})),
        *((("schema",), [], LISTS), (("schema", "odd"), [], LISTS)),
        *((("schema", "prefixes"), value, "schema.prefixes: must be texts by prefix") for value in ([], {"x": 1}, "x")),
        *((("names",), value, "names: must be true or false") for value in (1, None)),
        *((("generation",), value, "generation: is not the name of one") for value in ("../" + "0" * 13, 7, "")),
        *((("build",), value, "build: must be an object with the text inputs") for value in ([], {}, {"inputs": 1})),
        (("origin",), [], "origin: must be an object"),
        *(
            (("files",), [], "files: must be an object of all files"),
            (("files", "odd"), {}, "files: must be an object"),
        ),
        *((("files", "nodes.hash"), value, "files.nodes.hash: must be an object of dtype") for value in ({}, [], None)),
        *((("files", "nodes.bytes", "dtype"), value, "nodes.bytes: has the dtype of another") for value in ("<u2", 1)),
        (("files", "nodes.hash", "dtype"), "<u3", "files.nodes.hash: has the dtype of another file"),
        (("files", "terms.literals"), {"dtype": "<u2", "bytes": 0, "sha256": "", "blocks": []}, "has the dtype of"),
        *((("files", "nodes.hash", "bytes"), value, "bytes is not the size of such a file") for value in (-8, 9, "8")),
        *((HASH, value, "files.nodes.hash: sha256 is not a hash") for value in ("0" * 63, "0" * 65, "G" * 64, 7)),
        *((BLOCKS, value, "blocks must be a list of checksums") for value in ("x", [-1], [2**32], [True], {"0": 1})),
        *((BLOCKS, value, "files.nodes.hash: has another number of blocks") for value in ([], [1, 1])),
        (BLOCKS, [2**32 - 1], ""),
        (("content",), "0" * 64, "content: is another graph's"),
        (("odd" * 20,), 1, f"(the entry '{('odd' * 20)[:40]}' is missing or unknown)"),
        (("version",), "3" * 50, f"has the snapshot format version {'3' * 40}, not 4"),
        (("format",), "other", "g: is not a graph snapshot"),
    ],
    ids=str,
)
def test_a_value_of_another_form_is_named_with_its_place(
    right: dict[str, Any], path: tuple[str, ...], value: Any, said: str
) -> None:
    error = refused(with_checksum(put(right, path, value)))
    assert said in error
    assert bool(error) is bool(said)


def test_an_entry_that_is_missing_or_changed_after_the_build_is_named(right: dict[str, Any]) -> None:
    assert "(the entry 'origin' is missing or unknown)" in refused(
        with_checksum({key: value for key, value in right.items() if key != "origin"})
    )
    assert "is damaged (it was changed after the build)" in refused(json.dumps({**right, "origin": {"a": 1}}))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the meta file of a graph in which no file is empty."""
    folder = tmp_path_factory.mktemp("whole")
    rows = [f"n{n}\tr{n % 3}\tn{n * 7 % 50}\n" for n in range(300)]
    tables = {
        "files": "".join([*rows, 'n1\tr0\t"7"^^xsd:integer\n', "n1\tr0\tn1\n"]),
        "labels": "n1\tOne\nr1\tIs\n",
        "aliases": "n1\tFirst\n",
        "qualifiers": 'n1\tr0\tn1\tq\t"7"^^xsd:integer\n',
    }
    for name, text in tables.items():
        (folder / f"{name}.tsv").write_text(text)
    given = {name: (str(folder / f"{name}.tsv"),) for name in tables}
    built = build(BuildSettings(**given), folder / "g")  # type: ignore[arg-type]
    data: dict[str, Any] = json.loads((built.folder / "meta.json").read_text())
    return data


@pytest.mark.parametrize("more", [1, -1])
@pytest.mark.parametrize(
    "name",
    [
        *("nodes.offsets", "literals", "relations.offsets", "relations.count", "nodes.hash", "nodes.hash_node"),
        *("names.hash", "names.node", "labels.offsets", "relation_labels.offsets", "aliases.offsets", "aliases.nodes"),
        *("qualifiers.edge", "qualifiers.relation", "qualifiers.term", "near.starts", "near.blocks", "near.buckets"),
        *(f"{side}.{part}" for side in ("forward", "inverse") for part in ("nodes", "starts", "blocks", "targets")),
    ],
)
def test_a_file_of_another_length_than_the_counts_say_is_named(whole: dict[str, Any], name: str, more: int) -> None:
    entry = whole["files"][name]
    size = np.dtype(entry["dtype"]).itemsize
    items = entry["bytes"] // size + more
    blocks = entry["blocks"] if items else []
    error = refused(with_checksum(put(whole, ("files", name), {**entry, "bytes": items * size, "blocks": blocks})))
    assert f"files.{name}.bytes: {items} items do not fit the counts" in error


def test_terms_are_as_many_as_their_flags_and_have_an_end(whole: dict[str, Any]) -> None:
    terms = whole["files"]["terms.offsets"]
    flags = {"dtype": "|u1", "bytes": terms["bytes"] // 8, "sha256": "0" * 64, "blocks": [0]}
    told = f"files.terms.literals.bytes: {flags['bytes']} items do not fit the counts"
    assert told in refused(with_checksum(put(whole, ("files", "terms.literals"), flags)))
    fitting = {**flags, "bytes": terms["bytes"] // 8 - 1}
    assert "content: is another graph's" in refused(with_checksum(put(whole, ("files", "terms.literals"), fitting)))
    empty = put(whole, ("files", "terms.offsets"), {**terms, "bytes": 0, "blocks": []})
    assert "files.terms.offsets.bytes: is empty" in refused(with_checksum(empty))
    assert refused(with_checksum(whole)) == ""


def test_a_meta_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "meta.json").write_bytes(b"\xff\xfe{}")
    with pytest.raises(SnapshotError, match=r"meta\.json: is damaged \(invalid start byte\)"):
        read_meta(tmp_path)


def test_a_meta_file_that_is_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "meta.json").mkdir()
    with pytest.raises(SnapshotError, match=r"is not a graph snapshot \(meta\.json cannot be read: Is a directory"):
        read_meta(tmp_path)
