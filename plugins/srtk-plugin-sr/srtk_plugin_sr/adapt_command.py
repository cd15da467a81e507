"""``srtk adapt``: adapts a path scorer to a graph without questions.

Questions are made from the graph's own paths, and the encoder learns to rank each path before its rivals in a search.
Half of the target is its own ranking before, against forgetting. Its weights are then led back towards the start; held-
out made questions choose how far.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path as FilePath
from typing import Any

import attrs
import yaml
from srtk_plugin_training import require_packages

from srtk_framework.cli import graph_block, say
from srtk_framework.recipe import Composer, from_data
from srtk_framework.records import place
from srtk_framework.roles import Generator, KnowledgeGraph
from srtk_framework.text import read_yaml
from srtk_framework.values import InputError, Question
from srtk_plugin_sr.adaptation import adapt
from srtk_plugin_sr.dense import DenseScorer
from srtk_plugin_sr.fit_settings import ScorerFitSettings
from srtk_plugin_sr.made_questions import MadeQuestions
from srtk_plugin_sr.model_folder import digest, stoppable, train_into
from srtk_plugin_sr.rivals import find_rivals
from srtk_plugin_sr.scorer_form import ScorerForm, write_form
from srtk_plugin_sr.trainer import trainable_encoder

HELD_OUT = 0.1
"""Share of the questions, drawn by a hash of the text, that ends the training and chooses the blend."""

# The rest of the minutes is for the training.
SEARCH_SHARE = 0.5
"""Share of the minutes after which no further question is searched for the rivals of its path."""

# One round of the training always runs.
_LEAST_MINUTES = 1e-6

RECIPE = "recipe.yaml"
"""File of the recipe beside the weights."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    add = parser.add_argument
    add(
        "-kg",
        "--knowledge-graph",
        required=True,
        metavar="GRAPH",
        help="folder of a snapshot made by `srtk graph build` or `srtk graph pull`",
    )
    add("-o", "--output-dir", required=True, metavar="FOLDER", help="folder of the adapted weights")
    add("-m", "--model-name-or-path", default="minilm", help="encoder to start from (%(default)s)")
    add("--depth", type=int, default=2, metavar="N", help="largest number of steps, that of the search (%(default)s)")
    add("--questions", type=int, default=1000, metavar="N", help="number of made questions (%(default)s)")
    add("--generator", metavar="YAML", help="rewords the questions, such as '{use: openai, model: NAME}'")
    add("--minutes", type=float, default=5.0, help="maximum number of CPU minutes (%(default)s)")
    add("--seed", type=int, default=0, help="seed of everything that is drawn (%(default)s)")
    add("--fresh", action="store_true", help="start over, and replace another training in the folder, or its model")
    add("-q", "--quiet", action="store_true", help="print errors only")


def run(args: argparse.Namespace) -> int:
    """Make questions, train, blend, write the weights, and print the figures; SIGTERM stops it as Ctrl-C does."""
    require_packages("srtk-plugin-sr", "lightning", "torch")
    return stoppable(lambda: _adapt(args))


def _adapt(args: argparse.Namespace) -> int:
    settings = _settings(args)
    out = FilePath(os.path.realpath(args.output_dir))
    blocks: dict[str, Any] = {
        **graph_block(args),
        "encoder": {"use": "transformers", "model": args.model_name_or_path},
        "path_scorer": {"use": "dense", "cache": ""},
    }
    if args.generator is not None:
        blocks["generator"] = read_yaml(args.generator, "--generator", "value")
    recipe = from_data({"srtk": 1, **blocks})
    composer = Composer(recipe)
    graph: KnowledgeGraph = composer.of_role("knowledge_graph")
    scorer = composer.of_role("path_scorer")
    generator: Generator | None = composer.of_role("generator")
    recipe.check()
    composer.check()
    with ExitStack() as stack:
        composer.open(stack)
        dataset = MadeQuestions(graph, generator, count=args.questions, depth=args.depth, seed=args.seed)
        questions = list(dataset.read())
        dense: DenseScorer = scorer.driver
        if dense.form.rule != "gain":
            raise InputError(
                f"{args.model_name_or_path} was trained as a path scorer by the rule {dense.form.rule}, which rates"
                " single steps, and whole paths are compared here; start from other weights, or train these by the"
                " recipe adapt with a path_scorer of that rule"
            )
        form = attrs.evolve(dense.form, mention=dense.search_settings().mention, adapted=True)
        settings = attrs.evolve(settings, mention=form.mention)

        def train(made: FilePath) -> dict[str, Any]:
            figures = _trained(args, dense, questions, form, settings, out)
            trainable_encoder(dense.encoder).save(made)
            write_form(form, made)
            _write_card(args, figures, made)
            (made / RECIPE).write_text(_recipe(args, blocks["knowledge_graph"], figures, out), encoding="utf-8")
            return figures

        inputs = {
            "the model": dense.encoder.fingerprint(),
            "the made questions": digest(questions),
            "the graph": graph.fingerprint(),
            "the form of the scores": repr(form),
            "seed": repr(args.seed),
            **{name: str(value) for name, value in attrs.asdict(settings).items()},
        }
        figures, again = train_into(out, inputs, args.fresh, train)
    if not args.quiet:
        _report(args, figures, again)
    return 0


