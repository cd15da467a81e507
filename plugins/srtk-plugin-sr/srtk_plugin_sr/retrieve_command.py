"""Retrieve subgraphs for linked questions by SR's beam search over relation paths."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from srtk_framework.cli import OK, graph_block, note
from srtk_framework.records import dumps, read_json
from srtk_framework.run import default_encoder
from srtk_plugin_sr.short_commands import add_file_arguments, run_folder, run_short, set_graph, set_output

_BEAM = "beam"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    add_file_arguments(parser, "--output", ".subgraph.jsonl")
    parser.add_argument("-e", "--sparql-endpoint", metavar="URL", help="address of the graph's SPARQL endpoint")
    parser.add_argument(
        "-m", "--scorer-model-path", default="minilm", metavar="MODEL", help="encoder: folder or hub name (%(default)s)"
    )
    parser.add_argument(
        "--pooling",
        choices=["auto", "cls", "mean", "last", "srtk"],
        default="srtk",
        help="pooling of the encoder; srtk is the model's own setting, else the pooling of SRTK (%(default)s)",
    )
    parser.add_argument("--beam-width", type=int, metavar="N", help="paths kept at each hop; by default the beam's")
    parser.add_argument("--max-depth", type=int, default=2, metavar="N", help="longest path (%(default)s)")
    parser.add_argument(
        "--evaluate",
        action="store_true",
        help="score the result against answer_entities, and write hits and misses beside it, with the suffix .metric",
    )
    parser.add_argument("--include-qualifiers", action="store_true", help="not needed: literals are always kept")
    parser.add_argument("--omit-prefixes", action="store_true", help="not needed: queries carry whole IRIs")
    parser.add_argument("--inverse", action="store_true", help="follow relations against their direction too")
    parser.add_argument("--triples", type=int, metavar="N", help="most triples for a question (50); 0 for no limit")
    parser.add_argument(
        "--rule",
        help="how step scores add up: by default as the model was trained, else gain; log-softmax, log-sigmoid (SR's"
        " own), or srtk-sum, that of SRTK 0.0.7",
    )
    parser.add_argument(
        "--text",
        help="text form of questions and relations: by default as the model was trained, else plain; srtk is SRTK's",
    )


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.include_qualifiers:
        note("--include-qualifiers changes nothing: literals and qualifiers are always kept")
    if args.omit_prefixes:
        note("--omit-prefixes changes nothing: queries carry whole IRIs")
    set_output(args, ".subgraph.jsonl")
    set_graph(args)
    code = run_short(args, recipe_data(args))
    if code == OK and args.evaluate:
        _write_metric(args)
    return code


def recipe_data(args: argparse.Namespace) -> dict[str, Any]:
    """Return the recipe that the flags describe, its output folder left out."""
    data: dict[str, Any] = {
        "questions": args.input,
        **graph_block(args, args.sparql_endpoint),
        "encoder": {"use": default_encoder(), "model": args.scorer_model_path, "pooling": args.pooling},
        "path_scorer": {"use": "dense", **_given(rule=args.rule, text=args.text)},
        "expander": {
            "use": _BEAM,
            "depth": args.max_depth,
            "inverse": args.inverse,
            **_given(width=args.beam_width),
        },
        "exporters": [{"use": "jsonl", "path": args.output}],
    }
    if args.triples is not None:
        data["budget"] = {"triples": args.triples or None}
    if args.evaluate:
        data["evaluate"] = True
    return data


def _write_metric(args: argparse.Namespace) -> None:
    """Write SRTK's file of hits and misses, and print its two figures.

    A question is a hit if one of its answers is in its subgraph. Unlike in SRTK, its own entities do not count.
    """
    method = read_json(run_folder(args) / "evaluation.json")["methods"][_BEAM]
    coverage = method["answer_coverage"]
    if not coverage["n"]:
        note(f"no question of {args.input} has answer_entities, so there is no answer coverage and no .metric file")
        return
    count, hit = coverage["n"], round(coverage["n"] * coverage["mean"])
    metric = Path(args.output).with_suffix(".metric")
    metric.write_text(dumps({"hit": hit, "miss": count - hit, "recall": hit / count}) + "\n", encoding="utf-8")
    if not args.quiet:
        print(f"Answer coverage rate: {hit / count:.4f} ({hit} / {count})")
        print(f"Average subgraph size: {method['triples']['mean']:.4f} triples")
        print(f"wrote {metric}")


def _given(**settings: Any) -> dict[str, Any]:
    """Leave out the settings that were not given."""
    return {name: value for name, value in settings.items() if value is not None}
