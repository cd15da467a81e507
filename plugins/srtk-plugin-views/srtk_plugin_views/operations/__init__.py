"""Retrieval by the operation of a question: counts, superlatives, comparisons, joined topics, dates and classes."""

from srtk_plugin_views.operations.expander import OperationsExpander

__all__ = ["OperationsExpander"]
