"""Explanations of a session's questions: where each lost its answers, and the settings that bring them back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from srtk_framework.roles import Expander, KnowledgeGraph
from srtk_framework.run import Session
from srtk_framework.values import Question, Retrieval, RunError, batched
from srtk_plugin_explaining.diagnosis import Diagnosis
from srtk_plugin_explaining.findings import FOUND, Explanation
from srtk_plugin_explaining.remedy import remedy
from srtk_plugin_explaining.variants import Variant, place_of


class Explainer:
    """Explains the retrievals of one method of an open session.

    Args:
        session: An open session.
        method: Name of the expander; by default the main expander.
        tries: Whether to look for settings that bring missing answers back, and to try them.

    Raises:
        RunError: If the recipe has no such expander, or no graph.
    """

    def __init__(self, session: Session, method: str | None = None, tries: bool = True) -> None:
        if not session.methods:
            raise RunError("the recipe has no expander; add one, such as `expander: {use: beam}`")
        if method is not None and method not in session.methods:
            raise RunError(f"the recipe has no method {method!r}; it has {', '.join(session.methods)}")
        if session.graph is None:
            raise RunError("the recipe has no knowledge_graph, which explanations look answers up in; add one")
        self.method = method or next(iter(session.methods))
        self.session = session
        self.expander: Expander = session.methods[self.method]
        self.graph: KnowledgeGraph = session.graph
        self._tries = tries
        self._place = place_of(session, self.method)

    def explain_all(self, questions: Sequence[Question]) -> Iterator[Explanation]:
        """Yield an explanation of each question; all need gold answers."""
        for batch in batched(questions, self.session.recipe.options.batch):
            for question, retrieval in zip(batch, self.session.retrieve(batch, self.method, read=False), strict=True):
                yield self.explain(question, retrieval)

    def explain(self, question: Question, retrieval: Retrieval) -> Explanation:
        """Explain one question.

        Args:
            question: The question as in the input, with its gold answers at least.
            retrieval: The method's retrieval, with the links that were used.
        """
        diagnosis = Diagnosis(self.session, self._place, Variant(self.expander, self.graph))
        found = diagnosis.of(question, retrieval)
        if not self._tries or found.kind == FOUND:
            return found
        changes, restored = remedy(diagnosis, question, found)
        return attrs.evolve(found, changes=changes, restored=restored)
