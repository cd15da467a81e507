from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from srtk_plugin_transformers.mask_filler import TransformersMaskFiller

from srtk_framework.values import DriverError, MaskedText

M = "[MASK]"
TEXT = MaskedText(f"the capital of latvia is {M}")
Make = Callable[..., TransformersMaskFiller]
DATA = Path(os.environ.get("SRTK_DATA", Path(__file__).parents[3] / "../shared/data"))
TINY = DATA.parent / "models" / "tiny-mlm"


@pytest.fixture
def filler() -> Iterator[Make]:
    opened: list[TransformersMaskFiller] = []

    def build(model: Path, **settings: Any) -> TransformersMaskFiller:
        made = TransformersMaskFiller(model=str(model), **{"threads": 1, "device": "cpu", **settings})
        opened.append(made)
        made.open()
        return made

    yield build
    for one in opened:
        one.close()


def test_scores_are_those_of_the_whole_model(filler: Make, masked_bert: Path) -> None:
    """The vocabulary computed at the gaps alone has the log-probabilities of the model's own forward pass."""
    import torch

    one = filler(masked_bert)
    tokens = one._opened().tokenizer
    text = f"who born in {M} {M} city"
    row = tokens(text, return_tensors="pt")
    with torch.inference_mode():
        whole = one._opened().model(**row).logits.log_softmax(-1)[0]
    gaps = (row["input_ids"][0] == tokens.mask_token_id).nonzero()[:, 0].tolist()
    found = one.rate([MaskedText(text)], [[("riga", "oslo"), ("film", "by")]])[0]
    ids = [[tokens.convert_tokens_to_ids(t) for t in filling] for filling in (("riga", "oslo"), ("film", "by"))]
    wanted = [[float(whole[gap, i]) for gap, i in zip(gaps, row_, strict=True)] for row_ in ids]
    assert np.allclose(found, wanted, atol=2e-4)


@given(st.lists(st.sampled_from(["the", "capital", "of", "riga", M, "city"]), min_size=1, max_size=30), st.data())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_text_has_the_same_scores_in_any_batch(
    filler: Make, masked_bert: Path, words: list[str], data: st.DataObject
) -> None:
    one = filler(masked_bert)
    text = MaskedText(" ".join(words), data.draw(st.sampled_from(["", "riga is the city", "film " * 80])))
    others = [MaskedText(f"{M} " * count + "city " * count) for count in data.draw(st.lists(st.integers(1, 9)))]
    assert one.fill([*others, text, *others], 4)[len(others)] == one.fill([text], 4)[0]


def test_all_gaps_are_filled_at_once(filler: Make, masked_bert: Path) -> None:
    """What fills one gap does not depend on what is rated in the other."""
    one = filler(masked_bert)
    text = MaskedText(f"{M} is the capital of {M}")
    a, b = one.rate([text, text], [[("riga", "latvia")], [("riga", "film")]])
    assert a[0][0] == b[0][0]


def test_special_tokens_are_never_proposed(filler: Make, masked_bert: Path) -> None:
    found = filler(masked_bert).fill([TEXT], 1000)[0][0]
    names = {one.token for one in found}
    assert len(names) == len(found) == 20
    assert not any(name.startswith("[") for name in names)


def test_a_context_is_another_segment(filler: Make, masked_bert: Path) -> None:
    one = filler(masked_bert)
    (row,) = [one._opened().row(MaskedText(TEXT.text, "riga is the city"))]
    assert set(row.types) == {0, 1}
    assert row.types == sorted(row.types)


def test_a_context_is_cut_at_its_end_and_the_text_never(filler: Make, masked_bert: Path) -> None:
    one = filler(masked_bert, max_length=12)
    language = one._opened()
    row = language.row(MaskedText(TEXT.text, "riga city film who where in"))
    names = language.tokenizer.convert_ids_to_tokens(row.ids)
    assert names[:8] == ["[CLS]", "the", "capital", "of", "latvia", "is", M, "[SEP]"]
    assert names[8:] == ["riga", "city", "film", "[SEP]"]


def test_a_context_for_which_there_is_no_room_is_left_out(filler: Make, masked_bert: Path) -> None:
    one = filler(masked_bert, max_length=8)
    assert one.fill([MaskedText(TEXT.text, "riga is the city")], 3) == one.fill([TEXT], 3)


