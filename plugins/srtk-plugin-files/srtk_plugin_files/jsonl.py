"""Write retrievals as JSON Lines, one record a line: a superset of SRTK's fields."""

from __future__ import annotations

import attrs

from srtk_framework.records import dumps, record_from_retrieval
from srtk_framework.values import Retrieval
from srtk_plugin_files.file_exporter import FileExporter


@attrs.define
class JsonLines(FileExporter):
    """One JSON record a line, with the question's fields and the result's.

    Attributes:
        path: File to write; ``.gz`` compresses. Its folder is made, and what stood there stays until the end.
    """

    def format(self, retrieval: Retrieval) -> str:
        """Return the retrieval's line."""
        return dumps(record_from_retrieval(retrieval)) + "\n"
