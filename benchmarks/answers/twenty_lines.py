"""The simplest reader of a record, to compare others with: ``trace.set`` or the first triple's relation.

python -m benchmarks.answers.twenty_lines RECORDS GOLD...

RECORDS is what the jsonl exporter writes with the operations' expander (``recipes/operations.yaml``); GOLD are sets of
this folder, or the demo's questions by kind, whose gold is a ``number`` or ``answer_entities``.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.answers.exact_match import is_exact


def read_answer(record: dict[str, Any]) -> dict[str, Any] | None:
    """Answer with the number, a yes or no, the first member in order, or the ends of the set or of the first triple."""
    triples = record.get("triplets") or []
    trace = record.get("trace") or {}
    found, kind = trace.get("set") or {}, trace.get("kind") or ""
    linked = set(record.get("question_entities") or ())
    if not triples:
        return None
    if kind in ("count", "type-count") and "members" in found:
        return {"number": found.get("of_class", found["members"])}
    if kind == "yes-no":
        return {"yes": any({subject, object_} <= linked for subject, _, object_ in triples)}
    subject, relation, object_ = triples[0]
    if kind in ("superlative", "ordinal", "comparison"):
        return {"entities": [subject if object_ in linked or object_.startswith('"') else object_]}
    # A set's path says which relation its members end, and in which direction; else the first triple does.
    step = found["path"][-1] if found.get("path") else relation if subject in linked else f"^{relation}"
    rows = [row for row in triples if row[1] == step.removeprefix("^") and (found or not linked or linked & {*row})]
    ends = dict.fromkeys(row[0] if step.startswith("^") else row[2] for row in rows)
    # Of a set less another (`without`) and of what two sets share (`with`), `left` members come first.
    most = found.get("left", found.get("of_class", found.get("members")))
    members = [end for end in ends if end not in linked][:most]
    literal = len(members) == 1 and members[0].startswith('"')
    return {"value": members[0]} if literal else {"entities": sorted(members)} if members else None


def gold_answer(record: dict[str, Any]) -> dict[str, Any] | None:
    """Return the gold answer of a question of this folder or of the demo; a count's number is asked, not its set."""
    if "answer" in record:
        answer: dict[str, Any] | None = record["answer"]
        return answer
    return {"number": record["number"]} if "number" in record else {"entities": record["answer_entities"]}


def main() -> int:
    """Print how many questions of each file and kind are answered exactly."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("records", type=Path, help="records with triplets and trace")
    parser.add_argument("gold", type=Path, nargs="+", help="questions with gold answers")
    args = parser.parse_args()
    records = {one["id"]: one for one in map(json.loads, args.records.read_text(encoding="utf-8").splitlines())}
    for path in args.gold:
        right: Counter[str] = Counter()
        asked: Counter[str] = Counter()
        missing = ungold = 0
        for gold in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            if "answer" not in gold and "number" not in gold and "answer_entities" not in gold:
                ungold += 1
                continue
            if gold["id"] not in records:
                missing += 1
                continue
            asked[gold["kind"]] += 1
            right[gold["kind"]] += is_exact(read_answer(records[gold["id"]]), gold_answer(gold))
        kinds = ", ".join(f"{kind} {right[kind]}/{asked[kind]}" for kind in asked)
        print(f"{path.name}: {right.total()} of {asked.total()} exact ({kinds})")
        print(f"  {ungold} without gold, {missing} without a record; both are left out") if ungold or missing else None
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
