"""The reader ``options``: chooses among the options of a question by the entries of an index on each (SEPTA)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, ClassVar

import attrs
import numpy as np

from srtk_framework.roles import Encoder, Index, Reader, TrainingTask, absent, not_open
from srtk_framework.values import Answer, DriverError, Question, RunError, Subgraph, at_least, batched, rounded
from srtk_plugin_septa.fit_settings import OptionsFitSettings
from srtk_plugin_septa.model import TEXT, tensors
from srtk_plugin_septa.model_files import PROBE, check_encoder, digest_of, load_model, network_of, save_model
from srtk_plugin_septa.option_vectors import (
    OptionVectors,
    encoded,
    option_vectors,
    plain_texts,
    searched_texts,
    unit,
)
from srtk_plugin_septa.shape import Vectors

SETTINGS = "options.json"
NETWORK = "network."  # Begins the names of the weights of the network in the file of a model.
_AT_ONCE = 256  # Questions whose vectors are made together, so that memory does not grow with their number


@attrs.frozen(eq=False)
class OptionModel:
    """Weights of the network of options.

    Attributes:
        shape: ``width``, ``plain`` and ``heads`` of the network, and ``knowledge``.
        weights: Weights by name.
        probes: Vectors of a probe by the encoder of the index and by the encoder ``direct``.
        text: Weights of a text encoder that learnt too; none where the encoders are those given.
    """

    shape: Mapping[str, Any]
    weights: Mapping[str, Vectors]
    probes: tuple[Vectors, Vectors]
    text: Mapping[str, Vectors] = attrs.field(factory=dict)

    def network(self) -> Any:
        """Build the network with these weights, for use."""
        from srtk_plugin_septa.option_network import OptionNetwork

        return network_of(lambda: OptionNetwork(**self.shape), self.weights, SETTINGS)

    def fingerprint(self) -> str:
        """Return a hash of the weights."""
        return digest_of(sorted(self.shape.items()), self.named())

    def named(self) -> dict[str, Vectors]:
        """Return all weights, as a training and the file of the model name them."""
        parts = ((NETWORK, self.weights), (TEXT, self.text))
        return {f"{begin}{name}": value for begin, part in parts for name, value in part.items()}

    def having(self, named: Mapping[str, Vectors]) -> OptionModel:
        """Return the model with other weights, by the names of ``named``."""
        weights, text = (
            {name.removeprefix(begin): value for name, value in named.items() if name.startswith(begin)}
            for begin in (NETWORK, TEXT)
        )
        return attrs.evolve(self, weights=weights, text=text)


@attrs.define(eq=False)
class OptionsReader(Reader):
    """Score each option by attention over the entries found for it, and by question and option alone.

    It reads the entries of ``Subgraph.searches``, so the expander ``index`` retrieves for this reader. Without a
    trained model similarities decide: of the entries with question and option, and of question and option. The
    support of an answer is the triples of the entry that fits the option best.

    Attributes:
        index: The index that the expander searches, with the vectors of its entries.
        encoder: Encodes searches into the space of the index, such as `septa-text`.
        direct: Encodes question and option without knowledge; null for ``encoder``.
        path: Folder of a trained model; null for the similarities alone.
        k: Most entries of an option, the best first.
    """

    learns: ClassVar[str] = "answers"
    reuse: ClassVar[str] = "reader: {use: options, path: FOLDER}"

    index: Index
    encoder: Encoder
    direct: Encoder | None = None
    path: str | None = None
    k: int = attrs.field(default=5, validator=at_least(1))
    _model: OptionModel | None = attrs.field(init=False, default=None, repr=False)
    _network: Any = attrs.field(init=False, default=None, repr=False)
    _trained: bool = attrs.field(init=False, default=False, repr=False)
    _tuned: Encoder | None = attrs.field(init=False, default=None, repr=False)
    _kept: dict[Any, OptionVectors] | None = attrs.field(init=False, default=None, repr=False)

    def preflight(self) -> list[tuple[str, str]]:
        """Check that the folder of the model exists."""
        return absent("path", self.path, "train a model, or correct the path")

    def open(self) -> None:
        """Read the model."""
        if self.path is None:
            self._use(self._untrained(OptionsFitSettings(), 0), trained=False)
        else:
            self.load(FilePath(self.path).expanduser())

    def close(self) -> None:
        """Drop the model."""
        if self._tuned is not None:
            self._tuned.close()
        self._model = self._network = self._tuned = None

    def fingerprint(self) -> str:
        """Identify the index, the encoders and the weights."""
        parts = (self.index, self.encoder, self._direct())
        weights = self._model.fingerprint() if self._model and self._trained else "untrained"
        return f"options({', '.join(part.fingerprint() for part in parts)}, k={self.k}, {weights})"

    def read(self, questions: Sequence[Question], subgraphs: Sequence[Subgraph]) -> list[Answer]:
        """Choose the option with the best score for each question; of equal options the first.

        Raises:
            DriverError: If a question has no options, or the index lacks an entry that was found.
        """
        if self._model is None:
            raise not_open(self)
        found = []
        for question, subgraph, one in zip(questions, subgraphs, self._vectors(questions, subgraphs), strict=True):
            # One by one: a product of matrices rounds a row otherwise where it stands among others.
            scores = [rounded(score) for score in self._scores([one])[0]]
            best = max(range(len(scores)), key=lambda place: scores[place])
            knowledge = rounded(float(self._network.knowledge))
            trace = {"scores": scores, "knowledge": knowledge}
            found.append(Answer(question.options[best], support=self._support(subgraph, best), trace=trace))
        return found

    def fit(self, task: TrainingTask, training: OptionsFitSettings) -> Mapping[str, float]:
        """Learn the network, and a copy of the encoder if it is to, by the cross-entropy over the options.

        The best epoch is kept, and the untrained network where none is better: by the accuracy on the questions that
        the task validates with, or by the loss of those that are held out here. An interrupted training in the folder
        is resumed after its last epoch, and gives the same weights.

        Raises:
            RunError: If no question has its answer among its options.
            DriverError: If the loss is not finite, or the encoder is to learn and cannot.
        """
        import torch

        from srtk_plugin_septa.fine_tuning import learner_of
        from srtk_plugin_septa.option_checkpoint import keep, resumed
        from srtk_plugin_septa.option_network import OptionLearner

        pairs = [(e.question, e.subgraph or Subgraph(), _gold(e.question)) for e in task.examples]
        known = [(question, subgraph, gold) for question, subgraph, gold in pairs if gold is not None]
        if not known:
            raise RunError(f"none of {len(pairs)} training questions has its answer among its options")
        text = None if training.frozen else learner_of(self.encoder)
        device = _device(training.accelerator) if text is not None else "cpu"
        self._kept, self._tuned = {}, None
        try:
            vectors = self._vectors([row[0] for row in known], [row[1] for row in known])
            if text is not None:
                vectors = [_tokenized(one, q, s, text) for one, (q, s, _) in zip(vectors, known, strict=True)]
            rows = [(one, gold) for one, (_, _, gold) in zip(vectors, known, strict=True)]
            order = np.random.default_rng(task.seed).permutation(len(rows)).tolist()
            held = 0 if task.validate is not None else int(training.validation * len(rows))
            checking, learning = [rows[i] for i in order[:held]], [rows[i] for i in order[held:]]
            model = self._untrained(training, task.seed)
            network = model.network().train().requires_grad_(True).to(device)
            learner = OptionLearner(network, text if text is None else text.to(device))
            start = network.attending()
            few = {id(one) for one in network.few()}
            layers = [one for one in network.parameters() if id(one) not in few]
            groups = [{"params": layers}, {"params": network.few(), "lr": training.similarity_rate}]
            if text is not None:
                groups.append({"params": list(text.parameters()), "lr": training.encoder_rate})
            optimizer = torch.optim.Adam(groups, lr=training.learning_rate)
            progress = resumed(task.folder, learner, optimizer)

            def check(epochs: int, **figures: float) -> None:
                """Validate the network, and keep it if it is the best so far."""
                weights = tensors(learner)
                now = float(epochs)
                if task.validate is not None:
                    self._use(model.having(weights), trained=True)
                    figures |= task.validate()
                    now = figures.get("answer_exact", now)
                elif checking:
                    with torch.no_grad():
                        losses = [_loss(learner, some) * len(some) for some in batched(checking, _AT_ONCE)]
                        figures["held_out_loss"] = float(sum(losses)) / len(checking)
                    now = -figures["held_out_loss"]
                progress.epochs, progress.waited = epochs, progress.waited + 1
                if now > progress.best:
                    progress.best, progress.waited, progress.weights = now, 0, weights
                    progress.figures = {"epochs": float(epochs), **figures}
                keep(task.folder, learner, optimizer, progress)

            if not progress.weights:
                check(0)
            for epoch in range(progress.epochs, training.epochs):
                if training.patience is not None and progress.waited >= training.patience:
                    break
                order = np.random.default_rng((task.seed, epoch)).permutation(len(learning)).tolist()
                losses = []
                for some in batched(order, training.batch_size):
                    loss = _loss(learner, [learning[i] for i in some])
                    optimizer.zero_grad()
                    know, direct = network.learnt(start)
                    (loss + training.knowledge_pull * know + training.direct_pull * direct).backward()
                    optimizer.step()
                    losses.append(float(loss.detach()))
                mean = sum(losses) / len(losses)
                if not math.isfinite(mean):
                    raise DriverError(f"the loss is {mean} in epoch {epoch + 1}; lower learning_rate")
                check(epoch + 1, loss=mean)
            self._use(model.having(progress.weights), trained=True)
            return {**progress.figures, "questions": float(len(learning)), "knowledge": float(self._network.knowledge)}
        finally:
            self._kept = None

    def save(self, folder: FilePath) -> None:
        """Write the weights."""
        model = self._model
        if model is None:
            raise not_open(self)
        probes = {"searches": model.probes[0], "plain": model.probes[1]}
        save_model(folder / SETTINGS, dict(model.shape), {**model.named(), **probes})

    def load(self, folder: FilePath) -> None:
        """Read a model that ``save`` wrote."""
        shape, found = load_model(folder / SETTINGS)
        try:
            probes = (found.pop("searches"), found.pop("plain"))
        except KeyError as error:
            raise DriverError(f"{folder} holds another kind of model ({error}); train the reader again") from error
        for probe, encoder in zip(probes, (self.encoder, self._direct()), strict=True):
            check_encoder(encoder, probe, f"reader in {folder}")
        self._use(OptionModel(shape, {}, probes).having(found), trained=True)

    def _use(self, model: OptionModel, trained: bool) -> None:
        self._model, self._network, self._trained = model, model.network(), trained
        if model.text:
            from srtk_plugin_septa.fine_tuning import encoder_with, loaded

            module = loaded(self.encoder, model.text, SETTINGS)
            self._tuned = encoder_with(self.encoder, module, self._tuned)
        else:
            self._tuned = None

    def _direct(self) -> Encoder:
        return self.encoder if self.direct is None else self.direct

    def _untrained(self, training: OptionsFitSettings, seed: int) -> OptionModel:
        """Make the weights with which a training begins."""
        import torch

        from srtk_plugin_septa.option_network import OptionNetwork

        probes = tuple(unit(encoder.encode([PROBE]))[0] for encoder in (self.encoder, self._direct()))
        width = len(probes[0])
        plain = len(probes[1]) if training.frozen else width
        if width % training.heads:
            raise DriverError(f"the vectors have {width} numbers, which {training.heads} heads do not divide")
        shape: dict[str, Any] = {"width": width, "plain": plain, **attrs.asdict(training, filter=_of_network)}
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            network = OptionNetwork(**shape)
        return OptionModel(shape, tensors(network), (probes[0], probes[1]))

    def _vectors(self, questions: Sequence[Question], subgraphs: Sequence[Subgraph]) -> list[OptionVectors]:
        """Encode questions; during a training each of them once, but by an encoder that learns."""

        def made(places: Sequence[int]) -> list[OptionVectors]:
            asked, found = [questions[i] for i in places], [subgraphs[i] for i in places]
            return option_vectors(asked, found, self.index, self.encoder, self._direct(), self.k)

        if self._kept is None:
            return self._retold(made(range(len(questions))), questions, subgraphs)
        keys = [(q.text, q.options, s.searches) for q, s in zip(questions, subgraphs, strict=True)]
        new = [i for i, key in enumerate(keys) if key not in self._kept]
        for some in batched(new, _AT_ONCE):
            self._kept.update(zip([keys[i] for i in some], made(some), strict=True))
        return self._retold([self._kept[key] for key in keys], questions, subgraphs)

    def _retold(
        self, vectors: list[OptionVectors], questions: Sequence[Question], subgraphs: Sequence[Subgraph]
    ) -> list[OptionVectors]:
        """Replace the vectors of searches and options by those of the encoder that learnt, if there is any."""
        if self._tuned is None:
            return vectors
        every = [(searched_texts(q, s), plain_texts(q)) for q, s in zip(questions, subgraphs, strict=True)]
        rows = encoded(self._tuned, [text for both in every for texts in both for text in texts])
        return [
            attrs.evolve(one, searches=np.stack([rows[t] for t in searches]), plain=np.stack([rows[t] for t in plain]))
            for one, (searches, plain) in zip(vectors, every, strict=True)
        ]

    def _scores(self, vectors: Sequence[OptionVectors]) -> list[list[float]]:
        import torch

        from srtk_plugin_septa.option_network import OptionBatch

        with torch.no_grad():
            rows = self._network(OptionBatch.of(vectors)).tolist()
        return [row[: len(one.found)] for row, one in zip(rows, vectors, strict=True)]

    def _support(self, subgraph: Subgraph, option: int) -> tuple[int, ...]:
        """Return the places of the triples of the best entry of an option."""
        hits = subgraph.searches[option].hits if subgraph.searches else ()
        (entry,) = self.index.entries([hits[0][0]]) if hits else (None,)
        own = set(entry.triples) if entry is not None else set()
        return tuple(place for place, triple in enumerate(subgraph.triples) if triple in own)


def _loss(learner: Any, rows: Sequence[tuple[OptionVectors, int]]) -> Any:
    """Return the cross-entropy over the options of some questions, given the places of the right options."""
    import torch

    scores = learner([one for one, _ in rows])
    return torch.nn.functional.cross_entropy(scores, torch.tensor([gold for _, gold in rows], device=scores.device))


def _tokenized(one: OptionVectors, question: Question, subgraph: Subgraph, text: Any) -> OptionVectors:
    tokens = text.tokenize(searched_texts(question, subgraph)), text.tokenize(plain_texts(question))
    return attrs.evolve(one, tokens=tokens)


def _device(accelerator: str) -> str:
    """Return the device that an encoder learns on.

    Raises:
        DriverError: If it is to be a GPU, and there is none.
    """
    import torch

    there = torch.cuda.is_available()
    if accelerator == "gpu" and not there:
        raise DriverError("there is no GPU here; set accelerator: auto, or cpu")
    return "cuda" if there and accelerator != "cpu" else "cpu"


def _of_network(field: Any, value: Any) -> bool:
    """Return whether a setting of the training shapes the network."""
    return field.name in ("heads", "knowledge")


def _gold(question: Question) -> int | None:
    """Return the place of the right option; None where it is not known, or not among the options."""
    right = [place for place, option in enumerate(question.options) if option in (question.answers or ())]
    return right[0] if right else None
