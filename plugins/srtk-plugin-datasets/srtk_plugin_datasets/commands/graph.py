"""``srtk datasets graph``: write the graph of a set as one file of triples."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from srtk_framework.records import dumps
from srtk_framework.records import record_fields as fields
from srtk_framework.values import InputError, Literal, Triple

if TYPE_CHECKING:
    from srtk_plugin_datasets.webnlg import WebnlgEntry
_BREAKS = ("\t", "\n", "\r")  # A name with one of these would break its line of the table.


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("format", choices=("rog", "gtsqa", "webnlg", "lama"), help="format of the files")
    parser.add_argument("files", nargs="+", metavar="PATH", help="files, or folders in the driver's layout")
    parser.add_argument(
        "--splits",
        default="train,validation,dev,test",
        help="splits of folders, as far as they are there (%(default)s)",
    )
    parser.add_argument(
        "--out", required=True, metavar="TSV", help="output file: subject, relation, object, tab-separated"
    )
    parser.add_argument("--labels", metavar="TSV", help="output file of ids and labels (gtsqa, webnlg, lama)")
    parser.add_argument("--aliases", metavar="TSV", help="output file of ids and further names (webnlg)")
    parser.add_argument("--texts", metavar="JSONL", help="output file of the texts, one document each (webnlg)")
    parser.add_argument(
        "--hidden", metavar="TSV", help="output file of the hidden triples, for `masked` (webnlg, lama)"
    )
    parser.add_argument(
        "--share",
        type=float,
        metavar="S",
        help="share of the triples between entities that is hidden, as `hidden` of the dataset (webnlg 0.3, lama 0.5)",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the hidden triples (%(default)s)")
    parser.add_argument(
        "--without-hidden", action="store_true", help="leave the hidden triples out (webnlg; lama always does)"
    )
    parser.add_argument(
        "--texts-without-hidden", action="store_true", help="leave the texts out that state a hidden triple (webnlg)"
    )


def run(args: argparse.Namespace) -> int:
    """Write the distinct triples, in the order of the files."""
    if args.share is not None and not 0 < args.share <= 1:
        raise InputError(f"--share: {args.share:g} is no share; give a number above 0, at most 1")
    if args.texts_without_hidden and not args.texts:
        raise InputError("--texts-without-hidden: no texts are written; name a file as --texts")
    if args.format == "webnlg":
        return _webnlg(args)
    if args.aliases or args.texts:
        raise InputError(f"--aliases and --texts: the format {args.format} has neither; remove them")
    if args.format == "lama":
        return _lama(args)
    if args.hidden or args.share is not None or args.without_hidden:
        raise InputError(f"--hidden, --share and --without-hidden: nothing is hidden in {args.format}; remove them")
    return _question_graphs(args)


def _question_graphs(args: argparse.Namespace) -> int:
    """Write the union of the graphs of all questions, and the labels of their ids."""
    from srtk_plugin_datasets.rog import question_graphs

    files = _files(args.format, args.files, _splits(args))
    if args.labels and args.format != "gtsqa":
        raise InputError("--labels: ids are names in the format rog, so there are no labels; remove it")
    counts: Counter[str] = Counter()
    labels: dict[str, str] = {}
    seen: set[bytes] = set()
    with _target(args.out) as out:
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
    _write(args.labels, (f"{id_}\t{label}\n" for id_, label in sorted(labels.items())))
    if counts["left"]:
        print(
            f"left out: {counts['left']:,} triples with an empty name, or a tab or line break in one", file=sys.stderr
        )
    print(f"{args.out}: {len(seen):,} triples of {counts['questions']:,} questions")
    return 0


def _webnlg(args: argparse.Namespace) -> int:
    """Write the triples of all entries, the names of their entities, and the texts."""
    from srtk_plugin_datasets.webnlg import names, read_webnlg, webnlg_files

    files = _placed(args.files, _splits(args), webnlg_files, "no XML of the splits")
    entries = [entry for file in files for entry in read_webnlg(file)]
    triples = dict.fromkeys(triple for entry in entries for triple in entry.triples)
    entities = sorted({end for triple in triples for end in triple[::2] if not isinstance(end, Literal)})
    hidden = _hidden(args, triples)
    if args.without_hidden:
        for triple in hidden:
            del triples[triple]
    _write(args.out, _lines(triples))
    _write(args.hidden, _lines(hidden))
    _write(args.labels, (f"{id_}\t{names(id_)[0]}\n" for id_ in entities))
    _write(args.aliases, (f"{id_}\t{name}\n" for id_ in entities for name in names(id_)[1:]))
    unsaid = set(hidden) if args.texts_without_hidden else set()
    stating = [entry for entry in entries if unsaid.isdisjoint(entry.triples)]
    _write(args.texts, (dumps(row) + "\n" for entry in stating for row in _documents(entry)))
    between = sum(not isinstance(triple.object, Literal) for triple in triples)
    texts = sum(len(entry.texts) for entry in stating)
    print(f"{args.out}: {len(triples):,} triples, {between:,} between entities, of {texts:,} texts")
    if hidden:
        print(f"hidden{'' if args.without_hidden else ' by the list alone'}: {len(hidden):,} triples")
    return 0


def _hidden(args: argparse.Namespace, triples: Iterable[Triple]) -> list[Triple]:
    """Draw the triples between entities that are hidden, where the flags ask for it."""
    from srtk_plugin_datasets.hidden_facts import hidden_facts
    from srtk_plugin_datasets.webnlg import HIDDEN

    if not (args.hidden or args.without_hidden or args.texts_without_hidden):
        return []
    facts = [triple for triple in triples if not isinstance(triple.object, Literal)]
    return hidden_facts(facts, HIDDEN if args.share is None else args.share, args.seed)


def _documents(entry: WebnlgEntry) -> Iterator[dict[str, Any]]:
    """Yield the texts of an entry as documents, with the entities that they mention."""
    from srtk_plugin_datasets.webnlg import mentions

    rows = [list(triple) for triple in entry.triples]
    for number, text in enumerate(entry.texts, 1):
        named = mentions(text, entry.triples)
        yield {"id": f"{entry.id}/{number}", "text": text, "triples": rows, "mentions": named}


def _lama(args: argparse.Namespace) -> int:
    """Write the facts that are not asked for, those that are, and the labels of the relations."""
    from srtk_plugin_datasets.hidden_facts import hidden_facts
    from srtk_plugin_datasets.lama import HIDDEN, lama_facts, lama_relations

    if len(args.files) > 1 or not Path(args.files[0]).is_dir():
        raise InputError(f"{' '.join(args.files)}: give one folder, that of LAMA with relations.jsonl")
    folder = Path(args.files[0])
    facts = lama_facts(folder)
    share = HIDDEN if args.share is None else args.share
    hidden = hidden_facts(facts, share, args.seed)
    asked = set(hidden)
    known = [fact for fact in facts if fact not in asked]
    _write(args.out, _lines(known))
    _write(args.hidden, _lines(hidden))
    if args.labels:
        relations = {fact.relation for fact in facts}
        labels = {id_: label for id_, label in lama_relations(folder).items() if id_ in relations}
        # Also those of the facts that are asked for.
        rows = [*labels.items(), *((id_, id_) for id_ in sorted({end for fact in facts for end in fact[::2]}))]
        _write(args.labels, (f"{id_}\t{label}\n" for id_, label in rows))
    print(f"{args.out}: {len(known):,} facts; {len(hidden):,} others are asked for")
    return 0


def _lines(triples: Iterable[Triple]) -> Iterator[str]:
    return ("\t".join(triple) + "\n" for triple in triples)


def _write(path: str | None, lines: Iterable[str]) -> None:
    """Write a file that is asked for."""
    if path:
        with _target(path) as out:
            out.writelines(lines)


def _splits(args: argparse.Namespace) -> tuple[str, ...]:
    return tuple(split for split in args.splits.split(",") if split)


def _files(form: str, places: Sequence[str], splits: tuple[str, ...]) -> list[Path]:
    """Return the files of all paths, each once; of a folder, the files of its splits."""
    from srtk_plugin_datasets.gtsqa import gtsqa_files
    from srtk_plugin_datasets.rog import split_files

    def with_graphs(folder: str, split: str) -> list[Path]:
        found = sorted(Path(folder).glob(f"gtsqa-with-graphs/{split}-*.parquet"))
        return found or gtsqa_files(folder, split)

    def of_splits(folder: Path, splits: tuple[str, ...]) -> Iterator[Path]:
        for split in splits:
            with suppress(InputError):
                yield from (split_files if form == "rog" else with_graphs)(str(folder), split)

    return list(dict.fromkeys(_placed(places, splits, of_splits, "no file of the splits")))


def _placed(
    places: Sequence[str],
    splits: tuple[str, ...],
    of_folder: Callable[[Path, tuple[str, ...]], Iterable[Path]],
    lacking: str,
) -> list[Path]:
    """Return the files that paths name, and the files of the splits of folders."""
    files: list[Path] = []
    for place in places:
        found = [Path(place)] if Path(place).is_file() else list(of_folder(Path(place), splits))
        if not found:
            raise InputError(f"{place}: {lacking} {', '.join(splits)} here; give files, or set --splits")
        files += found
    return files


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


@contextmanager
def _target(path: str) -> Iterator[IO[str]]:
    """Open a text file that replaces its target when it is complete."""
    file = Path(path)
    part = file.with_name(file.name + ".part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with part.open("w", encoding="utf-8", newline="\n") as out:
            yield out
        part.replace(file)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)
