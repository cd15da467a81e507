"""Masked language models by their name on the hub, with word pieces and byte-level tokens, from the local cache."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_knowlybert.completer import MaskedLMCompleter
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_transformers.mask_filler import TransformersMaskFiller

from srtk_framework.values import Pattern

pytest.importorskip("torch")

CITIES = {"Riga": "Latvia", "Tallinn": "Estonia", "Oslo": "Norway", "Paris": "France", "Rome": "Italy", "Bern": "Swiss"}
TEXTS = [f"{city} is in {country} ." for city, country in CITIES.items()]
READ = [*TEXTS, *(f"in {city}" for city in CITIES)]  # So that a name has a token after a blank and one without.
SPECIAL = {
    "bert": ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    "roberta": ("<pad>", "<unk>", "<s>", "</s>", "<mask>"),
}


def tokenizer(kind: str) -> Any:
    """Train a tokenizer as BERT and RoBERTa have them: the mask of RoBERTa takes the blank before it."""
    from tokenizers import AddedToken, ByteLevelBPETokenizer, Tokenizer, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    pad, unknown, first, last, mask = SPECIAL[kind]
    if kind == "roberta":
        made = ByteLevelBPETokenizer()
        made.train_from_iterator(READ, vocab_size=400, min_frequency=1, special_tokens=[pad, unknown, first, last])
        made.add_special_tokens([AddedToken(mask, lstrip=True)])
        inner = made._tokenizer
        inner.post_processor = processors.RobertaProcessing((last, 3), (first, 2), add_prefix_space=False)
    else:
        inner = Tokenizer(models.WordPiece(unk_token=unknown))
        inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        inner.train_from_iterator(READ, trainers.WordPieceTrainer(vocab_size=200, special_tokens=list(SPECIAL[kind])))
        inner.post_processor = processors.BertProcessing((last, 3), (first, 2))
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token"), (pad, unknown, first, last), strict=True))
    gap = AddedToken(mask, lstrip=kind == "roberta")
    return PreTrainedTokenizerFast(tokenizer_object=inner, **names, mask_token=gap, model_max_length=30)


@pytest.fixture(scope="module", params=sorted(SPECIAL))
def hub(request: Any, tmp_path_factory: Any) -> Iterator[str]:
    """Write a model that knows the texts into a cache of the hub, and return its name."""
    import huggingface_hub.constants
    import torch
    from transformers import BertConfig, BertForMaskedLM, RobertaConfig, RobertaForMaskedLM

    cache = tmp_path_factory.mktemp("hub")
    place, commit = cache / f"models--nobody--{request.param}", "0" * 40
    folder = place / "snapshots" / commit
    (place / "refs").mkdir(parents=True)
    (place / "refs/main").write_text(commit)
    words = tokenizer(request.param)
    words.save_pretrained(folder)
    torch.manual_seed(0)
    shape = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    shape |= {"vocab_size": len(words), "pad_token_id": 0, "max_position_embeddings": 40}
    kinds = {"bert": (BertConfig, BertForMaskedLM), "roberta": (RobertaConfig, RobertaForMaskedLM)}
    config, model_of = kinds[request.param]
    model = model_of(config(**shape, type_vocab_size=1 if request.param == "roberta" else 2))
    rows = [words(text)["input_ids"] for text in TEXTS]
    hidden = []
    for ids, city in zip(rows, CITIES, strict=True):
        ends = len(words(f"{city} is")["input_ids"]) - 3, len(words(f"{city} is in")["input_ids"]) - 1
        hidden += [(ids, 1, 1 + ends[0]), (ids, ends[1], len(ids) - 2)]
    longest = max(map(len, rows))
    given = torch.zeros((len(hidden), longest), dtype=torch.long)
    wanted = torch.full((len(hidden), longest), -100)
    for at, (ids, start, end) in enumerate(hidden):
        given[at, : len(ids)] = torch.tensor(ids)
        wanted[at, start:end] = given[at, start:end]
        given[at, start:end] = words.mask_token_id
    optimizer = torch.optim.AdamW(model.eval().parameters(), lr=0.01)
    for _ in range(150):
        loss = model(input_ids=given, attention_mask=(given != 0).long(), labels=wanted).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    assert loss.item() < 0.1
    model.save_pretrained(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(cache))
        patch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
        yield f"nobody/{request.param}"


def test_a_model_is_found_by_its_name_and_completes_both_ends(hub: str, tmp_path: Path) -> None:
    filler = TransformersMaskFiller(model=hub, threads=1, device="cpu")
    filler.open()
    templates = tmp_path / "templates.json"
    templates.write_text('{"in": "[X] is in [Y] ."}')
    graph = MemoryGraph(triples=[("Vilnius", "in", "Lithuania")])
    names = tmp_path / "names.tsv"
    names.write_text("".join(f"{name}\t{name}\n" for pair in CITIES.items() for name in pair))
    completer = MaskedLMCompleter(
        graph=graph, filler=filler, templates=str(templates), names=str(names), masks=5, types="none"
    )
    completer.open()
    objects = completer.complete([Pattern(city, "in") for city in CITIES], 1)
    assert {city: row[0].triple.object for city, row in zip(CITIES, objects, strict=True)} == CITIES
    subjects = completer.complete([Pattern(None, "in", country) for country in CITIES.values()], 1)
    assert [row[0].triple.subject for row in subjects] == list(CITIES)
    filler.close()
