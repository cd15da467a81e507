"""The explanation of one question, for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from srtk_framework.graph import with_own_ids
from srtk_framework.run import Session
from srtk_plugin_explaining.explain_command import asked
from srtk_plugin_explaining.explainer import Explainer
from srtk_plugin_explaining.records import record_of


def explain_question(session: Session, question: str, answers: Sequence[str]) -> dict[str, Any]:
    """Explain where the answers to a question were lost, and try out settings that bring them back.

    Args:
        session: An open session with an expander and a graph.
        question: The text.
        answers: Ids or names of the right answers.

    Returns:
        The record that ``srtk explain --json`` writes.

    Raises:
        InputError: If an answer is not in the graph.
        RunError: If the session lacks an expander or a graph.
    """
    explainer = Explainer(session, None, True)
    one = asked(session, question, answers)
    if session.graph is not None:
        [one] = with_own_ids(session.graph, [one])
    [explanation] = explainer.explain_all([one])
    return record_of(explanation)
