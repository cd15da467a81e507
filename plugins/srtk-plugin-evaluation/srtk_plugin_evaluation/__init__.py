"""Evaluation: metrics, confidence intervals, slices, and reports on one or several methods."""

from __future__ import annotations

from srtk_plugin_evaluation.answers import answer_scores
from srtk_plugin_evaluation.calibration import brier_score, calibration_error
from srtk_plugin_evaluation.candidates import (
    CandidateMeans,
    candidate_precision,
    candidate_ranks,
    mean_average_precision,
)
from srtk_plugin_evaluation.comparison import compare_runs
from srtk_plugin_evaluation.files import evaluate_files
from srtk_plugin_evaluation.gold_ids import read_from, sentence, unknown_answers
from srtk_plugin_evaluation.intervals import Estimate, bootstrap, holm, paired, ratios
from srtk_plugin_evaluation.link_prediction import link_prediction
from srtk_plugin_evaluation.link_scores import Share, compare_links, counts, covered_by
from srtk_plugin_evaluation.method_names import method_names
from srtk_plugin_evaluation.metrics import METRICS, compare, row, score, summarise, table
from srtk_plugin_evaluation.rank_metrics import (
    TiedRanks,
    auc,
    average_precision,
    filtered_ranks,
    hits,
    reciprocal_ranks,
)
from srtk_plugin_evaluation.report import write_report
from srtk_plugin_evaluation.rows import Row
from srtk_plugin_evaluation.snippets import (
    SNIPPET_CUTS,
    Correctness,
    comparable_precision_at,
    coverage_weighted_recall_at,
    mean_precision_at,
    precision_at,
    relations_won,
    snippet_table,
)

__all__ = [
    "METRICS",
    "SNIPPET_CUTS",
    "CandidateMeans",
    "Correctness",
    "Estimate",
    "Row",
    "Share",
    "TiedRanks",
    "answer_scores",
    "auc",
    "average_precision",
    "bootstrap",
    "brier_score",
    "calibration_error",
    "candidate_precision",
    "candidate_ranks",
    "comparable_precision_at",
    "compare",
    "compare_links",
    "compare_runs",
    "counts",
    "coverage_weighted_recall_at",
    "covered_by",
    "evaluate_files",
    "filtered_ranks",
    "hits",
    "holm",
    "link_prediction",
    "mean_average_precision",
    "mean_precision_at",
    "method_names",
    "paired",
    "precision_at",
    "ratios",
    "read_from",
    "reciprocal_ranks",
    "relations_won",
    "row",
    "score",
    "sentence",
    "snippet_table",
    "summarise",
    "table",
    "unknown_answers",
    "write_report",
]
