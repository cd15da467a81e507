"""The form of a dense scorer: rule, costs and texts, which its training writes beside the weights."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path as FilePath
from typing import Literal

import attrs

from srtk_framework.records import check_manifest, read_model, write_manifest, write_model
from srtk_framework.roles import BACKGROUND, Encoder
from srtk_framework.values import Path

FILE = "path_scorer.json"
"""File of the form in the folder of trained weights."""
_AGAIN = "train the scorer again"

Rule = Literal["log-softmax", "log-sigmoid", "srtk-sum", "gain"]


@attrs.frozen
class ScorerForm:
    """Settings under which weights score; see the settings of ``DenseScorer``.

    Attributes:
        rule: Score of a step.
        temperature: Divides cosines.
        step_cost: Subtracted from the logit of every candidate but END.
        return_cost: Subtracted from the logit of a step that reverses the last step.
        text: Name of a text form, or templates.
        inverse_text: Template of a step against its direction; None for the text form's.
        mention: Replaced the entity's mention in training.
        topic_background: Suits the search with these weights; see the expander ``beam``.
        adapted: Whether the weights have learnt from made questions alone. A search, and the form of a further
            training, treat them as untrained.
    """

    rule: Rule = "log-softmax"
    temperature: float = 0.07
    step_cost: float = 0.0
    return_cost: float = 0.0
    text: str | dict[str, str] = "plain"
    inverse_text: str | None = None
    mention: str | None = None
    topic_background: float | None = BACKGROUND
    adapted: bool = False

    @property
    def by_path(self) -> bool:
        """Whether candidates are whole paths."""
        return self.rule == "gain"

    def path_cost(self, path: Path) -> float:
        """Return the cost of all steps of a path."""
        returns = sum(one.relation == other.relation and one.inverse != other.inverse for one, other in pairwise(path))
        return self.step_cost * len(path) + self.return_cost * returns


# Chosen on the demo's questions with seed 1, PathQuestion and MetaQA.
UNTRAINED = ScorerForm(rule="gain", step_cost=0.5, return_cost=0.5, inverse_text="{label} of")


def write_form(form: ScorerForm, folder: FilePath) -> None:
    """Write the form into the folder of the weights that were trained in it."""
    write_model(folder / FILE, attrs.asdict(form))
    write_manifest(folder)  # Without its form the model would score otherwise.


def read_form(encoder: Encoder) -> ScorerForm | None:
    """Return the form that an encoder's weights were trained in, or None if they were not trained as a path scorer.

    Raises:
        DriverError: If the file of the form is broken.
    """
    folder = encoder.weights_folder()
    if folder is not None:
        check_manifest(folder, _AGAIN)
    if folder is None or not (folder / FILE).is_file():
        return None
    return read_model(folder / FILE, "dense", lambda data: ScorerForm(**data), _AGAIN)
