"""A Hugging Face masked language model in memory: log-probabilities of tokens at the gaps of texts."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from srtk_framework.values import SCORE_DIGITS, DriverError, MaskedText, TokenScore, shortened
from srtk_plugin_transformers.chat_format import clean, marks_of
from srtk_plugin_transformers.device import PassPool, enough_memory
from srtk_plugin_transformers.encoder_model import longest_input
from srtk_plugin_transformers.forward_pass import Pass, SmallShapes, padded, plan

if TYPE_CHECKING:
    import numpy.typing as npt

GAPS = 64  # Gaps whose tokens are computed at once

_BLANK = "Ġ"  # How byte-level tokenizers write a blank

_BEFORE = "a "  # A word before a text, so that its tokens are those that it has in the middle of a sentence


class Row(NamedTuple):
    """Tokens of a text, each in segment 0, or 1 for its context, and the places of the gaps."""

    ids: list[int]
    types: list[int]
    gaps: list[int]


class MaskedLanguageModel:
    """A tokenizer and a masked language model in memory, with the threads that compute its forward passes.

    The vocabulary is computed at the gaps alone. The padded length of a text depends on the text alone. Texts and gaps
    are computed in passes of a fixed shape, or in smaller shapes that give the same bits.
    """

    def __init__(
        self, tokenizer: Any, model: Any, *, name: str, max_length: int | None, batch_size: int, threads: int | None
    ) -> None:
        import torch

        if tokenizer.mask_token is None:
            raise DriverError(f"model {name!r} has no mask token, so it fills no gaps; name a masked language model")
        self.torch = torch
        self.tokenizer = tokenizer
        self.model = model
        self.name = name
        self.device = model.device
        self.batch_size = batch_size
        self.mask: str = tokenizer.mask_token
        self.mask_id: int = tokenizer.mask_token_id
        self.limit = longest_input(tokenizer, model.config)
        known = self.limit - 1 if self.limit else None
        self.most_tokens = min(max_length, known) if max_length and known else max_length or known or 512
        self.pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
        self.marks = [mark for mark in marks_of(tokenizer) if mark != self.mask]
        self.token_ids: dict[str, int] = tokenizer.get_vocab()
        self.segments = int(getattr(model.config, "type_vocab_size", 0) or 0) > 1
        self.head = head_alone(model)
        self.small = SmallShapes()
        self.small_heads = SmallShapes()
        self.pool = PassPool(self.device, threads)
        size = int(model.get_output_embeddings().weight.shape[0])
        self.names = [""] * size
        for token, number in self.token_ids.items():
            if number < size:
                self.names[number] = token
        special = {*tokenizer.all_special_ids, *(i for i, token in enumerate(self.names) if not token)}
        self.starting = self._starting()
        self.barred = np.array(sorted(i for i in special if i < size), dtype=np.int64)

    def close(self) -> None:
        """End the threads."""
        self.pool.close()

    def tokens(self, text: str) -> list[str]:
        """Return the tokens of a text in the middle of a sentence; none if a token is unknown to the model."""
        text = " ".join(clean(text, [*self.marks, self.mask]).split())
        if not text:
            return []
        before = self._ids(_BEFORE.strip())
        whole = self._ids(_BEFORE + text)
        ids = whole[len(before) :] if whole[: len(before)] == before else self._ids(text)
        if self.tokenizer.unk_token_id is not None and self.tokenizer.unk_token_id in ids:
            return []
        return list(self.tokenizer.convert_ids_to_tokens(ids))

    def row(self, text: MaskedText) -> Row:
        """Return the token ids of a text and its context.

        A context is cut at its end. A text that is too long by itself is cut at both ends, around its gaps.
        """
        said, beside = (clean(part, self.marks) for part in (text.text, text.context))
        beside = clean(beside, [self.mask])
        alone = list(self.tokenizer(said, verbose=False)["input_ids"])
        types = [0] * len(alone)
        if len(alone) > self.most_tokens:
            alone = self._window(said, alone, text)
            types = [0] * len(alone)
        elif beside.strip():
            paired = self.tokenizer(
                said,
                beside,
                truncation="only_second",
                max_length=max(self.most_tokens, len(alone) + 2),
                return_token_type_ids=True,
                verbose=False,
            )
            if len(paired["input_ids"]) <= self.most_tokens:
                alone, types = list(paired["input_ids"]), list(paired["token_type_ids"])
        return Row(alone, types, [place for place, token in enumerate(alone) if token == self.mask_id])

    def scores(self, rows: Sequence[Row], read: Callable[[int, int, npt.NDArray[np.float32]], None]) -> None:
        """Compute the log-probabilities of the vocabulary at all gaps.

        ``read`` is called with the place of a text, the number of the gap in it, and the gap's
        log-probabilities [v], which are not kept. Gaps come in no certain order, from one thread at a time for
        each. In a gap at the start of a text, a token after a blank has the probability of the same token without a
        blank too.
        """
        passes = plan([len(row.ids) for row in rows], self.limit, self.batch_size)
        # Gaps of several passes share one computation of the vocabulary.
        self.pool.map(lambda one: self._pass(one, rows, read), [one for one in passes if _gaps(one, rows)])

    def best(self, scores: npt.NDArray[np.float32], k: int) -> list[TokenScore]:
        """Return the k best tokens of a gap, ties by token; special tokens are left out."""
        values = scores.copy()
        values[self.barred] = -np.inf
        k = min(k, len(values) - len(self.barred))
        least = np.partition(values, len(values) - k)[len(values) - k]
        # What rounding may lift to the least score is looked at too; all others need not be rounded.
        near = np.flatnonzero(values >= least - np.float32(2 * 10.0**-SCORE_DIGITS))
        rounded = np.round(values[near].astype(np.float64), SCORE_DIGITS).tolist()
        found = [(-value, self.names[at]) for at, value in zip(near.tolist(), rounded, strict=True)]
        return [TokenScore(token, -negative + 0.0) for negative, token in sorted(found)[:k]]

    def ids_of(self, fillings: Sequence[tuple[str, ...]], gaps: int) -> npt.NDArray[np.int64]:
        """Return the ids of the tokens of fillings [n, gaps]."""
        if wrong := next((one for one in fillings if len(one) != gaps), None):
            raise DriverError(f"{wrong!r} has {len(wrong)} tokens for {gaps} gaps; give one for each")
        try:
            ids = [[self.token_ids[token] for token in one] for one in fillings]
        except KeyError as error:
            raise DriverError(
                f"model {self.name!r} has no token {error.args[0]!r}; take tokens from `tokens` of the same model"
            ) from error
        return np.array(ids, dtype=np.int64).reshape(len(fillings), gaps)

    def _ids(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def _starting(self) -> npt.NDArray[np.int64]:
        """Return the tokens of a byte-level model that begin with a blank, and the same without it, [2, tokens]."""
        known = {token: number for token, number in self.token_ids.items() if number < len(self.names)}
        pairs: list[tuple[int, int]] = []
        if any(token.startswith(_BLANK) for token in self.tokenizer.convert_ids_to_tokens(self._ids("a a"))):
            rests = {token: token.removeprefix(_BLANK) for token in known if token.startswith(_BLANK)}
            pairs = sorted((known[token], known[rest]) for token, rest in rests.items() if rest in known)
        return np.array(pairs, dtype=np.int64).reshape(-1, 2).T

    def _window(self, said: str, alone: list[int], text: MaskedText) -> list[int]:
        """Cut a text at both ends, and keep its gaps and the special tokens around it."""
        body = self._ids(said)
        start = next(at for at in range(len(alone)) if alone[at : at + len(body)] == body)
        room = self.most_tokens - (len(alone) - len(body))
        gaps = [place for place, token in enumerate(body) if token == self.mask_id] or [0]
        wide = gaps[-1] - gaps[0] + 1
        if wide > room:
            raise DriverError(
                f"the gaps of {shortened(repr(text.text))} are {wide} tokens apart, and model {self.name!r} reads"
                f" {room} at once; shorten the text between them"
            )
        first = min(max(gaps[0] - (room - wide) // 2, 0), len(body) - room)
        return alone[:start] + body[first : first + room] + alone[start + len(body) :]

    def _pass(self, one: Pass, rows: Sequence[Row], read: Callable[[int, int, npt.NDArray[np.float32]], None]) -> None:
        hidden = self._hidden(one, rows)
        places = [(i, n, gap) for i, at in enumerate(one.members) for n, gap in enumerate(rows[at].gaps)]
        for first in range(0, len(places), GAPS):
            some = places[first : first + GAPS]
            states = hidden[[i for i, _, _ in some], [gap for _, _, gap in some]]
            for (i, n, gap), scores in zip(some, self._vocabulary(states), strict=True):
                if gap == 1:  # A word at the start of a text has no blank before it, and the names asked for have one.
                    inside, first = self.starting
                    scores[inside] = np.minimum(np.logaddexp(scores[inside], scores[first]), 0.0)
                read(one.members[i], n, scores)

    def _hidden(self, one: Pass, rows: Sequence[Row]) -> Any:
        """Compute the last hidden states of a pass, in its full shape or a smaller shape that gives the same bits."""
        members = [rows[at] for at in one.members]
        return self.small.computed(
            one,
            lambda count: self._forward(members, one.length, count),
            lambda small, whole, count: self.torch.equal(small, whole[:count]),
        )

    def _forward(self, members: Sequence[Row], length: int, rows: int) -> Any:
        """Run the model below its head on rows padded on the right; spare rows repeat the first."""
        torch = self.torch
        ids, sizes = padded([row.ids for row in members], length, rows, self.pad)
        types, _ = padded([row.types for row in members], length, rows, 0)
        mask = (np.arange(length) < sizes[:, None]).astype(np.int64)
        given = {"input_ids": ids, "attention_mask": mask, **({"token_type_ids": types} if self.segments else {})}
        with torch.inference_mode():
            on = {name: torch.from_numpy(array).to(self.device) for name, array in given.items()}
            with enough_memory(f"{rows} texts"):
                return self.model.base_model(**on).last_hidden_state

    def _vocabulary(self, states: Any) -> npt.NDArray[np.float32]:
        """Return log-probabilities [gaps, v] of hidden states [gaps, d], computed in a shape with known bits."""
        found = self.small_heads.computed(
            Pass(0, GAPS, tuple(range(len(states)))),
            lambda rows: self._shaped(states, rows),
            lambda small, whole, rows: np.array_equal(small, whole[:rows]),
        )
        return found[: len(states)]

    def _shaped(self, states: Any, rows: int) -> npt.NDArray[np.float32]:
        torch = self.torch
        with torch.inference_mode():
            spare = states[:1].expand(rows - len(states), -1)
            logits = self.head(torch.cat([states, spare]))
            scores: npt.NDArray[np.float32] = logits.float().log_softmax(-1).cpu().numpy()
        return np.minimum(scores, 0.0)


def _gaps(one: Pass, rows: Sequence[Row]) -> bool:
    return any(rows[at].gaps for at in one.members)


def head_alone(model: Any) -> Callable[[Any], Any]:
    """Return the function of a masked language model from hidden states [n, d] to logits [n, v].

    The model is called with its lower part replaced by one that returns the states, so that whatever its class does
    with them is done.
    """
    import torch
    from transformers.modeling_outputs import BaseModelOutput

    class Given(torch.nn.Module):
        """Stands for the lower part of the model."""

        def forward(self, input_ids: Any = None, **rest: Any) -> Any:
            return BaseModelOutput(last_hidden_state=input_ids)

    head = copy.copy(model)
    # A copy of a module shares its tensors, and here all of its parts but one.
    head._modules = dict(model._modules)
    head._modules[model.base_model_prefix] = Given()

    def logits(states: Any) -> Any:
        return head(input_ids=states[None]).logits[0]

    return logits


def placed(model: Any, device: str, dtype: str) -> Any:
    """Move a model to a device, with a number type of torch by its name."""
    import torch

    return model.to(device=device, dtype=getattr(torch, dtype)).eval()


def masked_model_class(config: Any) -> Any:
    """Return the class of transformers for the settings of a masked language model."""
    import transformers

    return transformers.AutoModelForMaskedLM
