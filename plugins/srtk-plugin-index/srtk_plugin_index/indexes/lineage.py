"""What an index was built from: the fingerprints that it keeps, and the sentence where those of a recipe differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from srtk_framework.roles import Corpus, KnowledgeGraph
from srtk_framework.values import DriverError

REBUILD = "build it with `srtk index build RECIPE`, with the recipe that has `index:` and `corpus:`"


def corpus_fingerprint(corpora: Sequence[Corpus]) -> str:
    """Identify the data of all corpora."""
    return "; ".join(corpus.fingerprint() for corpus in corpora)


def graph_sources(corpora: Sequence[Corpus]) -> list[str]:
    """Return the source of each graph that the corpora read, also by a corpus within them."""
    return list(dict.fromkeys(graph.source() for corpus in corpora for graph in _graphs(corpus)))


def check_built(index: str, built: Mapping[str, str], settings: Mapping[str, str], corpora: Sequence[Corpus]) -> None:
    """Refuse an index that was built with other settings or from other data than those of the recipe.

    Args:
        index: What an error calls the index.
        built: What it was built with, by the words that name it in an error; its data under ``corpus``.
        settings: The same of the recipe, without data.
        corpora: The recipe's; none where the recipe does not say what the index is built from.

    Raises:
        DriverError: If one differs.
    """
    wanted = {**settings, **({"corpus": corpus_fingerprint(corpora)} if corpora else {})}
    for what, now in wanted.items():
        before = built.get(what, "")
        if now != before:
            raise DriverError(
                f"the index {index} was built with another {what} ({_shown(before)}) than the recipe's"
                f" ({_shown(now)}); {REBUILD}, or correct the recipe"
            )


def _shown(fingerprint: str) -> str:
    return fingerprint if len(fingerprint) <= 120 else f"{fingerprint[:80]}…{fingerprint[-39:]}"


def _graphs(corpus: Corpus) -> Iterator[KnowledgeGraph]:
    for one in corpus.settings().values():
        if isinstance(one, KnowledgeGraph):
            yield one
        elif isinstance(one, Corpus):
            yield from _graphs(one)
