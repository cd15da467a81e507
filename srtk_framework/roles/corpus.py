"""The role of a corpus."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping

from srtk_framework.roles.base import Role, hook
from srtk_framework.values import Entry


class Corpus(Role):
    """Yields the entries that an index is built from.

    The fingerprint of a corpus covers what it reads, so that an index of other data can be told: by the fingerprint of
    its graph, or by a hash of its files.
    """

    role = "corpus"
    plural = "corpora"

    @hook(stream=True)
    @abstractmethod
    def read(self) -> Iterable[Entry]:
        """Yield the entries, in the same order each time.

        Ids are unique and not empty. An entry has a text, a vector or both. The stream is read once and entries are
        dropped as they are indexed, so a corpus may be larger than memory.

        Raises:
            InputError: With file and line, where a record cannot be read.
        """

    @hook(stream=True, needs=("read",))
    def counted(self) -> Iterable[tuple[Entry, Mapping[str, int]]]:
        """Yield the entries of ``read``, each with what the limits of the corpus left out of it.

        The counts have the same names for each entry, and 0 where a limit was not reached. By default there are none:
        nothing is left out. A corpus that holds a corpus passes on the counts of that one.
        """
        return ((entry, {}) for entry in self.read())
