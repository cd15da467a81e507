"""``srtk datasets graph``: write the union of the graphs of all questions as one file of triples."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

from srtk_framework.records import dumps
from srtk_framework.records import record_fields as fields
from srtk_framework.values import InputError, Literal, Triple

HELP = "write the union of the graphs of all questions, for `srtk graph build`"
_BREAKS = ("\t", "\n", "\r")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("format", choices=("rog", "gtsqa", "webnlg"), help="format of the files")
    parser.add_argument("files", nargs="+", metavar="PATH", help="files, or folders in the driver's layout")
    parser.add_argument(
        "--splits",
        default="train,validation,dev,test",
        help="splits of folders, as far as they are there (%(default)s)",
    )
    parser.add_argument(
        "--out", required=True, metavar="TSV", help="output file: subject, relation, object, tab-separated"
    )
    parser.add_argument("--labels", metavar="TSV", help="output file of ids and labels (gtsqa, webnlg)")
    parser.add_argument("--aliases", metavar="TSV", help="output file of ids and further names (webnlg)")
    parser.add_argument("--texts", metavar="JSONL", help="output file of the texts, one document each (webnlg)")


def run(args: argparse.Namespace) -> int:
    """Write the distinct triples, in the order of the files."""
    from srtk_plugin_datasets.rog import question_graphs

    if args.format == "webnlg":
        return _webnlg(args)
    if args.aliases or args.texts:
        raise InputError(f"--aliases and --texts: the format {args.format} has neither; remove them")
    files = _files(args.format, args.files, [split for split in args.splits.split(",") if split])
    if args.labels and args.format != "gtsqa":
        raise InputError("--labels: ids are names in the format rog, so there are no labels; remove it")
    counts: Counter[str] = Counter()
    labels: dict[str, str] = {}
    seen: set[bytes] = set()
    with _Target(args.out) as out:
        for where, rows in question_graphs(files):
            counts["questions"] += 1
            for row in rows:
                cells = _cells(row, where, args.format, labels if args.labels else None)
                if any(not cell or any(mark in cell for mark in _BREAKS) for cell in cells):
                    counts["left"] += 1
                    continue
                line = "\t".join(cells)
                key = blake2b(line.encode("utf-8", "surrogatepass"), digest_size=16).digest()
                if key not in seen:
                    seen.add(key)
                    out.write(line + "\n")
    if args.labels:
        with _Target(args.labels) as names:
            names.writelines(f"{id_}\t{label}\n" for id_, label in sorted(labels.items()))
    if counts["left"]:
        print(
            f"left out: {counts['left']:,} triples with an empty name, or a tab or line break in one", file=sys.stderr
        )
    print(f"{args.out}: {len(seen):,} triples of {counts['questions']:,} questions")
    return 0


def _webnlg(args: argparse.Namespace) -> int:
    """Write the triples of all entries, the names of their entities, and the texts."""
    from srtk_plugin_datasets.webnlg import names, read_webnlg, webnlg_files

    splits = tuple(split for split in args.splits.split(",") if split)
    files: list[Path] = []
    for place in args.files:
        found = [Path(place)] if Path(place).is_file() else webnlg_files(Path(place), splits)
        if not found:
            raise InputError(f"{place}: no XML of the splits {', '.join(splits)} here; give files, or set --splits")
        files += found
    triples: dict[Triple, None] = {}
    documents: list[dict[str, Any]] = []
    for file in files:
        for entry in read_webnlg(file):
            triples.update(dict.fromkeys(entry.triples))
            rows = [list(triple) for triple in entry.triples]
            for number, text in enumerate(entry.texts, 1):
                documents.append({"id": f"{entry.id}/{number}", "text": text, "triples": rows})
    entities = sorted({end for triple in triples for end in triple[::2] if not isinstance(end, Literal)})
    with _Target(args.out) as out:
        out.writelines("\t".join(triple) + "\n" for triple in triples)
    if args.labels:
        with _Target(args.labels) as out:
            out.writelines(f"{id_}\t{names(id_)[0]}\n" for id_ in entities)
    if args.aliases:
        with _Target(args.aliases) as out:
            out.writelines(f"{id_}\t{name}\n" for id_ in entities for name in names(id_)[1:])
    if args.texts:
        with _Target(args.texts) as out:
            out.writelines(dumps(document) + "\n" for document in documents)
    between = sum(not isinstance(triple.object, Literal) for triple in triples)
    print(f"{args.out}: {len(triples):,} triples, {between:,} between entities, of {len(documents):,} texts")
    return 0


def _files(form: str, places: Sequence[str], splits: Sequence[str]) -> list[Path]:
    """Return the files of all paths; of a folder, those of its splits."""
    from srtk_plugin_datasets.gtsqa import gtsqa_files
    from srtk_plugin_datasets.rog import split_files

    def of_split(place: str, split: str) -> Iterator[Path]:
        try:
            yield from (split_files if form == "rog" else _with_graphs)(place, split)
        except InputError:
            return

    def _with_graphs(place: str, split: str) -> list[Path]:
        found = sorted(Path(place).glob(f"gtsqa-with-graphs/{split}-*.parquet"))
        return found or gtsqa_files(place, split)

    files: list[Path] = []
    for place in places:
        found = [Path(place)] if Path(place).is_file() else [f for split in splits for f in of_split(place, split)]
        if not found:
            raise InputError(f"{place}: no file of the splits {', '.join(splits)} here; give files, or set --splits")
        files += found
    return list(dict.fromkeys(files))


def _cells(row: object, where: str, form: str, labels: dict[str, str] | None) -> list[str]:
    """Read a row of the graph of a question."""
    from srtk_plugin_datasets.gtsqa import labelled

    if not isinstance(row, list) or len(row) != 3:
        raise InputError(f"{where}: field 'graph' must hold rows of subject, relation and object")
    if form == "rog":
        return [fields.string(cell, where, "graph") for cell in row]
    cells = [labelled(cell, where, "graph") for cell in row]
    if labels is not None:
        labels.update((id_, " ".join(label.split())) for id_, label in cells if label)
    return [id_ for id_, _ in cells]


class _Target:
    """A text file that replaces its target when it is complete."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self.part = self.path.with_name(self.path.name + ".part")

    def __enter__(self) -> IO[str]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.file = self.part.open("w", encoding="utf-8", newline="\n")
        except OSError as error:
            raise InputError(f"{self.path}: cannot be written: {error.strerror or error}") from error
        return self.file

    def __exit__(self, kind: object, *_: object) -> None:
        self.file.close()
        if kind is None:
            self.part.replace(self.path)
        else:
            self.part.unlink(missing_ok=True)
