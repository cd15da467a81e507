"""Answers from subgraphs, and the operations of questions: counts, superlatives, comparisons, classes."""

from srtk_plugin_answers.expander import OperationsExpander

__all__ = ["OperationsExpander"]
