"""Evaluation: metrics, confidence intervals, slices, and reports on methods."""

from __future__ import annotations

from srtk_plugin_evaluation.answers import answer_scores
from srtk_plugin_evaluation.calibration import brier_score, calibration_error
from srtk_plugin_evaluation.comparison import compare_runs
from srtk_plugin_evaluation.files import evaluate_files
from srtk_plugin_evaluation.gold_ids import read_from, sentence, unknown_answers
from srtk_plugin_evaluation.intervals import Estimate, bootstrap, holm, paired, ratios
from srtk_plugin_evaluation.link_prediction import link_prediction
from srtk_plugin_evaluation.link_scores import Share, compare_links, counts, covered_by
from srtk_plugin_evaluation.method_names import method_names
from srtk_plugin_evaluation.metrics import compare, row, score, summarise
from srtk_plugin_evaluation.rank_metrics import (
    TiedRanks,
    auc,
    candidate_precision,
    filtered_ranks,
    hits,
    reciprocal_ranks,
)
from srtk_plugin_evaluation.report import write_report
from srtk_plugin_evaluation.rows import Row
from srtk_plugin_evaluation.snippets import (
    snippet_table,
)
from srtk_plugin_evaluation.tables import table

__all__ = [
    "Estimate",
    "Row",
    "Share",
    "TiedRanks",
    "answer_scores",
    "auc",
    "bootstrap",
    "brier_score",
    "calibration_error",
    "candidate_precision",
    "compare",
    "compare_links",
    "compare_runs",
    "counts",
    "covered_by",
    "evaluate_files",
    "filtered_ranks",
    "hits",
    "holm",
    "link_prediction",
    "method_names",
    "paired",
    "ratios",
    "read_from",
    "reciprocal_ranks",
    "row",
    "score",
    "sentence",
    "snippet_table",
    "summarise",
    "table",
    "unknown_answers",
    "write_report",
]
