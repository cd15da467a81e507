"""Links of raw questions as they are written and in small letters: recall and precision of their topics.

    make demo
    OMP_NUM_THREADS=1 python benchmarks/answers/raw_links.py [--only NAME ...] [--limit N] [--show N]

The sets, their halves and their graphs are those of public_sets.py, the linker is the dictionary as `srtk ask` has it.
Beside it stands the linker with exact names only (`fuzzy: 1`). `answers` is the share of a question's gold answers
among its 50 triples, with the links given and with those of the text as it is written and in small letters.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs

sys.path.insert(0, str(Path(__file__).parent))

from public_sets import CASES, asked, depths, opened

from srtk_framework.run import Session
from srtk_framework.values import Question

SETS = ("demo-7", "metaqa-1", "lcquad", "mintaka", "cwq")
BATCH = 32


def counted(linker: Any, questions: Sequence[Question], small: bool, show: int) -> str:
    """Return recall and precision of the topics of questions; print some of those that lack one."""
    right = wanted = found = 0
    for start in range(0, len(questions), BATCH):
        some = questions[start : start + BATCH]
        texts = [one.text.lower() if small else one.text for one in some]
        for one, text, links in zip(some, texts, linker.link(texts), strict=True):
            gold, own = {link.entity for link in one.links}, {link.entity for link in links}
            right, wanted, found = right + len(gold & own), wanted + len(gold), found + len(own)
            if gold - own and show:
                show -= 1
                print(f"  {text!r} lacks {sorted(gold - own)}, has {sorted(own)}", file=sys.stderr)
    return f"{right / wanted:.3f} {right / max(found, 1):.3f}"


def answer_recall(session: Session, questions: Sequence[Question]) -> str:
    """Return the mean share of the gold answers in the subgraphs of questions."""
    shares = []
    for one in session.retrieve(questions, read=False):
        nodes = {id_ for triple in one.subgraph.triples for id_ in (triple.subject, triple.object)}
        gold = set(one.question.answers or ())
        shares.append(len(gold & nodes) / len(gold) if gold else 0.0)
    return f"{sum(shares) / len(shares):.3f}"


def main() -> int:
    """Count the links of each set with available data, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=list(CASES), default=list(SETS))
    parser.add_argument("--limit", type=int, default=300, help="most questions of a set (%(default)s)")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print questions that lack a topic")
    args = parser.parse_args()
    print(
        "| set | n | as written | exact names | small letters | exact names | answers |\n|---|--:|--:|--:|--:|--:|--:|"
    )
    for name in args.only:
        case = attrs.evolve(CASES[name], limit=args.limit)
        if missing := depths.prepare(name, case):
            print(f"{name}: skipped: {missing}", file=sys.stderr)
            continue
        rows: dict[tuple[bool, str], str] = {}
        recall: list[str] = []
        for block in ("{use: dictionary}", "{use: dictionary, fuzzy: 1}"):
            with opened(case, f"entity_linker={block}") as session:
                questions = [one for one in asked(session, case) if one.links]
                for small in (False, True):
                    show = args.show if small and "fuzzy" not in block else 0
                    rows[small, block] = counted(session.linker, questions, small, show)
                if not recall:
                    raw = [attrs.evolve(one, links=()) for one in questions]
                    lower = [attrs.evolve(one, text=one.text.lower()) for one in raw]
                    recall = [answer_recall(session, some) for some in (questions, raw, lower)]
        cells = [rows[key] for key in sorted(rows, key=lambda key: (key[0], len(key[1])))]
        print(f"| {name} | {len(questions)} | {' | '.join(cells)} | {' '.join(recall)} |", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
