"""``srtk train``: training of a text encoder on rows of query, positive and negatives, with SRTK's names and flags."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path as FilePath
from typing import Any

import attrs
from srtk_plugin_training import require_packages

from srtk_framework.cli import note, say
from srtk_framework.records import place, read_jsonl, shown
from srtk_framework.records import record_fields as fields
from srtk_framework.values import InputError
from srtk_plugin_sr.fit_settings import ScorerFitSettings
from srtk_plugin_sr.model_folder import digest, stoppable, train_into
from srtk_plugin_sr.samples import IndexedSample, TrainingSet
from srtk_plugin_sr.scorer_form import ScorerForm, write_form
from srtk_plugin_sr.trainer import train_encoder
from srtk_plugin_sr.vectors import TextIndex

_LOSSES = {
    "cross_entropy": "cross-entropy",
    "contrastive": "nt-xent",
    "cross-entropy": "cross-entropy",
    "nt-xent": "nt-xent",
}
# SRTK adds these prefixes to a row's texts in training and scoring; its files do not have them.
_QUERY, _CANDIDATE = "query: ", "relation: "
_VALIDATION_SHARE = 0.05
"""Share of the rows, drawn by a hash of the query, that validates if no validation file is given."""

Row = tuple[str, str, tuple[str, ...]]
"""Query, positive, negatives."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("-t", "--train-dataset", required=True, metavar="FILE", help="JSONL rows")
    parser.add_argument("-v", "--validation-dataset", metavar="FILE", help="JSONL rows; by default 5 %% of the queries")
    parser.add_argument("-o", "--output-dir", default="artifacts/scorer", metavar="FOLDER", help="Hugging Face folder")
    parser.add_argument("-m", "--model-name-or-path", default="minilm", help="encoder to start from")
    parser.add_argument("-lr", "--learning-rate", type=float, default=5e-5)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--max-epochs", type=int, default=10)
    parser.add_argument("--loss", choices=sorted(_LOSSES), default="cross_entropy")
    parser.add_argument("--accelerator", choices=["auto", "cpu", "gpu"], default="auto")
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--precision", choices=["32", "bf16"], default="32")
    parser.add_argument(
        "--pooling",
        choices=["auto", "cls", "mean", "last", "srtk"],
        default="srtk",
        help="pooling of the encoder; srtk is the model's own setting, else the pooling of SRTK (%(default)s)",
    )
    parser.add_argument(
        "--max-length", type=int, default=128, help="maximum number of tokens of a text, in training and scoring"
    )
    parser.add_argument("--temperature", type=float, default=0.07)
    parser.add_argument("--patience", type=int, default=3, help="stop after this many validations without a better one")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--fast-dev-run", action="store_true", help="run two updates and one validation, to test the data"
    )
    for flag, what in (("project", "project"), ("group", "group of runs"), ("savedir", "folder")):
        parser.add_argument(
            f"--wandb-{flag}", metavar="NAME", help=f"log to Weights & Biases, if installed: its {what}"
        )
    parser.add_argument(
        "--fresh", action="store_true", help="start over, and replace another training in the folder, or its model"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print errors only")


def run(args: argparse.Namespace) -> int:
    """Train, write the model folder, and print the figures; SIGTERM stops the training as Ctrl-C does."""
    require_packages("srtk-plugin-sr", "lightning", "torch")
    return stoppable(lambda: _train(args))


def _train(args: argparse.Namespace) -> int:
    wandb = _wandb(args)
    if args.accelerator == "gpu" and not _has_gpu():
        args.accelerator = "cpu"
        note("there is no GPU here, so the training runs on the CPU; --accelerator cpu says so")
    training = _that_teach(read_rows(args.train_dataset, args.quiet), args)
    if args.validation_dataset:
        validation = read_rows(args.validation_dataset, args.quiet)
        _refuse_shared(training, validation, args.validation_dataset)
    else:
        at = [place(query, args.seed) for query, _, _ in training]
        validation = [row for row, where in zip(training, at, strict=True) if where < _VALIDATION_SHARE]
        training = [row for row, where in zip(training, at, strict=True) if where >= _VALIDATION_SHARE]
    settings = _settings(args, bool(validation), bool(wandb))
    out = FilePath(os.path.realpath(args.output_dir))
    if os.path.ismount(out):
        raise InputError(f"--output-dir {args.output_dir} is where a disk is mounted; name a folder in it")
    encoder = _encoder(args)
    encoder.open()
    try:
        network = encoder.learner()

        def validated() -> Mapping[str, float]:
            encoder.take(network)
            return {"accuracy": accuracy(encoder, validation)}

        def trained() -> Mapping[str, float]:
            return train_encoder(
                network,
                training_set(training),
                settings,
                temperature=args.temperature,
                validate=validated if validation else None,
                folder=out / "training",
                seed=args.seed,
                wandb=wandb,
            )

        # For each further device, Lightning starts a process that runs the same command.
        if int(os.environ.get("LOCAL_RANK", "0")) > 0:
            trained()
            return 0

        def train(made: FilePath) -> Mapping[str, float]:
            figures = trained()
            encoder.take(network)
            encoder.save(made)
            write_form(ScorerForm(text="srtk", temperature=args.temperature), made)
            _write_card(args, figures, len(training), len(validation), made)
            return figures

        inputs = {
            "the model, its pooling or max-length": encoder.fingerprint(),
            "the training rows": digest(training),
            "the validation rows": digest(validation),
            "temperature": repr(args.temperature),
            "seed": repr(args.seed),
            **{name: str(value) for name, value in attrs.asdict(settings).items()},
        }
        figures, again = train_into(out, inputs, args.fresh, train)
    finally:
        encoder.close()
    if not args.quiet:
        print(", ".join(f"{name} {value:.4g}" for name, value in figures.items()), file=sys.stderr)
        done = "wrote" if again else "an earlier training of the same has finished:"
        say(f"{done} {args.output_dir}")
    return 0


def read_rows(file: str, quiet: bool = False) -> list[Row]:
    """Read rows, with their texts in the form `srtk`, as the scorer and SRTK score them.

    The lists of negatives may differ in length; a negative equal to the positive is dropped, with a note.

    Raises:
        InputError: If there is no row, or a row has no query or positive.
    """
    rows, own = [], 0
    for number, record in read_jsonl(file):
        where = f"{shown(file)}:{number}"
        query = fields.string(record.get("query"), where, "query")
        positive = fields.string(record.get("positive"), where, "positive")
        negatives = fields.items(record.get("negatives", []), where, "negatives", fields.string)
        own += positive in negatives
        wrong = tuple(_CANDIDATE + n for n in dict.fromkeys(negatives) if n != positive)
        rows.append((_QUERY + query, _CANDIDATE + positive, wrong))
    if not rows:
        raise InputError(f"{shown(file)}: there are no rows to train on")
    if own and not quiet:
        note(
            f"{shown(file)}: in {own:,} of {len(rows):,} rows the positive is among its negatives, where it is dropped"
        )
    return rows


def _that_teach(rows: list[Row], args: argparse.Namespace) -> list[Row]:
    """Leave out the rows that teach nothing, and note their number.

    Under the contrastive loss a row without a negative has the negatives of other rows.

    Raises:
        InputError: If no row teaches.
    """
    alone = _LOSSES[args.loss] != "nt-xent"
    empty = sum(not positive.removeprefix(_CANDIDATE).strip() for _, positive, _ in rows)
    kept = [row for row in rows if row[1].removeprefix(_CANDIDATE).strip() and (row[2] or not alone)]
    if len(kept) == len(rows):
        return rows
    bare = len(rows) - len(kept) - empty
    reasons = {"an empty positive": empty, "no negative other than the positive": bare}
    shown_reasons = " and ".join(f"{count:,} with {reason}" for reason, count in reasons.items() if count)
    sentence = f"{shown(args.train_dataset)}: {len(rows) - len(kept):,} of {len(rows):,} rows teach nothing"
    if not kept:
        raise InputError(f"{sentence} ({shown_reasons}); give rows with negatives, as `srtk preprocess` writes them")
    if not args.quiet:
        note(f"{sentence} ({shown_reasons}); they are left out")
    return kept


def training_set(rows: Sequence[Row]) -> TrainingSet:
    """Return rows as samples with numbered texts."""
    texts = TextIndex()
    samples = [
        IndexedSample(
            query=texts.number(query),
            candidates=tuple(texts.number(text) for text in (positive, *negatives)),
            targets=(1.0, *(0.0 for _ in negatives)),
        )
        for query, positive, negatives in rows
    ]
    return TrainingSet(texts.texts(), samples)


def accuracy(encoder: Any, rows: Sequence[Row]) -> float:
    """Return the share of rows whose positive is closer to the query than every negative."""
    texts = list(dict.fromkeys(text for query, positive, negatives in rows for text in (query, positive, *negatives)))
    vectors = dict(zip(texts, encoder.encode(texts), strict=True))
    right = sum(
        all(vectors[query] @ vectors[positive] > vectors[query] @ vectors[negative] for negative in negatives)
        for query, positive, negatives in rows
    )
    return right / len(rows)


def _refuse_shared(training: Sequence[Row], validation: Sequence[Row], file: str) -> None:
    known = {(query, positive) for query, positive, _ in training}
    shared = sum((query, positive) in known for query, positive, _ in validation)
    if shared:
        raise InputError(
            f"{shown(file)}: {shared} of {len(validation)} validation rows are also training rows; remove them from one"
            " of the files"
        )


def _wandb(args: argparse.Namespace) -> dict[str, str]:
    """Return the options for Weights & Biases; none, with a note, where flags ask for it and it is not installed."""
    flags = {"project": args.wandb_project, "group": args.wandb_group, "save_dir": args.wandb_savedir}
    options = {name: value for name, value in flags.items() if value is not None}
    if options and find_spec("wandb") is None:
        note("wandb is not installed, so nothing is logged to it (pip install wandb); the figures are in training/log")
        return {}
    return options


def _has_gpu() -> bool:
    import torch

    return torch.cuda.is_available() or torch.backends.mps.is_available()


def _settings(args: argparse.Namespace, validates: bool, wandb: bool) -> ScorerFitSettings:
    try:
        return ScorerFitSettings(
            epochs=1 if args.fast_dev_run else args.max_epochs,
            steps=2 if args.fast_dev_run else None,
            batch_size=args.batch_size,
            learning_rate=args.learning_rate,
            loss=_LOSSES[args.loss],  # type: ignore[arg-type]
            precision=args.precision,
            accelerator=args.accelerator,
            devices=args.devices,
            strategy="auto" if args.devices == 1 else "ddp",
            monitor="accuracy",
            patience=args.patience if validates else None,
            logger="wandb" if wandb else None,
        )
    except ValueError as error:
        raise InputError(f"{error}; change the flag of that name") from error


def _encoder(args: argparse.Namespace) -> Any:
    """Make an encoder of unit vectors, whose products are cosines."""
    from srtk_framework.host import load

    cls = load("encoder", "transformers")
    return cls(model=args.model_name_or_path, pooling=args.pooling, max_length=args.max_length)


def _write_card(
    args: argparse.Namespace, figures: Mapping[str, float], trained: int, validated: int, folder: FilePath
) -> None:
    from srtk_framework.host import __version__

    flags = {
        name: value
        for name, value in sorted(vars(args).items())
        if name not in ("quiet", "output_dir", "fast_dev_run", "fresh")
    }
    rows = "\n".join(f"| {name} | {value} |" for name, value in flags.items())
    text = (
        "---\ntags: [srtk-framework, knowledge-graph, retrieval]\npipeline_tag: feature-extraction\n---\n\n"
        f"# Scorer trained by `srtk train`\n\nTrained on {trained} rows; {validated} others selected the best weights"
        f" (srtk-framework {__version__}).\n\n| flag | value |\n| --- | --- |\n{rows}\n\n"
        f"Figures: {json.dumps(figures)}\n"
    )
    (folder / "README.md").write_text(text, encoding="utf-8")
