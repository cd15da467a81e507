"""Choice of the path by a cross-encoder: a model that reads a question and one of its paths as a pair of texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
from srtk_plugin_models import named_hash, read_json

from srtk_framework.roles import KnowledgeGraph, PathScorer
from srtk_framework.values import DriverError
from srtk_plugin_sr.path_choice import shared
from srtk_plugin_sr.path_features import LABELLED, Floats, SearchedQuestion
from srtk_plugin_sr.templates import FORMS

TOKENS = 128
"""Most tokens of a pair; of longer ones the longer text is cut."""
ROWS = 16
"""Pairs of a pass."""
GRAPHS = ("onnx/model.onnx", "model.onnx")
_WORDS = FORMS["plain"]
_Inputs = Mapping[str, npt.NDArray[np.int64]]
_Pass = Callable[[_Inputs], Floats]


@attrs.define(eq=False)
class CrossEncoder:
    """A sequence classification model with one logit, which is the score of a pair in natural-log units.

    ``CrossEncoder`` of sentence-transformers or ``save_pretrained`` writes such a folder; an ONNX graph in it
    (``onnx/model.onnx``, ``model.onnx``) is preferred, and needs no torch. A pass holds pairs of one question, so that
    its scores do not depend on the questions asked with it.

    Attributes:
        folder: The folder, with ``config.json`` and ``tokenizer.json``.
    """

    folder: FilePath
    _tokenizer: Any = attrs.field(init=False, default=None, repr=False)
    _pass: _Pass | None = attrs.field(init=False, default=None, repr=False)
    _pad: int = attrs.field(init=False, default=0, repr=False)

    def open(self) -> None:
        """Load tokenizer and weights.

        Raises:
            DriverError: If a file or a package is missing, or the model has several outputs.
        """
        for name in ("config.json", "tokenizer.json"):
            if not (self.folder / name).is_file():
                raise DriverError(
                    f"choice: {self.folder} has no {name}; name a folder in which CrossEncoder of sentence-transformers"
                    " or save_pretrained wrote model and tokenizer"
                )
        config = read_json(self.folder / "config.json")
        self._pad = int(config.get("pad_token_id") or 0)
        graph = next((self.folder / name for name in GRAPHS if (self.folder / name).is_file()), None)
        try:
            self._tokenizer = _tokenizer(self.folder, int(config.get("max_position_embeddings", TOKENS + 2)))
            self._pass = _torch_pass(self.folder) if graph is None else _onnx_pass(graph)
            shape = self._run(self._tokenizer.encode_batch([("a", "b")] * 2)).shape
        except ModuleNotFoundError as error:
            plugin = "srtk-plugin-transformers" if graph is None else "srtk-plugin-onnx"
            raise DriverError(f"choice: {self.folder} needs {error.name}; run: pip install {plugin}") from error
        except Exception as error:
            reason = " ".join(str(error).split())
            raise DriverError(f"choice: the model in {self.folder} cannot be loaded: {reason}") from error
        if shape != (2, 1):
            raise DriverError(
                f"choice: the model in {self.folder} gives a result of shape {list(shape)} for two pairs of texts, not"
                " one logit for each; name a sequence classification model with one label"
            )

    def fingerprint(self) -> str:
        """Identify the files."""
        names = sorted(
            path
            for pattern in ("config.json", "tokenizer.json", "*.safetensors", "*.onnx*", "onnx/model.onnx*")
            for path in self.folder.glob(pattern)
        )
        return f"cross-encoder {named_hash(self.folder, names)}"

    def scores(
        self, graph: KnowledgeGraph, scorer: PathScorer, questions: Sequence[SearchedQuestion]
    ) -> list[list[float]]:
        """Return a score for each path of each question: its logit, shifted as ``PathChoice`` does."""
        texts = path_texts(graph, questions)
        rows = zip(questions, texts, strict=True)
        return [shared(one.paths, self.logits(one.text, row)) for one, row in rows]

    def logits(self, question: str, texts: Sequence[str]) -> Floats:
        """Return the logit of a question with each text."""
        # Lone surrogates, which tokenizers refuse, are replaced.
        pairs = [tuple(one.encode("utf-8", "replace").decode() for one in (question, text)) for text in texts]
        encoded = self._tokenizer.encode_batch(pairs)
        order = sorted(range(len(encoded)), key=lambda at: len(encoded[at].ids))
        found = np.empty(len(encoded), dtype=np.float64)
        for begin in range(0, len(order), ROWS):
            rows = order[begin : begin + ROWS]
            found[rows] = self._run([encoded[at] for at in rows])[:, 0]
        return found

    def _run(self, rows: Sequence[Any]) -> Floats:
        """Compute one pass, padded to the longest of its rows."""
        assert self._pass is not None
        size = max(len(row.ids) for row in rows)
        given = {
            name: np.zeros((len(rows), size), np.int64) for name in ("input_ids", "attention_mask", "token_type_ids")
        }
        # A decoder finds the last token of a text by the padding behind it.
        given["input_ids"] += self._pad
        for at, row in enumerate(rows):
            given["input_ids"][at, : len(row.ids)] = row.ids
            given["attention_mask"][at, : len(row.ids)] = 1
            given["token_type_ids"][at, : len(row.ids)] = row.type_ids
        return self._pass(given)


def path_texts(graph: KnowledgeGraph, questions: Sequence[SearchedQuestion]) -> list[list[str]]:
    """Return each question's paths in words, with one call to the graph for the labels.

    A path is its topic, its steps as `dense` words them, a few of its ends, and the number of further ends: "Latvia,
    capital: Riga"; "Riga, is capital of, borders: Estonia, Russia, Belarus and 1 more".
    """
    ends = [
        {rank: list(dict.fromkeys(end.end for end in found)) for rank, found in one.read.items()} for one in questions
    ]
    ids = {id_ for one in questions for path in one.paths for id_ in (path.entity, *(s.relation for s in path.steps))}
    ids.update(end for found in ends for own in found.values() for end in own[:LABELLED])
    known = sorted(ids)
    labels = dict(zip(known, graph.labels(known), strict=True)) if known else {}
    texts = []
    for one, found in zip(questions, ends, strict=True):
        row = []
        for rank, path in enumerate(one.paths):
            own = found.get(rank, [])
            walked = [labels[path.entity], *(_WORDS.step(step, labels[step.relation]) for step in path.steps)]
            shown = _WORDS.join.join(labels[end] for end in own[:LABELLED])
            more = f" and {len(own) - LABELLED} more" if len(own) > LABELLED else ""
            row.append(f"{_WORDS.join.join(walked)}: {shown}{more}" if own else _WORDS.join.join(walked))
        texts.append(row)
    return texts


def _tokenizer(folder: FilePath, positions: int) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    # Some models number the positions from 2 on.
    tokenizer.enable_truncation(min(TOKENS, positions - 2))
    return tokenizer


def _torch_pass(folder: FilePath) -> _Pass:
    import torch
    from transformers import AutoModelForSequenceClassification

    device = "cuda" if torch.cuda.is_available() else "cpu"
    model: Any = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32, use_safetensors=True)
    model.to(device).eval()

    @torch.inference_mode()
    def run(given: _Inputs) -> Floats:
        tensors = {name: torch.from_numpy(values).to(device) for name, values in given.items()}
        found: Floats = model(**tensors).logits.cpu().double().numpy()
        return found

    return run


def _onnx_pass(graph: FilePath) -> _Pass:
    import onnxruntime

    session = onnxruntime.InferenceSession(str(graph), providers=["CPUExecutionProvider"])
    taken = [one.name for one in session.get_inputs()]

    def run(given: _Inputs) -> Floats:
        found: Floats = session.run(None, {name: given[name] for name in taken})[0].astype(np.float64)
        return found

    return run
