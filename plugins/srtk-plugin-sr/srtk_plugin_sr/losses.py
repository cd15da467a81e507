"""The losses of the dense scorer, over cosines of queries and candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import torch

_NONE = -1e9
"""Logit of what is no candidate; an infinity would make gradients NaN where a sample has no wrong candidate."""


class Choices(NamedTuple):
    """The candidates of a batch, padded to a rectangle [samples, candidates].

    Attributes:
        columns: Number of each candidate's text among the texts of the batch.
        targets: How right each candidate is; 0 where there is none.
        costs: What its logit is lowered by.
        there: Whether there is a candidate.
    """

    columns: torch.Tensor
    targets: torch.Tensor
    costs: torch.Tensor
    there: torch.Tensor


def listwise(logits: torch.Tensor, choices: Choices) -> torch.Tensor:
    """Cross-entropy of the candidates' distribution against the qualities as soft targets."""
    import torch

    shares = choices.targets / choices.targets.sum(1, keepdim=True)
    logs = torch.log_softmax(logits.masked_fill(~choices.there, _NONE), dim=1)
    return -(shares * logs.masked_fill(~choices.there, 0.0)).sum(1).mean()


def cross_entropy(logits: torch.Tensor, choices: Choices) -> torch.Tensor:
    """Each right candidate against the wrong ones of its sample (SR, Zhang et al. 2022, section 4.1)."""
    return _against(logits, choices, None)


def nt_xent(
    logits: torch.Tensor, choices: Choices, cosines: torch.Tensor, others: torch.Tensor, temperature: float
) -> torch.Tensor:
    """Each right candidate against the wrong ones of its sample, and those of the other samples of the batch.

    Args:
        logits: Of the sample's own candidates [samples, candidates].
        choices: Those candidates.
        cosines: Of each query with each text of the batch [samples, texts].
        others: Which of those texts are candidates of other samples and not of this one [samples, texts].
        temperature: Divides cosines.
    """
    import torch

    elsewhere = (cosines / temperature).masked_fill(~others, _NONE)
    return _against(logits, choices, torch.logsumexp(elsewhere, dim=1))


def _against(logits: torch.Tensor, choices: Choices, further: torch.Tensor | None) -> torch.Tensor:
    """Average -log of each right candidate's share beside the wrong ones, weighed by how right it is."""
    import torch

    right = choices.targets > 0
    wrong = torch.logsumexp(logits.masked_fill(right | ~choices.there, _NONE), dim=1)
    if further is not None:
        wrong = torch.logaddexp(wrong, further)
    each = torch.nn.functional.softplus(wrong[:, None] - logits).masked_fill(~right, 0.0)
    shares = choices.targets / choices.targets.sum(1, keepdim=True)
    return (shares * each).sum(1).mean()
