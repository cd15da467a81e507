"""The ``transformers`` generator: replies from any causal or encoder-decoder model, the same in any batch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

import attrs
from srtk_plugin_models import check_weights, file_hash, files_hash, folder_faults

from srtk_framework.roles import Generator, not_open
from srtk_framework.values import DriverError, Prompt, Reply, at_least, one_of, rounded
from srtk_plugin_transformers.chat_format import TemplateError, clean
from srtk_plugin_transformers.device import PassPool
from srtk_plugin_transformers.language_model import GenerationTask, LanguageModel, language_model_class
from srtk_plugin_transformers.torch_settings import GGUF, TorchSettings


class _Request(NamedTuple):
    """A prompt with its token ids and the length of its reply, or the reason why it gets no reply."""

    prompt: Prompt
    ids: tuple[int, ...] = ()
    length: int = 0
    error: str | None = None


@attrs.define(eq=False, kw_only=True)
class TransformersGenerator(TorchSettings, Generator):
    """Reply with a Hugging Face model, causal or encoder-decoder.

    The reply to a prompt does not depend on other prompts. Free replies are generated in passes of a fixed number of
    rows, with each prompt padded to a length that depends on its own tokens only. Options are rated one prompt
    after another. From options, the reply selects the numbers that make it most likely: a number is added as long as
    that increases the likelihood of the whole reply.

    Attributes:
        model: A folder made by ``save_pretrained``, a name on the Hugging Face hub, or a GGUF file
            (the extra `gguf`).
        rating: Likelihood by which options are rated: of their `numbers`, or of their `texts` (mean over tokens). With
            texts, as many options are selected as the prompt allows.
        temperature: Sampling temperature of free replies; 0 selects the most likely token.
        seed: Seed of sampling.
        length: Maximum number of tokens of a reply, if the prompt does not set it.
        context: Maximum number of tokens of prompt and reply; by default, and at most, the model's own limit.
        batch_size: Rows of a pass; by default 1 on a CPU, 16 on a GPU.
    """

    rows: ClassVar[tuple[int, int]] = (1, 16)

    rating: Literal["numbers", "texts"] = attrs.field(default="numbers", validator=one_of(("numbers", "texts")))
    temperature: float = attrs.field(default=0.0, validator=at_least(0))
    seed: int = 0
    length: int = attrs.field(default=256, validator=at_least(1))
    context: int | None = attrs.field(default=None, validator=at_least(1))

    _language: LanguageModel | None = attrs.field(init=False, default=None, repr=False)
    _pool: PassPool | None = attrs.field(init=False, default=None, repr=False)

    def preflight(self) -> list[tuple[str, str]]:
        """Check the model, if it is a folder."""
        return folder_faults(self.model)

    def open(self) -> None:
        """Load tokenizer and weights."""
        device, dtype = self._place()
        folder = self._find()
        if folder.suffix != GGUF:
            check_weights(folder, self.model, self.unsafe_weights)
        tokenizer, model = self._load(folder, dtype, language_model_class, "language model")
        self._language = LanguageModel(tokenizer, model.to(device), self.context, self.temperature, self.seed)
        self._pool = PassPool(model.device, self.threads)

    def close(self) -> None:
        """Release the weights and the threads."""
        if self._pool is not None:
            self._pool.close()
        self._language = self._pool = None

    def generate(self, prompts: Sequence[Prompt]) -> list[Reply]:
        """Reply to each distinct prompt once."""
        language, pool = self._opened()
        requests = [self._request(language, prompt) for prompt in dict.fromkeys(prompts)]
        replies = {one.prompt: Reply(error=one.error) for one in requests if one.error is not None}
        valid = [one for one in requests if one.error is None]
        with_options = [one for one in valid if one.prompt.options]
        selected = pool.map(lambda one: self._select(language, one), with_options)
        for one, reply in zip(with_options, selected, strict=True):
            replies[one.prompt] = reply
        groups = self._passes(language, [one for one in valid if not one.prompt.options])
        rows = self._rows(language.device.type)
        generated = pool.map(
            lambda group: language.generate([GenerationTask(one.ids, one.length) for one in group], rows), groups
        )
        for group, found in zip(groups, generated, strict=True):
            for one, new in zip(group, found, strict=True):
                finish: Literal["stop", "length"] = "stop" if new.ended else "length"
                replies[one.prompt] = Reply(new.text, finish=finish, tokens_in=len(one.ids), tokens_out=new.tokens)
        return [replies[prompt] for prompt in prompts]

    def rates(self) -> bool:
        """Return True: options are rated by their likelihood."""
        return True

    def rate(self, prompts: Sequence[Prompt]) -> list[list[float]]:
        """Rate options by the log-likelihood of their number, or by the mean log-likelihood of their text's tokens."""
        language, pool = self._opened()
        requests = [self._request(language, prompt) for prompt in prompts]
        if failed := next((one.error for one in requests if one.error is not None), None):
            raise DriverError(f"options cannot be rated: {failed}")
        return pool.map(lambda one: self._rate(language, one), requests)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count tokens with the model's tokenizer, without those that it puts around every text."""
        language, _ = self._opened()
        return [len(language.ids(clean(text, language.marks))) if text else 0 for text in texts]

    def fingerprint(self) -> str:
        """Identify the model's files, the settings that change replies, the versions, and the kind of processor."""
        folder = self._find()
        if folder.suffix == GGUF:
            files = file_hash(folder)[:32]
        else:
            files = files_hash(folder, self.unsafe_weights, self.trust_remote_code)
        settings = {name: getattr(self, name) for name in ("rating", "temperature", "seed", "length", "context")}
        return self._fingerprint("transformers-generator", {"files": files, **settings})

    def _opened(self) -> tuple[LanguageModel, PassPool]:
        if self._language is None or self._pool is None:
            raise not_open(self)
        return self._language, self._pool

    def _find(self) -> Path:
        path = Path(self.model).expanduser()
        if self._folder is None and path.suffix == GGUF:
            if not path.is_file():
                raise DriverError(f"model file {self.model} does not exist; check the path")
            self._folder = path
        return super()._find()

    def _request(self, language: LanguageModel, prompt: Prompt) -> _Request:
        """Return a prompt with its token ids, or with the reason why the model cannot reply to it."""
        try:
            ids = language.prompt_ids(prompt.messages)
        except TemplateError as error:
            return _Request(prompt, error=str(error))
        length = self._reply_length(language, prompt)
        reply_length = 0 if language.is_encoder_decoder else length
        if language.context is not None and len(ids) + reply_length > language.context:
            more = f" and {reply_length} more for the reply" if reply_length else ""
            return _Request(
                prompt, error=f"the prompt has {len(ids)} tokens{more}, the model takes {language.context}; shorten it"
            )
        return _Request(prompt, ids, length)

    def _reply_length(self, language: LanguageModel, prompt: Prompt) -> int:
        """Return the maximum number of tokens of the reply to a prompt."""
        if not prompt.options:
            return prompt.length or self.length
        if self.rating == "texts":
            return max(len(language.reply_ids(option)) for option in prompt.options)
        count = len(prompt.options)
        return len(language.reply_ids(json.dumps([count] * min(prompt.most, count))))

    def _passes(self, language: LanguageModel, requests: Sequence[_Request]) -> list[list[_Request]]:
        """Group prompts by padded length, and split each group into passes, longest first."""
        rows = self._rows(language.device.type)
        by_length: dict[int, list[_Request]] = {}
        for one in requests:
            by_length.setdefault(language.padded(len(one.ids)), []).append(one)
        return [
            by_length[length][at : at + rows]
            for length in sorted(by_length, reverse=True)
            for at in range(0, len(by_length[length]), rows)
        ]

    def _select(self, language: LanguageModel, one: _Request) -> Reply:
        """Reply with a JSON list of the numbers of options, best first."""
        prompt = one.prompt
        most = min(prompt.most, len(prompt.options))
        if self.rating == "texts":
            rates = self._rate(language, one)
            chosen = sorted(range(1, len(rates) + 1), key=lambda number: (-rates[number - 1], number))[:most]
        else:
            chosen = self._select_by_number(language, one, most)
        text = json.dumps(chosen)
        return Reply(text, tokens_in=len(one.ids), tokens_out=len(language.reply_ids(text)))

    def _select_by_number(self, language: LanguageModel, one: _Request, most: int) -> list[int]:
        """Select numbers one by one, as long as the list must be longer or its likelihood increases."""
        chosen: list[int] = []
        best = self._likelihood(language, one, [[]])[0] if one.prompt.least == 0 else float("-inf")
        while len(chosen) < most:
            left = [number for number in range(1, len(one.prompt.options) + 1) if number not in chosen]
            values = self._likelihood(language, one, [[*chosen, number] for number in left])
            value, number = max(zip(values, left, strict=True), key=lambda pair: (pair[0], -pair[1]))
            if len(chosen) >= one.prompt.least and value <= best:
                break
            chosen.append(number)
            best = value
        return chosen

    def _likelihood(self, language: LanguageModel, one: _Request, lists: Sequence[Sequence[int]]) -> list[float]:
        replies = [language.reply_ids(json.dumps(numbers)) for numbers in lists]
        return [rounded(sum(row)) for row in language.likelihoods(one.ids, replies)]

    def _rate(self, language: LanguageModel, one: _Request) -> list[float]:
        options = one.prompt.options
        if not options:
            return []
        if self.rating == "numbers":
            return self._likelihood(language, one, [[number] for number in range(1, len(options) + 1)])
        texts = [language.reply_ids(option) or (language.pad,) for option in options]
        return [rounded(sum(row) / len(row)) for row in language.likelihoods(one.ids, texts)]
