"""The ``parquet`` exporter: a table with a row for each triple, for pandas, polars, DuckDB and others."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import attrs

from srtk_framework.values import Retrieval
from srtk_plugin_files.facts import facts, library, named
from srtk_plugin_files.file_exporter import FileExporter

_INSTALL = "'srtk-plugin-files[parquet]'"
_TEXTS = ("question", "subject", "relation", "object", "subject_label", "relation_label", "object_label")
_GROUP = 8192  # Rows of a group, which wait in memory: some 10 MB.


class _Sink(io.RawIOBase):
    """Keeps what is written until it is taken."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []
        self._at = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def write(self, data: Any) -> int:
        part = bytes(data)
        self._parts.append(part)
        self._at += len(part)
        return len(part)

    def taken(self) -> bytes:
        whole, self._parts = b"".join(self._parts), []
        return whole


@attrs.define
class Parquet(FileExporter):
    """Write a Parquet file with a row for each triple, best first; ``Result.to`` gives a table of pyarrow.

    A question without triples has a row with its ``question`` and ``error`` alone.
    """

    _rows: list[dict[str, Any]] = attrs.field(init=False, factory=list, repr=False)
    _sink: _Sink = attrs.field(init=False, factory=_Sink, repr=False)
    _writer: Any = attrs.field(init=False, default=None, repr=False)

    def head(self) -> bytes:
        """Begin the file."""
        self._rows, self._sink = [], _Sink()
        self._writer = library("pyarrow.parquet", _INSTALL).ParquetWriter(self._sink, _schema())
        return self._sink.taken()

    def format(self, retrieval: Retrieval) -> bytes:
        """Return the next groups of rows that are full."""
        self._rows += _rows(retrieval)
        while len(self._rows) >= _GROUP:
            self._writer.write_table(_table(self._rows[:_GROUP]))
            del self._rows[:_GROUP]
        return self._sink.taken()

    def tail(self) -> bytes:
        """Return the last rows and the end of the file."""
        if self._rows:
            self._writer.write_table(_table(self._rows))
            self._rows = []
        self._writer.close()
        return self._sink.taken()

    def form(self, retrieval: Retrieval) -> Any:
        """Return a table of pyarrow."""
        return _table(list(_rows(retrieval)))


def _schema() -> Any:
    arrow = library("pyarrow", _INSTALL)
    kinds = {"rank": arrow.int64(), "score": arrow.float64(), "confidence": arrow.float64()}
    names = (*_TEXTS, "rank", "score", "path", "provenance", "confidence", "qualifiers", "error")
    return arrow.schema([(name, kinds.get(name, arrow.string())) for name in names])


def _table(rows: list[dict[str, Any]]) -> Any:
    return library("pyarrow", _INSTALL).Table.from_pylist(rows, schema=_schema())


def _rows(retrieval: Retrieval) -> Iterator[dict[str, Any]]:
    labels, question = retrieval.labels, retrieval.question.id
    if not retrieval.subgraph.triples:
        yield _clean({"question": question, "error": retrieval.error})
    for fact in facts(retrieval):
        texts = (question, *fact.triple, *(named(part, labels) for part in fact.triple))
        yield _clean(
            {
                **dict(zip(_TEXTS, texts, strict=True)),
                "rank": fact.place + 1,
                "score": fact.score,
                "path": fact.steps,
                "provenance": fact.source or None,
                "confidence": fact.confidence,
                "qualifiers": fact.qualified,
            }
        )


def _clean(row: dict[str, Any]) -> dict[str, Any]:
    """Replace lone surrogates, which UTF-8 cannot encode."""
    return {
        name: value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
        for name, value in row.items()
    }
