"""Answers from subgraphs, and what the operations of questions need: counts, superlatives, comparisons, classes."""

from srtk_plugin_answers.expander import OperationsExpander

__all__ = ["OperationsExpander"]
