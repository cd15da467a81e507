"""The completer ``masked-lm`` keeps the contract of its role."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_knowlybert.completer import MaskedLMCompleter
from srtk_plugin_knowlybert.fit_settings import MaskedLMFitSettings

from srtk_framework.roles import TrainingTask
from srtk_framework.testing import SAMPLE, OracleGraph
from srtk_framework.testing.completer import CompleterConformance
from srtk_framework.testing.mask_filler import ToyMaskFiller
from srtk_framework.text import fold, words


def vocabulary() -> tuple[str, ...]:
    """Return the words of all names of the sample."""
    named = [SAMPLE.labels.get(id_, id_) for id_ in (*SAMPLE.entities, *SAMPLE.relations)]
    folded = [fold(name) for name in named]
    return tuple(sorted({text[start:end] for text in folded for start, end in words(text)}))


class TestMaskedLM(CompleterConformance):
    name = "masked-lm"

    @pytest.fixture
    def driver(self, graph: OracleGraph, tmp_path: Path) -> Iterator[Any]:
        filler = ToyMaskFiller(vocabulary=vocabulary())
        filler.open()
        templates = tmp_path / "templates.json"
        templates.write_text('{"capital": "The capital of {subject} is {object} ."}')
        completer = MaskedLMCompleter(graph=graph, filler=filler, templates=str(templates))
        completer.open()
        held = [fact for fact in SAMPLE.triples if fact.relation == "capital"][:4]
        completer.fit(TrainingTask([], None, tmp_path, 0, held), MaskedLMFitSettings(pairs=5, queries=10))
        completer.save(tmp_path / "model")
        completer.path = str(tmp_path / "model")
        yield completer
        completer.close()
        filler.close()
