"""Trainer of a recipe's driver, and the training folder that later runs reuse."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import attrs

from srtk_framework.host import Observer, __version__, distributions_of, libraries, notify
from srtk_framework.recipe import Recipe
from srtk_framework.records import locked, publication_error, publish, settle
from srtk_framework.roles import TrainingTask
from srtk_framework.run import Session, is_follower
from srtk_framework.values import Question, redacted_data
from srtk_plugin_training.folder import Differences, TrainingFolder
from srtk_plugin_training.material import Context, TrainingData, held_by
from srtk_plugin_training.model_card import card
from srtk_plugin_training.question_sets import words
from srtk_plugin_training.setup import Setup


@attrs.frozen
class Trained:
    """The result of a training.

    Attributes:
        folder: Folder of the training.
        model: Folder of the trained model.
        figures: Metrics of the best weights, from the validation and from the driver.
        counts: Numbers of the training data: questions, questions without links, or without a path, training
            examples and validation questions, or facts of the graph and facts held out.
        fingerprint: Hash of all inputs of the training.
        repeated: False if a finished training was reused.
        ids: Ids of the training and validation questions about the recipe's graph.
        texts: Texts of the training and validation questions.
        follows: True in a worker process of a training on several devices, whose work is then done.
        summary: Training data in words.
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
    summary: str = ""

    def shares(self, question: Question) -> bool:
        """Return whether a question, by id or text, is in the training or validation data."""
        return question.id in self.ids or words(question) in self.texts


class Trainer:
    """Trainer of the driver named by a recipe's ``train``.

    Args:
        setup: The driver, its material, and its settings.
        recipe: The recipe, which sets the seed and the batch size.
        folder: Folder of the training.
        session: The open session, which links and retrieves.
        observers: Observers of the progress.
        fresh: Start an unfinished training in the folder over, and replace a finished one of another recipe; one of
            the same recipe is still reused.
    """

    def __init__(
        self,
        setup: Setup,
        recipe: Recipe,
        folder: Path,
        session: Session,
        observers: Sequence[Observer] = (),
        fresh: bool = False,
    ) -> None:
        self._setup = setup
        self._recipe = recipe
        self._session = session
        self._observers = observers
        self._fresh = fresh
        self._folder = folder
        self._model = self._folder / "model"
        self._place = TrainingFolder(self._folder, self._model, "`folder:` under `train:`")
        self._material = setup.material
        options = recipe.options
        self._context = Context(setup.driver, session, self._folder, options.seed, options.batch, self._notify)
        self._follows = is_follower()

    def run(self) -> Trained:
        """Train, or go on with or reuse a training of the same recipe, data and versions.

        Raises:
            RunError: If training and validation questions overlap, there is nothing to train on, another process
                trains in the folder, or the folder holds a training of another recipe.
            InputError: If questions cannot be read.
        """
        if self._follows:
            return self._run()
        with locked(self._folder / ".lock", self._folder, f"choose another {self._place.setting}"):
            return self._run()

    def _run(self) -> Trained:
        data = self._material.read(self._context)
        counts = dict(data.counts)
        state = self._fingerprints(data)
        finished = self._place.finished(state)
        if finished is not None:
            self._load()
            return self._trained(finished["figures"], finished["counts"], state, data, repeated=False)
        goes_on = self._follows or self._place.begin(state, self._fresh, self._differences_from(state))
        examples = self._material.examples(data, self._context, goes_on)
        counts.update(examples.counts)
        task = TrainingTask(
            examples.own,
            self._material.validation(data, self._context),
            self._folder,
            self._recipe.options.seed,
            data.held_out,
            data.texts,
            data.held_out_texts,
            examples.elsewhere,
            None if self._follows else examples.validate_topics,
            None if self._follows else self._session.executor,
        )
        lessons = sum(len(some) for some in (examples.own, *(one.examples for one in examples.elsewhere)))
        self._notify("training", {"lessons": lessons, "validation": len(data.validation)})
        driver = self._setup.driver.driver
        figures = {name: round(float(value), 6) for name, value in driver.fit(task, self._setup.settings).items()}
        if not self._follows:
            self._keep(figures, counts, state)
        return self._trained(figures, counts, state, data, repeated=True)

    def _differences_from(self, state: Mapping[str, Any]) -> Differences:
        return lambda earlier: _differences(earlier, state, self._material.names)

    def _fingerprints(self, read: TrainingData) -> dict[str, Any]:
        """Compute the fingerprints of the training examples and of the whole training."""
        options = self._recipe.options
        data = dict(read.hashes)
        versions = {"srtk-framework": __version__}
        main = next(iter(self._session.methods.values()), None)
        # Drivers that only evaluate or export do not affect the weights.
        parts = held_by(self._setup.driver, *self._material.supervisions, main)
        versions |= {name: version(name) for name in distributions_of([(one.role, one.name) for one in parts])}
        supervised = self._material.described
        first, *others = data.values()
        examples = [first, supervised]
        whole = [
            *examples,
            *others,
            self._setup.driver.fingerprint(),
            repr(self._setup.settings),
            str(options.seed),
            main.fingerprint() if main and read.validation else "",
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

    def _keep(self, figures: Mapping[str, float], counts: Mapping[str, int], state: Mapping[str, Any]) -> None:
        """Save the model, replace an earlier model in one step, and load it."""
        part = self._folder / "model.part"
        settle(self._model)
        shutil.rmtree(part, ignore_errors=True)
        self._setup.driver.driver.save(part)
        record = {**state, "figures": dict(figures), "counts": dict(counts), "libraries": libraries()}
        text = card(self._recipe.file, self._recipe.written, record, self._material, self._setup.driver.driver.reuse)
        (part / "README.md").write_text(text, encoding="utf-8")
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
        data: TrainingData,
        repeated: bool,
    ) -> Trained:
        every = [*data.learning, *data.validation]
        ids = frozenset(q.id for q in every)
        # Sets of other graphs number their questions as they like, so that only their texts tell.
        texts = frozenset(words(q) for q in [*every, *(q for some in data.elsewhere for q in some)])
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
            self._material.summary.format(**counts),
        )

    def _notify(self, name: str, data: Mapping[str, Any]) -> None:
        notify(self._observers, name, data)


def _differences(earlier: Mapping[str, Any], state: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """Name the differences between two trainings; ``names`` has the parts of the data in words."""
    now = json.loads(json.dumps(redacted_data(state), default=str))

    def changed(key: str) -> list[str]:
        one, other = (table.get(key) for table in (earlier, now))
        one, other = (table if isinstance(table, Mapping) else {} for table in (one, other))
        return [name for name in sorted({*one, *other}) if one.get(name) != other.get(name)]

    found = [f"`fit: {name}`" for name in changed("settings")]
    found += [f"the settings or data of the {state['driver']['role']}"] if changed("driver") else []
    found += ["the supervision or its graph"] if earlier.get("supervision") != now["supervision"] else []
    found += [names.get(name, name) for name in changed("data")]
    found += [f"the version of {name}" for name in changed("versions")]
    found += ["the seed"] if earlier.get("seed") != now["seed"] else []
    return ", ".join(found) or "the expander that validates it"


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
