"""A Hugging Face language model in memory: it generates replies and computes the likelihood of given replies."""

from __future__ import annotations

import copy
import hashlib
import inspect
from collections.abc import Sequence
from typing import Any, NamedTuple

from srtk_framework.values import Message
from srtk_plugin_transformers.chat_format import NEXT, clean, marks_of, plain, templated
from srtk_plugin_transformers.device import enough_memory
from srtk_plugin_transformers.encoder_model import longest_input
from srtk_plugin_transformers.torch_settings import quiet

LENGTH_STEP = 16  # Prompts are padded to a multiple of this many tokens

OPTIONS = 16  # Number of given replies to one prompt in a forward pass


class GeneratedReply(NamedTuple):
    """A reply and its number of tokens; the model ended it, or else the limit did."""

    text: str
    tokens: int
    ended: bool


class GenerationTask(NamedTuple):
    """Token ids of a prompt, and the maximum number of tokens of the reply."""

    ids: tuple[int, ...]
    length: int


class LanguageModel:
    """A tokenizer and a language model in memory.

    ``context`` is the maximum number of tokens of prompt and reply, None for the model's own limit. With the
    temperature 0, the most likely token is selected.
    """

    def __init__(self, tokenizer: Any, model: Any, context: int | None, temperature: float, seed: int) -> None:
        import torch

        self.torch = torch
        self.tokenizer = tokenizer
        self.model = model
        self.device = model.device
        self.is_encoder_decoder = bool(model.config.is_encoder_decoder)
        self.temperature = temperature
        self.seed = seed
        known = longest_input(tokenizer, model.config)
        self.context = min(context, known) if context and known else context or known
        own = model.generation_config
        ends = [own.eos_token_id, tokenizer.eos_token_id]
        self.ends = sorted({i for end in ends if end is not None for i in (end if isinstance(end, list) else [end])})
        pads = [tokenizer.pad_token_id, own.pad_token_id, *self.ends, 0]
        self.pad = next(int(pad) for pad in pads if pad is not None)
        start = own.decoder_start_token_id
        self.start = start if start is not None else getattr(model.config, "decoder_start_token_id", None)
        if self.is_encoder_decoder and self.start is None:
            self.start = self.pad
        # The logits of a long prompt take more memory than anything else, and only the last are needed.
        few = "logits_to_keep" in inspect.signature(model.forward).parameters
        self.last = {"logits_to_keep": 1} if few else {}
        self.marks = marks_of(tokenizer)
        self.has_template = bool(tokenizer.chat_template)

    def prompt_ids(self, messages: Sequence[Message]) -> tuple[int, ...]:
        """Return the token ids of a conversation."""
        turns = [Message(message.role, clean(message.content, self.marks)) for message in messages]
        if self.has_template:
            return self.ids(templated(self.tokenizer, turns))
        return self.ids(plain(turns, named=not self.is_encoder_decoder), special=True) or (self.pad,)

    def ids(self, text: str, special: bool = False) -> tuple[int, ...]:
        """Return the token ids of a text, with the tokens that the model puts around every text if ``special``."""
        return tuple(self.tokenizer(text, add_special_tokens=special, verbose=False)["input_ids"])

    def reply_ids(self, text: str) -> tuple[int, ...]:
        """Return the token ids with which the model would write a reply."""
        between = "" if self.has_template or self.is_encoder_decoder else " "
        return self.ids(between + clean(text, self.marks))

    def padded(self, tokens: int) -> int:
        """Return the padded length of a prompt: at least one token more, so that an attention mask is always used."""
        return -(-(tokens + 1) // LENGTH_STEP) * LENGTH_STEP

    def generate(self, tasks: Sequence[GenerationTask], rows: int) -> list[GeneratedReply]:
        """Generate replies to prompts of one padded length in a pass of ``rows`` rows; spare rows repeat the first.

        A row is computed in passes of the same shapes whatever the other rows hold, so that its bits are the same.
        """
        torch = self.torch
        from transformers import GenerationConfig, LogitsProcessorList

        length = self.padded(len(tasks[0].ids))
        filled = [*tasks, *[tasks[0]] * (rows - len(tasks))]
        ids = torch.full((rows, length), self.pad, dtype=torch.long)
        mask = torch.zeros((rows, length), dtype=torch.long)
        for i, task in enumerate(filled):
            # A decoder continues at the right end; an encoder reads from the left.
            at = slice(0, len(task.ids)) if self.is_encoder_decoder else slice(length - len(task.ids), length)
            ids[i, at] = torch.tensor(task.ids)
            mask[i, at] = 1
        settings = GenerationConfig(  # type: ignore[no-untyped-call]
            max_new_tokens=max(task.length for task in tasks),
            do_sample=False,
            num_beams=1,
            eos_token_id=self.ends or None,
            pad_token_id=self.pad,
            decoder_start_token_id=self.start,
        )
        sampler = LogitsProcessorList([_GumbelSampler(self, filled)] if self.temperature > 0 else [])
        with torch.inference_mode(), quiet(), enough_memory(f"{rows} prompts"):
            found = self.model.generate(
                ids.to(self.device),
                attention_mask=mask.to(self.device),
                generation_config=settings,
                logits_processor=sampler,
            )
        skip = 1 if self.is_encoder_decoder else length
        return [
            self._reply(row[skip:], task) for row, task in zip(found.cpu().tolist()[: len(tasks)], tasks, strict=True)
        ]

    def _reply(self, row: Sequence[int], task: GenerationTask) -> GeneratedReply:
        end = next((i for i, token in enumerate(row) if token in self.ends), None)
        kept = row[: task.length if end is None else min(end, task.length)]
        text = self.tokenizer.decode(kept, skip_special_tokens=True)
        ended = end is not None and end <= task.length
        if not self.has_template and not self.is_encoder_decoder and NEXT in text:
            text, ended = text.partition(NEXT)[0], True
        return GeneratedReply(text.strip(), len(kept), ended)

    def likelihoods(self, ids: Sequence[int], replies: Sequence[Sequence[int]]) -> list[list[float]]:
        """Return the log-probability of each token of given replies to one prompt.

        Prompts never share a forward pass, so that the values do not depend on the batch.
        """
        torch = self.torch
        rows: list[list[float]] = []
        with torch.inference_mode():
            read = self._read(ids)
            for at in range(0, len(replies), OPTIONS):
                some = replies[at : at + OPTIONS]
                width = max(map(len, some))
                tokens = torch.full((len(some), width), self.pad, dtype=torch.long)
                for i, reply in enumerate(some):
                    tokens[i, : len(reply)] = torch.tensor(reply, dtype=torch.long)
                logits = (
                    self._decoder_logits(read, tokens)
                    if self.is_encoder_decoder
                    else self._causal_logits(read, tokens, len(ids))
                )
                known = logits.float().log_softmax(-1).gather(-1, tokens.to(self.device)[..., None])[..., 0].tolist()
                rows += [row[: len(reply)] for row, reply in zip(known, some, strict=True)]
        return rows

    def _read(self, ids: Sequence[int]) -> Any:
        """Run the model on a prompt once; return the states of an encoder, or logits and cache of a decoder."""
        prompt = self.torch.tensor([list(ids)], device=self.device)
        if self.is_encoder_decoder:
            return self.model.get_encoder()(input_ids=prompt)
        return self.model(input_ids=prompt, use_cache=True, **self.last)

    def _causal_logits(self, read: Any, tokens: Any, before: int) -> Any:
        """Return the logits of each token of replies [replies, tokens, vocabulary] after the prompt that was read."""
        torch = self.torch
        first = read.logits[:, -1:].expand(len(tokens), -1, -1)
        if tokens.shape[1] == 1:
            return first
        cache = copy.deepcopy(read.past_key_values)
        cache.batch_repeat_interleave(len(tokens))
        places = torch.arange(before, before + tokens.shape[1] - 1, device=self.device).expand(len(tokens), -1)
        rest = self.model(
            input_ids=tokens[:, :-1].to(self.device), past_key_values=cache, position_ids=places, use_cache=True
        )
        return torch.cat([first, rest.logits], dim=1)

    def _decoder_logits(self, read: Any, tokens: Any) -> Any:
        """Return the logits of each token of replies [replies, tokens, vocabulary], given the encoder's states."""
        torch = self.torch
        states = copy.copy(read)
        states.last_hidden_state = read.last_hidden_state.expand(len(tokens), -1, -1)
        start = torch.full((len(tokens), 1), self.start, dtype=torch.long)
        shifted = torch.cat([start, tokens[:, :-1]], dim=1).to(self.device)
        return self.model(encoder_outputs=states, decoder_input_ids=shifted, use_cache=False).logits


class _GumbelSampler:
    """Samples tokens by adding Gumbel noise to logits; the noise of a row depends on its prompt and the seed alone.

    The maximum of logits with Gumbel noise is distributed as a sample from their softmax (Gumbel 1954).
    """

    def __init__(self, model: LanguageModel, tasks: Sequence[GenerationTask]) -> None:
        self._torch = torch = model.torch
        self._temperature = model.temperature
        self._generators = []
        for task in tasks:
            digest = hashlib.sha256(f"{model.seed}\0{task.ids}".encode()).digest()
            self._generators.append(torch.Generator().manual_seed(int.from_bytes(digest[:8]) >> 1))

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        torch = self._torch
        uniform = torch.stack([torch.rand(scores.shape[1], generator=generator) for generator in self._generators])
        noise = -torch.log(-torch.log(uniform.clamp(1e-9, 1 - 1e-7)))
        return scores.float() / self._temperature + noise.to(scores.device)


def language_model_class(config: Any) -> Any:
    """Return the class of transformers for the settings of a language model."""
    import transformers

    return transformers.AutoModelForSeq2SeqLM if config.is_encoder_decoder else transformers.AutoModelForCausalLM
