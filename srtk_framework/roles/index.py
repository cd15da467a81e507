"""The role of an index."""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from srtk_framework.roles.answer_checks import check_rows, is_count, shown, truth
from srtk_framework.roles.base import Role, by_value, hook
from srtk_framework.values import DriverError, Entry, Hit, shortened

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def all_added(answer: Any, arguments: Mapping[str, Any], driver: str) -> int:
    """Refuse a count that differs from the number of entries."""
    if not is_count(answer):
        raise DriverError(f"add returned {shown(answer)}; return how many entries were added")
    added, wanted = int(answer), len(arguments["entries"])
    if added != wanted:
        raise DriverError(f"add got {wanted} entries and added {added}")
    return added


def best_first(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse more hits than were asked for, hits out of order, entries that come twice, and spans beyond the text."""
    most = arguments["k"]
    check_rows("the search", answer, Hit, "Hits")
    for hits in answer:
        if len(hits) > most:
            raise DriverError(f"a search for {most} entries found {len(hits)}")
        order = [(-hit.score, hit.entry.id) for hit in hits]
        if not all(math.isfinite(score) for score, _ in order):
            raise DriverError("a hit has a score that is not finite")
        if any(one >= other for one, other in itertools.pairwise(order)):
            raise DriverError("hits are ordered by falling score, ties by id, and no entry comes twice")
        for span, length in ((hit.span, len(hit.entry.text)) for hit in hits if hit.span is not None):
            if not 0 <= span[0] < span[1] <= length:
                raise DriverError(f"a hit has the span {span}, which is no part of its text of {length} characters")
    return answer


def entries_of_ids(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse entries of other ids."""
    for id_, entry in zip(arguments["ids"], answer, strict=True):
        if entry is not None and (not isinstance(entry, Entry) or entry.id != id_):
            raise DriverError(f"entries returned {shown(entry)} for the id {id_!r}; return its Entry, or None")
    return answer


def texts_of_sources(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse anything but a list of texts."""
    if isinstance(answer, str) or not all(isinstance(one, str) for one in answer):
        raise DriverError(f"sources returned {shown(answer)}; return a list of texts")
    return answer


def whole_number(answer: Any, arguments: Mapping[str, Any], driver: str) -> int:
    """Refuse anything but a count."""
    if not isinstance(answer, int) or isinstance(answer, bool) or answer < 0:
        raise DriverError(f"{shortened(repr(answer))} is no number of entries")
    return answer


class Index(Role):
    """Finds the entries nearest to a text or a vector.

    An index is filled by ``create``, ``add`` (any number of times) and ``commit``, and read by ``open`` and searches.

    Order: hits come by falling score, rounded to four decimals; equal scores by id. A search depends on the entries
    and the text alone: neither on the order of adding, nor on the batch. A hit may carry the span of
    the passage that fits best (its ``snippet``).

    Ids: adding an id that the index holds is refused, and nothing of that call is added; so no entry is replaced in
    silence.

    Persistence: what ``add`` got is found by the next search of the same driver, and by others after ``commit``.
    Without ``commit`` it is lost at ``close``, and if the process is killed: what stood at the driver's path before
    stays whole. ``open`` refuses a path without a committed index, and one that was committed with another encoder or
    other settings, by a sentence that says what to run.

    Corpora: an index that is built from corpora declares a field ``corpora: Sequence[Corpus] = ()``, which a recipe's
    ``corpus`` fills. It keeps their fingerprints at ``commit``, and ``open`` refuses an index of other corpora.

    An index that searches texts only, or vectors only, declares it (``searches_texts``, ``searches_vectors``) and
    refuses the other search. An index that is filled elsewhere, such as a search engine, refuses ``add``.
    """

    role = "index"
    plural = "indexes"

    def create(self) -> None:
        """Open an empty index to be filled, in the place of ``open``; the content of its path stays until ``commit``.

        By default it calls ``open``, for an index that keeps nothing.
        """
        self.open()

    @hook(answer=all_added)
    def add(self, entries: Sequence[Entry]) -> int:
        """Add entries; return how many.

        Raises:
            DriverError: For an id that is empty, comes twice or is in the index, or for an entry that the index cannot
                search, such as a vector of another length. Also if the index cannot be filled.
        """
        raise DriverError("this index cannot be filled; name another one, or leave out what fills it")

    def note(self, left_out: Sequence[Mapping[str, int]]) -> None:
        """Keep the counts of the cuts in each corpus with the next ``commit``.

        By default it is not kept.
        """

    @hook(answer=whole_number)
    def commit(self) -> int:
        """Keep the added entries, in one step; return the number of entries that the index holds."""
        return self.size()

    @hook(answer=whole_number)
    @abstractmethod
    def size(self) -> int:
        """Return the number of entries; 0 where it is not known."""

    @hook(batch="texts", key=by_value, answer=best_first)
    def search(self, texts: Sequence[str], k: int) -> Sequence[Sequence[Hit]]:
        """Find the best entries for each text.

        Args:
            texts: Texts to search for. A text without a word finds nothing.
            k: Most hits of a text, at least 1.

        Returns:
            Per text at most ``k`` hits, best first: fewer where the index has no more entries, or no more that have
            anything in common with the text; none in an empty index.

        Raises:
            DriverError: If the index cannot search texts.
        """
        raise DriverError("this index searches vectors, not texts; give it vectors by `near`, or name another index")

    @hook(batch="vectors", answer=best_first)
    def near(self, vectors: npt.NDArray[np.float32] | Sequence[Any], k: int) -> Sequence[Sequence[Hit]]:
        """Find the entries whose vectors are nearest to each vector.

        Args:
            vectors: float32 [n, d], or n vectors of length d.
            k: Most hits of a vector, at least 1.

        Returns:
            Per vector the ``k`` nearest, best first; fewer where the index has no more entries.

        Raises:
            DriverError: If the index cannot search vectors, or theirs have another length.
        """
        raise DriverError("this index searches texts, not vectors; name one that keeps vectors, such as `exact`")

    @hook(batch="ids", key=by_value, answer=entries_of_ids)
    def entries(self, ids: Sequence[str]) -> Sequence[Entry | None]:
        """Return the entry of each id as it was added, with its vector if the index keeps it; None for unknown ids.

        Raises:
            DriverError: If the index cannot read entries by id.
        """
        raise DriverError("this index cannot read entries by id; name one in a folder, such as `exact` or `bm25`")

    @hook(answer=truth)
    def searches_texts(self) -> bool:
        """Return whether ``search`` is supported; by default whether the driver implements it."""
        return type(self).search is not Index.search

    @hook(answer=truth)
    def searches_vectors(self) -> bool:
        """Return whether ``near`` is supported; by default whether the driver implements it."""
        return type(self).near is not Index.near

    @hook(answer=texts_of_sources)
    def sources(self) -> Sequence[str]:
        """Return ``KnowledgeGraph.source()`` of each graph that the entries were read from; none where not known."""
        return ()
