"""Retrieve subgraphs for linked questions by SR's beam search over relation paths."""

from __future__ import annotations

import argparse
from typing import Any

from srtk_framework.cli.options import graph_block, note
from srtk_framework.cli.short import add_file_arguments, run_short


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    add_file_arguments(parser, "--output")
    parser.add_argument("-e", "--sparql-endpoint", metavar="URL", help="address of the graph's SPARQL endpoint")
    parser.add_argument(
        "-m", "--scorer-model-path", default="minilm", metavar="MODEL", help="encoder: folder or hub name (%(default)s)"
    )
    parser.add_argument("--beam-width", type=int, default=10, metavar="N", help="paths kept at each hop (%(default)s)")
    parser.add_argument("--max-depth", type=int, default=2, metavar="N", help="longest path (%(default)s)")
    parser.add_argument("--evaluate", action="store_true", help="score the result against answer_entities")
    parser.add_argument("--include-qualifiers", action="store_true", help="not needed: literals are always kept")
    parser.add_argument("--omit-prefixes", action="store_true", help="not needed: queries carry whole IRIs")
    parser.add_argument("--inverse", action="store_true", help="walk relations against their direction too")
    parser.add_argument("--triples", type=int, metavar="N", help="most triples for a question")
    parser.add_argument(
        "--rule", default="log-softmax", help="how step scores add up; srtk-sum is that of SRTK 0.0.7 (%(default)s)"
    )
    parser.add_argument("--text", default="srtk", help="text form of questions and relations (%(default)s)")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.include_qualifiers:
        note("--include-qualifiers changes nothing: literals and qualifiers are always kept")
    if args.omit_prefixes:
        note("--omit-prefixes changes nothing: queries carry whole IRIs")
    data: dict[str, Any] = {
        "questions": args.input,
        **graph_block(args, args.sparql_endpoint),
        "encoder": {"use": "transformers", "model": args.scorer_model_path},
        "path_scorer": {"use": "dense", "rule": args.rule, "text": args.text},
        "expander": {"use": "beam", "width": args.beam_width, "depth": args.max_depth, "inverse": args.inverse},
        "exporters": [{"use": "jsonl", "path": args.output}],
    }
    if args.triples is not None:
        data["budget"] = {"triples": args.triples}
    if args.evaluate:
        data["evaluate"] = True
    return run_short(args, data)
