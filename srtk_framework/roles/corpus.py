"""The role of a corpus."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

from srtk_framework.roles.answer_checks import is_count, shown
from srtk_framework.roles.base import Role, hook
from srtk_framework.values import DriverError, Entry


def an_entry(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse an item that is no entry with an id, and a text or a vector."""
    if not isinstance(answer, Entry) or not isinstance(answer.id, str) or not answer.id:
        raise DriverError(f"read gave {shown(answer)}; give Entries with an id")
    if not answer.text and answer.vector is None:
        raise DriverError(f"read gave the entry {answer.id!r} with neither text nor vector; leave it out")
    return answer


def a_counted_entry(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse an item that is no pair of an entry and counts."""
    if not isinstance(answer, tuple) or len(answer) != 2 or not isinstance(answer[1], Mapping):
        raise DriverError(f"counted gave {shown(answer)}; give pairs of an Entry and counts")
    if not all(map(is_count, answer[1].values())):
        raise DriverError(f"counted gave the counts {shown(dict(answer[1]))}; give whole numbers of at least 0")
    an_entry(answer[0], arguments, driver)
    return answer


class Corpus(Role):
    """Yields the entries that an index is built from.

    The fingerprint of a corpus covers its data, by the fingerprint of its graph or a hash of its files, so that an
    index of other data is noticed.
    """

    role = "corpus"
    plural = "corpora"

    @hook(stream=True, answer=an_entry)
    @abstractmethod
    def read(self) -> Iterable[Entry]:
        """Yield the entries, in the same order each time.

        Ids are unique and not empty. An entry has a text, a vector or both. The stream is read once and entries are
        dropped as they are indexed, so a corpus may be larger than memory.

        Raises:
            InputError: With file and line, where a record cannot be read.
        """

    @hook(stream=True, answer=a_counted_entry, needs=("read",))
    def counted(self) -> Iterable[tuple[Entry, Mapping[str, int]]]:
        """Yield the entries of ``read``, each with counts of the cuts by the limits of the corpus.

        The counts have the same names for each entry, and 0 where a limit was not reached. By default there are none:
        nothing is left out. A corpus that holds a corpus passes on its counts.
        """
        return ((entry, {}) for entry in self.read())