def test_a_text_that_is_too_long_is_cut_around_its_gaps(filler: Make, masked_bert: Path) -> None:
    one = filler(masked_bert, max_length=10)
    language = one._opened()
    for before, after in ((40, 0), (0, 40), (20, 20)):
        row = language.row(MaskedText("city " * before + M + " film" * after))
        names = language.tokenizer.convert_ids_to_tokens(row.ids)
        assert len(names) == 10
        assert names.count(M) == 1
        assert (names[0], names[-1]) == ("[CLS]", "[SEP]")


def test_gaps_that_are_too_far_apart_are_refused(filler: Make, masked_bert: Path) -> None:
    one = filler(masked_bert, max_length=10)
    with pytest.raises(DriverError, match=r"are 22 tokens apart, and model .* reads 8 at once"):
        one.fill([MaskedText(f"{M} {'city ' * 20}{M}")], 2)


def test_marks_of_the_model_in_a_context_are_plain_text(filler: Make, masked_bert: Path) -> None:
    language = filler(masked_bert)._opened()
    row = language.row(MaskedText(TEXT.text, f"riga [SEP] {M}"))
    assert len(row.gaps) == 1
    assert row.ids.count(language.tokenizer.sep_token_id) == 2


def test_a_text_with_a_word_that_the_model_cannot_write_has_no_tokens(filler: Make, masked_bert: Path) -> None:
    assert filler(masked_bert).tokens(["riga", "riga zzz", M, "  "]) == [["riga"], [], [], []]


def test_tokens_of_a_byte_level_model_are_those_after_a_blank(tmp_path: Path, filler: Make) -> None:
    """Such a model has one token for a word at the start of a text, and another one after a blank."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaForMaskedLM

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    names = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *letters, "Ġr", "ig"]
    tokenizer = Tokenizer(models.BPE({name: i for i, name in enumerate(names)}, [("Ġ", "r"), ("i", "g")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="<mask>",
        model_max_length=62,
    ).save_pretrained(tmp_path)
    torch.manual_seed(7)
    config = RobertaConfig(
        vocab_size=len(names),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=64,
        type_vocab_size=1,
        pad_token_id=1,
    )
    RobertaForMaskedLM(config).save_pretrained(tmp_path)
    one = filler(tmp_path)
    assert one.mask() == "<mask>"
    assert one.tokens(["riga"]) == [["Ġr", "ig", "a"]]
    (gaps,) = one.fill([MaskedText("in <mask><mask>", "riga")], 2)
    assert [len(row) for row in gaps] == [2, 2]


def test_a_model_without_a_mask_is_refused(filler: Make, masked_bert: Path, tmp_path: Path) -> None:
    import json

    folder = tmp_path / "no-mask"
    shutil.copytree(masked_bert, folder)
    for name in ("tokenizer_config.json", "special_tokens_map.json"):
        if (folder / name).exists():
            data = json.loads((folder / name).read_text())
            data.pop("mask_token", None)
            (folder / name).write_text(json.dumps(data))
    with pytest.raises(DriverError, match="has no mask token, so it fills no gaps"):
        filler(folder)


def test_a_model_without_a_masked_head_is_refused(filler: Make, bert: Path) -> None:
    with pytest.raises(DriverError, match="name a masked language model"):
        filler(bert)


def test_another_model_has_another_fingerprint(filler: Make, masked_bert: Path) -> None:
    one, same, other = (
        filler(masked_bert, max_length=length, batch_size=rows) for length, rows in ((None, 64), (None, 64), (20, 64))
    )
    assert one.fingerprint() == same.fingerprint() != other.fingerprint()


@pytest.mark.skipif(not TINY.is_dir(), reason="no tiny-mlm beside the data folder; SRTK_DATA names another folder")
def test_a_small_real_model_knows_a_capital_and_believes_its_context(filler: Make) -> None:
    one = filler(TINY)
    known = MaskedText(f"The capital of France is {M}.")
    assert one.fill([known], 1)[0][0][0].token == "paris"
    other = MaskedText(f"The capital of Latvia is {M}.")
    told = MaskedText(other.text, "Riga is the capital of Latvia.")
    plain, read = (row[0][0] for row in one.rate([other, told], [[("riga",)]] * 2))
    assert read > plain


def test_the_module_of_the_driver_loads_no_torch() -> None:
    import subprocess
    import sys

    assert importlib.util.find_spec("torch")
    modules = "srtk_plugin_transformers.mask_filler, srtk_plugin_transformers.cloze"
    code = f"import sys, {modules}; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
