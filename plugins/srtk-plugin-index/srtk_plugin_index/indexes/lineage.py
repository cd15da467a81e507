"""Origin of an index: the fingerprints that it keeps, and the sentence if the recipe's fingerprints differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

from srtk_framework.roles import Corpus, KnowledgeGraph
from srtk_framework.values import DriverError, Entry

REBUILD = "build it with `srtk index build RECIPE`, with the recipe that has `index:` and `corpus:`"
# Characters of a fingerprint in an error, enough to see how the data or the settings differ.
_SHOWN = 120


def corpus_fingerprint(corpora: Sequence[Corpus]) -> str:
    """Identify the data of all corpora."""
    return "; ".join(corpus.fingerprint() for corpus in corpora)


def graph_sources(corpora: Sequence[Corpus]) -> list[str]:
    """Return the source of each graph that the corpora read, also by a corpus within them."""
    return list(dict.fromkeys(graph.source() for corpus in corpora for graph in _graphs(corpus)))


def counts_left_out(left_out: Sequence[Mapping[str, int]]) -> dict[str, list[dict[str, int]]]:
    """Return the entry of a manifest on the parts that the limits of each corpus left out; none without counts."""
    return {"left_out": [dict(counts) for counts in left_out]} if any(left_out) else {}


def check_built(index: str, built: Mapping[str, str], settings: Mapping[str, str], corpora: Sequence[Corpus]) -> None:
    """Refuse an index that was built with other settings or from other data than the recipe's.

    Args:
        index: Name of the index in errors.
        built: Settings of the build, by their names in errors; its data under ``corpus``.
        settings: Settings of the recipe, without data.
        corpora: Corpora of the recipe; none if it has none.

    Raises:
        DriverError: If a setting or the data differ.
    """
    wanted = {**settings, **({"corpus": corpus_fingerprint(corpora)} if corpora else {})}
    for what, now in wanted.items():
        before = built.get(what, "")
        if now != before:
            old, new = _apart(before, now)
            raise DriverError(
                f"the index {index} was built with another {what} ({old}) than the recipe's ({new}); {REBUILD}, or"
                " correct the recipe"
            )


def check_id(index: str, entry: Entry, known: bool) -> None:
    """Refuse an entry without an id, or with a known id.

    Args:
        index: Name of the index in errors.
        entry: The entry.
        known: Whether the index has an entry with its id.

    Raises:
        DriverError: If it is refused.
    """
    if not entry.id:
        raise DriverError(f"an entry has no id: {entry.text[:60]!r}; give each its own")
    if known:
        raise DriverError(
            f"the index {index} has an entry with the id {entry.id!r} already; give each entry an id of its own, and"
            " corpora with the same ids an index each"
        )


def _apart(one: str, other: str) -> tuple[str, str]:
    """Shorten two long fingerprints to where they begin to differ."""
    if max(len(one), len(other)) <= _SHOWN:
        return one, other
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    begin = max(0, same - _SHOWN // 3)
    return _cut(one, begin), _cut(other, begin)


def _cut(text: str, begin: int) -> str:
    end = begin + _SHOWN
    return f"{'…' if begin else ''}{text[begin:end]}{'…' if end < len(text) else ''}"


def _graphs(corpus: Corpus) -> Iterator[KnowledgeGraph]:
    for one in corpus.settings().values():
        if isinstance(one, KnowledgeGraph):
            yield one
        elif isinstance(one, Corpus):
            yield from _graphs(one)
