"""The choice by a cross-encoder: what it reads, both forms of its folder, and what is refused."""

from __future__ import annotations

import json
import math
import shutil
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path as FilePath
from typing import Any

import attrs
import numpy as np
import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_sr import cross_encoder
from srtk_plugin_sr.beam import BeamExpander
from srtk_plugin_sr.cross_encoder import CrossEncoder, path_texts
from srtk_plugin_sr.path_features import SearchedQuestion
from srtk_plugin_sr.search_settings import SearchBlock

from srtk_framework.graph import Instance
from srtk_framework.roles import PathScorer, SearchSettings
from srtk_framework.values import DriverError, Link, Path, Question, RankedPath, Step, Subgraph, Triple

FILMS = [
    ["heat", "directedBy", "michael"],
    ["heat", "starred actors", "al"],
    ["heat", "release year", "1995"],
    *(["ali", "starred actors", name] for name in ("ann", "bob", "cem", "dan", "eve")),
]
WORDS = "heat ali directed by starred actors release year michael al ann who made when did is of and more : , ?"
SIZES = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "max_position_embeddings")
INPUTS = ["input_ids", "attention_mask", "token_type_ids"]
TEXTS = ["heat, directed by: michael", "heat", "heat, release year: more of ann and more of al by michael", "ali"]


@attrs.define(eq=False)
class Flat(PathScorer):
    """Score all steps alike, in natural-log units."""

    def score(self, questions: Sequence[str], paths: Sequence[Path], candidates: Any) -> list[list[float]]:
        return [[0.0] * len(row) for row in candidates]

    def is_trained(self) -> bool:
        return True

    def search_settings(self) -> SearchSettings:
        return SearchSettings(scale=1.0, depth=1, fan_cost=0.0, mention=None)


@pytest.fixture
def made(tiny: Callable[..., FilePath], tmp_path: FilePath) -> Callable[..., FilePath]:
    """Write the folder of a cross-encoder with random weights."""

    def make(outputs: int = 1, seed: int = 1, kind: str = "bert") -> FilePath:
        import torch
        from transformers import AutoConfig, AutoModelForSequenceClassification

        folder = tmp_path / f"{kind}-{outputs}-{seed}"
        shutil.copytree(tiny(WORDS), folder)
        file = folder / "tokenizer_config.json"
        file.write_text(json.dumps({**json.loads(file.read_text()), "model_input_names": INPUTS}))
        torch.manual_seed(seed)
        small = AutoConfig.from_pretrained(folder, num_labels=outputs)
        settings = {name: getattr(small, name) for name in (*SIZES, "num_labels")}
        model: Any = AutoModelForSequenceClassification.from_config(
            AutoConfig.for_model(kind, pad_token_id=1, **settings)
        )
        for name, values in model.named_parameters():
            if name.startswith(("classifier", "score")) and values.dim() == 2:
                values.data *= 100
        model.save_pretrained(folder)
        return folder

    return make


def opened(folder: FilePath) -> CrossEncoder:
    model = CrossEncoder(folder)
    model.open()
    return model


