"""The ``jsonl`` exporter: one JSON record per line, a superset of SRTK's fields."""

from __future__ import annotations

import attrs

from srtk_framework.records import dumps, record_from_retrieval
from srtk_framework.values import Retrieval
from srtk_plugin_files.file_exporter import FileExporter


@attrs.define
class JsonLines(FileExporter):
    """Write one JSON record per line, with the fields of the question and of its result."""

    def format(self, retrieval: Retrieval) -> str:
        """Return the line of a retrieval."""
        return dumps(record_from_retrieval(retrieval)) + "\n"
