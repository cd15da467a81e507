"""Files of three graphs on which nothing was chosen, for the questions in fresh/new_graphs.jsonl.

    pip download --no-deps --dest build/bench/new-graphs plotnine==0.15.9     # has the table
    python benchmarks/answers/new_graphs.py

- `msleep.csv`: how 83 mammals sleep, a table of the package plotnine.
- `umls.tsv`: the semantic network of UMLS, 6,529 facts of 46 relations (`small_kgs` of the data folder).
- `orkg.nt`: 153 papers of the Open Research Knowledge Graph with their authors (`orkg_hublink` of the data folder).
  What has the id of a literal there (`L`) is a plain literal; the texts of nodes and relations are labels.

The files are written to build/bench/new-graphs.
"""

from __future__ import annotations

import argparse
import json
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from check import wrong_answers
from common import DATA, OUT, lacking, read_json, shown

FOLDER = OUT / "new-graphs"
QUESTIONS = Path(__file__).parent / "fresh/new_graphs.jsonl"
ORKG = "http://orkg.org/orkg"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def write_table() -> str | None:
    """Take the table out of the wheel; return what is missing."""
    wheel = next(FOLDER.glob("plotnine-*.whl"), None)
    if wheel is None:
        return f"no wheel of plotnine in {shown(FOLDER)}"
    with zipfile.ZipFile(wheel) as archive:
        (FOLDER / "msleep.csv").write_bytes(archive.read("plotnine/data/msleep.csv"))
    return None


def write_facts() -> str | None:
    """Put the three parts of UMLS together; return what is missing."""
    parts = [f"small_kgs/umls/{part}.txt" for part in ("train", "valid", "test")]
    if missing := lacking(*parts):
        return missing
    lines = [line for part in parts for line in (DATA / part).read_text(encoding="utf-8").splitlines() if line]
    (FOLDER / "umls.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return None


def write_rdf() -> str | None:
    """Write the facts of ORKG as N-Triples; return what is missing."""
    if missing := lacking("orkg_hublink/deep_distributed_graph.json"):
        return missing
    facts = (row for row in read_json(DATA / "orkg_hublink/deep_distributed_graph.json") if "predicate" in row)
    lines = dict.fromkeys(line for fact in facts for line in _statements(fact))
    (FOLDER / "orkg.nt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return None


def _statements(fact: Mapping[str, Any]) -> Iterator[str]:
    name = fact["predicate"]
    relation = f"<{ORKG}/predicate/{quote(name.replace(' ', '_'))}>"
    ends = []
    for node in (fact["entity_subject"], fact["entity_object"]):
        if node["uid"].startswith("L") or node["uid"] == "String":
            ends.append(json.dumps(node["text"], ensure_ascii=False))
            continue
        ends.append(f"<{ORKG}/resource/{quote(node['uid'])}>")
        yield f"{ends[-1]} {LABEL} {json.dumps(node['text'], ensure_ascii=False)} ."
        for kind in node["knowledge_types"]:
            yield f"{ends[-1]} {TYPE} <{ORKG}/class/{quote(kind)}> ."
    yield f"{relation} {LABEL} {json.dumps(name, ensure_ascii=False)} ."
    yield f"{ends[0]} {relation} {ends[1]} ."


def main() -> int:
    """Write the files, and check the gold answers against them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for missing in (write_table(), write_facts(), write_rdf()):
        if missing:
            print(f"skipped: {missing}", file=sys.stderr)
    wrong, checked, skipped = wrong_answers(QUESTIONS)
    print(f"{checked - len(wrong)} of {checked} gold answers recomputed alike, {skipped} skipped")
    print("".join(line + "\n" for line in wrong), end="")
    return int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())
