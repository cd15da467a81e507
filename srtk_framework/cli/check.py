"""Check a recipe before it runs, and report all mistakes at once.

Checked are every key, type, driver and need, and all that the recipe names: files of questions, datasets, snapshots,
models, the form of addresses, and whether outputs can be written. Nothing is loaded, built or asked over a network
without --open. Of a good recipe it lists what a run reaches: each address, each path that is read or written, and each
variable of the environment with the setting that receives it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from srtk_framework.cli import OK
from srtk_framework.cli.disclosure import disclosed
from srtk_framework.cli.options import add_set_argument
from srtk_framework.host.discovery import STAGE, distributions_of
from srtk_framework.recipe.blocks import Block
from srtk_framework.recipe.recipe import Recipe, load
from srtk_framework.recipe.stage import named_faults
from srtk_framework.run.preflight import checked_session
from srtk_framework.run.session import Session


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("recipe", metavar="RECIPE", help="YAML file")
    parser.add_argument(
        "--open",
        action="store_true",
        help="open every driver too: load models, build missing snapshots, ask servers what they are asked first",
    )
    add_set_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    session = checked_session(load(args.recipe, args.set))
    if args.open:
        with session:
            pass
    recipe = session.recipe
    print(f"{args.recipe} is fine. A run would")
    for line in _steps(recipe, session):
        print(f"- {line}")
    print("with these drivers:")
    for role, name in session.drivers:
        print(f"- {role.replace('_', ' ')}: {name}")
    needed = distributions_of([*session.drivers, *((STAGE, key) for key in recipe.stages)])
    print(f"all of it is installed{', by: pip install ' + ' '.join(needed) if needed else ''}")
    print("it reaches:")
    for line in disclosed(recipe, session):
        print(f"- {line}")
    return OK


def _steps(recipe: Recipe, session: Session) -> list[str]:
    """Describe the steps of a run, in order."""
    steps: list[str] = []
    trains = session.stages.implement("train")
    of_stages: dict[str, Sequence[str]] = {}
    for key, stage in recipe.stages.items():
        with named_faults(key, "steps"):
            of_stages[key] = list(stage.steps())
    steps += [step for key in trains for step in of_stages[key]]
    if isinstance(recipe.questions, Block):
        steps.append(f"read the questions of the dataset {recipe.questions.use}")
    elif recipe.questions is not None:
        steps.append(f"read the questions of {'the standard input' if recipe.questions == '-' else recipe.questions}")
    linker = recipe.blocks.get("entity_linker")
    if linker is not None:
        steps.append(f"find their entities by {linker.use}, where a question does not bring them")
    first = next(iter(session.methods), None)
    if first is not None:
        graph = recipe.blocks.get("knowledge_graph")
        steps.append(f"search the graph {graph.use if graph else 'of the expander'} with {first}")
    steps += [f"write {target}" for exporter in session.exporters if (target := exporter.target()) is not None]
    steps += [step for key, own in of_stages.items() if key not in trains for step in own]
    return [*steps, f"keep its journal and manifest in {recipe.output}"]
