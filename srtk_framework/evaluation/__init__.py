"""Evaluation: metrics of single questions, intervals and tests over them, curves, slices, comparisons and reports."""

from srtk_framework.evaluation.metrics import METRICS, Row, compare, row, score, summarise, table

__all__ = ["METRICS", "Row", "compare", "row", "score", "summarise", "table"]