def plain_logits(folder: FilePath, question: str, texts: Sequence[str]) -> list[float]:
    """Compute logits one by one: the plainest way there is."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer, model = (one.from_pretrained(folder) for one in (AutoTokenizer, AutoModelForSequenceClassification))
    with torch.inference_mode():
        return [float(model(**tokenizer(question, text, return_tensors="pt")).logits) for text in texts]


def exported(folder: FilePath) -> FilePath:
    """Return a folder with the same model as an ONNX graph and nothing else but its settings and tokenizer."""
    import torch
    from transformers import AutoModelForSequenceClassification

    other = folder.with_name("exported")
    (other / "onnx").mkdir(parents=True)
    for name in ("config.json", "tokenizer.json"):
        shutil.copy(folder / name, other)
    ones = torch.ones((2, 7), dtype=torch.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            AutoModelForSequenceClassification.from_pretrained(folder).eval(),
            (ones, ones, ones),
            str(other / "onnx/model.onnx"),
            input_names=INPUTS,
            dynamic_axes={name: {0: "rows", 1: "length"} for name in INPUTS},
            dynamo=False,
        )
    return other


def expanded(folder: FilePath) -> Subgraph:
    graph = MemoryGraph(FILMS)
    graph.open()
    beam = BeamExpander(graph, Flat(), choice=str(folder), depth=1, search=SearchBlock(order="nodes"))
    beam.open()
    [found] = beam.expand([Question("q", "who made Heat", (Link("heat", name="Heat"),))])
    return found


def test_a_path_is_its_topic_its_steps_in_direction_and_a_few_of_its_ends() -> None:
    graph = MemoryGraph(FILMS)
    paths = [
        RankedPath("heat", (Step("directedBy"), Step("directedBy", True)), 0.0),
        RankedPath("ali", (Step("starred actors"),), 0.0),
        RankedPath("heat", (Step("release year"),), 0.0),
    ]
    triples = [Triple(*row) for row in FILMS if row[0] == "ali"]
    read = {0: [Instance((), "heat"), Instance((), "heat")], 1: [Instance((one,), one.object) for one in triples]}
    [texts] = path_texts(graph, [SearchedQuestion("who", "who", {}, paths, read)])
    assert texts == [
        "heat, directed by, is directed by of: heat",
        "ali, starred actors: ann, bob, cem and 2 more",
        "heat, release year",
    ]


@pytest.mark.parametrize("kind", ["bert", "roberta", "mpnet", "llama"])
def test_the_logits_are_those_of_the_model_whatever_is_computed_with_them(
    kind: str, made: Callable[..., FilePath], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(kind=kind)
    expected = plain_logits(folder, "who made heat", TEXTS)
    assert np.ptp(expected) > 0.001
    assert opened(folder).logits("who made heat", TEXTS) == pytest.approx(expected, abs=1e-5)
    monkeypatch.setattr(cross_encoder, "ROWS", 2)
    assert opened(folder).logits("who made heat", TEXTS) == pytest.approx(expected, abs=1e-5)


def test_padding_that_a_tokenizer_was_saved_with_changes_nothing(made: Callable[..., FilePath]) -> None:
    from tokenizers import Tokenizer

    folder = made()
    expected = opened(folder).logits("who made heat", TEXTS)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_padding(length=40)
    tokenizer.save(str(folder / "tokenizer.json"))
    assert opened(folder).logits("who made heat", TEXTS) == pytest.approx(expected, abs=1e-5)


def test_a_text_that_is_no_unicode_has_a_logit(made: Callable[..., FilePath]) -> None:
    [value] = opened(made()).logits("who \ud800", ["heat"])
    assert math.isfinite(value)


def test_a_graph_in_onnx_gives_the_same_logits(made: Callable[..., FilePath]) -> None:
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    folder = made()
    found = opened(exported(folder)).logits("who made heat", TEXTS)
    assert found == pytest.approx(plain_logits(folder, "who made heat", TEXTS), abs=1e-4)


def test_a_cross_encoder_orders_the_paths_and_keeps_the_sum_of_their_probabilities(
    made: Callable[..., FilePath],
) -> None:
    folder = made()
    paths = expanded(folder).paths
    texts = ["heat, directed by: michael", "heat, starred actors: al", "heat, release year: 1995"]
    logits = dict(zip(texts, plain_logits(folder, "who made Heat", texts), strict=True))
    relations = {"directedBy": texts[0], "starred actors": texts[1], "release year": texts[2]}
    scores = {relations[path.steps[0].relation]: path.score for path in paths}
    assert sorted(scores, key=scores.__getitem__) == sorted(logits, key=logits.__getitem__)
    assert scores[texts[0]] - scores[texts[1]] == pytest.approx(logits[texts[0]] - logits[texts[1]], abs=1e-4)
    assert sum(map(math.exp, scores.values())) == pytest.approx(3.0, abs=1e-3)


def test_a_long_pair_is_cut_to_the_tokens_that_the_model_has_places_for(made: Callable[..., FilePath]) -> None:
    [value] = opened(made()).logits("who made heat", ["heat " * 300])
    assert math.isfinite(value)


def test_a_model_with_several_outputs_is_refused(made: Callable[..., FilePath]) -> None:
    with pytest.raises(DriverError, match=r"gives a result of shape \[2, 3\].*one label"):
        opened(made(outputs=3))


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
def test_a_folder_without_a_file_that_is_needed_is_refused(made: Callable[..., FilePath], name: str) -> None:
    folder = made()
    (folder / name).unlink()
    with pytest.raises(DriverError, match=f"has no {name}; name a folder"):
        opened(folder)


def test_broken_weights_are_refused(made: Callable[..., FilePath]) -> None:
    folder = made()
    (folder / "model.safetensors").write_bytes(b"broken")
    with pytest.raises(DriverError, match="cannot be loaded"):
        opened(folder)


def test_a_missing_package_is_named_with_the_plugin_that_brings_it(
    made: Callable[..., FilePath], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made()
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(DriverError, match="needs transformers; run: pip install srtk-plugin-transformers"):
        opened(folder)


def test_other_weights_have_another_fingerprint(made: Callable[..., FilePath]) -> None:
    folders = [made(seed=seed) for seed in (1, 2)]
    beams = [BeamExpander(MemoryGraph(FILMS), Flat(), choice=str(folder)) for folder in folders]
    one, other = (beam.fingerprint() for beam in beams)
    assert CrossEncoder(folders[0]).fingerprint() in one
    assert one.replace(str(folders[0]), "") != other.replace(str(folders[1]), "")


def test_a_missing_folder_is_a_fault_of_the_recipe() -> None:
    beam = BeamExpander(MemoryGraph(FILMS), Flat(), choice="nowhere/cross")
    assert beam.preflight() == [("choice", "nowhere/cross does not exist; correct the path")]


def test_a_pair_has_128_tokens_at_most_and_two_fewer_than_the_model_has_places(made: Callable[..., FilePath]) -> None:
    folder = made()
    for places, tokens in ((1000, 128), (130, 128), (129, 127), (64, 62)):
        tokenizer = cross_encoder._tokenizer(folder, places)
        assert len(tokenizer.encode("heat", "heat " * 300).ids) == tokens
    model = opened(folder)
    assert len(model._tokenizer.encode("heat", "heat " * 300).ids) == 62
