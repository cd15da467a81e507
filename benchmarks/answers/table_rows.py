"""Questions on ten tables answered by the best row alone: found by BM25, by MiniLM, and by pandas by hand.

    OMP_NUM_THREADS=1 python -m benchmarks.answers.table_rows [--show]

A row is a text, "column: value, column: value". The answer is the best row's cell in the column whose heading MiniLM
finds most alike the question, of those with a cell that the question does not name. It is right by the rule of
`measure.py` if any reading of the cell is: as a text, a list, a number, yes or no. *Any column*: some cell of the best
row is right, beyond which no choice of a column can go. `by hand` are the expressions of `check.py`. Figures go to
build/bench/table-rows.json.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from srtk_plugin_index.indexes.bm25 import Bm25Index
from srtk_plugin_onnx.encoder import OnnxEncoder

from benchmarks.answers.check import wrong_answers
from benchmarks.answers.exact_match import is_exact
from benchmarks.common import OUT, cached_values, shown
from srtk_framework.text import fold
from srtk_framework.values import Entry

HERE = Path(__file__).parent
SETS = ("own_tables", "fresh/own_tables")
Row = Mapping[str, str]
Ranker = Callable[[str], int]
"""Finds the number of the best row for a question."""

_LISTS = (re.compile(r"\s*[;|]\s*"), re.compile(r"\s*,\s*"))
_NUMBER = re.compile(r"[-+]?\d[\d.,]*")
_TRUTHS = {"yes": True, "true": True, "no": False, "false": False}


def read_table(file: Path) -> list[Row]:
    """Read the rows of a table; a tab or a semicolon in its first line parts the cells."""
    with file.open(encoding="utf-8", newline="") as lines:
        head = lines.readline()
        lines.seek(0)
        parting = "\t" if "\t" in head else ";" if ";" in head else ","
        return [{key: value or "" for key, value in row.items()} for row in csv.DictReader(lines, delimiter=parting)]


def row_text(row: Row) -> str:
    """Write a row in words; empty cells are left out."""
    return ", ".join(f"{column}: {value}" for column, value in row.items() if value)


def readings(cell: str) -> list[dict[str, Any]]:
    """Read a cell in each way in which an answer may be meant."""
    found: list[dict[str, Any]] = [{"value": cell}, *({"entities": separator.split(cell)} for separator in _LISTS)]
    if number := _NUMBER.match(cell):
        found.append({"number": _decimal(number[0])})
    if cell.casefold() in _TRUTHS:
        found.append({"yes": _TRUTHS[cell.casefold()]})
    return found


def is_right(cell: str, gold: Mapping[str, Any]) -> bool:
    """Return whether some reading of a cell is the gold answer."""
    return any(is_exact(answer, gold) for answer in readings(cell))


def _decimal(text: str) -> str:
    """Write a number with a decimal point; a comma before other than three figures is a decimal comma."""
    if re.search(r",\d{1,2}$", text):
        return text.replace(".", "").replace(",", ".")
    return text.replace(",", "")


class Likeness:
    """How alike texts are, by the cosine of their MiniLM vectors.

    Args:
        encoder: The encoder, open.
    """

    def __init__(self, encoder: OnnxEncoder) -> None:
        self._encoder = encoder
        self._known: dict[str, Any] = {}

    def of(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the likeness of a question and each text."""
        first, *others = cached_values(self._known, [question, *texts], self._vectors)
        return [float(first @ other) for other in others]

    def _vectors(self, texts: list[str]) -> Any:
        vectors = np.asarray(self._encoder.encode(texts), dtype=np.float64)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def by_words(rows: Sequence[Row], folder: Path) -> Ranker:
    """Rank rows by BM25; a question without a common word gets the first row."""
    index = Bm25Index(path=str(folder))
    index.create()
    index.add([Entry(str(number), row_text(row)) for number, row in enumerate(rows)])
    index.commit()
    index.open()

    def best(question: str) -> int:
        [hits] = index.search([question], 1)
        return int(hits[0].entry.id) if hits else 0

    return best


def by_meaning(rows: Sequence[Row], likeness: Likeness) -> Ranker:
    """Rank rows by likeness."""
    texts = [row_text(row) for row in rows]
    return lambda question: int(np.argmax(likeness.of(question, texts)))


def best_column(question: str, row: Row, likeness: Likeness) -> str:
    """Return the column whose heading is most alike the question, of those with a cell that it does not name."""
    words = fold(question)
    columns = [column for column, cell in row.items() if cell and fold(cell) not in words] or list(row)
    return columns[int(np.argmax(likeness.of(question, [column.replace("_", " ") for column in columns])))]


def answers(file: Path, questions: Sequence[Mapping[str, Any]], likeness: Likeness) -> Iterator[dict[str, Any]]:
    """Yield, for each question on a table, which method answers it exactly."""
    rows = read_table(file)
    with tempfile.TemporaryDirectory() as folder:
        rankers = {"BM25": by_words(rows, Path(folder) / "words"), "MiniLM": by_meaning(rows, likeness)}
        for question in questions:
            text, gold = question["question"], question["answer"]
            found: dict[str, Any] = {"id": question["id"], "kind": question["kind"]}
            for name, ranker in rankers.items():
                row = rows[ranker(text)]
                cell = row[best_column(text, row, likeness)]
                found[name] = is_right(cell, gold)
                found[f"{name}, any column"] = any(is_right(one, gold) for one in row.values())
                found[f"{name}: cell"] = cell
            yield found


def measure(name: str, likeness: Likeness, show: bool) -> dict[str, Any]:
    """Return how many questions of a set each method answers exactly."""
    lines = (HERE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    by_file: dict[str, list[dict[str, Any]]] = {}
    for row in map(json.loads, lines):
        [file] = row["files"]
        by_file.setdefault(file, []).append(row)
    found = [one for file, rows in by_file.items() for one in answers(HERE.parent / file, rows, likeness)]
    methods = [f"{name}{which}" for name in ("BM25", "MiniLM") for which in ("", ", any column")]
    figures: dict[str, Any] = {"questions": len(found), **{key: sum(one[key] for one in found) for key in methods}}
    for kind in dict.fromkeys(one["kind"] for one in found):
        some = [one for one in found if one["kind"] == kind]
        figures[kind] = {"questions": len(some), **{key: sum(one[key] for one in some) for key in methods}}
    wrong, checked, _ = wrong_answers(HERE / f"{name}.jsonl")
    figures["by hand"] = checked - len(wrong)
    if show:
        print("\n".join(json.dumps(one, ensure_ascii=False) for one in found))
    return figures


def main() -> int:
    """Measure both sets; return 1 where a gold answer is not what pandas gives."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="print the cell that each method gives")
    args = parser.parse_args()
    encoder = OnnxEncoder(model="minilm")
    encoder.open()
    every = {name: measure(name, Likeness(encoder), args.show) for name in SETS}
    encoder.close()
    OUT.mkdir(parents=True, exist_ok=True)
    out = OUT / "table-rows.json"
    out.write_text(json.dumps(every, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for name, figures in every.items():
        print(name, json.dumps(figures, ensure_ascii=False))
    print(f"figures: {shown(out)}")
    return int(any(figures["by hand"] < figures["questions"] for figures in every.values()))


if __name__ == "__main__":
    raise SystemExit(main())
