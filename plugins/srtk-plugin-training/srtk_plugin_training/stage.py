"""The stage ``train``: a driver of the recipe learns before the questions are answered."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import attrs

from srtk_framework.cli import note
from srtk_framework.recipe import Block, Blocks, Composer, Stage, Where, hookimpl
from srtk_framework.roles import Expander
from srtk_framework.run import Run, Session
from srtk_framework.values import console
from srtk_plugin_training.setup import Setup, setup
from srtk_plugin_training.train_key import Train, read_train
from srtk_plugin_training.trainer import Trained, Trainer


@attrs.define
class Training(Stage):
    """Has a driver of the recipe learn before the questions are answered.

    Attributes:
        asked: Value of the key.
        setup: The driver, its material, and its settings; None before they are composed.
    """

    asked: Train
    setup: Setup | None = attrs.field(default=None, init=False, repr=False)

    @classmethod
    def read(cls, value: Any, blocks: Blocks) -> Self | None:
        """Read the value of ``train``."""
        asked = read_train(value, blocks)
        return None if asked is None else cls(asked)

    @classmethod
    def schema(cls, writer: Any) -> dict[str, Any]:
        """Describe the values of ``train``; settings of the training depend on the driver."""
        from srtk_plugin_training.schema import train_schema

        return train_schema(writer)

    def uses(self) -> Sequence[Block]:
        """Name the datasets, the supervision and the corpus."""
        named = (self.asked.questions, self.asked.validation, self.asked.supervision, self.asked.texts)
        return [one for one in named if isinstance(one, Block)]

    def question_files(self) -> Sequence[tuple[Where, str]]:
        """Name the files of training and validation questions."""
        asked = self.asked
        named: list[tuple[Where, Any]] = [
            (("train", "questions"), asked.questions),
            (("train", "validation"), asked.validation),
        ]
        named += [((*one.where, "questions"), one.questions) for one in asked.sets]
        return [(where, file) for where, file in named if isinstance(file, str)]

    def folder(self, output: Path) -> Path:
        """Return the folder of the training, where ``output`` is the folder of the run."""
        return Path(self.asked.folder) if self.asked.folder else output / "training"

    def places(self, output: Path) -> Sequence[Path]:
        """Name the folder of the training."""
        return [self.folder(output)]

    def learnt(self, output: Path) -> tuple[Any, Path] | None:
        """Name the trained driver and its model."""
        return None if self.setup is None else (self.setup.driver, self.folder(output) / "model")

    def compose(self, composer: Composer, main: Expander | None) -> None:
        """Build the parts of the training."""
        self.setup = setup(composer, composer.recipe, self.asked, main)

    def steps(self) -> Sequence[str]:
        """Name the trained role."""
        return [f"train the {self.asked.driver.replace('_', ' ')}"]

    def fingerprint(self) -> str:
        """Return nothing: the driver's own fingerprint has the model."""
        return ""

    @hookimpl
    def train(self, session: Session, fresh: bool) -> tuple[str, Trained]:
        """Train, go on with a stopped training, or take over a finished training."""
        assert self.setup is not None
        folder = self.folder(session.recipe.output)
        return self.key, Trainer(self.setup, session.recipe, folder, session, session.observers, fresh).run()

    @hookimpl
    def before_run(self, run: Run) -> None:
        """Name the training in the manifest, and count the questions that it has seen."""
        trained = run.stages.get(self.key)
        if trained is None:
            return
        run.manifest["training"] = {
            "folder": str(trained.folder),
            "fingerprint": trained.fingerprint,
            "figures": trained.figures,
            "counts": trained.counts,
            "questions_seen": sum(trained.shares(question) for question in run.asked()),
        }

    @hookimpl
    def report(self, run: Run, quiet: bool) -> None:
        """Print the training, and the number of questions that it had seen."""
        trained = run.stages.get(self.key)
        if trained is None or trained.follows:
            return
        if not quiet:
            done = "trained on" if trained.repeated else "reused a training on"
            figures = ", ".join(f"{name} {value:.4g}" for name, value in trained.figures.items())
            for line in (f"{done} {trained.summary}", figures, f"model in {trained.model}"):
                console().print(line, soft_wrap=True)
        seen = run.manifest.get("training", {}).get("questions_seen", 0)
        if seen:
            note(
                f"the training had seen {seen} of {run.questions} questions, by id or by text, so their figures are"
                " too good"
            )
