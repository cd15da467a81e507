"""The base class of exporters that write one file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import attrs

from srtk_framework.roles import Exporter, not_open, unwritable
from srtk_framework.values import DriverError, Retrieval
from srtk_plugin_files.atomic_file import AtomicFile


@attrs.define
class FileExporter(Exporter, ABC):
    """Exporter of one file; subclasses define ``format`` and, optionally, ``head`` and ``tail``.

    Attributes:
        path: Output file, compressed if it ends in ``.gz``. Its folder is created; an existing file is replaced when
            the run is complete.
    """

    path: str
    _output: AtomicFile | None = attrs.field(init=False, default=None, repr=False)

    def preflight(self) -> list[tuple[str, str]]:
        """Check that the file can be written."""
        return unwritable("path", self.path)

    def open(self) -> None:
        """Create a temporary file beside the output file."""
        head = self.head()
        self._output = AtomicFile(self.path)
        self._put(head)

    def write(self, retrievals: Sequence[Retrieval]) -> int:
        """Append the retrievals."""
        for retrieval in retrievals:
            self._put(self.format(retrieval))
        return len(retrievals)

    def form(self, retrieval: Retrieval) -> Any:
        """Return the whole file of one retrieval, as text; override it where a library has a type for it."""
        parts: list[Any] = [self.head(), self.format(retrieval), self.tail()]
        return parts[0] + parts[1] + parts[2]

    def abort(self) -> bool:
        """Delete the temporary file."""
        if self._output is not None:
            self._output.drop()
            self._output = None
        return True

    def close(self) -> None:
        """Complete the file and move it to its path."""
        output = self._output
        if output is not None:
            self._put(self.tail())
            self._output = None
            output.finish()

    def head(self) -> str | bytes:
        """Return the text before the first retrieval."""
        return ""

    @abstractmethod
    def format(self, retrieval: Retrieval) -> str | bytes:
        """Return the text of one retrieval."""

    def tail(self) -> str | bytes:
        """Return the text after the last retrieval."""
        return ""

    def _put(self, text: str | bytes) -> None:
        if self._output is None:
            raise not_open(self)
        try:
            self._output.write(text)
        except DriverError:
            self._output = None
            raise
