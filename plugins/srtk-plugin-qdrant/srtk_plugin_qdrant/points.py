"""Entries as points of a collection, and back."""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
from srtk_plugin_index.indexes.entry_file import entry_line, entry_of

from srtk_framework.values import DriverError, Entry

RELATIONS, ENTITIES = "relations", "entities"
"""Fields of a payload that a filter reads; the server has an index of each."""
DIGEST, NORM = "digest", "norm"
_VECTOR = "vector"
_SPACE = uuid.UUID("0a0c33b7-6f2b-5c3f-8f55-5d9a6f1c2b61")
# A vector whose length is as near to 1 as this is kept as it is; ranking allows for it.
_UNIT_WITHIN = 1e-6

Row = npt.NDArray[np.float32]


def point_id(entry: str) -> str:
    """Return the id of an entry's point, a UUID of version 5: Qdrant takes integers and UUIDs only."""
    # Not uuid.uuid5, which refuses half a character.
    name = _SPACE.bytes + entry.encode("utf-8", "surrogatepass")
    return str(uuid.UUID(bytes=hashlib.sha1(name, usedforsecurity=False).digest()[:16], version=5))


def digest(entry: Entry) -> str:
    """Return a hash of all that an entry brings, its vector included."""
    made = hashlib.blake2b(entry_line(entry).encode("ascii"), digest_size=16)
    if entry.vector is not None:
        made.update(np.ascontiguousarray(entry.vector, dtype="<f4").tobytes())
    return made.hexdigest()


def unit(row: Row) -> Row:
    """Return a vector at length 1; one of that length already, or of 0, as it is."""
    length = norm(row)
    if not length or abs(length - 1) <= _UNIT_WITHIN:
        return row
    scaled: Row = (row.astype(np.float64) / length).astype(np.float32)
    return scaled


def norm(row: Row) -> float:
    """Return the length of a vector, in float64."""
    wide = row.astype(np.float64)
    return float(np.sqrt(np.sum(wide * wide)))


def payload_of(entry: Entry, row: Row, kept: Row, mark: str) -> dict[str, Any]:
    """Return the payload of the point of an entry.

    Args:
        entry: The entry.
        row: Its vector.
        kept: The vector of its point; if it differs, the payload has the bytes of ``row``.
        mark: The ``digest`` of the entry.

    Raises:
        DriverError: For an entry with half a character, which JSON cannot carry to the server.
    """
    id_, text, triples, *mentions = json.loads(entry_line(entry))
    ends = {end for triple in triples for end in (triple[0], triple[2])}
    ends |= {entity for some in mentions for _, _, entity in some}
    payload = {
        "id": id_,
        "text": text,
        "triples": triples,
        RELATIONS: sorted({triple[1] for triple in triples}),
        ENTITIES: sorted(ends),
        DIGEST: mark,
        NORM: norm(row),
    }
    if mentions:
        payload["mentions"] = mentions[0]
    if kept is not row:
        payload[_VECTOR] = base64.b64encode(np.ascontiguousarray(row, dtype="<f4").tobytes()).decode("ascii")
    try:
        json.dumps(payload, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise DriverError(
            f"the entry {id_!a} has half a character (a lone surrogate), which Qdrant cannot keep; correct the corpus"
        ) from error
    return payload


def entry_from(payload: Mapping[str, Any], vector: Any) -> Entry:
    """Return the entry of a point, with the vector that it was added with."""
    mentions = [payload["mentions"]] if "mentions" in payload else []
    entry = entry_of([payload["id"], payload["text"], payload["triples"], *mentions])
    if _VECTOR in payload:
        row = np.frombuffer(base64.b64decode(payload[_VECTOR]), dtype="<f4").astype(np.float32)
    else:
        row = np.asarray(vector, dtype=np.float32)
    return attrs.evolve(entry, vector=row)
