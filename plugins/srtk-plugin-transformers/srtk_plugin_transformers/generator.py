"""The ``transformers`` generator: replies by any causal or encoder-decoder model, alone the same as in a batch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Literal, NamedTuple

import attrs

from srtk_framework.roles import Generator
from srtk_framework.values import DriverError, Prompt, Reply, rounded
from srtk_plugin_transformers.computing import Workers, device_and_dtype, processor
from srtk_plugin_transformers.language import GGUF, LanguageModel, Task, load
from srtk_plugin_transformers.models import check_weights, file_hash, files_hash, find_model
from srtk_plugin_transformers.talking import TemplateError, clean

ROWS = 16
_positive = attrs.validators.optional(attrs.validators.ge(1))


class _Asked(NamedTuple):
    """A prompt as tokens, or the reason why there is no reply."""

    prompt: Prompt
    ids: tuple[int, ...] = ()
    length: int = 0
    error: str | None = None


@attrs.define(eq=False)
class TransformersGenerator(Generator):
    """Reply by a Hugging Face model, causal or encoder-decoder.

    The reply to a prompt is the same whatever else is asked: free replies are written in passes of a fixed number of
    rows, each prompt padded to a length that its own tokens decide; options are weighed one prompt after another, all
    of a prompt at once. Of options, the reply lists those whose numbers make it likeliest: one is added as long as the
    whole reply becomes likelier.

    Attributes:
        model: A folder made by ``save_pretrained``, a name on the Hugging Face hub, or a GGUF file
            (the extra `gguf`).
        rating: What of an option is weighed: its `numbers`, or its `texts` (mean of their tokens); by texts, the most
            options that a prompt allows are chosen.
        temperature: Of sampling, for free replies; 0 takes the likeliest token.
        seed: Of sampling.
        length: Most tokens of a reply whose prompt does not say.
        context: Most tokens of prompt and reply together; by default, and at most, as many as the model takes.
        batch_size: Rows of a pass; by default 1 on a CPU, 16 on a GPU.
        device: ``cpu``, ``cuda``, ``cuda:1``, ``mps``; ``auto`` takes the best there is.
        dtype: Numbers to compute with; ``auto`` is bfloat16 on CUDA, float32 elsewhere.
        threads: CPU threads, each for one pass; by default as many as torch would use.
        unsafe_weights: Whether pickled weights may be read; they can run code.
        revision: Branch, tag or commit on the hub.
        trust_remote_code: Whether Python code that comes with the model may run.
    """

    model: str
    rating: Literal["numbers", "texts"] = attrs.field(
        default="numbers", validator=attrs.validators.in_(("numbers", "texts"))
    )
    temperature: float = attrs.field(default=0.0, validator=attrs.validators.ge(0))
    seed: int = 0
    length: int = attrs.field(default=256, validator=attrs.validators.ge(1))
    context: int | None = attrs.field(default=None, validator=_positive)
    batch_size: int | None = attrs.field(default=None, validator=_positive)
    device: str = "auto"
    dtype: Literal["auto", "float32", "bfloat16"] = attrs.field(
        default="auto", validator=attrs.validators.in_(("auto", "float32", "bfloat16"))
    )
    threads: int | None = attrs.field(default=None, validator=_positive)
    unsafe_weights: bool = False
    revision: str | None = None
    trust_remote_code: bool = False

    _folder: Path | None = attrs.field(init=False, default=None, repr=False)
    _language: LanguageModel | None = attrs.field(init=False, default=None, repr=False)
    _workers: Workers | None = attrs.field(init=False, default=None, repr=False)

    def open(self) -> None:
        """Load tokenizer and weights.

        Raises:
            DriverError: If the model, its weights or the device is not there.
        """
        device, dtype = device_and_dtype(self.device, self.dtype)
        folder = self._find()
        if folder.suffix != GGUF:
            check_weights(folder, self.model, self.unsafe_weights)
        tokenizer, model = load(folder, self.model, device, dtype, self.unsafe_weights, self.trust_remote_code)
        self._language = LanguageModel(tokenizer, model, self.context, self.temperature, self.seed)
        self._workers = Workers(model.device, self.threads)

    def close(self) -> None:
        """Let go of the weights and the threads."""
        if self._workers is not None:
            self._workers.close()
        self._language = self._workers = None

    def generate(self, prompts: Sequence[Prompt]) -> list[Reply]:
        """Reply to each distinct prompt once."""
        language, workers = self._opened()
        asked = [self._asked(language, prompt) for prompt in dict.fromkeys(prompts)]
        replies = {one.prompt: Reply(error=one.error) for one in asked if one.error is not None}
        able = [one for one in asked if one.error is None]
        choices = [one for one in able if one.prompt.options]
        for one, reply in zip(choices, workers.map(lambda one: self._chosen(language, one), choices), strict=True):
            replies[one.prompt] = reply
        groups = self._passes(language, [one for one in able if not one.prompt.options])
        rows = self._rows(language.device.type)
        written = workers.map(lambda group: language.write([Task(o.ids, o.length) for o in group], rows), groups)
        for group, found in zip(groups, written, strict=True):
            for one, reply in zip(group, found, strict=True):
                finish: Literal["stop", "length"] = "stop" if reply.ended else "length"
                replies[one.prompt] = Reply(reply.text, finish=finish, tokens_in=len(one.ids), tokens_out=reply.tokens)
        return [replies[prompt] for prompt in prompts]

    def rates(self) -> bool:
        """Return True: options are rated by their likelihood."""
        return True

    def rate(self, prompts: Sequence[Prompt]) -> list[list[float]]:
        """Rate options by the log-likelihood of a reply that is its number, or its text by token.

        Raises:
            DriverError: If a prompt is too long.
        """
        language, workers = self._opened()
        asked = [self._asked(language, prompt) for prompt in prompts]
        if failed := next((one.error for one in asked if one.error is not None), None):
            raise DriverError(f"options cannot be rated: {failed}")
        return workers.map(lambda one: self._rated(language, one), asked)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count by the model's tokenizer, without the tokens around every text."""
        language, _ = self._opened()
        return [len(language.ids(clean(text, language.marks))) if text else 0 for text in texts]

    def fingerprint(self) -> str:
        """Identify the replies: files of the model, settings that change them, versions, kind of processor."""
        device, dtype = device_and_dtype(self.device, self.dtype)
        folder = self._find()
        if folder.suffix == GGUF:
            files = file_hash(folder)[:32]
        else:
            files = files_hash(folder, self.unsafe_weights, self.trust_remote_code)
        parts = {
            "files": files,
            **{name: getattr(self, name) for name in ("rating", "temperature", "seed", "length", "context")},
            "rows": self._rows(device),
            "dtype": dtype,
            "processor": processor(device),
            **{name: version(name) for name in ("torch", "transformers", "tokenizers")},
        }
        return "transformers-generator(" + ", ".join(f"{name}={value}" for name, value in parts.items()) + ")"

    def _opened(self) -> tuple[LanguageModel, Workers]:
        if self._language is None or self._workers is None:
            raise DriverError(f"the generator of model {self.model!r} is not open; call open() first")
        return self._language, self._workers

    def _find(self) -> Path:
        if self._folder is None:
            path = Path(self.model).expanduser()
            if path.suffix == GGUF and not path.is_file():
                raise DriverError(f"model file {self.model} does not exist; check the path")
            self._folder = (
                path
                if path.suffix == GGUF
                else find_model(self.model, self.revision, self.unsafe_weights, self.trust_remote_code)
            )
        return self._folder

    def _rows(self, device: str) -> int:
        return self.batch_size or (1 if device == "cpu" else ROWS)

    def _asked(self, language: LanguageModel, prompt: Prompt) -> _Asked:
        """Write a prompt as tokens, and see that the model takes it."""
        try:
            ids = language.prompt_ids(prompt.messages)
        except TemplateError as error:
            return _Asked(prompt, error=str(error))
        length = self._needed(language, prompt)
        beside = 0 if language.maps else length
        if language.context is not None and len(ids) + beside > language.context:
            more = f" and {beside} more for the reply" if beside else ""
            return _Asked(
                prompt, error=f"the prompt has {len(ids)} tokens{more}, the model takes {language.context}; shorten it"
            )
        return _Asked(prompt, ids, length)

    def _needed(self, language: LanguageModel, prompt: Prompt) -> int:
        """Return the most tokens that a reply may have."""
        if not prompt.options:
            return prompt.length or self.length
        if self.rating == "texts":
            return max(len(language.reply_ids(option)) for option in prompt.options)
        count = len(prompt.options)
        return len(language.reply_ids(json.dumps([count] * min(prompt.most, count))))

    def _passes(self, language: LanguageModel, asked: Sequence[_Asked]) -> list[list[_Asked]]:
        """Sort prompts by padded length and cut each length into passes, longest first."""
        rows = self._rows(language.device.type)
        by_length: dict[int, list[_Asked]] = {}
        for one in asked:
            by_length.setdefault(language.padded(len(one.ids)), []).append(one)
        return [
            by_length[length][at : at + rows]
            for length in sorted(by_length, reverse=True)
            for at in range(0, len(by_length[length]), rows)
        ]

    def _chosen(self, language: LanguageModel, one: _Asked) -> Reply:
        """Reply with a list of numbers, best first."""
        prompt = one.prompt
        most = min(prompt.most, len(prompt.options))
        if self.rating == "texts":
            rates = self._rated(language, one)
            chosen = sorted(range(1, len(rates) + 1), key=lambda number: (-rates[number - 1], number))[:most]
        else:
            chosen = self._listed(language, one, most)
        text = json.dumps(chosen)
        return Reply(text, tokens_in=len(one.ids), tokens_out=len(language.reply_ids(text)))

    def _listed(self, language: LanguageModel, one: _Asked, most: int) -> list[int]:
        """Add number after number, while the list must be longer or becomes likelier by it."""
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

    def _likelihood(self, language: LanguageModel, one: _Asked, lists: Sequence[Sequence[int]]) -> list[float]:
        replies = [language.reply_ids(json.dumps(numbers)) for numbers in lists]
        return [rounded(sum(row)) for row in language.likelihoods(one.ids, replies)]

    def _rated(self, language: LanguageModel, one: _Asked) -> list[float]:
        options = one.prompt.options
        if not options:
            return []
        if self.rating == "numbers":
            return self._likelihood(language, one, [[number] for number in range(1, len(options) + 1)])
        texts = [language.reply_ids(option) or (language.pad,) for option in options]
        return [rounded(sum(row) / len(row)) for row in language.likelihoods(one.ids, texts)]
