"""Explanations of missing answers: the stage that lost them, and the setting to change."""

from __future__ import annotations

from srtk_plugin_explaining.one_question import explain_question

__all__ = ["explain_question"]
