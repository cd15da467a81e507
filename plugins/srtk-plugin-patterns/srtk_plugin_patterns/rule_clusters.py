"""Rule clusters: rules of a relation that predict much the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from srtk_plugin_patterns.rules import Floats, Ints


def rule_clusters(predicted: Any, confidences: Floats, overlap: float) -> Ints:
    """Cluster rules by their predictions.

    Two rules overlap by the Jaccard index of their predictions. The rules are read from the most confident on: each
    opens a cluster, or joins the first cluster whose opening rule it overlaps enough.

    Args:
        predicted: Sparse matrix [rules, facts], 1 where a rule predicts a fact.
        confidences: Confidence of each rule.
        overlap: Least Jaccard index of a rule with the opening rule of its cluster.

    Returns:
        Number of the cluster of each rule.
    """
    sizes = np.diff(predicted.indptr)
    order = np.lexsort((np.arange(len(confidences)), -confidences))
    clusters = np.full(len(order), -1, dtype=np.int64)
    by_fact = predicted.T.tocsr()
    found = 0
    for rule in order.tolist():
        if clusters[rule] >= 0:
            continue
        clusters[rule] = found
        common = predicted[[rule]] @ by_fact
        share = common.data / (sizes[common.indices] + sizes[rule] - common.data)
        mine = common.indices[share >= overlap]
        clusters[mine[clusters[mine] < 0]] = found
        found += 1
    return clusters
