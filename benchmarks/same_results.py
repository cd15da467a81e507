"""Compare the outputs of two versions for the same recipes: all records and evaluations, except for words and times.

    python benchmarks/same_results.py OLD NEW

OLD and NEW are folders with the outputs of runs, such as two `build` folders. The files compared are all
`subgraphs.jsonl`, `links.jsonl`, `scores.jsonl`, journals (`journal/*.jsonl`), `evaluation.json` and training examples
below OLD. The fields ignored are the words (`error`, `reason`, and the reasons of failed linkers and labels), the
fingerprints, and the times (`seconds`, `questions_per_second`, and each driver's share of the time).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

EXAMPLES = ("training_examples.jsonl", "lessons.jsonl")
"""File of training examples: its name, and its former name in outputs of older versions."""
PATTERNS = ("subgraphs.jsonl", "links.jsonl", "scores.jsonl", "journal/*.jsonl", "evaluation.json", *EXAMPLES)
WORDS = ("error", "reason", "linkers_failed", "labels_failed")
FINGERPRINTS = ("fingerprint", "fingerprints")
TIMES = ("seconds", "questions_per_second", "share_of_time")
MARK = "journal"
"""Field of a journal's lines that has a fingerprint and a checksum."""
LEFT_OUT = frozenset((*WORDS, *FINGERPRINTS, *TIMES, MARK))


def plain(value: Any) -> Any:
    """Remove words, fingerprints and times from a JSON value; the presence of an error is kept."""
    if isinstance(value, dict):
        kept = {key: plain(item) for key, item in value.items() if key not in LEFT_OUT}
        return kept | {f"has {name}": value[name] is not None for name in ("error", "reason") if name in value}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def records(path: Path) -> Iterator[str]:
    """Yield the records of a file as JSON in canonical form, with fields in their order."""
    text = path.read_text(encoding="utf-8")
    for row in text.splitlines() if path.suffix == ".jsonl" else [text]:
        yield json.dumps(plain(json.loads(row)), ensure_ascii=False)


def difference(old: Path, new: Path) -> str | None:
    """Return the first difference of two files, or None."""
    if not new.is_file():
        return "is missing"
    before, after = list(records(old)), list(records(new))
    if len(before) != len(after):
        return f"has {len(after)} records, not {len(before)}"
    for number, (a, b) in enumerate(zip(before, after, strict=True), 1):
        if a != b:
            at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
            return f"record {number}: {a[max(0, at - 60) : at + 60]!r} became {b[max(0, at - 60) : at + 60]!r}"
    return None


def main() -> int:
    """Compare two folders."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    args = parser.parse_args()
    files = sorted({path for pattern in PATTERNS for path in args.old.rglob(pattern)})
    if not files:
        print(f"{args.old}: no files to compare", file=sys.stderr)
        return 2
    different = {}
    for path in files:
        name = path.relative_to(args.old)
        new = args.new / name
        if path.name in EXAMPLES and not new.is_file():
            new = next((new.with_name(other) for other in EXAMPLES if new.with_name(other).is_file()), new)
        if (found := difference(path, new)) is not None:
            different[name] = found
    for name, found in different.items():
        print(f"{name}: {found}")
    print(f"{len(files)} files, {len(files) - len(different)} equal")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
