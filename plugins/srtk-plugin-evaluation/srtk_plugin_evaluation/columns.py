"""The columns of reports on subgraphs and answers: one list, from which each table takes its own."""

from __future__ import annotations

from typing import Literal

import attrs


@attrs.frozen
class Column:
    """A metric as reports show it.

    Attributes:
        name: Name of the metric.
        kind: Measured thing: a subgraph, its paths, an answer, Mintaka's own measures, the use of a model, the speed.
        title: Name for readers.
        head: Head in the main table of the terminal, in two lines; empty where it is not shown there.
        answers_head: Head in the table of answers; empty where it is not shown there.
        size: Whether it is a number without an upper bound, in place of a share.
        gold: Whether it needs gold.
        curve: Whether it is drawn against the number of triples.
        sliced: Whether tables by slice show it.
    """

    name: str
    kind: Literal["subgraph", "path", "answer", "mintaka", "use", "speed"]
    title: str
    head: str = ""
    answers_head: str = ""
    size: bool = False
    gold: bool = True
    curve: bool = False
    sliced: bool = False


# All columns, in the order of the tables.
COLUMNS = (
    Column("answer_coverage", "subgraph", "answer coverage", "answer\ncoverage"),
    Column("answer_recall", "subgraph", "answer recall", "answer\nrecall", curve=True, sliced=True),
    Column("triple_precision", "subgraph", "triple precision", "triple\nprec.", curve=True, sliced=True),
    Column("triple_recall", "subgraph", "triple recall", "triple\nrecall", curve=True, sliced=True),
    Column("triple_f1", "subgraph", "triple F1", "triple\nF1"),
    Column("path_hit", "path", "gold path found", "gold\npath"),
    Column("path_top", "path", "gold path first"),
    Column("answer_hit", "answer", "answer hit@1", answers_head="hit@1", sliced=True),
    Column("answer_f1", "answer", "answer F1", answers_head="F1", sliced=True),
    Column("answer_equal", "answer", "answers equal", answers_head="equal", sliced=True),
    Column("answer_exact", "answer", "answer exact", answers_head="exact"),
    Column("answer_refused", "answer", "refused", answers_head="refused", gold=False),
    Column("mintaka_exact", "mintaka", "Mintaka's exact match"),
    Column("mintaka_f1", "mintaka", "Mintaka's F1"),
    Column("mintaka_hits", "mintaka", "Mintaka's hits@1"),
    Column("mintaka_text_exact", "mintaka", "Mintaka's exact match of texts"),
    Column("mintaka_text_f1", "mintaka", "Mintaka's F1 of texts"),
    Column("triples", "subgraph", "triples", "triples", size=True, gold=False, sliced=True),
    Column("tokens", "subgraph", "tokens", "tokens", size=True, gold=False),
    Column("calls", "use", "model calls", answers_head="calls", size=True, gold=False),
    Column("model_tokens", "use", "model tokens", answers_head="tokens", size=True, gold=False),
    Column("cost_per_1000", "use", "cost of 1,000 questions", answers_head="cost of 1,000", size=True, gold=False),
    Column("questions_per_second", "speed", "questions per second", "per\nsecond", size=True, gold=False),
)

SPEED = "questions_per_second"

TITLES = {column.name: column.title for column in COLUMNS}  # Names of metrics for readers.

# Metrics of every report; without gold, their ``n`` is 0 and their ``mean`` None.
METRICS = tuple(column.name for column in COLUMNS if column.kind == "subgraph")

# Metrics of methods that return paths: a gold path is among the paths, or is the first.
PATH_METRICS = tuple(column.name for column in COLUMNS if column.kind == "path")

# Metrics of methods with a reader: first answer right, F1, answers equal to the gold, text right, answer refused.
ANSWER_METRICS = tuple(column.name for column in COLUMNS if column.kind == "answer")

MINTAKA_METRICS = tuple(column.name for column in COLUMNS if column.kind == "mintaka")

# Metrics of methods with a generator: calls, tokens of prompts and replies, and price of 1,000 questions.
USE_METRICS = tuple(column.name for column in COLUMNS if column.kind == "use")

# Metrics of subgraphs that need gold.
QUALITY = tuple(column.name for column in COLUMNS if column.kind == "subgraph" and column.gold)

CURVES = tuple(column.name for column in COLUMNS if column.curve)  # Metrics shown at each K.

SLICED = tuple(column.name for column in COLUMNS if column.sliced)  # Metrics shown by slice.

SIZES = frozenset(column.name for column in COLUMNS if column.size)  # Metrics that are numbers in place of shares.
