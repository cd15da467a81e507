"""What the exporters of this plugin share: the life of their output file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import attrs

from srtk_framework.roles import Exporter
from srtk_framework.values import DriverError, Retrieval
from srtk_plugin_files.atomic_file import Output


@attrs.define
class FileExporter(Exporter, ABC):
    """Base of exporters of one file; a driver adds ``format`` and, where it needs them, ``head`` and ``tail``.

    Attributes:
        path: File to write; ``.gz`` compresses. Its folder is made, and what stood there stays until the end.
    """

    path: str
    _output: Output | None = attrs.field(init=False, default=None, repr=False)

    def open(self) -> None:
        """Start the file beside its target."""
        self._output = Output(self.path)
        self._put(self.head())

    def write(self, retrievals: Sequence[Retrieval]) -> int:
        """Add each retrieval to the file."""
        for retrieval in retrievals:
            self._put(self.format(retrieval))
        return len(retrievals)

    def abort(self) -> bool:
        """Drop the file that was begun."""
        if self._output is not None:
            self._output.drop()
            self._output = None
        return True

    def close(self) -> None:
        """Complete the file and put it in the place of its target."""
        output = self._output
        if output is not None:
            self._put(self.tail())
            self._output = None
            output.finish()

    def head(self) -> str:
        """Return what stands before the first retrieval."""
        return ""

    @abstractmethod
    def format(self, retrieval: Retrieval) -> str:
        """Return one retrieval's part of the file."""

    def tail(self) -> str:
        """Return what stands after the last retrieval."""
        return ""

    def _put(self, text: str) -> None:
        if self._output is None:
            raise DriverError(f"{self.path} is not open; call open() before write()")
        try:
            self._output.write(text)
        except DriverError:
            self._output = None
            raise
