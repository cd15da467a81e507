"""Trainer of a recipe's driver, and the training folder that later runs reuse."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import attrs

from srtk_framework.evaluation.metrics import row
from srtk_framework.graph.path_instances import with_gold_triples
from srtk_framework.host.discovery import distributions_of
from srtk_framework.host.observers import Observer
from srtk_framework.host.versions import __version__, libraries
from srtk_framework.recipe.recipe import Recipe
from srtk_framework.records.lock import locked
from srtk_framework.records.publication import publication_error, publish, settle
from srtk_framework.records.retrieval_records import read_questions
from srtk_framework.records.splits import place
from srtk_framework.records.training_examples import read_training_examples, write_training_examples
from srtk_framework.roles import Expander, KnowledgeGraph, TrainingTask
from srtk_framework.training.folder import TrainingFolder
from srtk_framework.training.links import has_links_to_train_on, validate_links
from srtk_framework.training.model_card import card
from srtk_framework.training.setup import Setup, held_by
from srtk_framework.values import InputError, Question, Retrieval, RunError, TrainingExample, batched, redacted_data


@attrs.frozen
class Trained:
    """The result of a training.

    Attributes:
        folder: Folder of the training.
        model: Folder of the trained model.
        figures: Metrics of the best weights, from the validation and from the driver.
        counts: Numbers of training questions, of those without links, of those without a path, of training examples,
            and of validation questions.
        fingerprint: Hash of all inputs of the training.
        repeated: False if a finished training was reused.
        ids: Ids of the training and validation questions.
        texts: Texts of the training and validation questions.
        follows: True in a worker process of a training on several devices, whose work is then done.
        by_paths: False if it was trained on gold links.
    """

    folder: Path
    model: Path
    figures: Mapping[str, float] = attrs.field(hash=False)
    counts: Mapping[str, int] = attrs.field(hash=False)
    fingerprint: str
    repeated: bool
    ids: frozenset[str] = attrs.field(repr=False)
    texts: frozenset[str] = attrs.field(repr=False)
    follows: bool = False
    by_paths: bool = True

    def shares(self, question: Question) -> bool:
        """Return whether a question, by id or text, is in the training or validation data."""
        return question.id in self.ids or _words(question) in self.texts


class Retriever(Protocol):
    """The methods of a session that training calls, to link questions and to validate."""

    @property
    def graph(self) -> KnowledgeGraph | None:
        """The graph of the recipe."""

    @property
    def methods(self) -> Mapping[str, Expander]:
        """The expanders of the recipe by name, the main expander first."""

    def link(self, questions: Sequence[Question]) -> Sequence[Question | Retrieval]:
        """Link questions; the result of a question that cannot be linked is a failed retrieval."""

    def retrieve(self, questions: Sequence[Question], method: str | None, read: bool) -> Sequence[Retrieval]:
        """Retrieve subgraphs by a method, by default the main expander."""


class Trainer:
    """Trainer of the driver named by a recipe's ``train``.

    Args:
        setup: The driver, its supervision, questions and settings.
        recipe: The recipe, which sets the folder, the seed and the batch size.
        retriever: Linking and retrieval with open drivers.
        observers: Observers of the progress.
        fresh: Start an unfinished training in the folder over, and replace a finished one of another recipe; one of
            the same recipe is still reused.
    """

    def __init__(
        self,
        setup: Setup,
        recipe: Recipe,
        retriever: Retriever,
        observers: Sequence[Observer] = (),
        fresh: bool = False,
    ) -> None:
        self._setup = setup
        self._recipe = recipe
        self._retriever = retriever
        self._observers = observers
        self._fresh = fresh
        self._folder = recipe.training
        self._model = self._folder / "model"
        self._place = TrainingFolder(self._folder, self._model, "`folder:` under `train:`")
        self._supervision = self._setup.supervision
        self._follows = is_follower()

    def run(self) -> Trained:
        """Train, go on with an unfinished training, or reuse a finished one, of the same recipe, data and versions.

        Raises:
            RunError: If training and validation questions overlap, no question has a path or a gold link, another
                process trains in the folder, or the folder holds a training of another recipe.
            InputError: If questions cannot be read.
        """
        if self._follows:
            return self._run()
        with locked(self._folder / ".lock", self._folder, f"choose another {self._place.setting}"):
            return self._run()

    def _run(self) -> Trained:
        learning, validation = self._questions()
        counts = {"questions": len(learning), "validation": len(validation)}
        state = self._fingerprints(learning, validation)
        finished = self._place.finished(state)
        if finished is not None:
            self._load()
            return self._trained(finished["figures"], finished["counts"], state, learning, validation, repeated=False)
        goes_on = self._follows or self._place.begin(state, self._fresh, lambda earlier: _differences(earlier, state))
        examples, found = self._examples(learning, goes_on)
        counts.update(found)
        if self._supervision is None and not found["lessons"]:
            raise RunError(
                f"none of the {len(learning)} training questions has gold links; use a dataset with gold links"
            )
        if not found["lessons"]:
            raise RunError(
                f"none of the {len(learning)} training questions has a path between topic and answer"
                f" ({found['unlinked']} have no link in the graph); see {self._folder / 'training_examples.jsonl'}"
            )
        task = TrainingTask(
            [example for example in examples if self._is_trainable(example)],
            (lambda: self._validate(validation)) if validation else None,
            self._folder,
            self._recipe.options.seed,
        )
        self._notify("training", {"lessons": len(task.examples), "validation": len(validation)})
        driver = self._setup.driver.driver
        figures = {name: round(float(value), 6) for name, value in driver.fit(task, self._setup.settings).items()}
        if not self._follows:
            self._keep(figures, counts, state)
        return self._trained(figures, counts, state, learning, validation, repeated=True)

    def _questions(self) -> tuple[list[Question], list[Question]]:
        """Read the training and the validation questions, which must not overlap."""
        learning = list(_read(self._setup.questions))
        if not learning:
            raise InputError("there are no training questions; check `part` and `limit` under `train:`")
        given = self._setup.validation
        if given is None:
            return self._linked(learning), []
        if isinstance(given, float):
            seed = f"validation {self._recipe.options.seed}"
            # The split hashes texts, so that equal questions are in the same part.
            places = [place(f"{seed}\0{_words(question)}", 0) for question in learning]
            validation = [q for q, at in zip(learning, places, strict=True) if at < given]
            learning = [q for q, at in zip(learning, places, strict=True) if at >= given]
        else:
            validation = list(_read(given))
        if not validation or not learning:
            empty = "validation questions" if not validation else "training questions"
            raise InputError(f"there are no {empty}; change `validation:` or `questions:` under `train:`")
        ids, texts = {q.id for q in learning}, {_words(q) for q in learning}
        shared = [q for q in validation if q.id in ids or _words(q) in texts]
        if shared:
            raise RunError(
                f"{len(shared)} of {len(validation)} validation questions are also training questions, by id or text"
                f" (the first is {shared[0].id!r}); give other questions, or a share such as `validation: 0.1`"
            )
        return self._linked(learning), self._linked(validation)

    def _linked(self, questions: Sequence[Question]) -> list[Question]:
        """Link questions without links; questions that cannot be linked, or that train a linker, stay as they are."""
        if self._supervision is None:
            return list(questions)
        done: list[Question] = []
        for batch in batched(questions, self._recipe.options.batch):
            done += [item if isinstance(item, Question) else item.question for item in self._retriever.link(batch)]
        return done

    def _fingerprints(self, learning: Sequence[Question], validation: Sequence[Question]) -> dict[str, Any]:
        """Compute the fingerprints of the training examples and of the whole training."""
        options = self._recipe.options
        data = {"questions": _hash(learning), "validation": _hash(validation)}
        versions = {"srtk-framework": __version__}
        main = next(iter(self._retriever.methods.values()), None)
        # Drivers that only evaluate or export do not affect the weights.
        parts = held_by(self._setup.driver, self._supervision, main)
        versions |= {name: version(name) for name in distributions_of([(one.role, one.name) for one in parts])}
        supervised = self._supervision.fingerprint() if self._supervision else "gold links"
        examples = [data["questions"], supervised]
        whole = [
            *examples,
            data["validation"],
            self._setup.driver.fingerprint(),
            repr(self._setup.settings),
            str(options.seed),
            main.fingerprint() if main and validation else "",
            repr(sorted(versions.items())),
        ]
        return {
            "fingerprint": _digest(whole),
            "lessons": _digest(examples),
            "driver": {
                "role": self._setup.role,
                "name": self._setup.driver.name,
                "fingerprint": self._setup.driver.fingerprint(),
            },
            "supervision": supervised,
            "settings": attrs.asdict(self._setup.settings),
            "seed": options.seed,
            "data": data,
            "versions": versions,
        }

    def _examples(self, questions: Sequence[Question], goes_on: bool) -> tuple[list[TrainingExample], dict[str, int]]:
        """Find paths for the questions, or read the training examples of an interrupted training."""
        file = self._folder / "training_examples.jsonl"
        if goes_on and file.exists():
            examples = read_training_examples(file)
        else:
            examples = []
            self._notify("method", {"name": "supervision", "total": len(questions), "completed": 0, "failed": 0})
            for batch in batched(questions, self._recipe.options.batch):
                rows = self._supervision.supervise(batch) if self._supervision else [()] * len(batch)
                examples += [TrainingExample(q, tuple(paths)) for q, paths in zip(batch, rows, strict=True)]
                failed = sum(not self._is_trainable(one) for one in examples)
                self._notify("batch", {"completed": len(examples), "failed": failed})
            write_training_examples(file, examples)
        return examples, {
            "unlinked": sum(not example.question.links for example in examples),
            "pathless": sum(not example.paths for example in examples) if self._supervision else 0,
            "lessons": sum(self._is_trainable(example) for example in examples),
        }

    def _is_trainable(self, example: TrainingExample) -> bool:
        """Return whether an example has anything to train on: paths or gold triples, or links for a linker."""
        if self._supervision is None:
            return has_links_to_train_on(example.question)
        return bool(example.paths or example.question.gold_triples)

    def _validate(self, questions: Sequence[Question]) -> dict[str, float]:
        """Return the mean metrics of retrievals for the validation questions, or a linker's linking metrics."""
        if self._supervision is None:
            size = self._recipe.options.batch
            return validate_links(self._setup.driver, self._retriever.graph, questions, size)
        values: dict[str, list[float]] = {}
        for batch in batched(questions, self._recipe.options.batch):
            done = self._retriever.retrieve(batch, None, False)
            gold = [retrieval.question for retrieval in done]
            if self._retriever.graph is not None:
                gold = with_gold_triples(self._retriever.graph, gold)
            for retrieval, question in zip(done, gold, strict=True):
                for name, value in row(attrs.evolve(retrieval, question=question)).metrics.items():
                    if value is not None:
                        values.setdefault(name, []).append(value)
        return {name: sum(some) / len(some) for name, some in values.items()}

    def _keep(self, figures: Mapping[str, float], counts: Mapping[str, int], state: Mapping[str, Any]) -> None:
        """Save the model, put it in the place of an earlier one in one step, and load it."""
        part = self._folder / "model.part"
        settle(self._model)
        shutil.rmtree(part, ignore_errors=True)
        self._setup.driver.driver.save(part)
        record = {**state, "figures": dict(figures), "counts": dict(counts), "libraries": libraries()}
        (part / "README.md").write_text(card(self._recipe.file, self._recipe.written, record), encoding="utf-8")
        try:
            publish(part, self._model)
        except OSError as error:
            raise publication_error(error, self._model) from error
        self._place.end(record)
        self._load()

    def _load(self) -> None:
        self._setup.driver.driver.load(self._model)

    def _trained(
        self,
        figures: Mapping[str, float],
        counts: Mapping[str, int],
        state: Mapping[str, Any],
        learning: Sequence[Question],
        validation: Sequence[Question],
        repeated: bool,
    ) -> Trained:
        every = [*learning, *validation]
        ids, texts = frozenset(q.id for q in every), frozenset(_words(q) for q in every)
        return Trained(
            self._folder,
            self._model,
            figures,
            counts,
            state["fingerprint"],
            repeated,
            ids,
            texts,
            self._follows,
            self._supervision is not None,
        )

    def _notify(self, name: str, data: Mapping[str, Any]) -> None:
        for observer in self._observers:
            observer.event(name, data)


