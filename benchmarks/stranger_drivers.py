"""Path scorers as somebody writes them who knows the role alone, for ``stranger_scorers.py``.

None suggests settings of a search for its scores: `dense`'s numbers, words in common, and a cross-encoder.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path as FilePath
from typing import Any

import attrs
from srtk_plugin_sr.dense import DenseScorer

from srtk_framework.roles import Encoder, KnowledgeGraph, PathScorer
from srtk_framework.values import END, Path, Step

NEGATIVES, EPOCHS, RATE, ROWS = 15, 6, 5e-4, 8
"""Training of the cross-encoder: wrong candidates of a row, passes, learning rate, rows of a batch."""


@attrs.define(eq=False)
class Renumbered(PathScorer):
    """The numbers of ``dense``, times a factor and shifted.

    Attributes:
        encoder: That of ``dense``.
        graph: That of ``dense``.
        factor: Multiplies each score.
        shift: Is added to each score, END's too.
        rule: Rule of ``dense``; null for its default.
    """

    encoder: Encoder
    graph: KnowledgeGraph
    factor: float = 1.0
    shift: float = 0.0
    rule: str | None = None
    _dense: DenseScorer | None = attrs.field(init=False, default=None, repr=False)

    def open(self) -> None:
        """Open ``dense``."""
        self._dense = DenseScorer(self.encoder, self.graph, rule=self.rule)  # type: ignore[arg-type]
        self._dense.open()

    def close(self) -> None:
        """Close ``dense``."""
        if self._dense is not None:
            self._dense.close()

    def score(
        self, questions: Sequence[str], paths: Sequence[Path], candidates: Sequence[Sequence[Step]]
    ) -> list[list[float]]:
        """Return the scores of ``dense`` as other numbers."""
        assert self._dense is not None
        rows = self._dense.score(questions, paths, candidates)
        return [[self.factor * score + self.shift for score in row] for row in rows]


@attrs.define(eq=False)
class WordOverlap(PathScorer):
    """Number of words, by their first five letters, that the question and the label of a step have in common.

    Attributes:
        graph: Graph that has the labels.
    """

    graph: KnowledgeGraph

    def score(
        self, questions: Sequence[str], paths: Sequence[Path], candidates: Sequence[Sequence[Step]]
    ) -> list[list[float]]:
        """Count the words in common; END has none."""
        relations = sorted({step.relation for row in candidates for step in row if step != END})
        words = {
            relation: stems(label) for relation, label in zip(relations, self.graph.labels(relations), strict=True)
        }
        return [
            [0.0 if step == END else float(len(stems(question) & words[step.relation])) for step in row]
            for question, row in zip(questions, candidates, strict=True)
        ]


def stems(text: str) -> set[str]:
    """Return the beginnings of the words of a text."""
    return {word[:5] for word in re.findall(r"\w+", text.lower().replace("_", " "))}


@attrs.define(eq=False)
class CrossEncoder(PathScorer):
    """Logit of a small BERT that reads the question and the path with the candidate together.

    Attributes:
        graph: Graph that has the labels.
        model: Folder of the trained model.
    """

    graph: KnowledgeGraph
    model: str
    _tokenizer: Any = attrs.field(init=False, default=None, repr=False)
    _network: Any = attrs.field(init=False, default=None, repr=False)
    _known: dict[tuple[str, str], float] = attrs.field(init=False, factory=dict, repr=False)

    def open(self) -> None:
        """Load the model."""
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        self._tokenizer = AutoTokenizer.from_pretrained(self.model)
        self._network = AutoModelForSequenceClassification.from_pretrained(self.model).eval()

    def score(
        self, questions: Sequence[str], paths: Sequence[Path], candidates: Sequence[Sequence[Step]]
    ) -> list[list[float]]:
        """Return one logit for each candidate."""
        texts = path_texts(self.graph, paths, candidates)
        pairs = [[(question, text) for text in row] for question, row in zip(questions, texts, strict=True)]
        new = [pair for pair in dict.fromkeys(pair for row in pairs for pair in row) if pair not in self._known]
        self._known.update(zip(new, logits(self._network, self._tokenizer, new), strict=True))
        return [[self._known[pair] for pair in row] for row in pairs]


def path_texts(graph: KnowledgeGraph, paths: Sequence[Path], candidates: Sequence[Sequence[Step]]) -> list[list[str]]:
    """Write each path with each of its candidates; END is the path as it is, with a full stop."""
    steps = {step for row in (*paths, *candidates) for step in row if step != END}
    relations = sorted({step.relation for step in steps})
    labels = dict(zip(relations, graph.labels(relations), strict=True))

    def words(step: Step) -> str:
        label = labels[step.relation].replace("_", " ")
        return "." if step == END else f"{label} of" if step.inverse else label

    labels[END.relation] = ""
    return [[", ".join(map(words, (*path, step))) for step in row] for path, row in zip(paths, candidates, strict=True)]


def logits(network: Any, tokenizer: Any, pairs: Sequence[tuple[str, str]], size: int = 256) -> list[float]:
    """Return the logit of each pair; pairs of like length are read together."""
    import torch

    order = sorted(range(len(pairs)), key=lambda i: sum(map(len, pairs[i])))
    found = [0.0] * len(pairs)
    with torch.inference_mode():
        for begin in range(0, len(order), size):
            some = order[begin : begin + size]
            read = tokenizer(*zip(*(pairs[i] for i in some), strict=True), padding=True, return_tensors="pt")
            for i, value in zip(some, network(**read).logits[:, 0].tolist(), strict=True):
                found[i] = round(value, 4)
    return found


def lessons(graph: KnowledgeGraph, file: FilePath, seed: int) -> Iterator[tuple[str, list[str]]]:
    """Yield the decisions along the gold paths of questions: the question, and candidates of which the first is right.

    Args:
        graph: Graph of the questions.
        file: Questions in JSON Lines, with topics and gold paths.
        seed: Of the draw of wrong candidates.
    """
    draw = random.Random(seed)
    for line in file.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        topic = record["gold_entities"][0]
        text = record["question"].replace(graph.labels([topic])[0] or topic, "")
        steps: Path = tuple(map(Step.parse, record["gold_paths"][0]))
        [frontier] = graph.frontiers([[topic]])
        for place in range(len(steps) + 1):
            [offered] = graph.steps([frontier], True)
            right = steps[place] if place < len(steps) else END
            wrong = [step for step in (*offered, *([END] if place else [])) if step != right]
            drawn = draw.sample(wrong, min(NEGATIVES, len(wrong)))
            if drawn:
                yield text, path_texts(graph, [steps[:place]], [[right, *drawn]])[0]
            if place < len(steps):
                [frontier] = graph.follow([frontier], [right], None)


def train_cross_encoder(graph: KnowledgeGraph, questions: FilePath, base: str, folder: FilePath, seed: int = 0) -> None:
    """Train the first two layers of a BERT to tell the right candidate of a row from the others.

    Args:
        graph: Graph of the questions.
        questions: Training questions.
        base: Folder or name of the BERT.
        folder: Where the model is written.
        seed: Of everything that is drawn.
    """
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    torch.manual_seed(seed)
    tokenizer = AutoTokenizer.from_pretrained(base)
    network = AutoModelForSequenceClassification.from_pretrained(base, num_hidden_layers=2, num_labels=1)
    rows = list(lessons(graph, questions, seed))
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE / 5)
    draw = random.Random(seed)
    for _ in range(EPOCHS):
        draw.shuffle(rows)
        for begin in range(0, len(rows), ROWS):
            some = rows[begin : begin + ROWS]
            pairs = [(question, text) for question, texts in some for text in texts]
            read = tokenizer(*zip(*pairs, strict=True), padding=True, return_tensors="pt")
            values = network(**read).logits[:, 0].split([len(texts) for _, texts in some])
            loss = torch.stack([-torch.log_softmax(row, dim=0)[0] for row in values]).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
