"""Compare what two versions wrote for the same recipes: every record and every evaluation, but for words and times.

    python benchmarks/same_results.py OLD NEW

OLD and NEW are folders with the outputs of runs, such as two `build` folders. Compared are all `subgraphs.jsonl`,
`links.jsonl`, `scores.jsonl`, journals (`journal/*.jsonl`), `evaluation.json` and training examples below OLD. Left
out are exactly: the fields with words (`error`, `reason`, and the reasons of failed linkers and labels), fingerprints,
and times (`seconds`, `questions_per_second`, and each driver's share of the time).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PATTERNS = ("subgraphs.jsonl", "links.jsonl", "scores.jsonl", "journal/*.jsonl", "evaluation.json", "lessons.jsonl")
WORDS = ("error", "reason", "linkers_failed", "labels_failed")
FINGERPRINTS = ("fingerprint", "fingerprints")
TIMES = ("seconds", "questions_per_second", "share_of_time")
LEFT_OUT = frozenset((*WORDS, *FINGERPRINTS, *TIMES))


def plain(value: Any) -> Any:
    """Leave the words, fingerprints and times out of a JSON value; whether there is an error stays."""
    if isinstance(value, dict):
        kept = {key: plain(item) for key, item in value.items() if key not in LEFT_OUT}
        return kept | {f"has {name}": value[name] is not None for name in ("error", "reason") if name in value}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def records(path: Path) -> Iterator[str]:
    """Yield the records of a file as canonical JSON, the order of fields included."""
    text = path.read_text(encoding="utf-8")
    for row in text.splitlines() if path.suffix == ".jsonl" else [text]:
        yield json.dumps(plain(json.loads(row)), ensure_ascii=False)


def difference(old: Path, new: Path) -> str | None:
    """Return where two files differ first, or None."""
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
        print(f"{args.old}: there is nothing to compare", file=sys.stderr)
        return 2
    different = {}
    for path in files:
        name = path.relative_to(args.old)
        if (found := difference(path, args.new / name)) is not None:
            different[name] = found
    for name, found in different.items():
        print(f"{name}: {found}")
    print(f"{len(files)} files, {len(files) - len(different)} equal")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