def _settings(args: argparse.Namespace) -> ScorerFitSettings:
    for flag, value in (("--depth", args.depth), ("--questions", args.questions)):
        if value < 1:
            raise InputError(f"{flag} is {value}; it must be at least 1")
    try:
        return ScorerFitSettings(
            epochs=20,
            steps=60,
            minutes=args.minutes,
            batch_size=16,
            learning_rate=5e-5,
            loss="listwise",
            depth=args.depth,
            validate_every=20,
            monitor="accuracy",
            patience=2,
        )
    except ValueError as error:
        raise InputError(f"{error}; change the flag of that name") from error


def _trained(
    args: argparse.Namespace,
    dense: DenseScorer,
    questions: list[Question],
    form: ScorerForm,
    settings: ScorerFitSettings,
    out: FilePath,
) -> dict[str, Any]:
    """Adapt the scorer's encoder; return the figures."""
    if not questions:
        raise InputError(
            f"the paths of {dense.graph.source()} lead nowhere else, or to too many entities to be asked for; use the"
            " weights as they are"
        )
    began = time.process_time()
    until = began + 60 * args.minutes * SEARCH_SHARE
    parts: dict[bool, list[Question]] = {True: [], False: []}
    for question in questions:
        parts[place(question.text, args.seed) < HELD_OUT].append(question)
    held_out, learning = (
        dense.ranking_set(find_rivals(dense, parts[is_held], args.depth, until)) for is_held in (True, False)
    )
    if not learning.samples or not held_out.samples:
        raise InputError(
            f"{dense.graph.source()} gives {len(questions)} questions, too few whose path has rivals to learn from some"
            " and hold out others; raise --questions, or use the weights as they are"
        )
    left = args.minutes - (time.process_time() - began) / 60
    settings = attrs.evolve(settings, minutes=max(left, _LEAST_MINUTES))
    done = adapt(trainable_encoder(dense.encoder), learning, held_out, form, settings, out / "training", args.seed)
    return {
        "questions": len(questions),
        "held_out": len(held_out.samples),
        "learning": len(learning.samples),
        **attrs.asdict(done),
        "minutes": round((time.process_time() - began) / 60, 1),
    }


def _lines(figures: dict[str, Any]) -> list[str]:
    """Describe the adaptation by its figures."""
    blends = ", ".join(f"{value:.3f} at {float(share):g}" for share, value in figures["blends"].items())
    kept = (
        f"the blend at {figures['share']:g} of the way"
        if figures["share"]
        else "the weights as they were, as no blend is better by more than chance gives"
    )
    return [
        f"{figures['questions']} questions made; {figures['learning']} with rivals of their path to learn from, and"
        f" {figures['held_out']} held out; {figures['minutes']:g} CPU minutes",
        f"a right path comes first on the questions held out: {figures['start']:.3f} before, {figures['trained']:.3f}"
        f" after {figures['updates']} updates; blends with the start: {blends}",
        f"kept: {kept}",
    ]


def _report(args: argparse.Namespace, figures: dict[str, Any], again: bool) -> None:
    for line in _lines(figures):
        say(line)
    done = "wrote" if again else "an earlier adaptation of the same has finished:"
    use = f"encoder: {{use: transformers, model: {args.output_dir}}}"
    say(f"{done} {args.output_dir}; in a recipe: {use}")
    if figures["share"] and (FilePath(args.output_dir) / RECIPE).is_file():
        fused = f"srtk run {FilePath(args.output_dir) / RECIPE} --set questions=FILE"
        say(f"fused with the search by the weights as they were: {fused}")


def _recipe(args: argparse.Namespace, graph: Mapping[str, Any], figures: Mapping[str, Any], out: FilePath) -> str:
    """Return a recipe that fuses the searches by the first and by the adapted weights, if these differ."""
    start = args.model_name_or_path
    models = [os.path.realpath(start) if os.path.isdir(start) else start, *([str(out)] if figures["share"] else [])]
    searches: list[dict[str, Any]] = [
        {
            "use": "beam",
            "depth": args.depth,
            "path_scorer": {"use": "dense", "encoder": {"use": "transformers", "model": model}},
        }
        for model in models
    ]
    found = "by the weights as they were and by the adapted ones, fused by ranks" if figures["share"] else "as it was"
    recipe = {
        "srtk": 1,
        "description": f"beam search {found}",
        "questions": "-",
        "knowledge_graph": {**graph, "path": os.path.realpath(graph["path"])} if "path" in graph else dict(graph),
        "entity_linker": {"use": "dictionary"},
        # Equal weights, as measured: neither search is known to be the better one.
        "expander": {"use": "union", "expanders": searches, "weights": [1, 1]} if len(searches) > 1 else searches[0],
    }
    return yaml.safe_dump(recipe, sort_keys=False, allow_unicode=True)


def _write_card(args: argparse.Namespace, figures: dict[str, Any], folder: FilePath) -> None:
    text = (
        "---\ntags: [srtk-framework, knowledge-graph, retrieval]\npipeline_tag: feature-extraction\n---\n\n"
        f"# {args.model_name_or_path}, adapted by `srtk adapt`\n\n"
        + "\n".join(f"- {x}" for x in _lines(figures))
        + "\n"
    )
    (folder / "README.md").write_text(text, encoding="utf-8")
