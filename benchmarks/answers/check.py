"""Recompute the gold answers of questions on tables and graphs without the system, and tell where they differ.

python -m benchmarks.answers.check [own_tables.jsonl fresh/own_tables.jsonl ...]

A question's field ``pandas`` is an expression over ``t``, the table as ``pandas.read_csv`` reads it. ``german(column)``
gives numbers with decimal commas, and ``iso(date)`` writes 31.12.2024 as 2024-12-31. It is also the baseline "pandas by
hand". Of graphs, the field ``facts`` is an expression over ``t``, a file of facts with the columns ``subject``,
``relation`` and ``object``, and ``sparql`` is a query of an RDF file that rdflib answers. A question without one of
these fields, or whose file is not there, is skipped and counted. ``fresh/`` holds sets that were written after the
reader `paths` and without a look at it.
"""

from __future__ import annotations

import argparse
import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TABLE_SETS = ("own_tables.jsonl", "no_link.jsonl", "whole_road.jsonl")
SETS = (*TABLE_SETS, "certainty.jsonl", *(f"fresh/{name}" for name in TABLE_SETS))
FACTS = ["subject", "relation", "object"]
PREFIXES = """
PREFIX p: <http://orkg.org/orkg/predicate/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
"""


def german(column: Any) -> Any:
    """Read numbers with a decimal comma and points between thousands; a cell that holds none is missing."""
    import pandas

    plain = column.astype(str).str.replace(".", "", regex=False).str.replace(",", ".", regex=False)
    return pandas.to_numeric(plain, errors="coerce")


def iso(date: str) -> str:
    """Write day.month.year as year-month-day."""
    day, month, year = date.split(".")
    return f"{year}-{month}-{day}"


def evaluate(expression: str, path: str | Path) -> Any:
    """Return the value of a pandas expression over a table; a tab or a semicolon in its first line parts the cells."""
    import pandas

    path = Path(path)
    with path.open(encoding="utf-8") as lines:
        head = lines.readline()
    parting = "\t" if "\t" in head else ";" if ";" in head else ","
    table = pandas.read_csv(path, sep=parting)
    return eval(expression, {"t": table, "german": german, "iso": iso, "pd": pandas})


def evaluate_facts(expression: str, path: Path) -> Any:
    """Return the value of a pandas expression over a file of facts without a header."""
    import pandas

    return eval(expression, {"t": pandas.read_csv(path, sep="\t", names=FACTS, keep_default_na=False)})


def evaluate_sparql(query: str, path: Path) -> Any:
    """Return what rdflib answers to a query of an N-Triples file: true or false, or the values of its variable."""
    found = _rdf(path).query(PREFIXES + query)
    if found.type == "ASK":
        return bool(found.askAnswer)
    return [row[0].toPython() if hasattr(row[0], "toPython") else str(row[0]) for row in found]


@functools.cache
def _rdf(path: Path) -> Any:
    import rdflib

    return rdflib.Graph().parse(path, format="nt")


def gold_of(record: Mapping[str, Any], path: Path, shape: str) -> Any:
    """Compute the gold answer of a question of a shape."""
    if "pandas" in record:
        return evaluate(record["pandas"], path)
    if "facts" in record:
        return evaluate_facts(record["facts"], path)
    found = evaluate_sparql(record["sparql"], path)
    if shape in ("entities", "yes"):
        return found
    [one] = found
    return float(one) if shape == "number" else one


def shaped(value: Any, shape: str, unit: str | None = None) -> dict[str, Any]:
    """Write a value as an answer of a shape: entities, number, value or yes."""
    if shape == "entities":
        names = value if isinstance(value, (list, set)) else value.dropna().tolist()
        return {"entities": sorted({str(name) for name in names})}
    plain = value.item() if hasattr(value, "item") else value
    if shape == "yes":
        return {"yes": bool(plain)}
    return {shape: plain if shape == "number" else str(plain), **({"unit": unit} if unit else {})}


def wrong_answers(path: Path) -> tuple[list[str], int, int]:
    """Return a line for each gold answer that is computed otherwise, the number checked and the number skipped."""
    wrong, checked, skipped = [], 0, 0
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if not {"pandas", "facts", "sparql"} & record.keys() or not (HERE.parent / record["files"][0]).is_file():
            skipped += 1
            continue
        gold = record["answer"]
        [shape] = [name for name in ("entities", "number", "value", "yes") if name in gold]
        [file] = record["files"]
        found = shaped(gold_of(record, HERE.parent / file, shape), shape, gold.get("unit"))
        checked += 1
        if found != gold:
            wrong.append(f"{record['id']}: computed is {found}, the gold answer is {gold}")
    return wrong, checked, skipped


def main() -> int:
    """Check the sets and return 1 where a gold answer differs."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("sets", nargs="*", default=SETS, help="files of this folder (%(default)s)")
    failed = False
    for name in parser.parse_args().sets:
        wrong, checked, skipped = wrong_answers(HERE / name)
        failed = failed or bool(wrong)
        print(f"{name}: {checked - len(wrong)} of {checked} recomputed alike, {skipped} skipped")
        print("".join(line + "\n" for line in wrong), end="")
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