def is_follower() -> bool:
    """Return whether this is a worker process of a training on several devices.

    Lightning starts another process with the same command for each further device.
    """
    return int(os.environ.get("LOCAL_RANK", "0")) > 0


def _differences(earlier: Mapping[str, Any], state: Mapping[str, Any]) -> str:
    """Name what differs between two trainings."""
    now = json.loads(json.dumps(redacted_data(state), default=str))

    def changed(key: str) -> list[str]:
        one, other = (table.get(key) for table in (earlier, now))
        one, other = (table if isinstance(table, Mapping) else {} for table in (one, other))
        return [name for name in sorted({*one, *other}) if one.get(name) != other.get(name)]

    found = [f"`fit: {name}`" for name in changed("settings")]
    found += [f"the settings or data of the {state['driver']['role']}"] if changed("driver") else []
    found += ["the supervision or its graph"] if earlier.get("supervision") != now["supervision"] else []
    found += [f"the {'training' if name == 'questions' else name} questions" for name in changed("data")]
    found += [f"the version of {name}" for name in changed("versions")]
    found += ["the seed"] if earlier.get("seed") != now["seed"] else []
    return ", ".join(found) or "the expander that validates it"


def _read(source: Any) -> Iterable[Question]:
    questions: Iterable[Question] = read_questions(source) if isinstance(source, str) else source.read()
    return questions


def _words(question: Question) -> str:
    return " ".join(question.text.split())


def _hash(questions: Sequence[Question]) -> str:
    digest = hashlib.sha256()
    for question in questions:
        digest.update(repr(question).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
