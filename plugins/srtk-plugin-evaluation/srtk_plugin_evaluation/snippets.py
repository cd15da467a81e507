"""Precision of ranked text snippets, by kind of query: measures of targeted information extraction.

A query of one kind returns snippets, best first, and each of them names the target or does not. These are the measures
of patterns for targeted information extraction with their definitions as published: "recall" there is a precision
weighted by coverage. Queries with fewer than k snippets have no precision at k.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from srtk_framework.values import InputError

SNIPPET_CUTS = (1, 3, 10)  # Numbers of first snippets that are looked at.

Correctness = Sequence[bool]  # Whether each snippet of a query tells the target, best snippet first.


def precision_at(snippets: Correctness, k: int) -> float | None:
    """Return the share of right ones among the first k snippets; None for a query with fewer than k.

    Raises:
        ValueError: If k is below 1.
    """
    if k < 1:
        raise ValueError(f"k is {k}; it must be at least 1")
    return sum(map(bool, snippets[:k])) / k if len(snippets) >= k else None


def mean_precision_at(queries: Sequence[Correctness], k: int) -> float | None:
    """Return the mean P@k over the queries with at least k snippets; None if no query has as many."""
    found = _precisions(queries, k)
    return sum(found) / len(found) if found else None


def coverage_weighted_recall_at(queries: Sequence[Correctness], k: int) -> float | None:
    """Return the sum of P@k over the queries with at least k snippets, over the number of all queries.

    The papers call it "average recall". None without queries.
    """
    return sum(_precisions(queries, k)) / len(queries) if queries else None


def comparable_precision_at(variants: Mapping[str, Sequence[Correctness]], k: int) -> dict[str, float | None]:
    """Return the mean P@k of each variant over the queries for which all variants have at least k snippets.

    Args:
        variants: Variant to its queries; place i is the same question in all of them.
        k: Number of snippets.

    Returns:
        One value per variant; None if no question qualifies.

    Raises:
        InputError: If the variants have different numbers of queries.
    """
    rows = _aligned(variants)
    kept = [row for row in rows if all(len(snippets) >= k for snippets in row)]
    return {name: mean_precision_at([row[i] for row in kept], k) for i, name in enumerate(variants)}


def relations_won(
    variants: Mapping[str, Sequence[Correctness]], relations: Sequence[str], k: int
) -> dict[str, list[str]]:
    """Return the relations for which each variant has the highest mean P@k; a tie is won by all of its variants.

    Args:
        variants: Variant to its queries; place i is the same question in all of them.
        relations: Relation of each question.
        k: Number of snippets.

    Returns:
        Sorted relations per variant. A relation is won by none if no variant has a query with k snippets.

    Raises:
        InputError: If the variants and the relations have different numbers of queries.
    """
    rows = _aligned(variants, len(relations))
    places: dict[str, list[int]] = {}
    for place, relation in enumerate(relations):
        places.setdefault(relation, []).append(place)
    won: dict[str, list[str]] = {name: [] for name in variants}
    for relation in sorted(places):
        means = {n: mean_precision_at([rows[p][i] for p in places[relation]], k) for i, n in enumerate(variants)}
        best = max((mean for mean in means.values() if mean is not None), default=None)
        for name, mean in means.items():
            # Means over different numbers of queries may differ in their last bits.
            if mean is not None and best is not None and best - mean < 1e-12:
                won[name].append(relation)
    return won


def snippet_table(
    variants: Mapping[str, Sequence[Correctness]],
    relations: Sequence[str] | None = None,
    cuts: Sequence[int] = SNIPPET_CUTS,
) -> dict[str, dict[str, float | int | None]]:
    """Return all measures of each variant.

    Args:
        variants: Variant to its queries; place i is the same question in all of them.
        relations: Relation of each question; without them no relations are won.
        cuts: Values of k.

    Returns:
        Per variant: ``queries``; for each k ``answered_at_k`` (queries with at least k snippets), ``precision_at_k``,
        ``recall_at_k`` (weighted by coverage), ``comparable_at_k``, and ``relations_won_at_k`` with relations.

    Raises:
        InputError: If the variants and the relations have different numbers of queries.
    """
    table: dict[str, dict[str, float | int | None]] = {n: {"queries": len(rows)} for n, rows in variants.items()}
    for k in cuts:
        comparable = comparable_precision_at(variants, k)
        won = None if relations is None else relations_won(variants, relations, k)
        for name, rows in variants.items():
            table[name] |= {
                f"answered_at_{k}": len(_precisions(rows, k)),
                f"precision_at_{k}": mean_precision_at(rows, k),
                f"recall_at_{k}": coverage_weighted_recall_at(rows, k),
                f"comparable_at_{k}": comparable[name],
                **({} if won is None else {f"relations_won_at_{k}": len(won[name])}),
            }
    return table


def _precisions(queries: Sequence[Correctness], k: int) -> list[float]:
    return [found for snippets in queries if (found := precision_at(snippets, k)) is not None]


def _aligned(variants: Mapping[str, Sequence[Correctness]], count: int | None = None) -> list[tuple[Correctness, ...]]:
    sizes = {name: len(rows) for name, rows in variants.items()}
    if len({*sizes.values(), *(() if count is None else (count,))}) > 1:
        told = ", ".join(f"{name} has {size}" for name, size in sizes.items())
        wanted = "" if count is None else f", and there are {count} relations"
        raise InputError(f"each variant needs one list of snippets per question; {told}{wanted}")
    return list(zip(*variants.values(), strict=True))
