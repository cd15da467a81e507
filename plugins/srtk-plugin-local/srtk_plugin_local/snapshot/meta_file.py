"""The meta file of a snapshot, read: every value of it is checked before anything relies on it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from srtk_framework.records import BLOCK, parse_json
from srtk_framework.values import InputError, SnapshotError
from srtk_plugin_local.snapshot.csr import RUN
from srtk_plugin_local.snapshot.layout import (
    ARRAYS,
    FILTER_BLOCK,
    FORMAT,
    GENERATION,
    HEAPS,
    META,
    TERM_LITERALS,
    VERSION,
    Meta,
    checksum,
    content_hash,
)

AGAIN = "build it again with `srtk graph build`"
_FILES: dict[str, tuple[str, ...]] = dict.fromkeys(ARRAYS, ("|u1", "<u2", "<u4", "<u8", "<i8"))
_FILES |= {f"{heap}.offsets": ("<u8",) for heap in HEAPS}
_FILES |= {f"{heap}.bytes": ("|u1",) for heap in HEAPS}
_COUNTS = (
    *("entities", "literals", "relations", "triples", "labels", "relation_labels", "aliases", "names", "qualifiers"),
)
_LISTS = ("type_relations", "subclass_relations", "mediators", "noise")
_HASH = re.compile("[0-9a-f]{64}")


def read_meta(folder: Path) -> Meta:
    """Read the meta file.

    Raises:
        SnapshotError: If the folder is not a snapshot or has another version, or the file is damaged.
    """
    path = folder / META
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SnapshotError(
            f"{folder}: is not a graph snapshot ({META} cannot be read: {error.strerror}); {AGAIN}"
        ) from error
    except UnicodeDecodeError as error:
        raise SnapshotError(f"{path}: is damaged ({error.reason}); {AGAIN}") from error
    return parse_meta(text, path)


def parse_meta(text: str, path: Path) -> Meta:
    """Read a meta file's text.

    Args:
        text: The text.
        path: Place of the file, for errors.

    Raises:
        SnapshotError: If it is not the meta file of a snapshot, has another version, or is damaged.
    """
    try:
        data = parse_json(text, META)
    except InputError as error:
        raise SnapshotError(f"{path}: is damaged ({error}); {AGAIN}") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise SnapshotError(f"{path.parent}: is not a graph snapshot; {AGAIN}")
    if data.get("version") != VERSION:
        raise SnapshotError(
            f"{path.parent}: has the snapshot format version {str(data.get('version'))[:40]}, not {VERSION}; {AGAIN}"
        )
    fields = [field.name for field in attrs.fields(Meta)]
    keys = {"format", "version", "checksum", *fields}
    if odd := sorted(keys.symmetric_difference(data)):
        raise SnapshotError(f"{path}: is damaged (the entry {odd[0][:40]!r} is missing or unknown); {AGAIN}")
    if data["checksum"] != checksum(data):
        raise SnapshotError(f"{path}: is damaged (it was changed after the build); {AGAIN}")
    meta = Meta(**{name: data[name] for name in fields})
    if fault := _fault(meta):
        raise SnapshotError(f"{path}: is damaged ({fault}); {AGAIN}")
    return meta


def _fault(meta: Meta) -> str:
    """Return the first fault of a meta file, with its place; empty if there is none."""
    counts, schema = meta.counts, meta.schema
    if not _is_object(counts, _COUNTS) or not all(map(_is_count, counts.values())):
        return f"counts: must have whole numbers, not below 0, of {', '.join(_COUNTS)}"
    if not _is_object(schema, (*_LISTS, "prefixes")) or not all(_are_texts(schema[name], list) for name in _LISTS):
        return f"schema: must have lists of texts, {', '.join(_LISTS)}, and prefixes"
    if not _are_texts(schema["prefixes"], dict):
        return "schema.prefixes: must be texts by prefix"
    if not isinstance(meta.names, bool):
        return "names: must be true or false"
    # The name is a part of a path.
    if not isinstance(meta.generation, str) or not GENERATION.fullmatch(meta.generation):
        return "generation: is not the name of one"
    if not isinstance(meta.build, dict) or not isinstance(meta.build.get("inputs"), str):
        return "build: must be an object with the text inputs"
    if not isinstance(meta.origin, dict):
        return "origin: must be an object"
    if not isinstance(meta.files, dict) or {*meta.files} - {TERM_LITERALS} != {*_FILES}:
        return "files: must be an object of all files of a snapshot"
    faults = (f"files.{name}: {fault}" for name, entry in meta.files.items() if (fault := _file_fault(name, entry)))
    fault = next(faults, "") or _size_fault(meta)
    if not fault and meta.content != content_hash(meta.files, meta.names, meta.schema):
        return "content: is another graph's"
    return fault


def _file_fault(name: str, entry: Any) -> str:
    if not _is_object(entry, ("dtype", "bytes", "sha256", "blocks")):
        return "must be an object of dtype, bytes, sha256 and blocks"
    if entry["dtype"] not in _FILES.get(name, ("|u1",)):
        return "has the dtype of another file"
    size, blocks = entry["bytes"], entry["blocks"]
    if not _is_count(size) or size % np.dtype(entry["dtype"]).itemsize:
        return "bytes is not the size of such a file"
    if not isinstance(entry["sha256"], str) or not _HASH.fullmatch(entry["sha256"]):
        return "sha256 is not a hash"
    if not isinstance(blocks, list) or not all(_is_count(block) and block < 2**32 for block in blocks):
        return "blocks must be a list of checksums"
    return "" if len(blocks) == -(-size // BLOCK) else "has another number of blocks"


def _size_fault(meta: Meta) -> str:
    """Return the first file whose number of items contradicts the counts."""
    items = {name: entry["bytes"] // np.dtype(entry["dtype"]).itemsize for name, entry in meta.files.items()}
    counts = meta.counts
    nodes = counts["entities"] + counts["literals"]
    expected = {
        "nodes.offsets": nodes + 1,
        "literals": nodes if counts["literals"] else 0,
        "relations.offsets": counts["relations"] + 1,
        "relations.count": counts["relations"],
        "nodes.hash": nodes,
        "nodes.hash_node": nodes,
        "names.hash": counts["names"],
        "names.node": counts["names"],
        "labels.offsets": nodes + 1 if counts["labels"] else 1,
        "relation_labels.offsets": counts["relations"] + 1 if counts["relation_labels"] else 1,
        "aliases.offsets": counts["aliases"] + 1,
        "aliases.nodes": nodes + 1 if counts["aliases"] else 0,
    }
    expected |= {f"qualifiers.{part}": counts["qualifiers"] for part in ("edge", "relation", "term")}
    for side in ("forward", "inverse"):
        expected |= {
            f"{side}.nodes": nodes + 1,
            f"{side}.starts": items[f"{side}.relations"] + 1,
            f"{side}.blocks": counts["triples"] // RUN,
            f"{side}.targets": counts["triples"],
        }
    expected |= {
        "near.starts": items["near.keys"] + 1,
        "near.blocks": items["near.owners"] // RUN,
        "near.buckets": items["near.filter"] // FILTER_BLOCK + 1,
    }
    if TERM_LITERALS in items:
        expected[TERM_LITERALS] = items["terms.offsets"] - 1
    for name, right in expected.items():
        if items[name] != right:
            return f"files.{name}.bytes: {items[name]} items do not fit the counts"
    for heap in HEAPS:
        if not items[f"{heap}.offsets"]:
            return f"files.{heap}.offsets.bytes: is empty"
    return ""


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_object(value: Any, names: Iterable[str]) -> bool:
    return isinstance(value, dict) and set(value) == set(names)


def _are_texts(value: Any, kind: type) -> bool:
    items = value.values() if isinstance(value, dict) else value
    return isinstance(value, kind) and all(isinstance(item, str) for item in items)
