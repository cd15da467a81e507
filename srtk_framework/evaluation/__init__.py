"""Evaluation: metrics, confidence intervals, slices, and reports on one or several methods."""

from __future__ import annotations

from srtk_framework.evaluation.calibration import brier_score, calibration_error
from srtk_framework.evaluation.comparison import compare_runs
from srtk_framework.evaluation.files import evaluate_files
from srtk_framework.evaluation.intervals import ratios
from srtk_framework.evaluation.link_prediction import link_prediction
from srtk_framework.evaluation.link_scores import Share, compare_links, counts, covered_by
from srtk_framework.evaluation.metrics import METRICS, compare, row, score, summarise, table
from srtk_framework.evaluation.rank_metrics import (
    TiedRanks,
    auc,
    average_precision,
    filtered_ranks,
    hits,
    reciprocal_ranks,
)
from srtk_framework.evaluation.report import write_report
from srtk_framework.evaluation.rows import Row

__all__ = [
    "METRICS",
    "Row",
    "Share",
    "TiedRanks",
    "auc",
    "average_precision",
    "brier_score",
    "calibration_error",
    "compare",
    "compare_links",
    "compare_runs",
    "counts",
    "covered_by",
    "evaluate_files",
    "filtered_ranks",
    "hits",
    "link_prediction",
    "ratios",
    "reciprocal_ranks",
    "row",
    "score",
    "summarise",
    "table",
    "write_report",
]
