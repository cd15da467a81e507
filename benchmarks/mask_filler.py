"""Throughput of the mask filler `masked-lm`: batches against one text at a time, gaps alone against all positions.

    OMP_NUM_THREADS=1 python benchmarks/mask_filler.py --model FOLDER

Texts are WebNLG's of at most 15 words, with one to three gaps in the place of a named entity; the context is the text
after it in the file, up to 128 tokens. CPU seconds of one thread for the ten best tokens of each gap, all texts in one
call; the ways take turns, and of their rounds the least counts. The first round of the driver is named beside: it
computes each new shape of a pass twice, to see whether both give the same bits. What tokenizer, encoder, vocabulary and
the choice of the best tokens take is measured apart, without the driver: in batches of 64 padded texts of like length,
and one by one.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

from common import DATA, lacking
from srtk_plugin_datasets.webnlg import mentions, read_webnlg, webnlg_files
from srtk_plugin_transformers.mask_filler import TransformersMaskFiller

from srtk_framework.values import MaskedText
from srtk_framework.values import batched as batched_values

TEXTS, ROUNDS, BEST = 512, 3, 10


def main() -> int:
    """Measure, and print a line of JSON for each kind of texts."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--model", required=True, help="folder of the masked language model")
    given = arguments.parse_args()
    if missing := lacking("webnlg/en"):
        print(missing, file=sys.stderr)
        return 0
    batched = TransformersMaskFiller(model=given.model, threads=1, max_length=128)
    single = TransformersMaskFiller(model=given.model, threads=1, max_length=128, batch_size=1)
    for one in (batched, single):
        one.open()
    for name, texts in (("without context", sentences(False)), ("with context", sentences(True))):
        ways: dict[str, Callable[[Sequence[MaskedText]], Any]] = {
            "batch 64": lambda some: batched.fill(some, BEST),
            "one by one": lambda some: [single.fill([text], BEST) for text in some],
            "one by one, transformers": lambda some: plainly(batched, some),
            "all positions": lambda some: everywhere(batched, some),
        }
        rounds: dict[str, list[float]] = {way: [] for way in ways}
        for way in ways.values():
            way(texts[:8])
        for _ in range(ROUNDS):
            for way, fill in ways.items():
                started = time.process_time()
                fill(texts)
                rounds[way].append(time.process_time() - started)
        seconds = {way: min(row) for way, row in rounds.items()}
        print(
            json.dumps(
                {
                    "texts": name,
                    "count": len(texts),
                    **{way: round(value, 2) for way, value in seconds.items()},
                    "batch 64, first round": round(rounds["batch 64"][0], 2),
                    "transformers / batch 64": round(seconds["one by one, transformers"] / seconds["batch 64"], 2),
                    "one by one / batch 64": round(seconds["one by one"] / seconds["batch 64"], 2),
                    "all positions / batch 64": round(seconds["all positions"] / seconds["batch 64"], 2),
                    "parts, batch 64": parts(batched, texts, 64),
                    "parts, one by one": parts(batched, texts, 1),
                }
            )
        )
    return 0


def sentences(context: bool) -> list[MaskedText]:
    """Return texts with gaps."""
    found: list[MaskedText] = []
    entries = [one for file in webnlg_files(DATA / "webnlg", ("train",)) for one in read_webnlg(file)]
    for entry, following in itertools.pairwise(entries):
        for text in entry.texts[:1]:
            named = mentions(text, entry.triples)
            if named and len(text.split()) <= 15 and following.texts:
                one, gaps = named[-1], 1 + len(found) % 3
                masked = f"{text[: one.start]}{' '.join(['[MASK]'] * gaps)}{text[one.end :]}"
                found.append(MaskedText(masked, " ".join(following.texts) if context else ""))
                if len(found) == TEXTS:
                    return found
    return found


def plainly(filler: TransformersMaskFiller, texts: Sequence[MaskedText]) -> list[Any]:
    """Compute one text at a time by transformers, the vocabulary at the gaps alone."""
    import torch

    language = filler._opened()
    answers = []
    for text in texts:
        pair = (text.text, text.context) if text.context else (text.text,)
        cut = "only_second" if text.context else True
        rows = language.tokenizer(*pair, truncation=cut, max_length=128, return_tensors="pt")
        with torch.inference_mode():
            states = language.model.base_model(**rows).last_hidden_state
            gaps = states[rows["input_ids"] == language.mask_id]
            answers.append(language.head(gaps).log_softmax(-1).topk(BEST))
    return answers


def everywhere(filler: TransformersMaskFiller, texts: Sequence[MaskedText]) -> list[Any]:
    """Compute the vocabulary at every position of padded batches, in the order of the texts, as is usual."""
    import torch

    language = filler._opened()
    answers = []
    for first in range(0, len(texts), 64):
        some = texts[first : first + 64]
        pairs = [[text.text for text in some]] + ([[text.context for text in some]] if some[0].context else [])
        cut = "only_second" if len(pairs) > 1 else True
        rows = language.tokenizer(
            *pairs,
            padding=True,
            truncation=cut,
            max_length=128,
            return_tensors="pt",
        )
        with torch.inference_mode():
            scores = language.model(**rows).logits.log_softmax(-1)
        for row, ids in zip(scores, rows["input_ids"], strict=True):
            answers.append(row[ids == language.mask_id].topk(BEST))
    return answers


def parts(filler: TransformersMaskFiller, texts: Sequence[MaskedText], size: int) -> dict[str, float]:
    """Return the seconds of each part, the vocabulary at the gaps alone."""
    import torch

    language = filler._opened()
    seconds = dict.fromkeys(("tokenizer", "encoder", "vocabulary", "best"), 0.0)
    order = sorted(texts, key=lambda text: len(text.text) + len(text.context))
    for some in batched_values(order, size):
        times = [time.process_time()]
        pairs = [[text.text for text in some]] + ([[text.context for text in some]] if some[0].context else [])
        cut = "only_second" if len(pairs) > 1 else True
        rows = language.tokenizer(*pairs, padding=True, truncation=cut, max_length=128, return_tensors="pt")
        times.append(time.process_time())
        with torch.inference_mode():
            states = language.model.base_model(**rows).last_hidden_state
            times.append(time.process_time())
            scores = language.head(states[rows["input_ids"] == language.mask_id])
            times.append(time.process_time())
            scores.log_softmax(-1).topk(BEST)
            times.append(time.process_time())
        for part, (before, after) in zip(seconds, itertools.pairwise(times), strict=True):
            seconds[part] += after - before
    return {part: round(value, 2) for part, value in seconds.items()}


if __name__ == "__main__":
    raise SystemExit(main())
