"""The results of another method, by question, read as they are asked for."""

from __future__ import annotations

from collections.abc import Iterator

from srtk_framework.records import read_retrievals
from srtk_framework.values import DriverError, InputError, Retrieval


class Counterparts:
    """Results in a JSON Lines file, by the ids of their questions.

    Files of the same questions in the same order are read side by side; results that come before they are asked for are
    kept until then.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.matched = 0
        self._kept: dict[str, Retrieval] = {}
        self._seen: set[str] = set()
        self._coming = read_retrievals(path)

    def of(self, question: str) -> Retrieval | None:
        """Return the result for the id of a question; None if the file has none."""
        while question not in self._seen:
            following = self._next()
            if following is None:
                return None
            self._kept[following.question.id] = following
        found = self._kept.pop(question, None)
        self.matched += found is not None
        return found

    def others(self) -> Iterator[Retrieval]:
        """Give the results that were not asked for, in the order of the file."""
        yield from self._kept.values()
        self._kept = {}
        while (following := self._next()) is not None:
            yield following

    def _next(self) -> Retrieval | None:
        try:
            found = next(self._coming, None)
        except InputError as error:
            raise DriverError(str(error)) from error
        if found is not None:
            if found.question.id in self._seen:
                raise DriverError(
                    f"{self.path} has two results for the question {found.question.id!r}; keep one of them"
                )
            self._seen.add(found.question.id)
        return found
