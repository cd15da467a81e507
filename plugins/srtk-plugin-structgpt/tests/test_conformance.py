"""Conformance of the drivers of this plugin with their roles."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from srtk_plugin_structgpt.encoder_chooser import EncoderChooser
from srtk_plugin_structgpt.options_reader import OptionsLlmReader
from srtk_plugin_structgpt.reader import LlmReader
from srtk_plugin_structgpt.structgpt import StructGptExpander
from srtk_plugin_structgpt.tog import TogExpander

from srtk_framework.roles import Encoder, Generator
from srtk_framework.testing import ExpanderConformance, GeneratorConformance, ReaderConformance
from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.testing.reader import ToyReader
from srtk_framework.testing.scripted import ScriptedGenerator, said
from srtk_framework.values import Budget, Prompt, Reply


@attrs.define(eq=False)
class Letters(Encoder):
    """Encode a text by the counts of its letters."""

    def encode(self, texts: Any) -> Any:
        rows = [[1 + text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(rows), 26)


@attrs.define(eq=False)
class SharedWords(Generator):
    """Rate an option by the number of words that it shares with the question."""

    def generate(self, prompts: Sequence[Prompt]) -> list[Reply]:
        return [Reply("[1]") for _ in prompts]

    def rate(self, prompts: Sequence[Prompt]) -> list[list[float]]:
        return [[likeness(prompt.query, option) for option in prompt.options] for prompt in prompts]

    def rates(self) -> bool:
        return True


def likeness(query: str, option: str) -> float:
    asked = query.lower().split()
    return sum(word in asked for word in option.lower().replace("_", " ").split()) + ("_" in option) * 0.5


@attrs.define(eq=False)
class FirstFact(Generator):
    """Answer with the object of the first fact, with a name that no fact has, with words, or not at all."""

    def generate(self, prompts: Sequence[Prompt]) -> list[Reply]:
        return [Reply(self.reply(said(prompt))) for prompt in prompts]

    def reply(self, shown: str) -> str:
        fact = shown.partition("\n1. ")[2].splitlines()[0].partition(" (")[0]
        answer = "nobody at all" if "Alphabet" in shown else fact.split(" | ")[2]
        if "Narcissus" in shown:
            return "who knows?"
        return json.dumps({"enough": "Latvia" in shown, "answer": [answer], "triples": [1]})


def opened(driver: Any) -> Any:
    driver.open()
    return driver


class TestEncoderChooser(GeneratorConformance):
    name = "encoder-chooser"
    free = False

    @pytest.fixture
    def driver(self) -> EncoderChooser:
        return opened(EncoderChooser(Letters()))


class TestLlmReader(ReaderConformance):
    name = "llm"

    @pytest.fixture
    def driver(self, graph: Any) -> LlmReader:
        return opened(LlmReader(graph, FirstFact()))

    @pytest.fixture
    def faulty(self, graph: Any, tmp_path: Path) -> LlmReader:
        return LlmReader(graph, ScriptedGenerator(), prompts={"answer": str(tmp_path / "none.yaml")})


class TestLlmReaderWithHint(ReaderConformance):
    name = "llm"

    @pytest.fixture
    def driver(self, graph: Any) -> LlmReader:
        return opened(LlmReader(graph, FirstFact(), hint=ToyReader(graph)))

    @pytest.fixture
    def faulty(self, graph: Any, tmp_path: Path) -> LlmReader:
        prompts = {"answer-with-hint": str(tmp_path / "none.yaml")}
        return LlmReader(graph, ScriptedGenerator(), prompts=prompts, hint=ToyReader(graph))


class TestOptionsLlmReaderByRating(ReaderConformance):
    name = "options-llm"
    chooses = True

    @pytest.fixture
    def driver(self, graph: Any) -> OptionsLlmReader:
        return opened(OptionsLlmReader(graph, SharedWords()))

    @pytest.fixture
    def faulty(self, graph: Any) -> OptionsLlmReader:
        return OptionsLlmReader(graph, ScriptedGenerator(), by="rating")


class TestOptionsLlmReaderByReply(ReaderConformance):
    name = "options-llm"
    chooses = True

    @pytest.fixture
    def driver(self, graph: Any) -> OptionsLlmReader:
        scripted = ScriptedGenerator([("Latvia", "[1]"), ("Narcissus", "who knows?")], default="[2]")
        return opened(OptionsLlmReader(graph, scripted))

    @pytest.fixture
    def faulty(self, graph: Any, tmp_path: Path) -> OptionsLlmReader:
        return OptionsLlmReader(graph, ScriptedGenerator(), prompts={"option": str(tmp_path / "none.yaml")})


class TestStructGpt(ExpanderConformance):
    name = "structgpt"

    @pytest.fixture
    def driver(self, graph: OracleGraph, budget: Budget) -> StructGptExpander:
        chooser = SharedWords()
        return opened(StructGptExpander(graph, chooser, budget=budget, stop="depth", by="rating", width=2))

    @pytest.fixture
    def faulty(self, graph: OracleGraph) -> StructGptExpander:
        return StructGptExpander(graph, ScriptedGenerator())


class TestStructGptWithScorerAndPaths(ExpanderConformance):
    name = "structgpt"

    @pytest.fixture
    def driver(self, graph: OracleGraph, scorer: Any, budget: Budget) -> StructGptExpander:
        return opened(
            StructGptExpander(
                graph,
                opened(EncoderChooser(Letters())),
                scorer=scorer,
                budget=budget,
                stop="depth",
                show="path",
                width=3,
                narrow=4,
                mention="",
            )
        )


class TestStructGptWithReader(ExpanderConformance):
    name = "structgpt"

    @pytest.fixture
    def driver(self, graph: OracleGraph, budget: Budget) -> StructGptExpander:
        scripted = ScriptedGenerator(
            [("Facts", '{"enough": true, "answer": ["Riga"], "triples": [1, 2, 3]}')], default="[1]"
        )
        reader = opened(LlmReader(graph, scripted))
        return opened(StructGptExpander(graph, scripted, reader=reader, budget=budget, relation_triples=None))


class TestStructGptThatComesBack(ExpanderConformance):
    name = "structgpt"

    @pytest.fixture
    def driver(self, graph: OracleGraph, budget: Budget) -> StructGptExpander:
        chooser = SharedWords()
        return opened(
            StructGptExpander(graph, chooser, budget=budget, stop="depth", by="rating", width=3, revisit=True)
        )


class TestTogThatComesBack(ExpanderConformance):
    name = "tog"

    @pytest.fixture
    def driver(self, graph: OracleGraph, budget: Budget) -> TogExpander:
        return opened(TogExpander(graph, SharedWords(), budget=budget, stop="depth", by="rating", revisit=True))


class TestTog(ExpanderConformance):
    name = "tog"

    @pytest.fixture
    def driver(self, graph: OracleGraph, budget: Budget) -> TogExpander:
        return opened(TogExpander(graph, SharedWords(), budget=budget, stop="depth", by="rating"))

    @pytest.fixture
    def faulty(self, graph: OracleGraph) -> TogExpander:
        return TogExpander(graph, ScriptedGenerator())
