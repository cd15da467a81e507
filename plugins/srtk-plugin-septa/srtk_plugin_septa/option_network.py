"""The network of the reader ``options``: attention over the entries retrieved, and a score without knowledge.

Importing it imports torch, which takes seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from srtk_framework.values import batched
from srtk_plugin_septa.fine_tuning import half
from srtk_plugin_septa.option_vectors import OptionVectors

_AT_ONCE = 64  # Texts that are padded to the longest of them

# Weights of the similarities before any training, chosen by ``benchmarks/septa/graph_questions.py --choose``.
BEGIN = (10.0, 20.0, 80.0, 5.0)


class OptionBatch(NamedTuple):
    """Questions side by side; places beyond the options of a question, and beyond the entries of an option, are empty.

    Attributes:
        searches: [questions, options, d].
        entries: [questions, options, k, d].
        empty: True where there is no entry, [questions, options, k].
        plain: [questions, options, p].
        similarities: [questions, options, 4].
        absent: True where there is no option, [questions, options].
    """

    searches: torch.Tensor
    entries: torch.Tensor
    empty: torch.Tensor
    plain: torch.Tensor
    similarities: torch.Tensor
    absent: torch.Tensor

    @classmethod
    def of(cls, questions: Sequence[OptionVectors]) -> OptionBatch:
        """Lay questions side by side."""
        most = max(len(one.found) for one in questions)

        def padded(rows: Sequence[np.ndarray]) -> torch.Tensor:
            table = np.zeros((len(rows), most, *rows[0].shape[1:]), dtype=rows[0].dtype)
            for place, row in enumerate(rows):
                table[place, : len(row)] = row
            return torch.from_numpy(table)

        entries = padded([one.entries for one in questions])
        found = padded([one.found for one in questions])
        sizes = torch.tensor([len(one.found) for one in questions])
        return cls(
            padded([one.searches for one in questions]),
            entries,
            torch.arange(entries.shape[2]) >= found[:, :, None],
            padded([one.plain for one in questions]),
            padded([one.similarities for one in questions]),
            torch.arange(most) >= sizes[:, None],
        )


class OptionLearner(torch.nn.Module):
    """The network of options, with a text encoder that learns, or None."""

    def __init__(self, network: OptionNetwork, text: Any = None) -> None:
        super().__init__()
        self.network, self.text = network, text

    def forward(self, questions: Sequence[OptionVectors]) -> torch.Tensor:
        """Return the score of each option, [questions, options]; -inf where there is none."""
        batch = OptionBatch(*(one.to(self.network.change.device) for one in OptionBatch.of(questions)))
        if self.text is not None:
            there, given = ~batch.absent[:, :, None], self.network.given
            # What lambda leaves out is not encoded.
            parts = [part for part, out in enumerate((0.0, 1.0)) if given != out]
            names = [("searches", "plain")[part] for part in parts]
            rows = [[tuple(row) for one in questions for row in one.tokens[part]] for part in parts]
            batch = batch._replace(**dict(zip(names, self._encoded(there, rows), strict=True)))
        found: torch.Tensor = self.network(batch)
        return found

    def _encoded(self, there: torch.Tensor, parts: Sequence[Sequence[tuple[int, ...]]]) -> list[torch.Tensor]:
        """Encode token rows of the options of questions, [questions, options, d] for each part.

        Each distinct row is encoded once, beside others of about its length: a search without joins is the plain text.
        """
        order = sorted({row for rows in parts for row in rows}, key=lambda row: (len(row), row))
        with half(there.device):
            vectors = torch.cat([self.text(some) for some in batched(order, _AT_ONCE)])
        vectors = torch.nn.functional.normalize(vectors.float(), dim=1)
        place = {row: at for at, row in enumerate(order)}
        table = vectors.new_zeros(*there.shape[:2], vectors.shape[1])
        return [table.masked_scatter(there, vectors[[place[row] for row in rows]]) for rows in parts]


class OptionNetwork(torch.nn.Module):
    """Scores options (SEPTA, prediction): score = lambda * score_know + (1 - lambda) * score_direct.

    score_know is linear in r + t, where r is the attention with query t over the entries found for the option.
    score_direct is linear in the vector of question and option. Both also have the similarities of the option,
    since a sum r + t does not show how near t is to the entries. Untrained, the similarities alone count, by
    ``BEGIN``. Their weights are learnt as factors of these, so they stay positive. With ``knowledge`` None, lambda
    is learnt, beginning with a half.
    """

    begin: torch.Tensor

    def __init__(self, width: int, plain: int, heads: int, knowledge: float | None) -> None:
        super().__init__()
        self.attention = torch.nn.MultiheadAttention(width, heads, batch_first=True)
        self.know = torch.nn.Linear(width, 1)
        self.direct = torch.nn.Linear(plain, 1)
        self.register_buffer("begin", torch.tensor(BEGIN))
        self.change = torch.nn.Parameter(torch.zeros(len(BEGIN)))
        self.given = knowledge
        self.balance = torch.nn.Parameter(torch.zeros(()))
        for linear in (self.know, self.direct):
            torch.nn.init.zeros_(linear.weight)
            torch.nn.init.zeros_(linear.bias)

    @property
    def knowledge(self) -> torch.Tensor:
        """lambda, the share of the entries retrieved."""
        return torch.sigmoid(self.balance) if self.given is None else torch.tensor(self.given)

    def few(self) -> list[torch.nn.Parameter]:
        """Return the parameters that even few questions teach: the weights of the similarities, and lambda."""
        return [self.change, self.balance]

    def attending(self) -> list[torch.Tensor]:
        """Return a copy of the weights of the attention."""
        return [one.detach().clone() for one in self.attention.parameters()]

    def learnt(self, start: Sequence[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the squared distances of the layers over knowledge and over text from the untrained network.

        The attention began with the weights in ``start``, the two layers with 0.
        """
        attention = zip(self.attention.parameters(), start, strict=True)
        moved = torch.stack([(now - before).square().sum() for now, before in attention]).sum()
        return moved + self.know.weight.square().sum(), self.direct.weight.square().sum()

    def forward(self, batch: OptionBatch) -> torch.Tensor:
        """Return the score of each option, [questions, options]; -inf where there is none."""
        size, options, k, width = batch.entries.shape
        t, entries = batch.searches.reshape(-1, width), batch.entries.reshape(-1, k, width)
        some = ~batch.empty.reshape(-1, k).all(dim=1)
        taken = torch.zeros_like(t)
        if bool(some.any()):
            keys, hidden = entries[some], batch.empty.reshape(-1, k)[some]
            rows, _ = self.attention(t[some][:, None], keys, keys, key_padding_mask=hidden, need_weights=False)
            taken = taken.index_put((torch.nonzero(some)[:, 0],), rows[:, 0])
        weights = self.begin * torch.exp(self.change)
        know = self.know((taken + t).reshape(size, options, width))[..., 0]
        know = know + batch.similarities[..., :3] @ weights[:3]
        direct = self.direct(batch.plain)[..., 0] + batch.similarities[..., 3] * weights[3]
        return blended(know, direct, self.knowledge).masked_fill(batch.absent, -torch.inf)


def blended(know: torch.Tensor, direct: torch.Tensor, knowledge: torch.Tensor) -> torch.Tensor:
    """Return lambda * know + (1 - lambda) * direct."""
    return knowledge * know + (1 - knowledge) * direct
